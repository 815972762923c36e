"""Killed at a bad moment: the next documented command converges, without orphan or duplicate.

One random point each; `make test-soak` goes through many. The seed is printed, and taken from
GPU_PLATFORM_TEST_SEED to repeat a run.
"""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab import api
from lab.paths import REPOSITORY, current
from tests.integration.support import cli, dev, get, kubectl, until

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(1500)]

SEED = int(os.environ.get("GPU_PLATFORM_TEST_SEED", str(random.SystemRandom().randrange(10**6))))
MANAGED = "gpu-platform/managed-by=pulumi"
KINDS = "namespaces,nodes,deployments,statefulsets,services,secrets,configmaps,persistentvolumeclaims"


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli", *arguments],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _engine_of(process: subprocess.Popen[bytes], *, command: str) -> int:
    """Process id of the engine below a command, once it does its real work."""

    def find() -> int:
        assert process.poll() is None, f"{command} ended before the kill: {process.returncode}"
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
                argv = (path / "cmdline").read_bytes().decode().split("\0")
            except (OSError, ValueError, IndexError):
                continue
            if parent == process.pid and argv[0].endswith("/pulumi") and argv[1] == command:
                return int(path.name)
        return 0

    found: int = until(f"the engine runs {command}", find, 300)
    return found


def _records(*, at_least: int = 0) -> int:
    """Resources the state holds now, read from the file as another process would."""
    path = dev().paths.backend / ".pulumi" / "stacks" / "gpu-platform" / "dev.json"
    try:
        checkpoint = json.loads(path.read_text())["checkpoint"]["latest"]
    except (OSError, ValueError, KeyError):
        return at_least
    return len(checkpoint.get("resources") or [])


def _of_a_controller(item: dict[str, Any]) -> bool:
    """Whether a controller made it: operators give their objects the labels of the resource they read."""
    metadata = item["metadata"]
    labels = metadata.get("labels", {})
    return bool(
        metadata.get("ownerReferences")
        or labels.get("app.kubernetes.io/managed-by") == "prometheus-operator"
        or "operator.prometheus.io/name" in labels
    )


def _no_orphan_no_duplicate() -> None:
    """Objects that carry our label and objects in the state are the same."""
    exported = json.loads(dev().pulumi("stack", "export", "--stack", "dev").stdout)["deployment"]
    assert not exported.get("pending_operations")
    resources = exported.get("resources") or []
    kinds = {"Namespace", "Node", "Deployment", "StatefulSet", "Service", "Secret", "ConfigMap"}
    kinds.add("PersistentVolumeClaim")
    recorded = sorted(
        (item["outputs"]["kind"], item["id"].rsplit("/", 1)[-1])
        for item in resources
        if item["type"].startswith("kubernetes:") and item.get("outputs", {}).get("kind") in kinds
    )
    labelled = get(KINDS, "-A", "-l", MANAGED)["items"]
    ours = [item for item in labelled if not _of_a_controller(item)]
    found = sorted((item["kind"], item["metadata"]["name"]) for item in ours)
    assert found == recorded, f"only in one of both: {set(found) ^ set(recorded)}"


def _kill_up(victim: str, at: int) -> None:
    """Start `up`, and kill one of its parts with ``SIGKILL`` once the state holds so many resources."""
    process = _start("up")
    engine = _engine_of(process, command="up")
    until(f"{at} resources are made", lambda: _records() >= at or process.poll() is not None, 300)
    assert process.poll() is None, f"`up` ended before {victim} could be killed at {at} resources"
    if victim == "engine":
        os.kill(engine, signal.SIGKILL)
        assert process.wait(120) != 0
    elif victim == "command":
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        until("the engine ends with the command", lambda: not Path(f"/proc/{engine}/exe").exists(), 120)
    else:
        server = next(part for part in api.status(current()) if part.name == victim)
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
        process.wait(600)


def test_killed_while_it_destroys_and_while_it_builds() -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)  # noqa: S311 - a repeatable test needs a repeatable source
    whole = _records()

    process = _start("destroy", "--yes")
    engine = _engine_of(process, command="destroy")
    left = chance.randrange(whole // 4, whole - 5)
    until(f"{whole - left} resources are gone", lambda: _records(at_least=whole) <= left, 300)
    os.kill(engine, signal.SIGKILL)
    assert process.wait(120) != 0
    cli("destroy", "--yes")
    assert get(KINDS, "-A", "-l", MANAGED)["items"] == []

    # Each `up` goes on from where the one before was killed.
    for victim, earliest, latest in (("engine", 10, 30), ("command", 35, 50), ("kube-apiserver", 55, 70)):
        _kill_up(victim, chance.randrange(earliest, latest))
    cli("up")
    assert _records() == whole
    _no_orphan_no_duplicate()


def test_an_orphan_would_be_found() -> None:
    """The check of these tests can fail: an object of ours that no state knows is one."""
    kubectl("create", "configmap", "orphan", "-n", "gpu-platform-jobs")
    kubectl("label", "configmap", "orphan", "-n", "gpu-platform-jobs", MANAGED)
    try:
        with pytest.raises(AssertionError, match="orphan"):
            _no_orphan_no_duplicate()
    finally:
        kubectl("delete", "configmap", "orphan", "-n", "gpu-platform-jobs")


def test_a_second_up_at_once_is_refused_with_the_holders_name() -> None:
    with api.exclusive(current(), "the test's own run"):
        refused = cli("up", ok=False)
    assert "another operation holds the lab" in refused.stdout
    assert "the test's own run" in refused.stdout
    assert "Traceback" not in refused.stdout
