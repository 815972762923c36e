"""`recover`: what a killed run left, told or mended."""

from cli import stack
from cli.context import Context
from cli.recovery import recover as mend
from cli.recovery import survey
from lab import api as lab_api
from lab.errors import LabError
from lab.progress import Progress


def recover(ctx: Context, progress: Progress, *, dry_run: bool) -> None:
    """Mend, or only tell.

    Args:
        ctx: The environment.
        progress: Where steps are told.
        dry_run: Touch nothing.

    Raises:
        LabError: Another run is alive; or the cluster, which must say what exists, doesn't answer.
    """
    progress.enter("recover")
    if not stack.exists(ctx) and not ctx.paths.backend.is_dir():
        print(f"environment {ctx.env} has no stack here; nothing to recover")
        return
    with lab_api.exclusive(ctx.paths, f"recover of {ctx.env}"):
        found = survey(ctx)
        lines = found.told()
        if not lines:
            print("nothing to recover")
        elif dry_run:
            print("\n".join(["would be done:", *(f"  {line}" for line in lines)]))
        elif found.pending and not found.cluster_answers:
            raise LabError(
                "the cluster doesn't answer, so nobody can say what the interrupted operations made",
                where=f"environment {ctx.env}",
                why=f"{len(found.pending)} pending operation(s) name objects in it",
                fix="make up starts it and goes on from there",
            )
        else:
            mend(ctx, progress)
            print("recovered; make up goes on from here")
