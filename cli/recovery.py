"""Interrupted runs: dead owners' locks are cleared, half-made objects adopted or forgotten, `up` goes on."""

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from cli.context import PROJECT, Context
from cli.pending import HELM_RELEASE, Fate, Pending, settle
from lab.errors import LabError
from lab.process import run
from lab.progress import Progress

STACK = "pulumi:pulumi:Stack"
NAMESPACE = "kubernetes:core/v1:Namespace"


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A lock of the file backend and who holds it."""

    path: Path
    pid: int
    hostname: str

    @property
    def dead(self) -> bool:
        """Whether the holder ran on this host and is gone."""
        return self.hostname == socket.gethostname() and not _is_pulumi(self.pid)


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """What a killed run left and ``recover`` mends.

    Args:
        locks: Locks whose holder is dead.
        releases: Helm releases out of the state or half-way, as (namespace, name, status).
        pending: Interrupted operations, judged.
        cluster_answers: The cluster could be asked about them.
    """

    locks: tuple[Lock, ...] = ()
    releases: tuple[tuple[str, str, str], ...] = ()
    pending: tuple[Pending, ...] = ()
    cluster_answers: bool = True

    def told(self) -> list[str]:
        """One line for each, with what will be done."""
        return [
            *(f"lock of dead process {lock.pid}: cleared" for lock in self.locks),
            *(f"release {place}/{name}, left {status}: uninstalled" for place, name, status in self.releases),
            *(f"{one.operation} {one.name}: {one.fate} ({one.why})" for one in self.pending),
        ]


def survey(ctx: Context) -> Leftovers:
    """What a killed run left; nothing is touched.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here; or the state can't be read.
    """
    found = locks(ctx)
    for lock in found:
        if not lock.dead:
            raise LabError(
                "another Pulumi run holds the stack",
                where=str(lock.path),
                why=f"process {lock.pid} on {lock.hostname}",
                fix="wait for it to end; if it is gone for sure, `pulumi cancel --yes` (see `make shell`)",
            )
    deployment = exported(ctx)
    operations = deployment.get("pending_operations") or []
    cluster = _cluster(ctx, deployment) if operations else None
    return Leftovers(
        locks=tuple(found),
        releases=tuple(_unknown_releases(ctx, deployment)),
        pending=tuple(settle(operations, cluster)),
        cluster_answers=not operations or cluster is not None,
    )


def recover(ctx: Context, progress: Progress) -> Leftovers:
    """Mend what a killed run left, so that the next operation can converge.

    Returns:
        What there was.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here.
    """
    found = survey(ctx)
    for line in found.told():
        progress.step(line)
    for lock in found.locks:
        lock.path.unlink(missing_ok=True)
    _uninstall(ctx, found.releases)
    if found.pending:
        _settle(ctx, found.pending)
    return found


def hint(ctx: Context) -> str:
    """What a command that mends nothing tells about a killed run; empty when there is nothing.

    Reads the file backend only: it must cost no command a second.
    """
    found = locks(ctx)
    if any(not lock.dead for lock in found):
        return ""
    state = ctx.paths.backend / ".pulumi" / "stacks" / PROJECT / f"{ctx.env}.json"
    try:
        latest = json.loads(state.read_text())["checkpoint"]["latest"]
        pending = len(latest.get("pending_operations") or [])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pending = 0
    parts = [f"{len(found)} lock(s) of dead processes"] if found else []
    parts += [f"{pending} pending operation(s)"] if pending else []
    if not parts:
        return ""
    return (
        f"an interrupted run left {' and '.join(parts)}; see them with "
        f"`python -m cli recover --env {ctx.env} --dry-run`, mend them without --dry-run, or run make up"
    )


def locks(ctx: Context) -> list[Lock]:
    """The locks on this environment's stack."""
    directory = ctx.paths.backend / ".pulumi" / "locks" / "organization" / PROJECT / ctx.env
    return [found for path in sorted(directory.glob("*.json")) if (found := _read_lock(path))]


def exported(ctx: Context) -> Mapping[str, Any]:
    """The stack's state as its export.

    Raises:
        LabError: It can't be read; told with the way back.
    """
    deployment: Mapping[str, Any] = _document(ctx).get("deployment") or {}
    return deployment


def _document(ctx: Context) -> Mapping[str, Any]:
    result = ctx.pulumi("stack", "export", "--stack", ctx.env)
    if result.returncode != 0:
        state = ctx.paths.backend / ".pulumi" / "stacks" / PROJECT / f"{ctx.env}.json"
        raise LabError(
            "the stack's state can't be read",
            where=str(state),
            why=result.stderr.strip(),
            fix=f"cp {state}.bak {state} (the state before the last step; older ones in .pulumi/backups), "
            "then run the same command again",
        )
    document: Mapping[str, Any] = json.loads(result.stdout)
    return document


