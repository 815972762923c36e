"""What the program is told about the machine it runs on; the one reader of its environment."""

import os
from collections.abc import Mapping
from pathlib import Path

# Both as lab/paths.py has them, which this may not import; a contract test compares.
STATE_VARIABLE = "GPU_PLATFORM_STATE"
DEFAULT_STATE = Path("/var/lib/gpu-platform")


def lab_state(environment: Mapping[str, str] = os.environ) -> Path:
    """Directory of this machine's lab, as the command line and ``make shell`` hand it over."""
    return Path(environment.get(STATE_VARIABLE) or DEFAULT_STATE)
