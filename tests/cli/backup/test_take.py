"""A backup that is cut off leaves nothing under its name; order and targets of a restore."""

import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from cli.backup import manifest as manifests
from cli.backup import restore as restoring
from cli.backup import take
from cli.backup.manifest import Object, digest
from cli.backup.store import Entry
from cli.context import Context
from lab.errors import LabError
from lab.progress import Progress

DUMPED, STORED = b"dump of mlflow", b"artifact"


@dataclass
class Place:
    """An environment with one database and one object, which notes what is done to it."""

    fails_at: str = ""
    runs: int = 0
    objects: dict[str, bytes] = field(default_factory=lambda: {"1/model": STORED})
    done: list[str] = field(default_factory=list)
    postgresql: str = "15.14"
    api: Any = None
    namespace: str = "data"
    env: str = "dev"

    @property
    def ctx(self) -> "Place":
        return self

    def server(self) -> "Place":
        return self

    @contextmanager
    def store(self) -> Iterator["Place"]:
        yield self

    def step(self, name: str) -> None:
        self.done.append(name)
        if name == self.fails_at:
            raise LabError("cut", where="", why="", fix="")

    def databases(self) -> dict[str, str]:
        return {"mlflow": "mlflow"}

    def version(self) -> str:
        return self.postgresql

    def records(self, database: str) -> int:
        del database
        return self.runs

    def dump(self, database: str, path: Path) -> None:
        path.write_bytes(DUMPED[:5])
        self.step(f"dump {database}")
        path.write_bytes(DUMPED)

    def entries(self) -> list[Entry]:
        return [Entry(bucket="b", key=key, size=len(data)) for key, data in sorted(self.objects.items())]

    def fetch(self, entry: Entry, directory: Path, name: str) -> Object:
        self.step(f"fetch {entry.key}")
        (directory / name).write_bytes(self.objects[entry.key])
        return Object(
            bucket="b",
            key=entry.key,
            file=name,
            sha256=digest(directory / name),
            size=entry.size,
            content_type="",
            metadata={},
        )

    def restore_beside(self, database: str, owner: str, path: Path) -> None:
        assert (owner, path.read_bytes()) == ("mlflow", DUMPED)
        self.step(f"beside {database}")

    def take_over(self, database: str) -> None:
        self.step(f"take over {database}")

    def put(self, kept: Object, directory: Path) -> None:
        self.step(f"put {kept.key}")
        self.objects[kept.key] = (directory / kept.file).read_bytes()

    def remove(self, entry: Entry) -> None:
        self.step(f"remove {entry.key}")
        del self.objects[entry.key]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Place], Context]:
    """Make both commands work on a place."""

    class Stop:
        def __init__(self, place: Place, progress: Progress) -> None:
            del progress
            self._place = place

        def __call__(self) -> None:
            self._place.step("stop")

        def back(self) -> None:
            self._place.done.append("start")

    def set_up(place: Place) -> Context:
        monkeypatch.setattr(take, "site", lambda ctx: place)  # noqa: ARG005
        monkeypatch.setattr(take, "leave", lambda api, namespace, made: place.done.append("note"))  # noqa: ARG005
        monkeypatch.setattr(restoring, "site", lambda ctx: place)  # noqa: ARG005
        monkeypatch.setattr(restoring, "_Stop", Stop)
        monkeypatch.setattr(restoring, "wait_until_answering", lambda ctx, progress: None)  # noqa: ARG005
        return cast("Context", place)

    return set_up


QUIET = Progress(write=lambda line: None)  # noqa: ARG005


@pytest.mark.parametrize("name", ["kept", "kept.tar"])
def test_a_backup_is_restored_into_an_empty_place(use: Any, tmp_path: Path, name: str) -> None:
    full, empty = Place(runs=3), Place(objects={})
    take.backup(use(full), tmp_path / name, QUIET)
    assert full.done == ["dump mlflow", "fetch 1/model", "note"]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    restoring.restore(use(empty), tmp_path / name, QUIET, replace=False)
    assert empty.objects == full.objects
    assert empty.done == ["stop", "beside mlflow", "put 1/model", "take over mlflow", "start"]


