"""`up` and `down`: the whole environment, from a bare machine to answering services and back."""

from cli import identity, scratch, stack
from cli.context import Context
from cli.endpoints import describe, wait_until_answering
from cli.machine import refuse_bad_machine
from cli.queues import refuse_removal_of_busy_queues
from cli.settings_commands import require_valid
from lab import api as lab_api
from lab.errors import LabError
from lab.progress import Progress
from stacks.access import LAB_CONTEXT, cluster_access


def up(ctx: Context, progress: Progress) -> None:
    """Bring the environment up; safe to run again at any point."""
    progress.enter("settings")
    settings = require_valid(ctx.env)
    if ctx.on_lab:
        progress.enter("machine")
        refuse_bad_machine(ctx.paths, progress)
    with lab_api.exclusive(ctx.paths, f"up of {ctx.env}"):
        if ctx.on_lab:
            lab_api.start(ctx.paths, progress)
        else:
            lab_api.toolchain(ctx.paths, progress)
        progress.enter("stack")
        stack.prepare(ctx, progress)
        stack.settle_cluster(ctx, progress, cluster_access(settings))
        refuse_removal_of_busy_queues(ctx, kept=settings.queues)
        stack.up(ctx, progress)
        progress.enter("answering")
        wait_until_answering(ctx, progress)
    progress.enter("done")
    progress.step(f"environment {ctx.env} answers")
    print(describe(ctx))


def down(ctx: Context, progress: Progress, *, force: bool) -> None:
    """Destroy the stack and end the lab.

    Args:
        ctx: The environment.
        progress: Where progress goes.
        force: End the lab although the stack couldn't be destroyed; its objects go with the cluster.
    """
    progress.enter("stack")
    with lab_api.exclusive(ctx.paths, f"down of {ctx.env}"):
        try:
            _destroy(ctx, progress)
        except LabError:
            if not (force and ctx.on_lab):
                raise
            progress.step("the stack resists; its objects end with the lab")
        if ctx.on_lab:
            lab_api.down(ctx.paths, progress, forget_backend=not _other_stacks(ctx))
        scratch.clear(ctx.paths)
    progress.enter("done")
    progress.step("nothing of the environment is left on this machine but the cache and the logs")


def destroy(ctx: Context, progress: Progress) -> None:
    """Destroy the stack's resources and keep the lab."""
    with lab_api.exclusive(ctx.paths, f"destroy of {ctx.env}"):
        progress.enter("stack")
        stack.prepare(ctx, progress)
        stack.destroy(ctx, progress)


def _destroy(ctx: Context, progress: Progress) -> None:
    if not ctx.paths.backend.is_dir() or not (ctx.paths.state / "bin" / "pulumi").exists():
        progress.step("no stack on this machine")
        return
    if not stack.exists(ctx):
        progress.step(f"no stack {ctx.env}")
        return
    if ctx.on_lab and not _lab_holds_the_stack(ctx, progress):
        progress.step("the cluster of the stack is gone, and its objects with it")
        stack.forget(ctx, progress)
        return
    stack.prepare(ctx, progress)
    stack.destroy(ctx, progress)
    stack.remove(ctx)


def _lab_holds_the_stack(ctx: Context, progress: Progress) -> bool:
    """Whether the lab still is the one the stack was built on; started if it does not run."""
    if not lab_api.has_data(ctx.paths):
        return False
    kubeconfig = str(ctx.paths.kubeconfig)
    uid = identity.uid_of(kubeconfig, LAB_CONTEXT)
    if uid is None:
        progress.step("the lab is not running; starting it to destroy the stack in order")
        lab_api.start(ctx.paths, progress)
        progress.enter("stack")
        uid = identity.uid_of(kubeconfig, LAB_CONTEXT)
    return not identity.differs(ctx, uid)


def _other_stacks(ctx: Context) -> bool:
    """Whether the backend holds stacks of other environments, which must outlive this one's lab."""
    found = sorted((ctx.paths.backend / ".pulumi" / "stacks").glob("*/*.json"))
    return any(path.stem != ctx.env for path in found)
