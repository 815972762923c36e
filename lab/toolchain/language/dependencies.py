"""What a program's virtualenv holds, and how it gets there."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.toolchain.language import probe
from lab.toolchain.language.process import Children, OnCancel, lines
from lab.toolchain.language.program import Program, interpreter

PROBE = Path(probe.__file__)
PROBE_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Package:
    """An installed Python package; ``direct`` when no other package needs it."""

    name: str
    version: str
    direct: bool


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A provider plug-in an installed SDK asks for."""

    name: str
    version: str
    server: str


@dataclass(frozen=True, kw_only=True)
class Installed:
    """Interpreter, packages and plug-ins of a virtualenv."""

    executable: str
    version: str
    packages: tuple[Package, ...]
    plugins: tuple[Plugin, ...]


def installed(program: Program) -> Installed:
    """Ask the program's interpreter what it holds.

    Args:
        program: The program.

    Raises:
        LabError: No interpreter, or it does not answer.
    """
    python = interpreter(program)
    try:
        answer = subprocess.run(
            [str(python), "-I", str(PROBE)], capture_output=True, check=True, timeout=PROBE_SECONDS
        )
        report: dict[str, Any] = json.loads(answer.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise LabError(
            "the program's interpreter does not answer",
            where=str(python),
            why=str(error),
            fix="remove the virtualenv and run `make venv` or `pulumi install`",
        ) from error
    return Installed(
        executable=report["executable"],
        version=report["version"],
        packages=tuple(Package(**item) for item in report["packages"]),
        plugins=tuple(Plugin(**item) for item in report["plugins"]),
    )


def install(program: Program, children: Children, on_cancel: OnCancel) -> Iterator[tuple[str, bytes]]:
    """Create the virtualenv if it is missing and install ``requirements.txt`` into it.

    A ``constraints.txt`` beside it is honoured. Installs nothing for a program that names no virtualenv.

    Args:
        program: The program.
        children: Holds the processes, so that the host can end them.
        on_cancel: Registers what to do when the engine withdraws its request.

    Yields:
        ``("stdout" | "stderr", line)`` of the commands as they run.

    Raises:
        LabError: A command failed.
    """
    if program.virtualenv is None:
        yield "stdout", b"No virtualenv in the runtime options: nothing to install.\n"
        return
    if not program.python.is_file():
        yield "stdout", f"Creating virtualenv {program.virtualenv}\n".encode()
        yield from _step(
            [sys.executable, "-m", "venv", str(program.virtualenv)], program, children, on_cancel
        )
    requirements = next(
        (path for path in (program.directory, program.root) if (path / "requirements.txt").is_file()), None
    )
    if requirements is None:
        yield "stdout", b"No requirements.txt: nothing to install.\n"
        return
    constraints = requirements / "constraints.txt"
    limits = ["-c", str(constraints)] if constraints.is_file() else []
    wanted = ["-r", str(requirements / "requirements.txt"), *limits]
    pip = [str(program.python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    yield from _step([*pip, *wanted], program, children, on_cancel)
    yield "stdout", b"Dependencies installed.\n"


def _step(
    command: Sequence[str], program: Program, children: Children, on_cancel: OnCancel
) -> Iterator[tuple[str, bytes]]:
    process = children.start(command, cwd=program.directory, environment=os.environ)
    on_cancel(lambda: children.interrupt(process))
    last = b""
    for name, line in lines(process):
        last = line if name == "stderr" else last
        yield name, line
    code = children.finished(process)
    if code != 0:
        raise LabError(
            f"`{' '.join(command[1:4])}` ended with code {code}",
            where=str(program.virtualenv),
            why=last.decode(errors="replace").strip() or "see its output above",
            fix="mend the cause and run `pulumi install` again",
        )
