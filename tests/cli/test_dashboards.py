"""The page from recorded answers of Prometheus 2.42."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.chart import Line, Look, chart, number, stat, table
from cli.dashboards import answer, asker, render, run
from components.observability.dashboards import dashboards, grafana_json, queries
from lab.errors import LabError

# Recorded from /api/v1/query_range, shortened.
RANGE = (
    b'{"status":"success","data":{"resultType":"matrix","result":['
    b'{"metric":{"__name__":"x","pool":"h100"},"values":[[1000,"40"],[1030,"NaN"],[1060,"60.5"]]},'
    b'{"metric":{"__name__":"x","pool":"<b>a100</b>"},"values":[[1000,"90"],[1030,"91"],[1060,"92"]]}]}}'
)
MOMENT = b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1060,"0.25"]}]}}'
REFUSED = b'{"status":"error","errorType":"bad_data","error":"1:5: parse error: unexpected end of input"}'
LOOK = Look(unit="percent", steps=((None, "red"), (85, "green")), legend="{{pool}}")


def test_a_recorded_answer_becomes_series_in_order() -> None:
    assert [(dict(line.labels), len(line.points)) for line in answer(RANGE, "x")] == [
        ({"__name__": "x", "pool": "<b>a100</b>"}, 3),
        ({"__name__": "x", "pool": "h100"}, 3),
    ]
    assert answer(MOMENT, "x") == [Line(labels={}, points=[(1060.0, 0.25)])]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (REFUSED, "1:5: parse error: unexpected end of input"),
        (b"<html>", "the answer isn't one of Prometheus"),
    ],
)
def test_a_refusal_names_the_query_and_the_cause(content: bytes, why: str) -> None:
    with pytest.raises(LabError) as refused:
        answer(content, "sum(")
    assert (refused.value.where, refused.value.why) == ("sum(", why)


def test_lines_show_values_threshold_gap_and_escaped_labels() -> None:
    shown = chart(answer(RANGE, "x"), LOOK)
    assert shown.count("<path") == 2
    assert "stroke-dasharray" in shown
    assert "&lt;b&gt;a100&lt;/b&gt;: 92 %" in shown
    assert "<b>" not in shown
    assert "h100: 60.5 %" in shown
    # The series with the missing value starts a second stroke after the gap.
    assert shown.split("<path")[2].count("M") == 2


def test_stat_and_table_colour_by_step() -> None:
    lines = answer(RANGE, "x")
    assert "#299c46" in stat(lines, LOOK)
    assert "92 %" in stat(lines, LOOK)
    rows = table(lines, LOOK)
    assert rows.count("<tr>") == 3
    assert "#c4162a" in rows.split("h100")[1]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "percentunit", "1.23 %"),
        (93600, "s", "1.08 d"),
        (0.25, "s", "0.25 s"),
        (250000, "MBs", "250 kMB/s"),
        (float("nan"), "s", "-"),
        (32, "short", "32"),
    ],
)
def test_numbers_carry_their_unit(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


def test_the_page_asks_each_query_once_and_loads_nothing_from_elsewhere() -> None:
    asked: list[str] = []

    def ask(expr: str, moment: bool) -> Sequence[Line]:
        asked.append(expr)
        return answer(MOMENT if moment else RANGE, expr)

    pages = [json.loads(grafana_json(page, datasource="metrics")) for page in dashboards()]
    page = render(pages, ask, 0)
    assert asked == [query.expr for query in queries(dashboards())]
    assert page.count("<section") == len(asked)
    assert "1970-01-01 00:00:00 UTC" in page
    assert [
        word for word in ("<script", "http://", "https://", " src=", "url(", "@import") if word in page
    ] == []


def test_panels_without_data_say_so() -> None:
    pages = [json.loads(grafana_json(dashboards()[0], datasource="metrics"))]
    assert render(pages, lambda _expr, _moment: [], 0).count("no data") == 9


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(LabError, match="no address"):
        asker("file:///etc/passwd", 0, 60)


def test_a_prometheus_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="doesn't answer"):
        run("http://127.0.0.1:1", tmp_path / "page.html", 60)
    assert list(tmp_path.iterdir()) == []
