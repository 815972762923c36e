"""Which program the engine means, and with which interpreter it runs."""

import sys
from dataclasses import dataclass
from pathlib import Path

from pulumi.runtime.proto import language_pb2

from lab.errors import LabError


@dataclass(frozen=True, kw_only=True)
class Program:
    """A Python program, policy pack or plug-in as the engine describes it.

    Args:
        root: Directory of ``Pulumi.yaml``, ``PulumiPolicy.yaml`` or ``PulumiPlugin.yaml``.
        directory: Directory the program lies in.
        entry: Entry point relative to ``directory``; ``.`` for its ``__main__.py``.
        virtualenv: Virtualenv of the runtime options; ``None`` for the interpreter of this host.
    """

    root: Path
    directory: Path
    entry: str
    virtualenv: Path | None

    @property
    def target(self) -> Path:
        """What is run: a file, or a directory with a ``__main__.py``."""
        return self.directory if self.entry in {"", "."} else self.directory / self.entry

    @property
    def python(self) -> Path:
        """The interpreter, whether it exists or not."""
        return self.virtualenv / "bin" / "python" if self.virtualenv else Path(sys.executable)


def from_info(info: language_pb2.ProgramInfo) -> Program:
    """Translate the engine's description.

    Args:
        info: Description of the program; a relative ``virtualenv`` option counts from the root.
    """
    root = Path(info.root_directory)
    options = dict(info.options.items()) if info.HasField("options") else {}
    virtualenv = options.get("virtualenv")
    return Program(
        root=root,
        directory=Path(info.program_directory or info.root_directory),
        entry=info.entry_point,
        virtualenv=root / str(virtualenv) if virtualenv else None,
    )


def interpreter(program: Program) -> Path:
    """The interpreter that runs the program.

    Args:
        program: The program.

    Raises:
        LabError: The virtualenv is missing or incomplete.
    """
    if not program.python.is_file():
        raise LabError(
            "the program's virtualenv has no interpreter",
            where=str(program.python),
            why="the runtime option `virtualenv` names a directory that is missing or incomplete",
            fix="run `make venv` in this project, or `pulumi install` in any other",
        )
    return program.python
