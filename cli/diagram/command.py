"""`diagram`: the stack as it stands, drawn from its state."""

from pathlib import Path

from cli.context import Context
from cli.diagram import graph, mermaid, svg
from cli.diagram.contracts import by_type
from cli.forms import DiagramForm
from cli.recovery import exported
from cli.report.plan import read_plan
from lab.errors import LabError


def diagram(ctx: Context, form: DiagramForm, *, file: Path | None, out: Path | None) -> None:
    """Draw the stack's state, or a preview with its changes.

    Args:
        ctx: The environment; its state is read where no file is named.
        form: Mermaid or SVG.
        file: Output of ``pulumi preview --json --show-sames``.
        out: Where to write; standard output when left out.

    Raises:
        LabError: There is nothing to draw, or a file can't be read or written.
    """
    try:
        drawn, title = _of_state(ctx) if file is None else _of_preview(file)
        text = svg.render(drawn, title=title) if form is DiagramForm.SVG else mermaid.render(drawn)
        if out is None:
            print(text, end="")
        else:
            out.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            "the diagram can't be drawn",
            where=str(file or out),
            why=getattr(error, "strerror", None) or str(error),
            fix="name files you may read and write",
        ) from error


def _of_state(ctx: Context) -> tuple[graph.Graph, str]:
    resources = exported(ctx).get("resources") or []
    drawn = graph.build(resources, by_type())
    if not drawn.boxes:
        raise LabError(
            f"environment {ctx.env} has no components to draw",
            where=f"stack {ctx.env}",
            why="it isn't up",
            fix=f"make up ENV={ctx.env}, or draw a preview: "
            "pulumi preview --json --show-sames > preview.json, then diagram --from preview.json",
        )
    return drawn, f"Stack {ctx.env}"


def _of_preview(file: Path) -> tuple[graph.Graph, str]:
    plan = read_plan(file.read_text(encoding="utf-8"), source=str(file))
    operations = {change.urn: change.operation for change in plan.changes}
    return graph.build(plan.resources, by_type(), operations), f"Stack {plan.stack}: what the preview changes"
