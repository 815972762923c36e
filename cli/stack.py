"""The life of a stack: made, recovered, brought up, previewed, destroyed."""

from cli import identity, scratch
from cli.context import Context
from cli.data import tell_what_is_lost
from cli.failures import check, failure, known_failure
from cli.jobs import end_jobs
from cli.locks import clear_dead_locks
from cli.recovery import recover, refresh
from components.contracts import ClusterAccess
from lab.errors import LabError
from lab.progress import Progress
from stacks.access import LAB_CONTEXT


def prepare(ctx: Context, progress: Progress) -> None:
    """Make the backend and the stack where they are missing, and mend what a killed run left."""
    ctx.paths.backend.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch.clear(ctx.paths)
    check(ctx, ctx.pulumi("stack", "select", ctx.env, "--create"), "the stack can't be selected")
    recover(ctx, progress)


def settle_cluster(ctx: Context, progress: Progress, access: ClusterAccess) -> None:
    """Notice another cluster than the one the stack was built on, and remember this one.

    The lab's old cluster is gone when there is a new one: what the state says of it is dropped.

    Raises:
        LabError: The cluster is the user's own, so the old one may still hold what the state says.
    """
    uid = identity.uid_of(str(access.kubeconfig), access.context)
    if identity.differs(ctx, uid):
        if not ctx.on_lab:
            raise LabError(
                "the stack was built on another cluster",
                where=f"context {access.context} in {access.kubeconfig}",
                why="its kube-system has another UID than the cluster of the last `up`",
                fix="correct cluster.context in the settings; if the old cluster is gone for good: "
                f"rm {identity.record_file(ctx)}, then `pulumi refresh` (see make shell) and make up",
            )
        progress.step("the cluster is a new one; dropping from the state what the old one held")
        refresh(ctx, "the state can't be brought in line with the new cluster")
    identity.record(ctx, uid)


def prepare_for_reading(ctx: Context) -> None:
    """Make sure a preview has a stack; nothing an interrupted run left is touched.

    Raises:
        LabError: The toolchain is missing, or the state belongs to another cluster.
    """
    ctx.paths.backend.mkdir(parents=True, exist_ok=True, mode=0o700)
    check(ctx, ctx.pulumi("stack", "select", ctx.env, "--create"), "the stack can't be selected")
    if ctx.on_lab and identity.differs(ctx, identity.uid_of(str(ctx.paths.kubeconfig), LAB_CONTEXT)):
        raise LabError(
            "the lab's cluster is another one than the stack was built on",
            where=f"stack {ctx.env}",
            why="a preview would compare with what is gone",
            fix="make up, which drops it from the state and builds it anew",
        )


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
        raise failure(
            ctx,
            "pulumi up failed",
            result.stdout,
            why="see the diagnostics above",
            fix="mend what they name, then run make up again: it goes on from there",
        )


def preview(ctx: Context, *, diff: bool) -> int:
    """Preview under the policy pack; Pulumi's exit code.

    Raises:
        LabError: It failed by a cause that has a remedy; any other Pulumi has told.
    """
    flags = ("--diff",) if diff else ()
    result = ctx.pulumi("preview", "--suppress-progress", *flags, "--stack", ctx.env, show=True)
    if result.returncode != 0 and (known := known_failure(ctx, "pulumi preview failed", result.stdout)):
        raise known
    return result.returncode


def destroy(ctx: Context, progress: Progress) -> None:
    """Destroy every resource of the stack; jobs first, since queues and volumes wait for them.

    Raises:
        LabError: Something resists; Pulumi has said what.
    """
    tell_what_is_lost(ctx, progress)
    end_jobs(ctx, progress)
    progress.step("pulumi destroy")
    # With a refresh: what is gone already can't be deleted, a lost chart release least of all.
    flags = ("--yes", "--refresh", "--skip-preview", "--suppress-progress")
    result = ctx.pulumi("destroy", *flags, "--stack", ctx.env, show=True)
    if result.returncode != 0:
        raise failure(
            ctx,
            "pulumi destroy failed",
            result.stdout,
            why="see the diagnostics above",
            fix="run make down again; if the cluster is gone for good: python -m cli down --force",
        )


def remove(ctx: Context) -> None:
    """Remove the empty stack from the backend; its settings file stays."""
    # Without --preserve-config Pulumi deletes the settings file too.
    removed = ctx.pulumi("stack", "rm", "--yes", "--preserve-config", "--stack", ctx.env)
    check(ctx, removed, "the stack can't be removed")
    identity.forget(ctx)


def forget(ctx: Context, progress: Progress) -> None:
    """Remove a stack whose cluster is gone, and its objects with it."""
    clear_dead_locks(ctx, progress)
    removed = ctx.pulumi("stack", "rm", "--force", "--yes", "--preserve-config", "--stack", ctx.env)
    check(ctx, removed, "the stack can't be removed")
    identity.forget(ctx)


def exists(ctx: Context) -> bool:
    """Whether the backend holds the stack."""
    return ctx.state_file.exists()