def _read_lock(path: Path) -> Lock | None:
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        data = {}
    owner = data if isinstance(data, dict) else {}
    pid = owner.get("pid")
    return Lock(path=path, pid=pid if isinstance(pid, int) else 0, hostname=str(owner.get("hostname", "")))


def _is_pulumi(pid: int) -> bool:
    """Whether the process lives and is Pulumi; a reused pid of another program isn't the holder."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("pulumi")
    except OSError:
        return False


def _cluster(ctx: Context, deployment: Mapping[str, Any]) -> client.ApiClient | None:
    """The cluster the stack's outputs name, else the lab's; None where it doesn't answer.

    A first run that was killed left no outputs.
    """
    place: tuple[str, str | None] | None = (str(ctx.paths.kubeconfig), None) if ctx.on_lab else None
    for item in deployment.get("resources") or []:
        if item["type"] == STACK and (cluster := (item.get("outputs") or {}).get("cluster")):
            place = (str(cluster.get("kubeconfig")), cluster.get("context"))
    if place is None:
        return None
    try:
        api = config.new_client_from_config(*place)
        client.VersionApi(api).get_code(_request_timeout=5)
    except (config.ConfigException, client.ApiException, HTTPError):
        return None
    return api


def _unknown_releases(ctx: Context, deployment: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Releases in our namespaces that a killed run left out of the state or half-way.

    Helm refuses every later install under the name of such a release, whatever its status.
    """
    resources = deployment.get("resources") or []
    ours = {item["id"] for item in resources if item["type"] == NAMESPACE and "id" in item}
    if not ours or not ctx.on_lab:
        return
    known = {
        (str(item["inputs"].get("namespace")), str(item["inputs"].get("name")))
        for item in resources
        if item["type"] == HELM_RELEASE
    }
    listed = run(
        [*_helm(ctx), "list", "--all", "--all-namespaces", "--output", "json"],
        env=ctx.environment(),
        timeout_seconds=60,
    )
    if listed.returncode != 0:
        return
    for release in json.loads(listed.stdout or "[]"):
        place = (str(release["namespace"]), str(release["name"]))
        half_way = str(release["status"]).startswith("pending")
        if place[0] in ours and (place not in known or half_way):
            yield (*place, str(release["status"]))


def _uninstall(ctx: Context, releases: Sequence[tuple[str, str, str]]) -> None:
    for namespace, name, _ in releases:
        run(
            [*_helm(ctx), "uninstall", name, "--namespace", namespace],
            env=ctx.environment(),
            timeout_seconds=300,
        )


def _helm(ctx: Context) -> tuple[str, ...]:
    return (str(ctx.paths.state / "bin" / "helm"), "--kubeconfig", str(ctx.paths.kubeconfig))


def _settle(ctx: Context, pending: Sequence[Pending]) -> None:
    """Take what exists into the state, forget the other marks, and read how everything is now.

    The engine's own ``--import-pending-creates`` (3.274) only renames the mark and then drops it; so the
    resource is written into the state with its id, and the refresh fills in the rest.
    """
    adopted = {one.urn: one for one in pending if one.fate is Fate.ADOPT}
    if adopted:
        with tempfile.TemporaryDirectory(prefix="gpu-platform-recover-") as directory:
            file = Path(directory) / "state.json"
            file.write_text(json.dumps(with_adopted(_document(ctx), adopted)))
            _check(ctx, "stack", "import", "--file", str(file), "--stack", ctx.env)
    _check(ctx, "refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", ctx.env)


def with_adopted(document: Mapping[str, Any], adopted: Mapping[str, Pending]) -> Mapping[str, Any]:
    """The exported state with the adopted resources among the others, each under its id."""
    deployment = document["deployment"]
    pending = deployment.get("pending_operations") or []
    taken = [one["resource"] for one in pending if one["resource"]["urn"] in adopted]
    entries = [
        {**one, "id": adopted[one["urn"]].identity, "outputs": dict(adopted[one["urn"]].outputs)}
        for one in taken
    ]
    rest = [one for one in pending if one["resource"]["urn"] not in adopted]
    # At the end: what it needs was made before it, and nothing can need it yet.
    resources = [*(deployment.get("resources") or []), *entries]
    return {**document, "deployment": {**deployment, "resources": resources, "pending_operations": rest}}


def _check(ctx: Context, *arguments: str) -> None:
    result = ctx.pulumi(*arguments)
    if result.returncode != 0:
        raise LabError(
            "the interrupted operations can't be settled",
            where=f"stack {ctx.env}",
            why=(result.stderr or result.stdout).strip()[-2000:],
            fix="make doctor; then run the same command again",
        )
