"""A preview is read whole, and only in its expected shape."""

import json

import pytest

from cli.report.plan import read_plan
from lab.errors import LabError
from tests.cli.report import recorded

STATE = {
    "urn": "urn:pulumi:prod::p::aws:rds/instance:Instance::db",
    "type": "aws:rds/instance:Instance",
    "inputs": {},
}


def test_the_recorded_preview() -> None:
    plan = read_plan(recorded.digest(), recorded.events())
    assert (plan.stack, plan.unchanged, plan.failed) == ("dev", 108, True)
    assert [(one.operation, one.holds, one.name) for one in plan.changes] == [
        ("replace", "data", "volumes-gpu-platform-jobs-checkpoints"),
        ("delete", "", "pool-h100-b0-r0-n0"),
        ("delete", "", "pool-h100-b0-r0-n1"),
        ("delete", "", "pool-h100-b0-r1-n0"),
        ("delete", "", "pool-h100-b0-r1-n1"),
        ("delete", "", "pool-h100"),
        ("delete", "", "gpu-flavor-h100"),
        ("update", "", "tracking-server-deployment"),
        ("update", "", "queue-research-cluster-queue"),
        ("update", "", "samples-manifests"),
    ]
    assert plan.changes[0].replaced_by == ("metadata.name",)
    assert plan.counted() == {"replace": 1, "delete": 6, "update": 3}
    assert [(one.policy, one.level) for one in plan.findings] == [("images", "mandatory")] * 4
    assert plan.problems == ("error: preview failed",)


def test_without_the_event_log_the_policies_are_unknown_not_silent() -> None:
    plan = read_plan(recorded.digest())
    assert not plan.policies_known
    assert plan.findings == ()


def _step(op: str, **more: object) -> dict[str, object]:
    return {"op": op, "urn": STATE["urn"], "newState": STATE, **more}


@pytest.mark.parametrize(
    ("steps", "operation"),
    [
        ([_step("create")], "create"),
        ([_step("import")], "import"),
        ([_step("update")], "update"),
        ([_step("delete", oldState=STATE)], "delete"),
        ([_step("create-replacement"), _step("replace"), _step("delete-replaced")], "replace"),
        ([_step("delete-replaced"), _step("create-replacement")], "replace"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_steps_of_one_resource_are_one_change(steps: list[object], operation: str) -> None:
    (change,) = read_plan(json.dumps({"steps": steps})).changes
    assert (change.operation, change.holds) == (operation, "data")


@pytest.mark.parametrize("op", ["same", "read", "refresh", "discard", "a word of next year"])
def test_what_changes_nothing_is_no_change(op: str) -> None:
    assert read_plan(json.dumps({"steps": [_step(op)]})).changes == ()


@pytest.mark.parametrize(
    ("inputs", "token", "holds"),
    [
        (
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
            "kubernetes:core/v1:PersistentVolumeClaim",
            "data",
        ),
        ({"apiVersion": "v1", "kind": "PersistentVolume"}, "kubernetes:core/v1:PersistentVolume", "data"),
        (
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"volumeClaimTemplates": [{}]}},
            "kubernetes:apps/v1:StatefulSet",
            "data",
        ),
        ({"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {}}, "kubernetes:apps/v1:StatefulSet", ""),
        ({"apiVersion": "v1", "kind": "Pod"}, "kubernetes:core/v1:Pod", ""),
        ({}, "random:index/randomPassword:RandomPassword", "credential"),
        ({}, "aws:s3/bucket:Bucket", "data"),
        (
            {"kind": ["PersistentVolumeClaim"], "apiVersion": 1},
            "kubernetes:core/v1:PersistentVolumeClaim",
            "",
        ),
    ],
)
def test_what_holds_data(inputs: object, token: str, holds: str) -> None:
    state = {"urn": f"urn:pulumi:dev::p::{token}::x", "type": token, "inputs": inputs}
    step = {"op": "delete", "urn": state["urn"], "oldState": state}
    (change,) = read_plan(json.dumps({"steps": [step]})).changes
    assert change.holds == holds


def test_a_protected_resource_is_told_by_the_state_that_stands() -> None:
    step = _step("delete", oldState={**STATE, "protect": True, "retainOnDelete": True}, newState=None)
    (change,) = read_plan(json.dumps({"steps": [step]})).changes
    assert (change.protected, change.retained) == (True, True)


@pytest.mark.parametrize(
    "text",
    ["", "no json", "[]", "7", "null", "{}", '{"deployment": {}}', '{"steps": [', "[" * 100_000],
    ids=["empty", "text", "list", "number", "null", "nothing", "a state", "cut off", "deep"],
)
def test_what_is_no_preview_is_refused_with_the_way_to_one(text: str) -> None:
    with pytest.raises(LabError, match=r"(?s)this is no preview.*somewhere\.json.*pulumi preview --json"):
        read_plan(text, source="somewhere.json")


@pytest.mark.parametrize(
    "document",
    [
        {"steps": 7},
        {"steps": [7, None, [], {"op": 1, "urn": 2}, {"urn": "x"}]},
        {
            "steps": [
                {"op": "update", "urn": "a::b::c::d", "newState": 5, "detailedDiff": [1], "diffReasons": "x"}
            ]
        },
        {"steps": [], "diagnostics": [None, {"severity": "error", "message": 4}], "changeSummary": []},
    ],
)
def test_wrong_shapes_inside_do_not_stop_the_reading(document: object) -> None:
    read_plan(
        json.dumps(document), 'no json\n[1]\n{"policyEvent": 7}\n{"policyEvent": {"message": []}}\n{"cut'
    )


def test_a_line_before_the_document_is_skipped() -> None:
    assert read_plan('warning: something\n{"steps": [], "changeSummary": {"same": 3}}').unchanged == 3
