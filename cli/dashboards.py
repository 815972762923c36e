"""`dashboards`: every dashboard with real data as one static HTML page that loads nothing from elsewhere."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from cli.chart import Line, Look, chart, stat, table
from components.observability.dashboards import dashboards, grafana_json
from lab.errors import LabError

Ask = Callable[[str, bool], Sequence[Line]]
"""PromQL and whether only the moment counts → the series of the answer."""
_TIMEOUT_SECONDS = 20
_POINTS = 180
_SHORTEST_STEP_SECONDS = 5
_STYLE = """
body{font:14px system-ui,sans-serif;margin:1.5rem;background:#f7f8fa;color:#1f2328}
h1{margin:0}h2{margin:2rem 0 .2rem}.grid{display:grid;grid-template-columns:repeat(24,1fr);gap:.7rem}
section{background:#fff;border:1px solid #d8dee4;border-radius:6px;padding:.6rem;overflow:auto}
h3{font-size:.95rem;margin:0 0 .4rem}.stat{font-size:2.4rem;margin:.6rem 0;text-align:center}
svg{width:100%;height:auto}svg text{font-size:10px;fill:#57606a}
.legend,.note,.empty{font-size:.8rem;color:#57606a;margin:.3rem 0}
table{border-collapse:collapse;font-size:.85rem}td,th{padding:.15rem .6rem;text-align:left}
@media(prefers-color-scheme:dark){body{background:#111217;color:#d8d9da}
section{background:#181b1f;border-color:#2c3235}}
@media(max-width:900px){section{grid-column:span 24!important}}
"""


def run(prometheus: str, output: Path, seconds: int) -> None:
    """Ask Prometheus for every panel and write the page.

    Args:
        prometheus: Base address of its HTTP interface.
        output: The file to write; replaced whole.
        seconds: How far back the lines go, seconds.

    Raises:
        LabError: Prometheus can't be asked, or the file can't be written.
    """
    now = time.time()
    pages = [json.loads(grafana_json(page, datasource="prometheus")) for page in dashboards()]
    text = render(pages, asker(prometheus, now, seconds), now)
    try:
        output.write_text(text)
    except OSError as error:
        raise LabError(
            "the page can't be written", where=str(output), why=str(error), fix="name a file in --output"
        ) from None
    print(f"{len(pages)} dashboards: {output}")


def render(pages: Sequence[Mapping[str, Any]], ask: Ask, now: float) -> str:
    """Dashboards in Grafana's JSON as one HTML page.

    Args:
        pages: The dashboards.
        ask: Where the data comes from.
        now: The moment shown in the heading, Unix seconds.
    """
    links = " · ".join(f'<a href="#{escape(page["uid"])}">{escape(page["title"])}</a>' for page in pages)
    when = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    body = "".join(_page(page, ask) for page in pages)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>gpu-platform dashboards</title>'
        f"<style>{_STYLE}</style><h1>gpu-platform</h1><p class=note>{when} · {links}</p>{body}</html>\n"
    )


def _page(page: Mapping[str, Any], ask: Ask) -> str:
    panels = "".join(_panel(panel, ask) for panel in page["panels"])
    return (
        f'<h2 id="{escape(page["uid"])}">{escape(page["title"])}</h2>'
        f'<p class=note>{escape(page["description"])}</p><div class="grid">{panels}</div>'
    )


def _panel(panel: Mapping[str, Any], ask: Ask) -> str:
    target, defaults = panel["targets"][0], panel["fieldConfig"]["defaults"]
    look = Look(
        unit=defaults["unit"],
        steps=[(step["value"], step["color"]) for step in defaults["thresholds"]["steps"]],
        legend=target.get("legendFormat", ""),
    )
    show, moment = {"stat": (stat, True), "table": (table, True), "timeseries": (chart, False)}[panel["type"]]
    note = f"<p class=note>{escape(panel['description'])}</p>" if panel.get("description") else ""
    return (
        f'<section style="grid-column:span {int(panel["gridPos"]["w"])}" title="{escape(target["expr"])}">'
        f"<h3>{escape(panel['title'])}</h3>{show(ask(target['expr'], moment), look)}{note}</section>"
    )


def asker(prometheus: str, now: float, seconds: int) -> Ask:
    """Questions to the HTTP interface of one Prometheus, all at the same moment."""
    base = prometheus.rstrip("/")
    if urllib.parse.urlsplit(base).scheme not in ("http", "https"):
        raise LabError(
            f"{prometheus!r} is no address",
            where="--prometheus",
            why="it begins with neither http:// nor https://",
            fix="give the base address, e.g. http://127.0.0.1:9090",
        )
    step = max(_SHORTEST_STEP_SECONDS, seconds // _POINTS)

    def ask(expr: str, moment: bool) -> Sequence[Line]:
        form = {"query": expr, "time": now} if moment else _stretch(expr, now, seconds, step)
        return answer(_get(f"{base}/api/v1/{'query' if moment else 'query_range'}", form), expr)

    return ask


def _stretch(expr: str, now: float, seconds: int, step: int) -> dict[str, Any]:
    return {"query": expr, "start": now - seconds, "end": now, "step": step}


def _get(address: str, form: Mapping[str, Any]) -> bytes:
    data = urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(address, data=data)  # noqa: S310 - the scheme was checked
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as reply:  # noqa: S310
            content: bytes = reply.read()
            return content
    except urllib.error.HTTPError as error:
        # Prometheus says in the body what is wrong with a query.
        return error.read()
    except OSError as error:
        raise LabError(
            "Prometheus doesn't answer",
            where=address,
            why=str(error),
            fix="check --prometheus and that it is reachable from here",
        ) from None


def answer(content: bytes, expr: str) -> Sequence[Line]:
    """The series of one answer of Prometheus, by their labels.

    Raises:
        LabError: It is not an answer of Prometheus, or it refuses the query.
    """
    try:
        reply = json.loads(content)
        status, why = reply["status"], reply.get("error", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        status, why = "error", "the answer isn't one of Prometheus"
    if status != "success":
        raise LabError(
            "Prometheus refuses a query",
            where=expr,
            why=why,
            fix="check that --prometheus names a Prometheus",
        )
    data = reply["data"]
    if data["resultType"] == "scalar":
        return [Line(labels={}, points=[(float(data["result"][0]), float(data["result"][1]))])]
    lines = [
        Line(
            labels=series["metric"],
            points=[(float(at), float(value)) for at, value in series.get("values") or [series["value"]]],
        )
        for series in data["result"]
    ]
    return sorted(lines, key=lambda line: sorted(line.labels.items()))
