"""Progress as lines: time so far, stage, what it does now."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Prints one line per step with the time since the start.

    Args:
        write: Where lines go; standard error by default, so that results can be piped.
    """

    write: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True)
    started: float = field(default_factory=time.monotonic)
    stage: str = "start"

    def enter(self, stage: str) -> None:
        """Begin a stage; later steps are shown under its name."""
        self.stage = stage

    def step(self, text: str) -> None:
        """Say what happens now."""
        seconds = int(time.monotonic() - self.started)
        self.write(f"[{seconds // 60:02d}:{seconds % 60:02d}] {self.stage}: {text}")
