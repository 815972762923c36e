"""Entries of the cache: made under a lock, complete as soon as they exist, or not there at all."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.errors import LabError

_KEY_CHARACTERS = 16
_PARTIAL = ".partial"


def key_of(parts: Iterable[bytes | str]) -> str:
    """A short key over the parts, order and borders included."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:_KEY_CHARACTERS]


def make_directory(directory: Path) -> Path:
    """Make a directory of the cache or the state.

    Raises:
        LabError: This user may not write there, or a file stands in its way.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"{directory} cannot be made",
            where="cache and state directories",
            why=error.strerror or str(error),
            fix="run as root, or point GPU_PLATFORM_CACHE and GPU_PLATFORM_STATE to writable directories",
        ) from error
    return directory


@contextmanager
def locked(lock: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold an exclusive lock; the kernel frees it when this process ends in whatever way.

    Args:
        lock: The lock file, made when missing and never deleted.
        waiting: Called once when another process holds the lock, before waiting for it.
    """
    make_directory(lock.parent)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def partial_directory(parent: Path, name: str) -> Iterator[Path]:
    """An empty working directory beside its later place; gone afterwards, whatever happened.

    The caller holds the lock of ``name``, so remains of the same name belong to a dead run and go first.
    """
    make_directory(parent)
    work = parent / f".{name}{_PARTIAL}"
    remove_tree(work)
    work.mkdir()
    try:
        yield work
    finally:
        remove_tree(work)


def remove_tree(directory: Path) -> None:
    """Remove a directory that may be absent or hold read-only directories."""
    if not directory.exists():
        return
    for folder, _, _ in os.walk(directory):
        Path(folder).chmod(0o700)
    shutil.rmtree(directory)


def copy_tree(source: Path, target: Path) -> None:
    """Copy files of a read-only module into a new directory, writable for their owner."""
    for folder, directories, files in os.walk(source):
        directories.sort()
        there = target / Path(folder).relative_to(source)
        there.mkdir(mode=0o755)
        for name in sorted(files):
            copy = there / name
            shutil.copyfile(Path(folder) / name, copy)
            copy.chmod(0o644)


def remembered(file: Path, question: str, ask: Callable[[], str]) -> str:
    """An answer kept in a file, asked for when it is not there yet.

    Nothing is kept while the file's directory does not exist or can't be written: asking must not change
    a machine.
    """
    answers: dict[str, str] = {}
    with suppress(OSError, ValueError, TypeError):
        answers = dict(json.loads(file.read_text()))
    if question in answers:
        return str(answers[question])
    answer = ask()
    if file.parent.is_dir():
        draft = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            draft.write_text(json.dumps(answers | {question: answer}, indent=1))
            draft.replace(file)
    return answer