@pytest.mark.parametrize("fails_at", ["dump mlflow", "fetch 1/model"])
@pytest.mark.parametrize("name", ["kept", "kept.tar"])
def test_a_failed_backup_leaves_nothing(use: Any, tmp_path: Path, name: str, fails_at: str) -> None:
    place = Place(fails_at=fails_at)
    with pytest.raises(LabError, match="cut"):
        take.backup(use(place), tmp_path / name, QUIET)
    assert list(tmp_path.iterdir()) == []
    assert "note" not in place.done


def test_what_a_kill_left_is_no_backup_and_in_nobodys_way(use: Any, tmp_path: Path) -> None:
    partial = tmp_path / "kept.partial"
    partial.mkdir()
    (partial / "database-0000.dump").write_bytes(b"half")
    with pytest.raises(LabError, match="never finished"):
        restoring.restore(use(Place()), partial, QUIET, replace=True)
    take.backup(use(Place()), tmp_path / "kept", QUIET)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert manifests.read(tmp_path / "kept").environment == "dev"


def test_nothing_is_overwritten(use: Any, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(LabError, match="target exists"):
        take.backup(use(Place()), tmp_path / "kept", QUIET)
    assert (tmp_path / "kept").read_text() == "mine"


def test_a_damaged_backup_touches_nothing(use: Any, tmp_path: Path) -> None:
    take.backup(use(Place()), tmp_path / "kept", QUIET)
    (tmp_path / "kept" / "object-00000000").write_bytes(b"other!!!")
    place = Place(objects={})
    with pytest.raises(LabError, match="not what was written"):
        restoring.restore(use(place), tmp_path / "kept", QUIET, replace=True)
    assert place.done == []


@pytest.mark.parametrize("place", [Place(runs=1, objects={}), Place(objects={"other": b"x"})])
def test_a_place_with_data_is_refused_unless_it_is_to_be_replaced(
    use: Any, tmp_path: Path, place: Place
) -> None:
    take.backup(use(Place()), tmp_path / "kept", QUIET)
    with pytest.raises(LabError, match="isn't empty"):
        restoring.restore(use(place), tmp_path / "kept", QUIET, replace=False)
    assert "stop" not in place.done
    restoring.restore(use(place), tmp_path / "kept", QUIET, replace=True)
    assert place.objects == {"1/model": STORED}


def test_a_newer_postgresql_is_refused(use: Any, tmp_path: Path) -> None:
    take.backup(use(Place(postgresql="16.1")), tmp_path / "kept", QUIET)
    with pytest.raises(LabError, match="newer PostgreSQL"):
        restoring.restore(use(Place(objects={})), tmp_path / "kept", QUIET, replace=False)


def test_services_start_again_whatever_fails(use: Any, tmp_path: Path) -> None:
    take.backup(use(Place()), tmp_path / "kept", QUIET)
    place = Place(fails_at="put 1/model", objects={})
    with pytest.raises(LabError, match="cut"):
        restoring.restore(use(place), tmp_path / "kept", QUIET, replace=False)
    # The database in use was never touched.
    assert place.done == ["stop", "beside mlflow", "put 1/model", "start"]


def test_a_tar_can_not_write_outside(use: Any, tmp_path: Path) -> None:
    evil = tmp_path / "evil.tar"
    (tmp_path / "payload").write_text("x")
    with tarfile.open(evil, "w") as tar:
        tar.add(tmp_path / "payload", arcname="../escaped")
    with pytest.raises(LabError, match="no whole backup"):
        restoring.restore(use(Place()), evil, QUIET, replace=True)
    assert not (tmp_path / "escaped").exists()
