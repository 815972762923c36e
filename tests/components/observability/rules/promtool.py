"""Rules and scenarios as promtool's files."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.observability.rules import RuleSettings, rule_groups

from .scenarios import Scenario, Series, healthy, named

FIRING = 'ALERTS{alertstate="firing"}'


def write_rules(directory: Path, settings: RuleSettings) -> Path:
    """A rule file; JSON is YAML too."""
    file = directory / "rules.yaml"
    file.write_text(json.dumps({"groups": rule_groups(settings)}))
    return file


def run(promtool: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and everything it wrote."""
    ended = subprocess.run(
        [str(promtool), *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    return ended.returncode, ended.stdout + ended.stderr


def tried(promtool: Path, directory: Path, settings: RuleSettings, tests: list[dict[str, Any]]) -> str:
    """What promtool has to object to; empty when all is as expected."""
    rules = write_rules(directory, settings)
    file = directory / "tests.yaml"
    order = [group["name"] for group in rule_groups(settings)]
    document = {
        "rule_files": [rules.name],
        "evaluation_interval": "1m",
        "group_eval_order": order,
        "tests": tests,
    }
    file.write_text(json.dumps(document))
    code, output = run(promtool, "test", "rules", str(file))
    return "" if code == 0 else output


def cases_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Fires alone and in time, and ends; each near miss stays silent."""
    firing = {"alertname": scenario.alert, "alertstate": "firing", **scenario.labels}
    return [
        _test(
            scenario.series,
            scenario.resolved_at,
            {scenario.early: None, scenario.fires_at: firing, scenario.resolved_at: None},
        ),
        *(_test(series, scenario.fires_at, {scenario.fires_at: None}) for series in scenario.under),
    ]


def _test(series: Series, last: int, firing: Mapping[int, Mapping[str, str] | None]) -> dict[str, Any]:
    everything = {**healthy(last + 2), **series}
    return {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": " ".join(f"{value}" for value in values)}
            for name, values in everything.items()
            if values
        ],
        "promql_expr_test": [
            {
                "expr": FIRING,
                "eval_time": f"{minute}m",
                "exp_samples": [] if labels is None else [{"labels": named("ALERTS", labels), "value": 1}],
            }
            for minute, labels in firing.items()
        ],
    }
