"""The machine as checks see it: a few questions that tests answer for a machine they make up."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.process import run


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a program said.

    Args:
        code: Exit code; None when it is missing or did not end in time.
        output: Standard output and error.
        timed_out: It did not end in time.
    """

    code: int | None
    output: str = ""
    timed_out: bool = False


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None


def _ask(argv: Sequence[str], timeout_seconds: float) -> Answer:
    try:
        done = run(argv, env={**os.environ, "LC_ALL": "C"}, timeout_seconds=timeout_seconds)
    except subprocess.TimeoutExpired:
        return Answer(code=None, output=f"no answer within {timeout_seconds:.0f} s", timed_out=True)
    except OSError as problem:
        return Answer(code=None, output=problem.strerror or str(problem))
    return Answer(code=done.returncode, output=(done.stdout + done.stderr).strip())


def _free_bytes(directory: Path) -> int:
    existing = next(place for place in (directory, *directory.parents) if place.exists())
    return shutil.disk_usage(existing).free


def _device(directory: Path) -> int:
    existing = next(place for place in (directory, *directory.parents) if place.exists())
    return existing.stat().st_dev


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Questions about a machine; the defaults ask this one.

    Args:
        read: Content of a file, None when it can't be read.
        which: Path of a program, None when there is none.
        ask: Runs a program for at most that many seconds.
        free_bytes: Free space at a directory or the nearest one above it that exists.
        device: Disk of a directory or the nearest one above it that exists.
        root: Root of the file system that ``/proc`` and ``/sys`` are read below.
        user_id: Effective user.
        architecture: Machine type as ``uname -m`` writes it.
        cores: Processors.
    """

    read: Callable[[str], str | None] = _read
    which: Callable[[str], str | None] = shutil.which
    ask: Callable[[Sequence[str], float], Answer] = _ask
    free_bytes: Callable[[Path], int] = _free_bytes
    device: Callable[[Path], int] = _device
    root: Path = Path("/")
    user_id: int = field(default_factory=os.geteuid)
    architecture: str = field(default_factory=lambda: os.uname().machine)
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
