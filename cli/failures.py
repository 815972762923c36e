"""What Pulumi's own words of failure mean, and the command that mends it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from cli.context import Context
    from lab.paths import Paths

_STATE = re.compile(
    r"failed to load checkpoint|(load|read|unmarshal)ing? (the )?(checkpoint|deployment|stack)"
)
_PASSPHRASE = re.compile(r"incorrect passphrase|passphrase must be set|get stack secrets manager")
_DISK_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_UNREACHABLE = re.compile(r"cluster is unreachable|unable to load schema information from the API server")


def failure(ctx: Context, what: str, output: str, *, why: str = "", fix: str = "") -> LabError:
    """The failure of a Pulumi command with its cause, where Pulumi's words give it away.

    Args:
        ctx: The environment.
        what: What failed, one line.
        output: What Pulumi said.
        why: The cause where none is recognised; the last of Pulumi's words if left out.
        fix: The next command where no cause is recognised.
    """
    recognised = known_failure(ctx, what, output)
    if recognised is not None:
        return recognised
    told = why or output.strip()[-2000:] or "Pulumi gave no reason"
    return LabError(what, where=f"stack {ctx.env}", why=told, fix=fix or "make doctor")


def known_failure(ctx: Context, what: str, output: str) -> LabError | None:
    """The same where the cause is recognised, else nothing."""
    known = _known(ctx, output)
    if known is None:
        return None
    where, why, fix = known
    return LabError(what, where=where, why=why, fix=fix)


def disk_full(paths: Paths) -> LabError:
    """The failure of whatever met a full disk."""
    return LabError(
        "the disk is full",
        where=str(paths.state),
        why=f"{_free_mib(paths.state)} MiB are free there, {_free_mib(paths.cache)} MiB in {paths.cache}",
        fix=f"free some, then run the same command again; {paths.logs} may be emptied at any time",
    )


def _known(ctx: Context, output: str) -> tuple[str, str, str] | None:
    """Where, why and what next, for the causes that are known."""
    if _DISK_FULL.search(output):
        told = disk_full(ctx.paths)
        return told.where, f"the disk is full: {told.why}", told.fix
    if _PASSPHRASE.search(output):
        return _passphrase(ctx)
    if _STATE.search(output):
        return _state(ctx, output)
    if _UNREACHABLE.search(output):
        where = str(ctx.paths.kubeconfig) if ctx.on_lab else ctx.settings_file.name
        again = "make up mends the lab" if ctx.on_lab else "make the cluster reachable, then run it again"
        return where, "the cluster does not answer", again
    return None


def _passphrase(ctx: Context) -> tuple[str, str, str]:
    if ctx.on_lab:
        fix = f"git checkout -- {ctx.settings_file.name} (it has the salt of the published passphrase)"
    else:
        fix = "export PULUMI_CONFIG_PASSPHRASE_FILE=<the file with this stack's passphrase>"
    return f"encryptionsalt in {ctx.settings_file.name}", "the passphrase is not the one of this stack", fix


def _state(ctx: Context, output: str) -> tuple[str, str, str]:
    state = ctx.state_file
    lines = [line.strip() for line in output.splitlines() if _STATE.search(line)]
    said = lines[-1].removeprefix("error: ")
    size = state.stat().st_size if state.is_file() else 0
    why = f"the state file is not whole ({size} bytes): {said[-300:]}"
    backup = newest_backup(ctx)
    if backup is not None:
        fix = f"cp {backup} {state} (the newest whole one the engine kept), then run the same command again"
    elif ctx.on_lab:
        fix = f"python -m cli down --force --env {ctx.env} ends the lab with all objects; then make up"
    else:
        fix = f"restore {state} from a backup of your own"
    return str(state), why, fix


def newest_backup(ctx: Context) -> Path | None:
    """The newest whole state the engine kept; None where there is none.

    It keeps the state before the last change beside the state, and copies of whole ones in
    ``.pulumi/backups``.
    """
    beside = ctx.state_file.with_suffix(".json.bak")
    kept = [beside, *ctx.paths.backend.glob(f".pulumi/backups/*/{ctx.env}/*.json")]
    whole = [path for path in kept if path.is_file()]
    for path in sorted(whole, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            latest = json.loads(path.read_text(encoding="utf-8"))["checkpoint"]["latest"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(latest, Mapping):
            return path
    return None


def _free_mib(path: Path) -> int:
    try:
        return shutil.disk_usage(path).free // 2**20
    except OSError:
        return 0


def check(ctx: Context, result: subprocess.CompletedProcess[str], what: str) -> None:
    """Nothing where a command went well.

    Raises:
        LabError: It failed.
    """
    if result.returncode != 0:
        raise failure(ctx, what, result.stderr or result.stdout)
