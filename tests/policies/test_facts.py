"""The pack's own facts: they load, agree with the catalogue and the pins, and refuse careless entries."""

import json
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from policies.facts import ALLOW_FILE, CATALOG_FILE, FactsError, configured, parse
from policies.model import Finding
from policies.rules import RULES
from tests.policies.manifests import POD_TEMPLATE, changed, deployment
from tests.policies.plans import BY_ID, TODAY, facts, judge
from tests.policies.regenerate_catalog import document

VERSIONS = tomllib.loads((Path(__file__).parents[2] / "versions.toml").read_text())
IMAGES = [
    (name, column, row[column]) for name, row in VERSIONS["images"].items() for column in ("supported", "lab")
]
ALLOW: dict[str, Any] = json.loads(ALLOW_FILE.read_text())
CATALOG = json.loads(CATALOG_FILE.read_text())
ENTRY = {
    "rule": "pods",
    "subject": "Job/x/*",
    "checks": ["resources"],
    "reason": "because",
    "expires": "2026-07-01",
}


def test_catalog_file_is_generated_from_the_catalogue() -> None:
    assert CATALOG_FILE.read_text() == document(), "run: python -m tests.policies.regenerate_catalog"


@pytest.mark.parametrize(("name", "column", "image"), IMAGES)
def test_pinned_images_come_from_allowed_registries(name: str, column: str, image: str) -> None:
    plan = [deployment(name, changed(POD_TEMPLATE, "spec.containers.0.image", image))]
    found = judge(BY_ID["images"], plan, "dev" if column == "lab" else "prod")
    assert [finding for finding in found or () if finding.check == "registry"] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"exemptions": [{**ENTRY, "reason": " "}]}, "needs a reason"),
        ({"exemptions": [{k: v for k, v in ENTRY.items() if k != "expires"}]}, "needs expires, the last day"),
        ({"exemptions": [{**ENTRY, "expires": "soon"}]}, "expires is 'soon'; accepted: YYYY-MM-DD"),
        ({"exemptions": [{**ENTRY, "checks": []}]}, "needs a reason and the checks"),
        ({"exemptions": [{**ENTRY, "rule": "pod"}]}, "no such rule; accepted: acceptance"),
        ({"exemptions": [{**ENTRY, "subject": "*"}]}, "exempts everything"),
        ({"registries": [{"prefix": "docker.io", "reason": "x"}]}, "'/' at its end"),
        ({"registries": [{"prefix": "docker.io/", "reason": ""}]}, "needs a reason"),
    ],
)
def test_careless_entries_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(FactsError, match=says):
        parse({**ALLOW, **change}, CATALOG, frozenset(BY_ID), TODAY)


def test_exemptions_reach_exactly_their_rule_check_and_subject() -> None:
    own = parse({**ALLOW, "exemptions": [ENTRY]}, CATALOG, frozenset(BY_ID), TODAY)
    pod = changed(POD_TEMPLATE, "spec.containers.0.resources", None)
    finding = (judge(BY_ID["pods"], [deployment("web", pod)]) or ())[0]
    assert not own.is_exempt("pods", finding)
    assert own.is_exempt("pods", type(finding)(check="resources", subject="Job/x/y", message=""))
    assert not own.is_exempt("images", type(finding)(check="resources", subject="Job/x/y", message=""))
    assert not own.is_exempt("pods", type(finding)(check="volumes", subject="Job/x/y", message=""))


@pytest.mark.parametrize(
    ("today", "exempt", "found"),
    [
        (date(2026, 5, 31), True, []),
        (date(2026, 6, 1), True, [("expires", True, "expires on 2026-07-01, in 30 days (because)")]),
        (date(2026, 7, 1), True, [("expires", True, "in 0 days")]),
        (date(2026, 7, 2), False, [("expired", False, "expired on 2026-07-01 (because)")]),
    ],
)
def test_an_exemption_ends_after_its_last_day(
    today: date, exempt: bool, found: list[tuple[str, bool, str]]
) -> None:
    own = parse({**ALLOW, "exemptions": [ENTRY]}, CATALOG, frozenset(BY_ID), today)
    covered = Finding(check="resources", subject="Job/x/y", message="")
    assert own.is_exempt("pods", covered) is exempt
    check = BY_ID["exemptions"].check_stack
    assert check is not None
    findings = check([], own) or ()
    assert [(item.check, item.advice) for item in findings] == [row[:2] for row in found]
    assert all(row[2] in item.message for row, item in zip(found, findings, strict=True))


def test_a_pack_without_exemptions_has_none_that_can_end() -> None:
    check = BY_ID["exemptions"].check_stack
    assert check is not None
    assert check([], replace(facts(), exemptions=())) is None


def test_configuration_adds_registries_and_replaces_development_stacks() -> None:
    own = configured(facts(), {"developmentStacks": ["test-*"], "registries": ["mirror.example.org/"]})
    assert own.is_development("urn:pulumi:test-1::p::t::n")
    assert not own.is_development("urn:pulumi:dev::p::t::n")
    assert own.registries[:-1] == facts().registries
    assert own.registries[-1].prefix == "mirror.example.org/"
    assert configured(facts(), {}) == facts()


def test_each_rule_has_its_own_id_one_check_and_a_source() -> None:
    assert len(BY_ID) == len(RULES)
    for rule in RULES:
        assert (rule.check_resource is None) != (rule.check_stack is None)
        assert rule.source.startswith("https://")
        assert rule.title
        assert rule.fix
