"""Dashboards: what Grafana gets, and that promtool understands every query."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.observability.dashboards import dashboards, grafana_json, queries
from components.observability.rules import Limits, RuleSettings, groups
from components.observability.rules.gpu_labels import COLLECTED
from lab import api
from lab.paths import current
from lab.progress import Progress

COUNTS = {
    "gpu-platform-fleet": 9,
    "gpu-platform-pool": 7,
    "gpu-platform-node": 11,
    "gpu-platform-job": 7,
    "gpu-platform-queue": 7,
    "gpu-platform-services": 9,
}


def _grafana() -> Mapping[str, Mapping[str, Any]]:
    pages = [json.loads(grafana_json(page, datasource="metrics")) for page in dashboards()]
    return {page["uid"]: page for page in pages}


def test_the_dashboards_and_their_panels_are_the_known_ones() -> None:
    assert {uid: len(page["panels"]) for uid, page in _grafana().items()} == COUNTS
    assert len(queries(dashboards())) == sum(COUNTS.values())


def test_one_panel_in_full() -> None:
    panel = _grafana()["gpu-platform-fleet"]["panels"][4]
    source = {"type": "prometheus", "uid": "metrics"}
    assert {key: panel[key] for key in ("id", "title", "type", "gridPos", "datasource")} == {
        "id": 5,
        "title": "Utilisation of allocated GPUs by pool",
        "type": "timeseries",
        "gridPos": {"x": 0, "y": 8, "w": 12, "h": 8},
        "datasource": source,
    }
    assert panel["fieldConfig"]["defaults"]["unit"] == "percent"
    assert panel["fieldConfig"]["defaults"]["thresholds"] == {
        "mode": "absolute",
        "steps": [{"value": None, "color": "red"}, {"value": 85, "color": "green"}],
    }
    assert panel["targets"] == [
        {
            "datasource": source,
            "expr": "gpu_platform:pool_utilisation:mean",
            "instant": False,
            "legendFormat": "{{pool}}",
            "range": True,
            "refId": "A",
        }
    ]


def test_no_two_panels_of_a_page_overlap() -> None:
    for page in _grafana().values():
        cells = [
            (x, y)
            for panel in page["panels"]
            for place in [panel["gridPos"]]
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        assert len(cells) == len(set(cells))
        assert max(x for x, _ in cells) == 23


def test_colours_change_where_the_alerts_do() -> None:
    chosen = dashboards(Limits(utilisation_percent=60))
    assert chosen[0].panels[4].steps[1].value == 60


def test_recorded_series_and_gpu_fields_are_ones_that_exist() -> None:
    recorded = {record.name for group in groups(RuleSettings()) for record in group.records} | {
        "gpu_platform:node_gpus:expected",
        "gpu_platform:pool_nodes:expected",
    }
    words = {
        word
        for query in queries(dashboards())
        for word in query.expr.replace("(", " ").replace(")", " ").replace("{", " ").replace("[", " ").split()
    }
    assert {word for word in words if word.startswith("gpu_platform:")} <= recorded
    assert {word for word in words if word.startswith("DCGM_")} <= set(COLLECTED)


@pytest.mark.engine
def test_promtool_understands_every_query(tmp_path: Path) -> None:
    rules = [{"record": "checked", "expr": query.expr} for query in queries(dashboards())]
    file = tmp_path / "queries.yaml"
    file.write_text(
        json.dumps({"groups": [{"name": f"q{at}", "rules": [rule]} for at, rule in enumerate(rules)]})
    )
    program = api.promtool(current(), Progress())
    ended = subprocess.run(
        [str(program), "check", "rules", "--lint=none", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, f"SUCCESS: {len(rules)} rules found" in ended.stdout) == (0, True), ended.stderr
