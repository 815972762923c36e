"""A backup is whole or refused."""

import json
from pathlib import Path

import pytest

from cli.backup.manifest import FILE, Database, Manifest, Object, digest, read, write
from lab.errors import LabError

# By sha256sum of an empty file.
EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def made(tmp_path: Path) -> Manifest:
    """A backup of one database and two objects, one of them with a key no file may have."""
    (tmp_path / "database-0000.dump").write_bytes(b"dump")
    (tmp_path / "object-00000000").write_bytes(b"")
    (tmp_path / "object-00000001").write_bytes(b"x")
    found = Manifest(
        environment="dev",
        created="2026-01-01T00:00:00+00:00",
        versions={"postgresql": "15.14"},
        databases=(
            Database(
                name="mlflow",
                owner="mlflow",
                file="database-0000.dump",
                sha256=digest(tmp_path / "database-0000.dump"),
                size=4,
            ),
        ),
        objects=(
            _object("a/b", 0, EMPTY_SHA256),
            _object("../../etc/passwd", 1, digest(tmp_path / "object-00000001")),
        ),
    )
    write(found, tmp_path)
    return found


def _object(key: str, number: int, sha256: str) -> Object:
    return Object(
        bucket="mlflow",
        key=key,
        file=f"object-{number:08d}",
        sha256=sha256,
        size=number,
        content_type="text/plain",
        metadata={"who": "me"},
    )


def test_what_is_written_is_read(made: Manifest, tmp_path: Path) -> None:
    assert read(tmp_path) == made
    assert made.size == 5


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("database-0000.dump", b"dumq", "database-0000.dump is not what was written"),
        ("object-00000001", b"xx", "object-00000001 is not what was written"),
        ("object-00000001", None, "object-00000001 is missing"),
        (FILE, None, "never finished"),
        (FILE, b"{", "can't be read"),
        (FILE, b"[]", "can't be read"),
        (FILE, b'{"format": 2}', "format 2, this release reads 1"),
        (FILE, b'{"format": 1}', "can't be read"),
    ],
)
def test_damage_is_named(made: Manifest, tmp_path: Path, name: str, content: bytes | None, why: str) -> None:
    del made
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LabError, match=rf"this is no whole backup(?s:.)*{why}"):
        read(tmp_path)


@pytest.mark.parametrize("file", ["/etc/hostname", "../outside", "link"])
def test_a_manifest_can_not_lead_outside(made: Manifest, tmp_path: Path, file: str) -> None:
    del made
    (tmp_path / "link").symlink_to("/etc/hostname")
    document = json.loads((tmp_path / FILE).read_text())
    document["objects"][0]["file"] = file
    (tmp_path / FILE).write_text(json.dumps(document))
    with pytest.raises(LabError, match=r"lies outside|is missing"):
        read(tmp_path)
