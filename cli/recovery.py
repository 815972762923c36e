"""Interrupted runs: a dead owner's lock is cleared, half-made objects are settled, then `up` goes on."""

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.context import PROJECT, Context
from cli.failures import check
from lab.errors import LabError
from lab.process import run
from lab.progress import Progress

HELM_RELEASE = "kubernetes:helm.sh/v3:Release"
NAMESPACE = "kubernetes:core/v1:Namespace"
# Writing a lock takes milliseconds: an older draft has no writer any more.
_DRAFT_SECONDS = 5.0


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


def recover(ctx: Context, progress: Progress) -> None:
    """Clear what a killed run left, so that the next operation can converge.

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here.
    """
    clear_dead_locks(ctx, progress)
    deployment = exported(ctx)
    _remove_unknown_releases(ctx, deployment, progress)
    pending = deployment.get("pending_operations") or []
    if not pending:
        return
    names = ", ".join(operation["resource"]["urn"].rsplit("::", 1)[-1] for operation in pending)
    progress.step(f"settling {len(pending)} interrupted operation(s): {names}")
    refresh(ctx, "the interrupted operations can't be settled")


def clear_dead_locks(ctx: Context, progress: Progress) -> None:
    """Clear the locks of runs that are no more, and drafts of locks that a full disk left.

    Pulumi 3.274 reads those too, and every operation then ends with "unexpected end of JSON input".

    Raises:
        LabError: Another run is alive, or its owner can't be judged from here.
    """
    for draft in _lock_directory(ctx).glob("*.tmp"):
        if time.time() - draft.stat().st_mtime > _DRAFT_SECONDS:
            progress.step(f"clearing the half-written lock {draft.name}")
            draft.unlink(missing_ok=True)
    for lock in locks(ctx):
        if not lock.dead:
            raise LabError(
                "another Pulumi run holds the stack",
                where=str(lock.path),
                why=f"process {lock.pid} on {lock.hostname}",
                fix="wait for it to end; if it is gone for sure, `pulumi cancel --yes` (see `make shell`)",
            )
        progress.step(f"clearing the lock of dead process {lock.pid}")
        lock.path.unlink(missing_ok=True)


def locks(ctx: Context) -> list[Lock]:
    """The locks on this environment's stack."""
    return [found for path in sorted(_lock_directory(ctx).glob("*.json")) if (found := _read_lock(path))]


def _lock_directory(ctx: Context) -> Path:
    return ctx.paths.backend / ".pulumi" / "locks" / "organization" / PROJECT / ctx.env


def exported(ctx: Context) -> Mapping[str, Any]:
    """The stack's state as its export.

    Raises:
        LabError: It can't be read; told with the way back.
    """
    result = ctx.pulumi("stack", "export", "--stack", ctx.env)
    check(ctx, result, "the stack's state can't be read")
    deployment: Mapping[str, Any] = json.loads(result.stdout).get("deployment") or {}
    return deployment


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


def _remove_unknown_releases(ctx: Context, deployment: Mapping[str, Any], progress: Progress) -> None:
    """Uninstall releases in our namespaces that a killed run left out of the state or half-way.

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
    helm = (str(ctx.paths.state / "bin" / "helm"), "--kubeconfig", str(ctx.paths.kubeconfig))
    env = ctx.environment()
    listed = run(
        [*helm, "list", "--all", "--all-namespaces", "--output", "json"], env=env, timeout_seconds=60
    )
    if listed.returncode != 0:
        return
    for release in json.loads(listed.stdout or "[]"):
        place = (release["namespace"], release["name"])
        half_way = str(release["status"]).startswith("pending")
        if release["namespace"] in ours and (place not in known or half_way):
            progress.step(
                f"uninstalling release {'/'.join(place)}, which a killed run left {release['status']}"
            )
            run([*helm, "uninstall", place[1], "--namespace", place[0]], env=env, timeout_seconds=300)


def refresh(ctx: Context, trouble: str) -> None:
    """Bring the state in line with the cluster.

    Pending marks are dropped: creates are server-side applies, so the next ``up`` adopts what exists.

    Raises:
        LabError: It can't be done; ``trouble`` is what that means here.
    """
    flags = ("--yes", "--skip-preview", "--clear-pending-creates")
    check(ctx, ctx.pulumi("refresh", *flags, "--stack", ctx.env), trouble)
