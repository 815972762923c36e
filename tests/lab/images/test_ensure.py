"""Building on demand: once per recipe, complete or not at all, safe beside a second build."""

import multiprocessing
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from lab import images
from lab.errors import LabError
from lab.images import assembly, recipe
from lab.images.assembly import Workshop
from lab.images.recipe import Recipe
from lab.paths import Paths
from lab.progress import Progress


class Builder:
    """Stands in for the assembly: counts, may be slow, may fail halfway."""

    def __init__(self, counter: Path, *, seconds: float = 0, error: Exception | None = None) -> None:
        self.counter, self.seconds, self.error = counter, seconds, error

    def __call__(self, item: Recipe, _workshop: Workshop, work: Path, _lock: int) -> Path:
        with self.counter.open("a") as counter:
            counter.write(f"{item.name}\n")
        (work / "image.tar").write_bytes(b"half")
        time.sleep(self.seconds)
        if self.error:
            raise self.error
        (work / "image.tar").write_bytes(b"complete")
        return work / "image.tar"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setattr(images, "ensure_debian", lambda *_: tmp_path)
    monkeypatch.setattr(images, "run_environment", lambda _: {})
    return Paths(cache=tmp_path / "cache", state=tmp_path / "state")


def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **options: Any) -> Path:
    counter = tmp_path / "built"
    counter.touch()
    monkeypatch.setattr(images, "assemble", Builder(counter, **options))
    return counter


def ensure(paths: Paths, *names: str) -> dict[str, Path]:
    return images.ensure_images(paths, {}, Progress(write=lambda _: None), names or None)


def visible(paths: Paths) -> list[str]:
    return sorted(path.name for path in paths.images.iterdir() if not path.name.endswith(".lock"))


def test_each_image_is_built_once(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = use(monkeypatch, tmp_path)
    first = ensure(paths)
    assert first == ensure(paths)
    assert counter.read_text().split() == list(recipe.names()) == list(first)
    assert {path.read_bytes() for path in first.values()} == {b"complete"}
    assert visible(paths) == sorted(path.name for path in first.values())
    for name, path in first.items():
        assert images.references()[name].endswith(path.stem.removeprefix(f"{name}-"))


def test_only_the_named_images_are_built(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = use(monkeypatch, tmp_path)
    assert list(ensure(paths, "pause")) == counter.read_text().split() == ["pause"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LabError("a", where="b", why="c", fix="d")])
def test_a_failed_build_leaves_nothing_and_the_next_one_builds(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    use(monkeypatch, tmp_path, error=error)
    with pytest.raises(type(error)):
        ensure(paths, "pause")
    assert visible(paths) == []
    use(monkeypatch, tmp_path)
    assert ensure(paths, "pause")["pause"].read_bytes() == b"complete"


def test_a_full_disk_is_told_with_the_way_out(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, tmp_path, error=OSError(28, "No space left on device", "/cache/image.tar"))
    with pytest.raises(LabError, match="No space left on device") as caught:
        ensure(paths, "pause")
    assert (caught.value.where, visible(paths)) == ("/cache/image.tar", [])


def test_two_builds_at_once_build_once(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = use(monkeypatch, tmp_path, seconds=0.5)
    context = multiprocessing.get_context("fork")
    builds = [context.Process(target=ensure, args=(paths, "pause")) for _ in range(2)]
    for build in builds:
        build.start()
    for build in builds:
        build.join()
    assert [build.exitcode for build in builds] == [0, 0]
    assert counter.read_text().split() == ["pause"]
    assert ensure(paths, "pause")["pause"].read_bytes() == b"complete"


def test_a_killed_build_does_not_count(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = use(monkeypatch, tmp_path, seconds=60)
    build = multiprocessing.get_context("fork").Process(target=ensure, args=(paths, "pause"))
    build.start()
    while not counter.read_text():
        time.sleep(0.01)
    build.kill()
    build.join()
    assert build.exitcode == -signal.SIGKILL
    assert not any(name.endswith(".tar") for name in visible(paths))
    use(monkeypatch, tmp_path)
    assert ensure(paths, "pause")["pause"].read_bytes() == b"complete"
    assert visible(paths) == [ensure(paths, "pause")["pause"].name]


def test_old_archives_of_the_image_go_and_no_others(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, tmp_path)
    paths.images.mkdir(parents=True)
    for number, name in enumerate(("pause-00000000000a", "pause-00000000000b", "pause-more-00000000000c")):
        (paths.images / f"{name}.tar").touch()
        os.utime(paths.images / f"{name}.tar", (1000 + number, 1000 + number))
    archive = ensure(paths, "pause")["pause"].name
    assert visible(paths) == sorted([archive, "pause-00000000000b.tar", "pause-more-00000000000c.tar"])


def test_a_recipe_changed_after_its_tag_is_refused(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = use(monkeypatch, tmp_path)
    monkeypatch.setattr(recipe, "FORMAT", "next")
    with pytest.raises(LabError, match="tags of images are not those of their recipes: pause") as caught:
        ensure(paths, "pause")
    assert caught.value.fix == "run: python -m lab images lock"
    assert counter.read_text() == ""


def test_a_program_that_is_not_built_is_named(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "ensure_root", lambda *_: pytest.fail("packages fetched in vain"))
    with pytest.raises(LabError, match=re.escape("program 'pause' of image 'pause' is not built")):
        ensure(paths, "pause")
    assert [name for name in visible(paths) if name != "logs"] == []
