"""Locks that children inherit: a build counts as running until its last program has ended."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[int]:
    """Hold a lock and give its descriptor, to be passed on to children.

    A child with the descriptor keeps the lock when this process is killed, so that no second build clears the
    directory the child still writes to.

    Args:
        path: The lock file, made when missing and never deleted.
        waiting: Called once before waiting for another holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()
