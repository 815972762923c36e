"""Child processes of the host: started, streamed line by line, ended with the host or its request."""

import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

GRACE_SECONDS = 4.0  # the engine kills this host five seconds after it asked it to end


@dataclass
class Children:
    """Every process this host has started and not yet seen end."""

    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], piped: bool
    ) -> subprocess.Popen[bytes]:
        """Start a process in this host's process group.

        Args:
            command: Program and arguments; never a secret.
            cwd: Working directory.
            environment: Its whole environment.
            piped: Whether the host reads its output; otherwise it goes to the engine through this host's own.
        """
        output = subprocess.PIPE if piped else None
        process = subprocess.Popen(
            list(command), cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        with self._lock:
            self._running.add(process)
        return process

    def finished(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a process, forget it and return its exit code."""
        code = process.wait()
        with self._lock:
            self._running.discard(process)
        return code

    def interrupt(self) -> None:
        """Tell every process to end: programs by SIGINT; what ignores that, by SIGTERM."""
        with self._lock:
            running = list(self._running)
        for process in running:
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """End every process; what is left after the grace period is killed."""
        self.interrupt()
        with self._lock:
            running = list(self._running)
        for process in running:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End one process: SIGTERM, then SIGKILL after the grace period."""
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Every line of a piped process as ``("stdout" | "stderr", line)`` while it is written."""
    merged: queue.Queue[tuple[str, bytes] | None] = queue.Queue()

    def pump(name: str, stream: IO[bytes]) -> None:
        for line in stream:
            merged.put((name, line))
        merged.put(None)

    streams = [(name, stream) for name in ("stdout", "stderr") if (stream := getattr(process, name)) is not None]
    for name, stream in streams:
        threading.Thread(target=pump, args=(name, stream), daemon=True).start()
    for _ in streams:
        while (item := merged.get()) is not None:
            yield item
