"""Programs that are ended from outside."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine import Workspace

pytestmark = pytest.mark.engine


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something another process does."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "waited a minute in vain"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children_of(pid: int) -> set[int]:
    """The direct children of a process, whichever of its threads started them."""
    lists = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return {int(child) for line in lists for child in line.split()}


@pytest.mark.parametrize("wait", ["time.sleep(600)", "pulumi.run(lambda: asyncio.sleep(600))"])
def test_ctrl_c_ends_a_waiting_program_quietly(workspace: Workspace, wait: str) -> None:
    workspace.program(
        f"""
        import asyncio, os, pathlib, pulumi, time
        pathlib.Path("pid").write_text(str(os.getpid()))
        try:
            {wait}
        finally:
            pathlib.Path("cleaned").write_text(str(pathlib.Path("pid").is_file()))
        """
    )
    process = workspace.start("up", "--yes", "--skip-preview")
    pid_file = workspace.directory / "pid"
    wait_until(lambda: pid_file.is_file() and pid_file.read_text() != "")
    time.sleep(0.5)
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert time.monotonic() - began < 10
    assert (workspace.directory / "cleaned").is_file()
    assert "update canceled" in output
    for noise in ("Traceback", "KeyboardInterrupt", "never retrieved", "was destroyed"):
        assert noise not in output
    assert not alive(int(pid_file.read_text()))


def test_nothing_outlives_a_killed_engine(workspace: Workspace) -> None:
    workspace.program(
        """
        import os, pathlib, time
        import pulumi_random as random

        def wait(_):
            pathlib.Path("pids").write_text(f"{os.getpid()} {os.getppid()}")
            time.sleep(600)

        random.RandomPet("one").id.apply(wait)
        """
    )
    process = workspace.start("up", "--yes", "--skip-preview")
    pids_file = workspace.directory / "pids"
    wait_until(lambda: pids_file.is_file() and pids_file.read_text() != "")
    children = {int(pid) for pid in pids_file.read_text().split()} | children_of(process.pid)
    assert len(children) == 3, "program, language host, stand-in plug-in"
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not any(alive(pid) for pid in children))
