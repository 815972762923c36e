"""The executables by which the engine finds this host: small scripts that start this checkout's code."""

import shlex
import sys
from pathlib import Path

from lab.paths import REPOSITORY

NAME = "pulumi-language-python"
MODULE = "lab.toolchain.language"


def script(module: str, *, python: Path, repository: Path) -> str:
    """A shell script that runs a module of a checkout without touching the environment of what it starts.

    Args:
        module: The module; its ``__main__`` gets the script's path, then its arguments.
        python: Interpreter with the checkout's requirements.
        repository: The checkout.
    """
    code = (
        f"import sys; sys.path.insert(0, {str(repository)!r}); import runpy; "
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    return f'#!/bin/sh\nexec {shlex.quote(str(python))} -I -c {shlex.quote(code)} "$0" "$@"\n'


def write(path: Path, module: str, *, python: Path | None = None, repository: Path = REPOSITORY) -> None:
    """Write a launcher, replacing an older one in one step.

    Args:
        path: The executable to make; its directory must exist.
        module: The module to run.
        python: Interpreter; this one by default.
        repository: The checkout; this one by default.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(script(module, python=python or Path(sys.executable), repository=repository))
    partial.chmod(0o755)
    partial.replace(path)
