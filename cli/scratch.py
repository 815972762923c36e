"""Temporary files of engine runs, below the lab's state: the Kubernetes provider writes kubeconfigs there.

Its files with the administrator's key stay when it ends (seen with pulumi-kubernetes 4.25), so each run gets
a directory of its own that goes with it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.paths import Paths

_SHELL = "shell"
_PRIVATE = 0o700


def shell_directory(paths: Paths) -> Path:
    """Where plain ``pulumi`` after ``make shell`` has its temporary files; emptied by ``up`` and ``down``."""
    return paths.scratch / _SHELL


@contextmanager
def run_directory(paths: Paths) -> Iterator[Path]:
    """A directory for one run of the engine, private, gone afterwards."""
    _make(paths.scratch)
    with tempfile.TemporaryDirectory(
        dir=paths.scratch, prefix=f"{os.getpid()}-", ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def clear(paths: Paths) -> None:
    """Remove what killed runs and plain ``pulumi`` left; runs that live keep theirs."""
    for path in paths.scratch.iterdir() if paths.scratch.is_dir() else ():
        owner = path.name.partition("-")[0]
        if not (owner.isdigit() and Path(f"/proc/{owner}").exists()):
            shutil.rmtree(path, ignore_errors=True)
    # Kept, empty: a shell that was told of it must not lose its place for temporary files.
    _make(paths.scratch)
    _make(shell_directory(paths))


def _make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
    directory.chmod(_PRIVATE)
