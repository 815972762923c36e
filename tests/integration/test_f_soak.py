"""The matrix of kills: ten points of `up`, ten of `destroy`, and the parts of the cluster. Not in CI."""

import os
import random
import signal

import pytest

from lab import api
from lab.paths import current
from tests.integration.support import cli, get, until
from tests.integration.test_e_kills import (
    KINDS,
    MANAGED,
    SEED,
    _engine_of,
    _kill_up,
    _no_orphan_no_duplicate,
    _records,
    _start,
)

pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("environment"), pytest.mark.timeout(3600)]

POINTS = 10


@pytest.mark.parametrize("point", range(POINTS))
def test_up_killed_at_ten_points(point: int) -> None:
    chance = random.Random(SEED + point)  # noqa: S311 - a repeatable test needs a repeatable source
    cli("destroy", "--yes")
    _kill_up(chance.choice(("engine", "command")), 5 + 8 * point + chance.randrange(8))
    cli("up")
    _no_orphan_no_duplicate()


@pytest.mark.parametrize("point", range(POINTS))
def test_destroy_killed_at_ten_points(point: int) -> None:
    chance = random.Random(SEED - point)  # noqa: S311 - likewise
    cli("up")
    whole = _records()
    left = whole - (whole // (POINTS + 1)) * (point + 1) + chance.randrange(5)
    process = _start("destroy", "--yes")
    engine = _engine_of(process, command="destroy")
    until(f"{left} resources are left", lambda: _records(at_least=whole) <= left, 300)
    os.kill(engine, signal.SIGKILL)
    assert process.wait(120) != 0
    cli("destroy", "--yes")
    assert get(KINDS, "-A", "-l", MANAGED)["items"] == []


@pytest.mark.parametrize(
    "part", ["kube-apiserver", "etcd", "containerd", "kubelet", "kube-scheduler", "kwok"]
)
def test_a_part_of_the_cluster_killed_under_an_up(part: str) -> None:
    cli("destroy", "--yes")
    _kill_up(part, random.Random(SEED).randrange(20, 60))  # noqa: S311 - likewise
    cli("up")
    assert all(one.healthy for one in api.status(current()))
    _no_orphan_no_duplicate()
