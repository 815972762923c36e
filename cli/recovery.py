"""Interrupted runs: a dead owner's lock is cleared, half-made objects are settled, then `up` goes on."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.context import PROJECT, Context
from lab.errors import LabError
from lab.process import run
from lab.progress import Progress

HELM_RELEASE = "kubernetes:helm.sh/v3:Release"


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
    pending = pending_operations(ctx)
    if not pending:
        return
    names = ", ".join(operation["resource"]["urn"].rsplit("::", 1)[-1] for operation in pending)
    progress.step(f"settling {len(pending)} interrupted operation(s): {names}")
    for operation in pending:
        if operation["resource"]["type"] == HELM_RELEASE:
            _remove_half_made_release(ctx, operation["resource"])
    _drop_pending(ctx)


def locks(ctx: Context) -> list[Lock]:
    """The locks on this environment's stack."""
    directory = ctx.paths.backend / ".pulumi" / "locks" / "organization" / PROJECT / ctx.env
    return [found for path in sorted(directory.glob("*.json")) if (found := _read_lock(path))]


def pending_operations(ctx: Context) -> list[Mapping[str, Any]]:
    """Operations the last run began and never ended."""
    result = ctx.pulumi("stack", "export", "--stack", ctx.env)
    if result.returncode != 0:
        raise LabError(
            "the stack's state can't be read",
            where=str(ctx.paths.backend),
            why=result.stderr.strip(),
            fix="`pulumi stack import` the newest good file of .pulumi/backups there (see `make shell`)",
        )
    deployment = json.loads(result.stdout).get("deployment") or {}
    operations: list[Mapping[str, Any]] = deployment.get("pending_operations") or []
    return operations


def _read_lock(path: Path) -> Lock | None:
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        data = {}
    owner = data if isinstance(data, dict) else {}
    return Lock(path=path, pid=int(owner.get("pid", 0)), hostname=str(owner.get("hostname", "")))


def _is_pulumi(pid: int) -> bool:
    """Whether the process lives and is Pulumi; a reused pid of another program isn't the holder."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("pulumi")
    except OSError:
        return False


def _remove_half_made_release(ctx: Context, resource: Mapping[str, Any]) -> None:
    """A release killed while pending refuses every later install under its name."""
    inputs = resource.get("inputs", {})
    helm = str(ctx.paths.state / "bin" / "helm")
    kube = ("--kubeconfig", str(ctx.paths.kubeconfig), "--namespace", str(inputs.get("namespace", "default")))
    name = str(inputs.get("name", ""))
    listed = run([helm, "list", "--pending", "--short", *kube], env=ctx.environment(), timeout_seconds=60)
    if name in listed.stdout.split():
        run([helm, "uninstall", name, "--wait", *kube], env=ctx.environment(), timeout_seconds=300)


def _drop_pending(ctx: Context) -> None:
    """Forget the pending marks: creates are server-side applies, so the next `up` adopts what exists."""
    result = ctx.pulumi("refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", ctx.env)
    if result.returncode != 0:
        raise LabError(
            "the interrupted operations can't be settled",
            where=f"stack {ctx.env}",
            why=(result.stderr or result.stdout).strip()[-2000:],
            fix="make doctor; then run the same command again",
        )
