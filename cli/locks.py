"""Locks of the file backend: whose they are, and whether the holder still lives."""

import json
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from cli.context import PROJECT, Context
from lab.errors import LabError
from lab.progress import Progress

# Writing a lock takes milliseconds: an older draft has no writer any more.
_DRAFT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A lock of the file backend and who holds it."""

    path: Path
    pid: int
    hostname: str

    @property
    def dead(self) -> bool:
        """Whether the holder ran on this host and is gone."""
        return self.hostname == socket.gethostname() and not _is_pulumi(self.pid)


def locks(ctx: Context) -> list[Lock]:
    """The locks on this environment's stack."""
    return [found for path in sorted(_lock_directory(ctx).glob("*.json")) if (found := _read_lock(path))]


def drafts(ctx: Context) -> list[Path]:
    """Half-written locks, as a full disk leaves them.

    Pulumi 3.274 reads those too, and every operation then ends with "unexpected end of JSON input".
    """
    found = sorted(_lock_directory(ctx).glob("*.tmp"))
    return [draft for draft in found if time.time() - draft.stat().st_mtime > _DRAFT_SECONDS]


def refuse_living(ctx: Context) -> None:
    """Stop where a lock's holder lives.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here.
    """
    for lock in locks(ctx):
        if not lock.dead:
            raise LabError(
                "another Pulumi run holds the stack",
                where=str(lock.path),
                why=f"process {lock.pid} on {lock.hostname}",
                fix="wait for it to end; if it is gone for sure, `pulumi cancel --yes` (see `make shell`)",
            )


def clear_dead_locks(ctx: Context, progress: Progress) -> None:
    """Clear the locks of runs that are no more, and half-written ones.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here.
    """
    refuse_living(ctx)
    for draft in drafts(ctx):
        progress.step(f"clearing the half-written lock {draft.name}")
        draft.unlink(missing_ok=True)
    for lock in locks(ctx):
        progress.step(f"clearing the lock of dead process {lock.pid}")
        lock.path.unlink(missing_ok=True)


def _lock_directory(ctx: Context) -> Path:
    return ctx.paths.backend / ".pulumi" / "locks" / "organization" / PROJECT / ctx.env


def _read_lock(path: Path) -> Lock | None:
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        data = {}
    owner = data if isinstance(data, dict) else {}
    pid = owner.get("pid")
    return Lock(path=path, pid=pid if isinstance(pid, int) else 0, hostname=str(owner.get("hostname", "")))


def _is_pulumi(pid: int) -> bool:
    """Whether the process lives and is Pulumi; a reused pid of another program isn't the holder."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("pulumi")
    except OSError:
        return False
