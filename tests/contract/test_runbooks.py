"""Every alert has a runbook that says what is needed, and no runbook is left over."""

from components.observability.rules import RuleSettings, alerts, rule_groups
from lab.paths import REPOSITORY

RUNBOOKS = REPOSITORY / "docs" / "runbooks"
SECTIONS = ["## What it means", "## First look", "## Action", "## Drain or replace"]
EVERYTHING = RuleSettings(backups=("postgres",))


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert {path.name for path in RUNBOOKS.iterdir()} == {alert.runbook for alert in alerts(EVERYTHING)}


def test_every_runbook_has_its_sections_filled() -> None:
    for path in RUNBOOKS.glob("*.md"):
        lines = path.read_text().splitlines()
        assert lines[0] == f"# {path.stem}"
        assert [line for line in lines if line.startswith("## ")] == SECTIONS, path.name
        assert all(lines[lines.index(section) + 1].strip() for section in SECTIONS), path.name


def test_every_alert_names_its_runbook_by_a_path_that_exists() -> None:
    urls = [
        rule["annotations"]["runbook_url"]
        for group in rule_groups(EVERYTHING)
        for rule in group["rules"]
        if "alert" in rule
    ]
    assert len(urls) == len(alerts(EVERYTHING)) == 33
    assert [url for url in urls if not (REPOSITORY / url).is_file()] == []
