"""Child processes of the host: started, streamed line by line, ended with the host or its request."""

import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

OnCancel = Callable[[Callable[[], None]], object]
GRACE_SECONDS = 3.0  # the engine kills this host five seconds after it asked it to end


@dataclass
class Children:
    """Every process this host has started and not yet seen end."""

    _running: dict[subprocess.Popen[bytes], signal.Signals] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        piped: bool = True,
        ends_by: signal.Signals = signal.SIGTERM,
    ) -> subprocess.Popen[bytes]:
        """Start a process in this host's process group, so that whoever kills the group kills it too.

        Args:
            command: Program and arguments; never a secret.
            cwd: Working directory.
            environment: Its whole environment.
            piped: Whether the host reads its output; otherwise it goes to the engine through this host's own.
            ends_by: The signal that asks it to end; a child that is to see SIGINT must unblock it.
        """
        output = subprocess.PIPE if piped else None
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        with self._lock:
            self._running[process] = ends_by
        return process

    def finished(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a process, forget it and return its exit code."""
        code = process.wait()
        with self._lock:
            self._running.pop(process, None)
        return code

    def interrupt(self, only: subprocess.Popen[bytes] | None = None) -> None:
        """Ask every running process, or only one, to end by the signal it was started with."""
        with self._lock:
            asked = [item for item in self._running.items() if only in {None, item[0]}]
        for process, ends_by in asked:
            process.send_signal(ends_by)

    def close(self) -> None:
        """End every process; what is left after the grace period is killed."""
        self.interrupt()
        deadline = time.monotonic() + GRACE_SECONDS
        with self._lock:
            running = list(self._running)
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Every line of a piped process as ``("stdout" | "stderr", line)`` while it is written."""
    merged: queue.Queue[tuple[str, bytes] | None] = queue.Queue()

    def pump(name: str, stream: IO[bytes]) -> None:
        for line in stream:
            merged.put((name, line))
        merged.put(None)

    streams = [
        (name, stream) for name in ("stdout", "stderr") if (stream := getattr(process, name)) is not None
    ]
    for name, stream in streams:
        threading.Thread(target=pump, args=(name, stream), daemon=True).start()
    for _ in streams:
        while (item := merged.get()) is not None:
            yield item
