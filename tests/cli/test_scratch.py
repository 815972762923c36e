"""Temporary files of engine runs are private and go with their run."""

import os
from pathlib import Path

import pytest

from cli import scratch
from lab.paths import Paths

DEAD_PID = 2**22 + 1  # above the kernel's largest process id


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(cache=tmp_path / "cache", state=tmp_path / "state")


def test_a_run_has_a_private_directory_of_its_own(paths: Paths) -> None:
    with scratch.run_directory(paths) as one, scratch.run_directory(paths) as other:
        assert one != other
        assert {path.stat().st_mode & 0o777 for path in (one, other, paths.scratch)} == {0o700}
        (one / "kubeconfig1").write_text("key")
    assert list(paths.scratch.iterdir()) == []


def test_what_dead_runs_left_goes_and_living_ones_keep_theirs(paths: Paths) -> None:
    left = paths.scratch / f"{DEAD_PID}-x"
    left.mkdir(parents=True)
    (left / "kubeconfig1").write_text("key")
    shell = scratch.shell_directory(paths)
    shell.mkdir()
    (shell / "kubeconfig2").write_text("key")
    with scratch.run_directory(paths) as living:
        scratch.clear(paths)
        assert sorted(paths.scratch.iterdir()) == sorted([living, shell])
    assert list(shell.iterdir()) == []
    assert shell.stat().st_mode & 0o777 == 0o700
    assert living.name.startswith(f"{os.getpid()}-")
