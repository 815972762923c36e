"""Completion for the user's shell; printed, never installed."""

import shlex
import sys

from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script

from lab.errors import LabError
from lab.paths import REPOSITORY

PROGRAM = "gpu-platform"
_VARIABLE = "_GPU_PLATFORM_COMPLETE"
# How each shell's script calls the program; it must find the project's own interpreter instead.
_CALLS = {
    "bash": ("complete_bash $1", "complete_bash {}"),
    "zsh": (f"complete_zsh {PROGRAM}", "complete_zsh {}"),
    "fish": (f"(commandline -cp) {PROGRAM}", "(commandline -cp) {}"),
}


def enable() -> None:
    """Let the program answer the shell's questions."""
    completion_init()


def script(shell: str) -> str:
    """A function ``gpu-platform`` for the shell, and its completion.

    Raises:
        LabError: A shell there is no completion for.
    """
    if shell not in _CALLS:
        raise LabError(
            f"no completion for {shell!r}",
            where="completion",
            why="it isn't one of the shells this is written for",
            fix=f"use one of: {', '.join(_CALLS)}",
        )
    here = f"PYTHONPATH={shlex.quote(str(REPOSITORY))} {shlex.quote(sys.executable)} -m cli"
    arguments = "$argv" if shell == "fish" else '"$@"'
    body = f"env {here} {arguments}"
    function = f"function {PROGRAM}; {body}; end" if shell == "fish" else f"{PROGRAM}() {{ {body}; }}"
    told = get_completion_script(prog_name=PROGRAM, complete_var=_VARIABLE, shell=shell)
    old, new = _CALLS[shell]
    return f"{function}\n{told.replace(old, new.format(here))}"
