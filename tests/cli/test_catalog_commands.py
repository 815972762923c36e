"""`catalog` and `explain` as users meet them."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cli.catalog_commands import catalog, explain
from cli.exits import Exit, Stop
from components.catalog import TABLES

TODAY = date(2026, 11, 30)
REPOSITORY = Path(__file__).resolve().parents[2]


def _explained(term: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    explain(term, as_json=True, today=TODAY)
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize("term", ["xid-79", "XID-79", "79"])
def test_an_xid_is_told_with_its_action_and_source(term: str, capsys: pytest.CaptureFixture[str]) -> None:
    explain(term, as_json=False, today=TODAY)
    assert capsys.readouterr().out.splitlines() == [
        "xid-79 (XID)",
        "  number: 79",
        "  meaning: GPU has fallen off the bus",
        "  xid_class: reboot",
        "  action: Drain the node and restart it, run dcgmi diag -r 3; if it returns, repair.",
        "  drains: yes",
        "  source: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html",
        "  date: 2025-10-29",
    ]


def test_the_beginning_of_a_key_tells_every_row_of_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    told = _explained("h100", capsys)
    assert [(one["table"], one["row"]["key"]) for one in told] == [
        ("GPU", "h100-80"),
        ("GPU with MIG", "h100-80"),
        ("board price", "h100-80"),
    ]
    assert told[0]["row"]["memory_mib"] == 81559
    assert told[0]["belongs"]["instances"] == ["p5.4xlarge", "p5.48xlarge"]
    assert told[0]["belongs"]["mig"]["7g.80gb"] == 1
    assert told[0]["belongs"]["thresholds"]["all-reduce/h100-80/node/1/16gib"] == 460
    assert {one["row"]["key"] for one in _explained("a100", capsys)} == {"a100-40", "a100-80"}


def test_an_instance_type_is_told_with_its_prices(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = _explained("p5.48xlarge", capsys)
    assert told["row"]["efa_interfaces"] == 32
    assert told["row"]["numa_nodes"] is None
    assert told["belongs"]["us_east_1_prices"] == {
        "on-demand": "55.04 USD/h (list, 2026-07-20)",
        "spot": "unpriced",
        "capacity-block": "39.33 USD/h (stale, 2024-12-01)",
    }


def test_a_fabric_is_told_with_who_uses_it(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = _explained("efa-v3", capsys)
    assert told["belongs"] == {"instances": ["p5en.48xlarge"], "thresholds": {}}


def test_every_key_can_be_explained_and_says_where_from(capsys: pytest.CaptureFixture[str]) -> None:
    for key in (row.key for table in TABLES for row in table.values()):
        told = _explained(key, capsys)
        assert any(one["row"]["key"] == key for one in told)
        assert all(one["row"]["source"].startswith("http") and one["row"]["date"] for one in told), key


@pytest.mark.parametrize(
    ("term", "near"),
    [("h10", "h100-80"), ("p5.48xlrage", "p5.48xlarge"), ("xid-790", "xid-79"), ("?!", None)],
)
def test_what_is_not_there_is_said_with_the_nearest(
    term: str, near: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Stop) as stopped:
        explain(term, as_json=False, today=TODAY)
    shown = capsys.readouterr()
    assert stopped.value.code is Exit.FAILED
    assert shown.out == ""
    hint = f"; did you mean {near!r}?" if near else "\n"
    assert f"error: the catalogue has nothing for {term!r}{hint}" in shown.err
    with pytest.raises(Stop):
        explain(term, as_json=True, today=TODAY)
    assert json.loads(capsys.readouterr().out) == {"found": False, "term": term, "nearest": near}


def test_everything_is_printed_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    catalog((), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert {noun: len(rows) for noun, rows in found.items()} == {table.noun: len(table) for table in TABLES}
    catalog((), as_json=False)
    shown = capsys.readouterr().out
    assert all(f"{table.noun} ({len(table)})" in shown for table in TABLES)
    keys = {line.split("  ")[0].strip() for line in shown.splitlines()}
    assert {row.key for table in TABLES for row in table.values()} <= keys  # none cut


def test_words_narrow_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    catalog(("Ethernet", "400"), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert {noun: [row["key"] for row in rows] for noun, rows in found.items()} == {
        "fabric": ["roce-400", "ethernet-400"]  # RoCE's source names Ethernet
    }


def test_a_search_without_a_hit_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Stop):
        catalog(("h200", "ethernet-10"), as_json=False)
    assert "error: the catalogue has nothing for 'h200 ethernet-10'" in capsys.readouterr().err


def test_the_commands_stand_on_the_command_line() -> None:
    command = [sys.executable, "-m", "cli", "explain", "h200", "--json"]
    told = json.loads(subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True).stdout)
    assert told[0]["row"]["product"] == "NVIDIA-H200"
    wrong = [*command[:3], "catalog", "nothing-at-all"]
    missing = subprocess.run(wrong, cwd=REPOSITORY, capture_output=True, check=False)
    assert missing.returncode == 1
    assert b"Traceback" not in missing.stderr
