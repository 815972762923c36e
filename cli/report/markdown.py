"""A preview as Markdown, as a comment under a pull request."""

from collections.abc import Iterable

from cli.report.plan import Change, Finding, Plan
from cli.report.words import MANY, calm, headline, split_message, urgent, where

# A comment of a code host ends at 65,536 characters; what is left out is told.
LIMIT = 60_000
_ESCAPED = str.maketrans(
    {char: f"\\{char}" for char in "\\*_[]()~#|!"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;", "@": "&#64;", "\n": " ", "\r": " "}
)


def render(plan: Plan, diagram: str) -> str:
    """The report as Markdown.

    Args:
        plan: The preview.
        diagram: Mermaid text of the stack with its changes; the first to go where there is too much.
    """
    parts = [f"## Preview of {_safe(plan.stack or 'the stack')}", headline(plan), *_problems(plan)]
    for title, changes in urgent(plan):
        parts += [f"### {title}", _table(changes)]
    parts += _findings(plan)
    for title, changes in calm(plan):
        parts += [f"### {title}", _table(changes)]
    text = "\n\n".join(parts) + "\n"
    drawn = f"\n### Diagram\n\n```mermaid\n{diagram}```\n"
    if len(text) + len(drawn) <= LIMIT:
        return text + drawn
    if len(text) <= LIMIT:
        return text + "\nThe diagram is too large for a comment; see the HTML report.\n"
    kept = text[:LIMIT].rsplit("\n", 1)[0]
    return f"{kept}\n\n**Cut off here: {len(text) - len(kept)} more characters in the HTML report.**\n"


def _problems(plan: Plan) -> list[str]:
    if not plan.problems:
        return []
    return ["### The engine says", "\n".join(f"- {_cut(problem)}" for problem in plan.problems)]


def _table(changes: Iterable[Change]) -> str:
    rows = ["| | resource | type | why |", "|---|---|---|---|"]
    listed = list(changes)
    rows += [
        f"| **{change.operation}** | {_safe(change.name)} | {_safe(change.type)} | {_cut(where(change))} |"
        for change in listed[:MANY]
    ]
    if len(listed) > MANY:
        rows.append(f"| | and {len(listed) - MANY} more | | |")
    return "\n".join(rows)


def _findings(plan: Plan) -> list[str]:
    if not plan.policies_known:
        return ["### Policies", "Not known: the preview came without its event log."]
    if not plan.findings:
        return ["### Policies", "No finding."]
    return ["### Policies", "\n".join(_finding(finding) for finding in plan.findings)]


def _finding(finding: Finding) -> str:
    rule, told = split_message(finding.message)
    lines = [f"- **{_safe(finding.level)} {_safe(finding.policy)}**: {_cut(told or rule)}"]
    return "\n".join([*lines, f"  {_cut(rule)}"] if told else lines)


def _cut(text: str, longest: int = 600) -> str:
    return _safe(text if len(text) <= longest else text[: longest - 1] + "…")


def _safe(text: str) -> str:
    """Text that stays text: no markup, no mention, no link, no cell or line of its own."""
    return text.translate(_ESCAPED).replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
