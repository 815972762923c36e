"""Commands that mend, keep and hand over."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import Env, looking
from lab.progress import Progress

app = typer.Typer()


@app.command()
def recover(
    env: Env = "dev",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
) -> None:
    """Mend what a killed run left: dead locks, half-way releases, pending operations."""
    from cli.care import recover as run
    from cli.context import context

    run(context(env), Progress(), dry_run=dry_run)


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(help="Directory to make, or a file to make that ends in .tar.")],
    env: Env = "dev",
) -> None:
    """Databases and objects, with checksums; whole or not there."""
    from cli.backup.take import backup as run

    run(looking(env), to, Progress())


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="What `backup` wrote.")],
    env: Env = "dev",
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where there are runs, models or objects; they are lost.")
    ] = False,
) -> None:
    """Put a backup's data into the environment; its logins stay."""
    from cli.backup.restore import restore as run

    run(looking(env), source, Progress(), replace=replace)


@app.command("support-bundle")
def support_bundle(
    to: Annotated[Path, typer.Argument(help="File to make, ending in .tar.gz.")],
    env: Env = "dev",
) -> None:
    """State, logs and findings for someone who helps; secrets are taken out."""
    from cli.support.bundle import bundle as run

    run(looking(env), to, Progress())
