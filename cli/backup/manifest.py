"""What a backup holds, written last and checked first: a backup without its manifest is none.

Files are named by number: keys of objects come from users and never become paths.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.errors import LabError

FORMAT = 1
FILE = "manifest.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Database:
    """A dumped database; ``file`` is in PostgreSQL's custom format."""

    name: str
    owner: str
    file: str
    sha256: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Object:
    """An object of the store with what the store keeps beside its bytes."""

    bucket: str
    key: str
    file: str
    sha256: str
    size: int
    content_type: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A whole backup.

    Args:
        environment: Where it was taken.
        created: When it began, ISO 8601 in UTC.
        versions: What took part: ``postgresql`` and the images of the services.
        databases: Dumped databases.
        objects: Copied objects.
    """

    environment: str
    created: str
    versions: Mapping[str, str]
    databases: tuple[Database, ...]
    objects: tuple[Object, ...]

    @property
    def parts(self) -> tuple[Database | Object, ...]:
        """Everything that lies in a file."""
        return (*self.databases, *self.objects)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(part.size for part in self.parts)


def write(manifest: Manifest, directory: Path) -> None:
    """Write the manifest, which makes the directory a backup."""
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=2, sort_keys=True)
    (directory / FILE).write_text(text + "\n", encoding="utf-8")


def read(directory: Path) -> Manifest:
    """Read the manifest and check every file against it.

    Raises:
        LabError: No backup, one of another format, or a damaged one; names each damaged file.
    """
    try:
        document = json.loads((directory / FILE).read_text(encoding="utf-8"))
        found = _parse(document)
    except FileNotFoundError:
        raise _bad(directory, "it has no manifest.json, so it was never finished") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _bad(directory, f"its manifest can't be read: {type(error).__name__}: {error}") from error
    damaged = list(_damage(found, directory))
    if damaged:
        raise _bad(directory, "; ".join(damaged[:10]))
    return found


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    told = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            told.update(chunk)
    return told.hexdigest()


def _parse(document: Mapping[str, Any]) -> Manifest:
    if document["format"] != FORMAT:
        raise ValueError(f"format {document['format']!r}, this release reads {FORMAT}")
    return Manifest(
        environment=str(document["environment"]),
        created=str(document["created"]),
        versions=dict(document["versions"]),
        databases=tuple(Database(**one) for one in document["databases"]),
        objects=tuple(Object(**one) for one in document["objects"]),
    )


def _damage(manifest: Manifest, directory: Path) -> Iterator[str]:
    for part in manifest.parts:
        path = directory / part.file
        if Path(part.file).is_absolute() or ".." in Path(part.file).parts:
            yield f"{part.file!r} lies outside of it"
        elif path.is_symlink() or not path.is_file():
            yield f"{part.file} is missing"
        elif path.stat().st_size != part.size or digest(path) != part.sha256:
            yield f"{part.file} is not what was written"


def _bad(directory: Path, why: str) -> LabError:
    return LabError("this is no whole backup", where=str(directory), why=why, fix="use another backup")
