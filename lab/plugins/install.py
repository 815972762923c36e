"""Stand-in plug-ins put into a PULUMI_HOME of the lab's own, never on a user's PATH."""

from pathlib import Path

from lab.plugins.guard import MARKER
from lab.plugins.random import VERSION as RANDOM_VERSION
from lab.toolchain.language import launcher

STANDINS = (("random", RANDOM_VERSION, "lab.plugins.random"),)


def install(home: Path, *, python: Path | None = None) -> tuple[Path, ...]:
    """Mark a PULUMI_HOME as the lab's and put every stand-in plug-in into it; safe to repeat.

    Args:
        home: The lab's PULUMI_HOME; made if missing.
        python: Interpreter with the project's requirements; this one by default.

    Returns:
        The launchers.
    """
    (home / "plugins").mkdir(parents=True, exist_ok=True)
    (home / MARKER).write_text("The PULUMI_HOME of a gpu-platform lab: its plug-ins are stand-ins.\n")
    return tuple(_launcher(home, name, version, module, python) for name, version, module in STANDINS)


def _launcher(home: Path, name: str, version: str, module: str, python: Path | None) -> Path:
    directory = home / "plugins" / f"resource-{name}-v{version}"
    directory.mkdir(exist_ok=True)
    path = directory / f"pulumi-resource-{name}"
    launcher.write(path, module, python=python)
    return path
