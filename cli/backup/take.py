"""`backup`: databases and objects into a directory or tar file that is whole or not there."""

import os
import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path

from cli.backup import manifest as manifests
from cli.backup.manifest import Database, Manifest, digest
from cli.backup.mark import leave
from cli.backup.postgres import Server
from cli.backup.site import Site, site
from cli.backup.store import Store
from cli.context import Context
from lab.errors import LabError
from lab.progress import Progress

_TAR = ".tar"


def backup(ctx: Context, to: Path, progress: Progress) -> Manifest:
    """Take a backup while the services run.

    Databases first: an artifact is stored before the run that names it ends, so every artifact a dumped row
    names is among the objects.

    Args:
        ctx: The environment.
        to: A directory to make, or a file to make where it ends in ``.tar``.
        progress: Where steps are told.

    Raises:
        LabError: The target exists, or a service doesn't hand out its data; nothing stays then.
    """
    if to.exists():
        raise LabError(
            "the backup's target exists", where=str(to), why="a backup never overwrites", fix="name another"
        )
    progress.enter("backup")
    found = site(ctx)
    # Beside the target, so that the last step is a rename, which is done or not done.
    work = to.with_name(f"{to.name}.partial")
    try:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700, parents=True)
        made = _fill(found, work, progress)
        _finish(work, to)
    except OSError as error:
        raise LabError(
            "the backup can't be written",
            where=error.filename or str(work),
            why=error.strerror or str(error),
            fix="name a place with room that you may write to",
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    leave(found.api, found.namespace, made)
    progress.step(
        f"{to}: {len(made.databases)} databases, {len(made.objects)} objects, {made.size / 2**20:.1f} MiB"
    )
    return made


def _fill(found: Site, work: Path, progress: Progress) -> Manifest:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    server = found.server()
    databases = _dump(server, work, progress)
    with found.store() as store:
        objects = _copy(store, work, progress)
    made = Manifest(
        environment=found.ctx.env,
        created=created,
        versions={"postgresql": server.version(), "format": str(manifests.FORMAT)},
        databases=databases,
        objects=objects,
    )
    manifests.write(made, work)
    return made


def _dump(server: Server, work: Path, progress: Progress) -> tuple[Database, ...]:
    dumped = []
    for number, (name, owner) in enumerate(server.databases().items()):
        progress.step(f"database {name}")
        file = f"database-{number:04d}.dump"
        server.dump(name, work / file)
        path = work / file
        dumped.append(
            Database(name=name, owner=owner, file=file, sha256=digest(path), size=path.stat().st_size)
        )
    return tuple(dumped)


def _copy(store: Store, work: Path, progress: Progress) -> tuple[manifests.Object, ...]:
    entries = store.entries()
    progress.step(f"{len(entries)} objects")
    return tuple(store.fetch(entry, work, f"object-{number:08d}") for number, entry in enumerate(entries))


def _finish(work: Path, to: Path) -> None:
    """Flush everything to disk, then let it appear under its name."""
    if to.suffix == _TAR:
        packed = work / "packed.tar"
        with tarfile.open(packed, "w") as tar:
            for path in sorted(work.iterdir()):
                if path != packed:
                    tar.add(path, arcname=path.name)
        packed.chmod(0o600)
        _flush(packed)
        packed.rename(to)
    else:
        for path in work.iterdir():
            _flush(path)
        work.rename(to)
    _flush(to.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
