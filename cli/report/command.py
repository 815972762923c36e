"""`report`: run or read a preview and write what a reviewer needs."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli import stack
from cli.context import Context
from cli.diagram import graph, mermaid, svg
from cli.diagram.contracts import by_type
from cli.exits import Exit, Stop
from cli.forms import ReportForm
from cli.report import html, markdown
from cli.report.plan import Plan, read_plan
from lab.errors import LabError

# The event log is the only place where the engine writes its policies' findings for programs.
_FLAGS = ("--json", "--show-sames", "--show-replacement-steps")


def report(
    ctx: Context, form: ReportForm, *, file: Path | None, events: Path | None, out: Path | None
) -> None:
    """Write the report; exit code 1 when the preview failed or a policy refuses it.

    Args:
        ctx: The environment; only asked for a preview when there is no file.
        form: Markdown, HTML or JSON.
        file: A preview written before, by this or another machine.
        events: Its event log.
        out: Where to write; standard output when left out.

    Raises:
        LabError: A file can't be read, or holds no preview.
    """
    plan = _from_engine(ctx) if file is None else _from_files(file, events)
    text = rendered(plan, form)
    if out is None:
        print(text, end="")
    else:
        _write(out, text)
    if plan.failed:
        raise Stop(Exit.FAILED)


def rendered(plan: Plan, form: ReportForm) -> str:
    """The report in one of its forms."""
    if form is ReportForm.JSON:
        return json.dumps(_document(plan), indent=2) + "\n"
    operations = {change.urn: change.operation for change in plan.changes}
    drawn = graph.build(plan.resources, by_type(), operations)
    if form is ReportForm.HTML:
        return html.render(plan, svg.render(drawn, title=f"Stack {plan.stack}: what the preview changes"))
    return markdown.render(plan, mermaid.render(drawn))


def _document(plan: Plan) -> Mapping[str, Any]:
    return {
        "stack": plan.stack,
        "failed": plan.failed,
        "counts": {**plan.counted(), "same": plan.unchanged},
        "changes": [asdict(change) for change in plan.changes],
        "policiesKnown": plan.policies_known,
        "findings": [asdict(finding) for finding in plan.findings],
        "problems": list(plan.problems),
    }


def _from_engine(ctx: Context) -> Plan:
    stack.prepare_for_reading(ctx)
    with tempfile.TemporaryDirectory(prefix="gpu-platform-report-") as directory:
        log = Path(directory) / "events"
        result = ctx.pulumi(
            *("preview", *_FLAGS, "--event-log", str(log), "--stack", ctx.env),
            extra={"PULUMI_DEBUG_COMMANDS": "true"},  # without it the engine doesn't know --event-log
        )
        if not result.stdout.strip():
            raise LabError(
                "the preview told nothing",
                where=f"stack {ctx.env}",
                why=result.stderr.strip()[-2000:] or f"exit code {result.returncode}",
                fix="make preview shows what the engine says",
            )
        return read_plan(result.stdout, log.read_text() if log.exists() else None)


def _from_files(file: Path, events: Path | None) -> Plan:
    return read_plan(_read(file), None if events is None else _read(events), source=str(file))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            "the preview can't be read",
            where=str(path),
            why=getattr(error, "strerror", None) or str(error),
            fix="name the output of `pulumi preview --json`, and with --events its event log",
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(
            "the report can't be written",
            where=str(path),
            why=error.strerror or str(error),
            fix="name a file in a directory that exists and that you may write to",
        ) from error
