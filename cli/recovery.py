"""Interrupted runs: dead owners' locks are cleared, half-made objects adopted or forgotten, `up` goes on."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.failures import check
from cli.locks import Lock, clear_dead_locks, drafts, locks, refuse_living
from cli.pending import HELM_RELEASE, Fate, Pending, settle
from lab.process import run
from lab.progress import Progress

STACK = "pulumi:pulumi:Stack"
NAMESPACE = "kubernetes:core/v1:Namespace"
_UNSETTLED = "the interrupted operations can't be settled"


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """What a killed run left and ``recover`` mends.

    Args:
        locks: Locks whose holder is dead.
        drafts: Half-written locks; while there is one Pulumi reads no state, so the rest is unknown.
        releases: Helm releases out of the state or half-way, as (namespace, name, status).
        pending: Interrupted operations, judged.
        cluster_answers: The cluster could be asked about them.
    """

    locks: tuple[Lock, ...] = ()
    drafts: tuple[Path, ...] = ()
    releases: tuple[tuple[str, str, str], ...] = ()
    pending: tuple[Pending, ...] = ()
    cluster_answers: bool = True

    def told(self) -> list[str]:
        """One line for each, with what will be done."""
        return [
            *(f"half-written lock {draft.name}: cleared" for draft in self.drafts),
            *(f"lock of dead process {lock.pid}: cleared" for lock in self.locks),
            *(f"release {place}/{name}, left {status}: uninstalled" for place, name, status in self.releases),
            *(f"{one.operation} {one.name}: {one.fate} ({one.why})" for one in self.pending),
        ]


def survey(ctx: Context) -> Leftovers:
    """What a killed run left; nothing is touched.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here; or the state can't be read.
    """
    refuse_living(ctx)
    found, halves = tuple(locks(ctx)), tuple(drafts(ctx))
    if halves:
        return Leftovers(locks=found, drafts=halves)
    deployment = exported(ctx)
    operations = deployment.get("pending_operations") or []
    cluster = _cluster(ctx, deployment) if operations else None
    return Leftovers(
        locks=found,
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
    if found.drafts:
        clear_dead_locks(ctx, progress)
        return replace(recover(ctx, progress), locks=found.locks, drafts=found.drafts)
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
    try:
        latest = json.loads(ctx.state_file.read_text())["checkpoint"]["latest"]
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


def exported(ctx: Context) -> Mapping[str, Any]:
    """The stack's state as its export.

    Raises:
        LabError: It can't be read; told with the way back.
    """
    deployment: Mapping[str, Any] = _document(ctx).get("deployment") or {}
    return deployment


def _document(ctx: Context) -> Mapping[str, Any]:
    result = ctx.pulumi("stack", "export", "--stack", ctx.env)
    check(ctx, result, "the stack's state can't be read")
    document: Mapping[str, Any] = json.loads(result.stdout)
    return document


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
            adopting = ctx.pulumi("stack", "import", "--file", str(file), "--stack", ctx.env)
            check(ctx, adopting, _UNSETTLED)
    refresh(ctx, _UNSETTLED)


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


def refresh(ctx: Context, trouble: str) -> None:
    """Bring the state in line with the cluster.

    Pending marks are dropped: what exists of them was adopted before, or is by the next ``up``, whose creates
    are server-side applies.

    Raises:
        LabError: It can't be done; ``trouble`` is what that means here.
    """
    flags = ("--yes", "--skip-preview", "--clear-pending-creates")
    check(ctx, ctx.pulumi("refresh", *flags, "--stack", ctx.env), trouble)
