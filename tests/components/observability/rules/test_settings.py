"""Settings of the rules, the lab's windows, and the plain form of a rule."""

import pytest

from components.core.errors import ArgsError
from components.observability.rules import (
    COLLECTED,
    XID_ACTIONS,
    Alert,
    ExpectedPool,
    RuleSettings,
    Severity,
    Watch,
    Windows,
    alerts,
    collectors_csv,
    rule_groups,
    shortened,
)


def test_a_window_of_fewer_than_four_scrapes_is_refused() -> None:
    with pytest.raises(ArgsError, match=r"windows\.xid\.window_seconds: got 60; accepted: 120 or more"):
        RuleSettings(windows=Windows(xid=Watch(window_seconds=60, for_seconds=0)))


def test_two_pools_of_one_name_are_refused() -> None:
    pool = ExpectedPool(name="a100", nodes=1, gpus_per_node=8)
    with pytest.raises(ArgsError, match=r"pools: got \['a100', 'a100'\]; accepted: distinct names"):
        RuleSettings(pools=(pool, pool))


def test_the_lab_waits_two_minutes_and_two_scrapes_at_most_and_keeps_the_thresholds() -> None:
    settings = shortened(RuleSettings())
    watches = dict(settings.windows.items())
    assert max(watch.window_seconds for watch in watches.values()) == 120
    assert max(watch.for_seconds for watch in watches.values()) == 30
    assert watches["xid"] == Watch(window_seconds=120, for_seconds=0)
    assert settings.limits.utilisation_percent == 85
    assert settings.limits.fewest_requests == 10
    assert [alert.name for alert in alerts(settings)] == [alert.name for alert in alerts(RuleSettings())]


def test_one_alert_in_plain_form() -> None:
    alert = Alert(
        name="GpuRowRemapFailed",
        expr="x > 0",
        severity=Severity.CRITICAL,
        summary="s",
        description="d",
        for_seconds=900,
        labels={"action": "isolate"},
    )
    assert alert.rule("https://runbooks.example/") == {
        "alert": "GpuRowRemapFailed",
        "expr": "x > 0",
        "for": "15m",
        "labels": {"severity": "critical", "action": "isolate"},
        "annotations": {
            "summary": "s",
            "description": "d",
            "runbook_url": "https://runbooks.example/gpu-row-remap-failed.md",
        },
    }


def test_expected_pools_become_constants() -> None:
    settings = RuleSettings(pools=(ExpectedPool(name="h100", nodes=4, gpus_per_node=8),))
    rules = [rule for group in rule_groups(settings) for rule in group["rules"]]
    assert [rule for rule in rules if rule.get("labels") == {"pool": "h100"}] == [
        {"record": "gpu_platform:node_gpus:expected", "expr": "vector(8)", "labels": {"pool": "h100"}},
        {"record": "gpu_platform:pool_nodes:expected", "expr": "vector(4)", "labels": {"pool": "h100"}},
    ]


def test_a_missing_backup_is_only_reported_where_one_is_expected() -> None:
    names = {alert.name for alert in alerts(RuleSettings())}
    assert "BackupMissing" not in names
    assert "BackupTooOld" in names


def test_no_xid_has_two_actions() -> None:
    codes = [code for group in XID_ACTIONS.values() for code in group]
    assert len(codes) == len(set(codes)) == 36


def test_the_collector_file_has_one_row_of_three_columns_per_field() -> None:
    rows = [row for row in collectors_csv().splitlines() if not row.startswith("#")]
    assert [row.split(", ")[0] for row in rows] == list(COLLECTED)
    assert {len(row.split(",")) for row in rows} == {3}
