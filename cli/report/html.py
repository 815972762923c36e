"""A preview as one HTML page: no script, nothing loaded from elsewhere."""

from collections.abc import Iterable
from html import escape

from cli.report.plan import Change, Plan
from cli.report.words import calm, headline, split_message, urgent, where

_STYLE = """
body{font:14px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#24292f;max-width:1500px;
margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35em .7em;
border-bottom:1px solid #d0d7de;overflow-wrap:anywhere}
.replace,.delete,.mandatory{color:#cf222e;font-weight:600}
.update{color:#9a6700}.create,.import{color:#1a7f37}.lead{font-size:1.1em;font-weight:600}
pre{background:#f6f8fa;padding:.7em;white-space:pre-wrap;overflow-wrap:anywhere}.diagram{overflow-x:auto}
code{font-family:ui-monospace,'DejaVu Sans Mono',monospace}
"""
# Whatever a name may smuggle in, the page neither runs nor fetches anything.
_GUARD = "default-src 'none'; style-src 'unsafe-inline'"


def render(plan: Plan, drawing: str) -> str:
    """The report as HTML.

    Args:
        plan: The preview.
        drawing: SVG of the stack, made and escaped here.
    """
    title = f"Preview of {escape(plan.stack or 'the stack')}"
    body = [f"<h1>{title}</h1>", f'<p class="lead">{escape(headline(plan))}</p>']
    if plan.problems:
        body += ["<h2>The engine says</h2>", *(f"<pre>{escape(one)}</pre>" for one in plan.problems)]
    for name, changes in urgent(plan):
        body += [f"<h2>{name}</h2>", _table(changes)]
    body += ["<h2>Policies</h2>", _findings(plan)]
    for name, changes in calm(plan):
        body += [f"<h2>{name}</h2>", _table(changes)]
    body += ["<h2>Diagram</h2>", f'<div class="diagram">{drawing}</div>']
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_GUARD}">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _table(changes: Iterable[Change]) -> str:
    rows = (
        f'<tr><td class="{change.operation}">{change.operation}</td><td>{escape(change.name)}</td>'
        f"<td><code>{escape(change.type)}</code></td><td>{escape(where(change))}</td></tr>"
        for change in changes
    )
    head = "<tr><th></th><th>resource</th><th>type</th><th>why</th></tr>"
    return "\n".join(["<table>", head, *rows, "</table>"])


def _findings(plan: Plan) -> str:
    if not plan.policies_known:
        return "<p>Not known: the preview came without its event log.</p>"
    if not plan.findings:
        return "<p>No finding.</p>"
    rows = ["<table>", "<tr><th></th><th>policy</th><th>resource</th><th>finding</th></tr>"]
    for finding in plan.findings:
        rule, told = split_message(finding.message)
        mark = "mandatory" if finding.level == "mandatory" else "advisory"
        rows.append(
            f'<tr><td class="{mark}">{escape(finding.level)}</td><td>{escape(finding.policy)}</td>'
            f"<td>{escape(finding.urn.rsplit('::', 1)[-1])}</td><td>{escape(told or rule)}"
            + (f"<br><small>{escape(rule)}</small>" if told else "")
            + "</td></tr>"
        )
    return "\n".join([*rows, "</table>"])
