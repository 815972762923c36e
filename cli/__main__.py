"""`python -m cli`: every command of the environment."""

from pathlib import Path
from typing import Annotated

import typer

from cli.context import context
from cli.exits import Exit, Stop, told
from lab.progress import Progress

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="gpu-platform: environments from a bare machine to answering services.",
)
Env = Annotated[str, typer.Option("--env", help="Environment, which is the name in Pulumi.<env>.yaml.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


@app.command()
def up(env: Env = "dev") -> None:
    """Bring the environment up; safe to run again at any point."""
    from cli.up import up as run

    run(context(env), Progress())


@app.command()
def down(
    env: Env = "dev",
    force: Annotated[bool, typer.Option("--force", help="End the lab although the stack resists.")] = False,
) -> None:
    """Destroy the stack and end the lab; the caches stay."""
    from cli.up import down as run

    run(context(env), Progress(), force=force)


@app.command()
def destroy(
    env: Env = "dev",
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that all data of the stack is lost.")] = False,
) -> None:
    """Destroy the stack's resources and keep the lab; `up` builds them anew."""
    from cli.up import destroy as run

    if not yes:
        typer.confirm(f"Destroy everything in stack {env}, its data included?", abort=True)
    run(context(env), Progress())


@app.command()
def preview(
    env: Env = "dev",
    diff: Annotated[bool, typer.Option("--diff", help="Show every property that changes.")] = False,
) -> None:
    """Preview the stack under the policy pack."""
    from cli import stack

    found = context(env)
    stack.prepare_for_reading(found)
    if stack.preview(found, diff=diff) != 0:
        raise Stop(Exit.FAILED)


@app.command()
def smoke(env: Env = "dev") -> None:
    """Run the sample jobs and judge them by their pass criteria."""
    from cli.smoke import smoke as run

    run(context(env), Progress())


@app.command()
def status(env: Env = "dev", as_json: Json = False) -> None:
    """What runs, by name, failures first."""
    from cli.status import status as run

    run(context(env), as_json=as_json)


@app.command()
def doctor(
    online: Annotated[bool, typer.Option(help="Ask the package registries too.")] = True,
    as_json: Json = False,
) -> None:
    """What is wrong with this machine, and what mends it."""
    from cli.machine import doctor as run
    from lab.paths import current

    run(current(), online=online, as_json=as_json)


@app.command()
def shell(env: Env = "dev") -> None:
    """Print the line after which plain `pulumi preview|up` work, guardrails loaded."""
    from cli.shell import shell_line

    print(shell_line(context(env)))


@app.command()
def validate(env: Env = "dev", as_json: Json = False) -> None:
    """Check the settings offline."""
    from cli.settings_commands import validate as run

    run(env, as_json)


@app.command()
def schema(
    check: Annotated[bool, typer.Option("--check", help="Only compare with the committed file.")] = False,
) -> None:
    """Write the JSON Schema of the settings."""
    from cli.settings_commands import schema as run

    run(check)


@app.command()
def acceptance(
    pool: Annotated[str, typer.Option("--pool", help="Pool, as the settings name it.")],
    env: Env = "dev",
    test: Annotated[str | None, typer.Option("--test", help="Test the judged output is of.")] = None,
    judge: Annotated[
        Path | None, typer.Option("--judge", help="Judge this output: the logs of the test's pods.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List a pool's acceptance tests, or judge the output of one; 0 only when it is accepted."""
    from cli.acceptance import acceptance as run

    run(env, pool, test=test, output=judge, as_json=as_json)


@app.command()
def catalog(
    words: Annotated[list[str] | None, typer.Argument(help="Words a row must hold; none prints all.")] = None,
    as_json: Json = False,
) -> None:
    """Print or search the hardware catalogue, offline."""
    from cli.catalog_commands import catalog as run

    run(tuple(words or ()), as_json=as_json)


@app.command()
def explain(
    term: Annotated[str, typer.Argument(help="A key or its beginning: h100, xid-79, p5.48xlarge.")],
    as_json: Json = False,
) -> None:
    """Tell one thing of the catalogue with its source and what belongs to it."""
    from datetime import date

    from cli.catalog_commands import explain as run

    run(term, as_json=as_json, today=date.today())


@app.command()
def dashboards(
    prometheus: Annotated[str, typer.Option("--prometheus", help="Base address of a Prometheus.")],
    output: Annotated[Path, typer.Option("--output", help="The HTML file to write.")] = Path(
        "dashboards.html"
    ),
    minutes: Annotated[int, typer.Option("--minutes", min=1, help="How far back the lines go.")] = 60,
) -> None:
    """Write every dashboard with real data as one HTML page."""
    from cli.dashboards import run

    run(prometheus, output, minutes * 60)


def main() -> None:
    """Entry point: messages instead of tracebacks."""
    with told():
        try:
            app()
        except SystemExit as ended:
            if ended.code == Exit.INTERRUPTED:
                raise KeyboardInterrupt from None
            raise


if __name__ == "__main__":
    main()
