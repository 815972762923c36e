"""Progress as lines: time so far, stage, what it does now."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HEARTBEAT_SECONDS = 15.0


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

    @contextmanager
    def heartbeat(self, what: str, every_seconds: float = HEARTBEAT_SECONDS) -> Iterator[None]:
        """Say now and then, while the block runs, that it still does and for how long."""
        began = time.monotonic()
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(every_seconds):
                self.step(f"{what}, {time.monotonic() - began:.0f} s so far")

        teller = threading.Thread(target=beat, daemon=True)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()

    def step(self, text: str) -> None:
        """Say what happens now."""
        seconds = int(time.monotonic() - self.started)
        self.write(f"[{seconds // 60:02d}:{seconds % 60:02d}] {self.stage}: {text}")
