"""Where a stand-in plug-in may run: under the lab's PULUMI_HOME, on a file backend, and nowhere else."""

import os
from collections.abc import Mapping
from pathlib import Path

from lab.errors import LabError

MARKER = ".gpu-platform-lab"
LAB_VARIABLE = "GPU_PLATFORM_LAB"
FIX = "use the official plug-in, or run inside the lab: `make shell` prints how"


def refuse_outside_lab(launcher: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Stop a stand-in that was started anywhere but in the lab.

    Args:
        launcher: The executable the engine started.
        environment: Environment of the plug-in.

    Raises:
        LabError: No lab is named, the backend is no file, or the launcher lies outside a marked PULUMI_HOME.
    """
    home = environment.get("PULUMI_HOME", "")
    why = ""
    if environment.get(LAB_VARIABLE) != "1":
        why = f"{LAB_VARIABLE} is not 1"
    elif not environment.get("PULUMI_BACKEND_URL", "").startswith("file://"):
        why = "PULUMI_BACKEND_URL is not a file:// backend"
    elif not home or not (Path(home) / MARKER).is_file():
        why = f"PULUMI_HOME is not the lab's: it holds no {MARKER}"
    elif not launcher.resolve().is_relative_to((Path(home) / "plugins").resolve()):
        why = f"the plug-in was not started from {home}/plugins"
    if why:
        raise LabError(
            f"LAB stand-in {launcher.name} refuses to serve", where=str(launcher), why=why, fix=FIX
        )
