"""The corpus: clean stacks pass settings and policies, each one-fault stack is refused in its words."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from ruamel.yaml import YAML

from lab.paths import REPOSITORY
from stacks.config import SettingsError, load, settings_file
from stacks.config.versions import read
from stacks.kinds import deploy
from stacks.machine import DEFAULT_STATE
from tests.harness import PASSWORDS, run
from tests.policies.corpus import CLEAN, PLAN_FAULTS, SETTINGS_FAULTS, CleanStack, PlanFault, SettingsFault
from tests.policies.manifests import Resource, changed
from tests.policies.plans import BY_ID, judge

WIDEST = CLEAN[-1]
_MULTI_NODE = "gpu-platform/multi-node"


def committed() -> dict[str, Any]:
    """The settings of Pulumi.dev.yaml."""
    document = YAML(typ="safe").load(settings_file(REPOSITORY, "dev"))
    raw: dict[str, Any] = document["config"]["gpu-platform:settings"]
    return json.loads(json.dumps(raw))  # type: ignore[no-any-return]


def settings_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The committed settings with changes."""
    raw: dict[str, Any] = committed()
    for path, value in changes.items():
        raw = changed(raw, path.replace("/", "."), value)
    return raw


@cache
def plan_of(name: str, *, preview: bool = False) -> tuple[Resource, ...]:
    """The planned resources of a clean stack.

    Charts are left out: helm renders them on the engine, by every `up`.
    """
    stack = next(one for one in CLEAN if one.name == name)
    settings = load("dev", settings_of(stack.changes), read(DEFAULT_STATE))
    planned = [
        Resource(name=item.name, type=item.type, props=item.inputs, protect=bool(item.options.protect))
        for item in run(lambda: deploy(settings).exports(), preview=preview, made=PASSWORDS).resources
        if not item.type.startswith("gpuplatform:") and item.type != "kubernetes:helm.sh/v3:Release"
    ]
    return tuple(planned)


def planted(fault: PlanFault) -> list[Resource]:
    """The widest clean stack with one fault."""
    found, plan = 0, []
    for item in plan_of(WIDEST.name):
        if item.type == fault.kind and item.name == fault.resource:
            found += 1
            for path, value in fault.change.items():
                item = replace(item, props=changed(item.props, path, value))  # noqa: PLW2901
        plan.append(item)
    assert found == (0 if fault.added else 1), f"{fault.kind} {fault.resource} is not in the plan"
    return [*plan, *fault.added]


@pytest.mark.parametrize("stack", CLEAN, ids=lambda stack: stack.name)
@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_a_clean_stack_has_no_finding(stack: CleanStack, preview: bool) -> None:
    plan = plan_of(stack.name, preview=preview)
    found = {rule.id: findings for rule in BY_ID.values() if (findings := judge(rule, plan))}
    assert found == {}


@pytest.mark.parametrize("fault", SETTINGS_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_setting_is_refused_in_its_words(fault: SettingsFault) -> None:
    with pytest.raises(SettingsError) as refused:
        load("dev", settings_of({**WIDEST.changes, fault.path: fault.value}), read(DEFAULT_STATE))
    assert [problem.path for problem in refused.value.problems] == [fault.at]
    assert fault.says in str(refused.value)


@pytest.mark.parametrize("fault", PLAN_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_resource_is_refused_by_its_rule(fault: PlanFault) -> None:
    plan = planted(fault)
    found = {rule.id: findings for rule in BY_ID.values() if (findings := judge(rule, plan))}
    assert set(found) == {fault.rule}
    assert any(fault.says in str(finding) for finding in found[fault.rule]), found


def test_the_corpus_has_three_clean_stacks_and_different_names() -> None:
    assert len(CLEAN) >= 3
    for rows in (CLEAN, SETTINGS_FAULTS, PLAN_FAULTS):
        assert len({row.name for row in rows}) == len(rows)
