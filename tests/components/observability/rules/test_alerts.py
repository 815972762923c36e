"""Every alert at production windows: fires alone, not just under, and resolves."""

import re
from pathlib import Path

import pytest

from components.observability.rules import alerts, shortened
from lab import api
from lab.paths import current
from lab.progress import Progress

from . import gpu_scenarios, platform_scenarios
from .promtool import cases_of, run, tried, write_rules
from .scenarios import SETTINGS, Scenario

pytestmark = pytest.mark.engine
SCENARIOS: tuple[Scenario, ...] = (
    *gpu_scenarios.USAGE,
    *gpu_scenarios.HEALTH,
    *gpu_scenarios.XIDS,
    *gpu_scenarios.PRESENCE,
    *platform_scenarios.QUEUES,
    *platform_scenarios.STORAGE,
    *platform_scenarios.TRACKING,
    *platform_scenarios.BACKUPS,
)


@pytest.fixture(scope="session")
def promtool() -> Path:
    return api.promtool(current(), Progress())


def test_every_alert_has_a_scenario_and_every_scenario_an_alert() -> None:
    assert {scenario.alert for scenario in SCENARIOS} == {alert.name for alert in alerts(SETTINGS)}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.alert)
def test_it_fires_alone_in_time_not_under_the_threshold_and_resolves(
    scenario: Scenario, promtool: Path, tmp_path: Path
) -> None:
    assert tried(promtool, tmp_path, SETTINGS, cases_of(scenario)) == ""


@pytest.mark.parametrize("settings", [SETTINGS, shortened(SETTINGS)], ids=["production", "lab"])
def test_promtool_accepts_the_rules(settings: object, promtool: Path, tmp_path: Path) -> None:
    file = write_rules(tmp_path, settings)  # type: ignore[arg-type]
    code, output = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(file))
    assert (code, "SUCCESS" in output) == (0, True), output


def test_templates_use_labels_the_alert_really_has() -> None:
    seen = {scenario.alert: set(scenario.labels) for scenario in SCENARIOS}
    # Absent targets have no instance; the other scenario of the same alert has one.
    seen["GpuExporterDown"].add("instance")
    for alert in alerts(SETTINGS):
        used = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description))
        assert used <= seen[alert.name], alert.name
