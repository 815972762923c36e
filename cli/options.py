"""Options the commands share, and the context of those that mend nothing."""

import sys
from typing import Annotated

import typer

from cli.context import Context, context

Env = Annotated[str, typer.Option("--env", help="Environment, which is the name in Pulumi.<env>.yaml.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def looking(env: str) -> Context:
    """The context for a command that mends nothing; what a killed run left is pointed out."""
    from cli.recovery import hint

    found = context(env)
    if text := hint(found):
        print(f"warning: {text}", file=sys.stderr)
    return found
