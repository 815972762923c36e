"""Child processes that end with their parent and tell their failure in full."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def ends_with_parent(signal_number: int = signal.SIGTERM) -> Callable[[], None]:
    """A ``preexec_fn``: the child gets the signal when this process dies, even by ``kill -9``."""
    parent = os.getpid()

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
        if os.getppid() != parent:  # it died between fork and prctl
            os.kill(os.getpid(), signal_number)

    return prepare


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    capture: bool = True,
    timeout_seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; the caller judges the exit code.

    Args:
        argv: Program and arguments, never a shell line, never a secret.
        env: Whole environment; this process's own by default.
        cwd: Working directory.
        capture: Keep the output instead of showing it.
        timeout_seconds: Bound; ``subprocess.TimeoutExpired`` past it.
    """
    return subprocess.run(
        list(argv),
        env=dict(env) if env is not None else None,
        cwd=cwd,
        capture_output=capture,
        text=True,
        check=False,
        timeout=timeout_seconds,
        preexec_fn=ends_with_parent(),
    )
