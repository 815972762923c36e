"""`restore`: a backup into an environment that is up and empty, or one that is to be replaced."""

import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.backup import manifest as manifests
from cli.backup.manifest import Manifest
from cli.backup.postgres import Server
from cli.backup.site import Site, site
from cli.backup.store import Store
from cli.context import Context
from cli.endpoints import wait_until_answering
from cli.kube import reason
from lab.errors import LabError
from lab.progress import Progress

# The services that write into the database and the store; they stand still meanwhile.
WRITERS = ("mlflow",)
_STOP_SECONDS = 120.0


def restore(ctx: Context, source: Path, progress: Progress, *, replace: bool) -> Manifest:
    """Put a backup's data in place of the environment's; logins stay the environment's own.

    The backup is checked whole before anything is touched. Databases are restored beside the ones in use and
    take their place in the end; a killed restore is repeated, or given up with ``make up``.

    Args:
        ctx: The environment.
        source: What ``backup`` wrote.
        progress: Where steps are told.
        replace: Also where the environment already holds runs, models or objects; they are lost.

    Raises:
        LabError: The backup is damaged or too new, the environment isn't empty, or a service resists.
    """
    progress.enter("restore")
    with _opened(source) as directory:
        progress.step("checking the backup")
        kept = manifests.read(directory)
        found = site(ctx)
        server = found.server()
        _refuse_newer(server, kept, source)
        with found.store() as store, _writers_stopped(found, progress) as begin:
            if not replace:
                _refuse_full(ctx, server, store)
            begin()
            _databases(server, kept, directory, progress)
            _objects(store, kept, directory, progress)
            for database in kept.databases:
                server.take_over(database.name)
            _prove(store, kept)
    wait_until_answering(ctx, progress)
    progress.step(f"{len(kept.databases)} databases and {len(kept.objects)} objects of {kept.created}")
    return kept


@contextmanager
def _opened(source: Path) -> Iterator[Path]:
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="gpu-platform-restore-") as directory:
        try:
            with tarfile.open(source) as tar:
                tar.extractall(directory, filter="data")
        except (OSError, tarfile.TarError) as error:
            raise LabError(
                "this is no whole backup", where=str(source), why=str(error), fix="use another backup"
            ) from error
        yield Path(directory)


def _refuse_newer(server: Server, kept: Manifest, source: Path) -> None:
    written, here = kept.versions.get("postgresql", "0"), server.version()
    if int(written.split(".")[0]) > int(here.split(".")[0]):
        raise LabError(
            "the backup comes from a newer PostgreSQL",
            where=str(source),
            why=f"it was written by {written}, this environment runs {here}",
            fix=f"pin PostgreSQL {written.split('.')[0]} or newer in versions.toml and run make up",
        )


def _refuse_full(ctx: Context, server: Server, store: Store) -> None:
    records = sum(server.records(name) for name in server.databases())
    objects = len(store.entries())
    if records or objects:
        raise LabError(
            f"environment {ctx.env} isn't empty",
            where=f"environment {ctx.env}",
            why=f"it holds {records} runs and models and {objects} objects, which a restore replaces",
            fix="take a backup of them; then restore --replace",
        )


def _databases(server: Server, kept: Manifest, directory: Path, progress: Progress) -> None:
    here = server.databases()
    for database in kept.databases:
        progress.step(f"database {database.name}")
        owner = here.get(database.name, database.owner)
        server.restore_beside(database.name, owner, directory / database.file)


def _objects(store: Store, kept: Manifest, directory: Path, progress: Progress) -> None:
    progress.step(f"{len(kept.objects)} objects")
    for one in kept.objects:
        store.put(one, directory)
    wanted = {(one.bucket, one.key) for one in kept.objects}
    for entry in store.entries():
        if (entry.bucket, entry.key) not in wanted:
            store.remove(entry)


def _prove(store: Store, kept: Manifest) -> None:
    wanted = {(one.bucket, one.key, one.size) for one in kept.objects}
    there = {(one.bucket, one.key, one.size) for one in store.entries()}
    if wanted != there:
        raise LabError(
            "the store doesn't hold what was restored",
            where="object store",
            why=f"{len(wanted - there)} objects are missing or cut, {len(there - wanted)} are too many",
            fix="run the same command again with --replace",
        )


@contextmanager
def _writers_stopped(found: Site, progress: Progress) -> Iterator["_Stop"]:
    """Scale the writers to nothing once asked to, and back in the end, whatever happens between."""
    stop = _Stop(found, progress)
    try:
        yield stop
    finally:
        stop.back()


class _Stop:
    """Stops the writers when called; ``back`` starts as many as there were."""

    def __init__(self, found: Site, progress: Progress) -> None:
        self._apps = client.AppsV1Api(found.api)
        self._core = client.CoreV1Api(found.api)
        services = found.outputs["services"]
        self._places = [(str(services[name]["namespace"]), name) for name in WRITERS if name in services]
        self._progress = progress
        self._replicas: dict[tuple[str, str], int] = {}

    def __call__(self) -> None:
        try:
            for namespace, name in self._places:
                self._progress.step(f"stopping {name}")
                scale = self._apps.read_namespaced_deployment_scale(name, namespace)
                # None running: a killed restore stopped it.
                self._replicas[namespace, name] = scale.spec.replicas or 1
                self._scale(namespace, name, 0)
            self._wait()
        except (client.ApiException, HTTPError) as error:
            raise self._resists(reason(error)) from error

    def back(self) -> None:
        """Start as many pods as there were."""
        try:
            for (namespace, name), replicas in self._replicas.items():
                self._progress.step(f"starting {name}")
                self._scale(namespace, name, replicas)
        except (client.ApiException, HTTPError) as error:
            raise self._resists(reason(error)) from error

    def _scale(self, namespace: str, name: str, replicas: int) -> None:
        self._apps.patch_namespaced_deployment_scale(name, namespace, {"spec": {"replicas": replicas}})

    def _wait(self) -> None:
        deadline = time.monotonic() + _STOP_SECONDS
        for namespace, name in self._places:
            selector = f"app.kubernetes.io/name={name}"
            while self._core.list_namespaced_pod(namespace, label_selector=selector).items:
                if time.monotonic() > deadline:
                    raise self._resists(f"pods of {name} still run after {_STOP_SECONDS:.0f} s")
                time.sleep(1.0)

    def _resists(self, why: str) -> LabError:
        return LabError(
            "the services that write can't be stopped or started",
            where=", ".join(name for _, name in self._places),
            why=why,
            fix="make up brings them back; then the same command again",
        )
