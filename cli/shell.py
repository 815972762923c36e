"""`shell`: the one line after which plain `pulumi` (with the policy pack) and `kubectl` work."""

import shlex

from cli.context import Context
from cli.scratch import shell_directory


def shell_line(ctx: Context) -> str:
    """An ``export`` line with the lab's toolchain, backend and guardrails."""
    variables = ctx.variables()
    if ctx.on_lab:
        variables["KUBECONFIG"] = str(ctx.paths.kubeconfig)
    variables["TMPDIR"] = str(shell_directory(ctx.paths))
    variables["PATH"] = f"{ctx.paths.state / 'bin'}:$PATH"
    assignments = (
        f'{name}="{value}"' if name == "PATH" else f"{name}={shlex.quote(value)}"
        for name, value in sorted(variables.items())
    )
    return "export " + " ".join(assignments)
