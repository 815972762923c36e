"""Processes told apart by pid, start time and boot, so that a stale pid file never hits a stranger."""

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A process that can be recognised later.

    Args:
        pid: Process id in the namespace it was read in.
        start_time: Clock ticks from boot to its start.
        boot_id: The boot it lived in; pids and ticks repeat after a restart of the machine.
    """

    pid: int
    start_time: int
    boot_id: str

    def to_json(self) -> str:
        """The record as text."""
        return json.dumps(asdict(self))


def stat_fields(pid: int, proc: Path = PROC) -> list[str]:
    """Fields of ``/proc/<pid>/stat`` from the state on; empty when there is no such process."""
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return []
    # The command name is in parentheses and may itself hold blanks and parentheses.
    return text.rpartition(")")[2].split()


def start_time(pid: int, proc: Path = PROC) -> int | None:
    """Clock ticks from boot to the start of a process; None when it is gone or a zombie."""
    fields = stat_fields(pid, proc)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def boot_id(proc: Path = PROC) -> str:
    """The id of this boot of the machine."""
    return (proc / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int, proc: Path = PROC) -> Identity | None:
    """The identity of a living process."""
    started = start_time(pid, proc)
    return None if started is None else Identity(pid=pid, start_time=started, boot_id=boot_id(proc))


def read_identity(path: Path) -> Identity | None:
    """An identity from a file; None when the file is missing or was cut off."""
    try:
        data = json.loads(path.read_text())
        return Identity(
            pid=int(data["pid"]), start_time=int(data["start_time"]), boot_id=str(data["boot_id"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def alive(identity: Identity | None, proc: Path = PROC) -> bool:
    """Whether exactly this process still lives."""
    return identity is not None and identify(identity.pid, proc) == identity


def send(identity: Identity, number: signal.Signals) -> None:
    """Send a signal to exactly this process."""
    try:
        handle = os.pidfd_open(identity.pid)
    except OSError:
        return
    try:
        # Checked after the handle is open: from here on the pid cannot come to mean another process.
        if alive(identity):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def wait_gone(identity: Identity, seconds: float) -> bool:
    """Wait until a process is gone."""
    deadline = time.monotonic() + seconds
    while alive(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def first_child(pid: int, proc: Path = PROC) -> int | None:
    """The oldest child of a process."""
    try:
        children = (proc / str(pid) / "task" / str(pid) / "children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def in_namespace(kind: str, reference: str, proc: Path = PROC) -> dict[int, int]:
    """Processes whose namespace link of a kind equals a reference: pid here → pid in their own namespace."""
    found: dict[int, int] = {}
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if os.readlink(entry / "ns" / kind) != reference:
                continue
            status = (entry / "status").read_text()
        except OSError:
            continue
        lines = [line for line in status.splitlines() if line.startswith("NSpid:")]
        found[int(entry.name)] = int(lines[0].split()[-1]) if lines else int(entry.name)
    return found


def with_arguments(*wanted: str, proc: Path = PROC) -> list[Identity]:
    """Processes whose command line has each of these as a whole argument."""
    found = []
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        identity = identify(int(entry.name)) if set(wanted) <= set(arguments) else None
        if identity is not None:
            found.append(identity)
    return found


def write_atomically(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file so that readers see the old content or the new, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), mode)
    temporary.replace(path)
