"""One operation on the lab at a time, with the name of who does it."""

import fcntl
import json
import os
import pwd
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.cluster.processes import Identity, alive, identify
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths


def lock_path(paths: Paths) -> Path:
    """The file the lock is taken on."""
    return paths.run / "lab.lock"


@contextmanager
def lab_lock(paths: Paths, purpose: str) -> Iterator[None]:
    """Hold the lab for one operation.

    The lock is the kernel's (``flock``): it ends with its process, however that ends, so nothing stale stays.
    The file tells who holds it. Taking it again inside the process that holds it does nothing.

    Args:
        paths: Directories of the lab.
        purpose: What the holder does, for those who are refused.

    Raises:
        LabError: Another living process holds it, or the state directory cannot be written.
    """
    path = lock_path(paths)
    descriptor = _open(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(path)
            if owner.get("pid") != os.getpid() or not alive(_identity(owner)):
                raise _refusal(path, owner) from None
            yield
            return
        _write_owner(descriptor, purpose)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LabError(
            "the lab's state directory cannot be written",
            where=str(path.parent),
            why=error.strerror or str(error),
            fix="run as root, or point GPU_PLATFORM_STATE at a directory of yours",
        ) from error


def _write_owner(descriptor: int, purpose: str) -> None:
    me = identify(os.getpid())
    owner = {
        "pid": os.getpid(),
        "start_time": me.start_time if me else 0,
        "boot_id": me.boot_id if me else "",
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "checkout": str(REPOSITORY),
        "purpose": purpose,
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(owner).encode(), 0)


def _owner(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _identity(owner: dict[str, Any]) -> Identity:
    return Identity(
        pid=int(owner.get("pid", 0)),
        start_time=int(owner.get("start_time", 0)),
        boot_id=str(owner.get("boot_id", "")),
    )


def _refusal(path: Path, owner: dict[str, Any]) -> LabError:
    told = (
        f"{owner['purpose']} runs since {owner['since']} as process {owner['pid']} "
        f"of user {owner['user']} from {owner['checkout']}"
        if owner
        else "its holder has not yet written its name"
    )
    return LabError(
        "another operation holds the lab",
        where=str(path),
        why=told,
        fix="wait for it to end, or end that process, then run the command again",
    )
