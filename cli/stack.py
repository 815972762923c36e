"""The life of a stack: made, recovered, brought up, previewed, destroyed."""

import subprocess

from cli.context import PROJECT, Context
from cli.jobs import end_jobs
from cli.recovery import recover
from lab.errors import LabError
from lab.progress import Progress


def prepare(ctx: Context, progress: Progress) -> None:
    """Make the backend and the stack where they are missing, and mend what a killed run left."""
    ctx.paths.backend.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check(ctx.pulumi("stack", "select", ctx.env, "--create"), "stack select", f"stack {ctx.env}")
    recover(ctx, progress)


def prepare_for_reading(ctx: Context) -> None:
    """Make sure a preview has a stack; nothing an interrupted run left is touched.

    Raises:
        LabError: The toolchain is missing.
    """
    ctx.paths.backend.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check(ctx.pulumi("stack", "select", ctx.env, "--create"), "stack select", f"stack {ctx.env}")


def up(ctx: Context, progress: Progress) -> None:
    """Bring the stack up under the policy pack.

    Raises:
        LabError: Settings, a policy or a resource refused; Pulumi has said which.
    """
    progress.step("pulumi up")
    # With a refresh: what someone deleted or changed by hand is seen, and put back.
    flags = ("--yes", "--refresh", "--suppress-progress", "--suppress-outputs")
    result = ctx.pulumi("up", *flags, "--stack", ctx.env, show=True)
    if result.returncode != 0:
        raise LabError(
            "pulumi up failed",
            where=f"stack {ctx.env}",
            why="see the diagnostics above",
            fix="mend what they name, then run make up again: it goes on from there",
        )


def preview(ctx: Context, *, diff: bool) -> int:
    """Preview under the policy pack; Pulumi's exit code."""
    flags = ("--diff",) if diff else ()
    return ctx.pulumi("preview", "--suppress-progress", *flags, "--stack", ctx.env, show=True).returncode


def destroy(ctx: Context, progress: Progress) -> None:
    """Destroy every resource of the stack; jobs first, since queues and volumes wait for them.

    Raises:
        LabError: Something resists; Pulumi has said what.
    """
    end_jobs(ctx, progress)
    progress.step("pulumi destroy")
    # With a refresh: what is gone already can't be deleted, a lost chart release least of all.
    flags = ("--yes", "--refresh", "--skip-preview", "--suppress-progress")
    result = ctx.pulumi("destroy", *flags, "--stack", ctx.env, show=True)
    if result.returncode != 0:
        raise LabError(
            "pulumi destroy failed",
            where=f"stack {ctx.env}",
            why="see the diagnostics above",
            fix="run make down again; if the cluster is gone for good: python -m cli down --force",
        )


def remove(ctx: Context) -> None:
    """Remove the empty stack from the backend; its settings file stays."""
    # Without --preserve-config Pulumi deletes the settings file too.
    removed = ctx.pulumi("stack", "rm", "--yes", "--preserve-config", "--stack", ctx.env)
    _check(removed, "stack rm", f"stack {ctx.env}")


def exists(ctx: Context) -> bool:
    """Whether the backend holds the stack."""
    return (ctx.paths.backend / ".pulumi" / "stacks" / PROJECT / f"{ctx.env}.json").exists()


def _check(result: subprocess.CompletedProcess[str], what: str, where: str) -> None:
    if result.returncode != 0:
        raise LabError(
            f"pulumi {what} failed",
            where=where,
            why=result.stderr.strip() or f"exit code {result.returncode}",
            fix="make doctor",
        )
