"""Entries of the cache under locks, interruptions and odd contents."""

import multiprocessing
import time
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.toolchain.cache import (
    copy_tree,
    key_of,
    locked,
    make_directory,
    partial_directory,
    remembered,
    remove_tree,
)


def test_key_depends_on_order_and_borders_of_parts() -> None:
    keys = {key_of(parts) for parts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"], ["ab", "c", ""])}
    assert len(keys) == 5
    assert key_of([b"ab", b"c"]) == key_of(["ab", "c"])


def test_partial_directory_is_gone_after_success_and_failure_and_drops_remains(tmp_path: Path) -> None:
    remains = tmp_path / ".thing.partial"
    (remains / "sub").mkdir(parents=True)
    (remains / "sub" / "half").write_text("half")
    (remains / "sub").chmod(0o500)
    with partial_directory(tmp_path, "thing") as work:
        assert list(work.iterdir()) == []
        (work / "new").write_text("new")
    with pytest.raises(KeyboardInterrupt), partial_directory(tmp_path, "thing"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_copies_of_read_only_trees_are_writable(tmp_path: Path) -> None:
    source = tmp_path / "module"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file").write_text("text")
    (source / "sub" / "file").chmod(0o444)
    (source / "sub").chmod(0o555)
    copy_tree(source, tmp_path / "copy")
    copy = tmp_path / "copy" / "sub" / "file"
    assert copy.read_text() == "text"
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o644, 0o755)
    (source / "sub").chmod(0o755)
    remove_tree(tmp_path / "copy")
    remove_tree(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_file_in_the_way_of_a_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a directory")
    with pytest.raises(LabError, match=r"cache/tools cannot be made\n.*where:(.|\n)*GPU_PLATFORM_CACHE"):
        make_directory(tmp_path / "cache" / "tools")


def _hold(lock: Path, ready: Path) -> None:
    with locked(lock):
        ready.write_text("")
        time.sleep(60)


def test_a_lock_is_waited_for_and_freed_by_the_death_of_its_holder(tmp_path: Path) -> None:
    lock, ready = tmp_path / "lock", tmp_path / "ready"
    holder = multiprocessing.get_context("fork").Process(target=_hold, args=(lock, ready))
    holder.start()
    while not ready.exists():
        time.sleep(0.01)
    waited: list[bool] = []

    def waiting() -> None:
        waited.append(True)
        holder.kill()

    with locked(lock, waiting):
        assert waited == [True]
    holder.join()


def test_answers_are_kept_only_where_a_directory_is_there(tmp_path: Path) -> None:
    file, asked = tmp_path / "tools" / "answers.json", []

    def ask() -> str:
        asked.append(1)
        return "answer"

    assert [remembered(file, "question", ask) for _ in range(2)] == ["answer"] * 2
    assert len(asked) == 2
    assert not file.parent.exists()
    file.parent.mkdir()
    file.write_text("half a file {")
    assert [remembered(file, "question", ask) for _ in range(2)] == ["answer"] * 2
    assert remembered(file, "other", lambda: "else") == "else"
    assert remembered(file, "question", ask) == "answer"
    assert len(asked) == 3
