"""The lab's lock: one holder, told by name, gone with its process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cluster.lock import lab_lock, lock_path
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths

HOLD = """
import sys
from pathlib import Path
from lab.cluster.lock import lab_lock
from lab.paths import Paths
with lab_lock(Paths(cache=Path("/nonexistent"), state=Path(sys.argv[1])), "make up"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(cache=tmp_path / "cache", state=tmp_path / "state")


def holder(paths: Paths) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(paths.state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_with_the_name_of_the_first(paths: Paths) -> None:
    with holder(paths) as process, pytest.raises(LabError) as caught, lab_lock(paths, "make down"):
        pytest.fail("held twice")
    told = str(caught.value)
    assert f"process {process.pid}" in told
    assert "make up" in told
    assert str(REPOSITORY) in told


def test_the_lock_of_a_killed_process_is_free(paths: Paths) -> None:
    process = holder(paths)
    process.kill()
    process.communicate()
    assert "make up" in lock_path(paths).read_text()
    with lab_lock(paths, "make down"):
        assert "make down" in lock_path(paths).read_text()
    assert lock_path(paths).read_text() == ""


def test_the_holder_may_take_it_again_and_keeps_it_until_the_outer_end(paths: Paths) -> None:
    with lab_lock(paths, "outer"):
        with lab_lock(paths, "inner"):
            pass
        assert "outer" in lock_path(paths).read_text()
        command = [sys.executable, "-c", HOLD, str(paths.state)]
        done = subprocess.run(
            command,
            input="",
            capture_output=True,
            text=True,
            check=False,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )
        assert done.returncode == 1
        assert "outer" in done.stderr


def test_a_failure_inside_frees_it(paths: Paths) -> None:
    with pytest.raises(ValueError, match="inside"), lab_lock(paths, "first"):
        raise ValueError("inside")
    with lab_lock(paths, "second"):
        pass
