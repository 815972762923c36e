"""Commands that look and change nothing."""

from pathlib import Path
from typing import Annotated

import typer

from cli.forms import DiagramForm, ReportForm
from cli.options import Env, Json, looking

app = typer.Typer()
Out = Annotated[Path | None, typer.Option("--out", help="File to write; standard output when left out.")]


@app.command()
def status(
    env: Env = "dev",
    as_json: Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Again and again, until Ctrl-C.")] = False,
) -> None:
    """What runs, by name, failures first."""
    from cli.status import status as run
    from cli.status import watch as run_again

    found = looking(env)
    if watch:
        run_again(found, as_json=as_json)
    else:
        run(found, as_json=as_json)


@app.command()
def connect(
    service: Annotated[str | None, typer.Argument(help="One service; all when left out.")] = None,
    env: Env = "dev",
    credentials: Annotated[bool, typer.Option("--credentials", help="Print the logins too.")] = False,
    forward: Annotated[bool, typer.Option("--forward", help="Open the way to it until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """How to reach the services and the cluster."""
    from cli.connect import connect as run

    run(looking(env), service, credentials=credentials, forward=forward, as_json=as_json)


@app.command()
def logs(
    name: Annotated[str, typer.Argument(help="A service of the stack, or a component of the lab.")],
    env: Env = "dev",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    since: Annotated[str | None, typer.Option("--since", help="Only younger lines, such as 10m.")] = None,
    tail: Annotated[int, typer.Option("--tail", help="Lines at most; -1 for all.")] = 200,
) -> None:
    """What a service or a component wrote."""
    from cli.logs import logs as run

    run(looking(env), name, follow=follow, since=since, tail=tail)


@app.command()
def diagram(
    env: Env = "dev",
    form: Annotated[DiagramForm, typer.Option("--format", help="Form.")] = DiagramForm.MERMAID,
    file: Annotated[Path | None, typer.Option("--from", help="A preview instead of the state.")] = None,
    out: Out = None,
) -> None:
    """The stack's components and what they hand on, drawn from its state or a preview."""
    from cli.diagram.command import diagram as run

    run(looking(env), form, file=file, out=out)


@app.command()
def report(
    env: Env = "dev",
    form: Annotated[ReportForm, typer.Option("--format", help="Form.")] = ReportForm.MARKDOWN,
    file: Annotated[Path | None, typer.Option("--from", help="Output of pulumi preview --json.")] = None,
    events: Annotated[Path | None, typer.Option("--events", help="Event log of that preview.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """What a preview changes, for a pull request: data first, then what goes, then policies."""
    from cli.report.command import report as run

    run(looking(env), ReportForm.JSON if as_json else form, file=file, events=events, out=out)


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")],
) -> None:
    """Print the shell's completion: source <(python -m cli completion bash), then gpu-platform <Tab>."""
    from cli.completion import script

    print(script(shell))
