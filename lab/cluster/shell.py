"""Programs run to their end, with failures told as lab errors."""

import subprocess
from collections.abc import Mapping, Sequence

from lab.errors import LabError


def run(
    argv: Sequence[str],
    *,
    where: str,
    fix: str = "run the same command again; the log directory of the lab has the details",
    stdin: str | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = 60,
) -> str:
    """Run a program and return what it printed.

    Args:
        argv: Program and arguments; never a secret.
        where: Stage or component, for the error.
        fix: Next command, for the error.
        stdin: Text for its standard input.
        environment: Its whole environment; this process's own by default.
        timeout_seconds: How long it may take.

    Raises:
        LabError: The program is missing, failed or took too long.
    """
    try:
        done = subprocess.run(
            argv,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            input=stdin,
            env=environment,
            timeout=timeout_seconds,
        )
    except FileNotFoundError as error:
        raise LabError(f"{argv[0]} is not there", where=where, why=str(error), fix=fix) from error
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"{argv[0]} did not end", where=where, why=f"no end after {timeout_seconds:g} s", fix=fix
        ) from error
    if done.returncode != 0:
        told = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise LabError(
            f"{' '.join(argv[:4])} failed with code {done.returncode}",
            where=where,
            why=" | ".join(told) or "it said nothing",
            fix=fix,
        )
    return done.stdout


def succeeds(argv: Sequence[str], *, environment: Mapping[str, str] | None = None) -> bool:
    """Whether a program is there and ends with code 0."""
    try:
        done = subprocess.run(argv, check=False, capture_output=True, env=environment, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
