"""JobRules: which jobs the API server refuses, and with which words."""

from typing import Any

import pytest

from components.core import ArgsError
from components.scheduling import JobRules, JobRulesArgs, QueueRule
from tests.harness import run
from tests.harness.samples import OWNERSHIP, metadata

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
RESEARCH = QueueRule(queue="research", default_time_limit_seconds=3600, max_time_limit_seconds=7200)
PRODUCT = QueueRule(queue="product", default_time_limit_seconds=60, max_time_limit_seconds=120)
IN_JOBS = {"matchLabels": {"kubernetes.io/metadata.name": "jobs"}}


def _args(**changes: Any) -> JobRulesArgs:
    values: dict[str, Any] = {"ownership": OWNERSHIP, "namespace": "jobs", "queues": (RESEARCH, PRODUCT)}
    return JobRulesArgs(**(values | changes))


def _no_class(spec: str, what: str) -> dict[str, str]:
    field = f"{spec}.priorityClassName"
    return {
        "expression": f"!has({field}) || {field} == '' || {field} in []",
        "message": f"{what} in jobs must not set priorityClassName (accepted: none): how urgent it is says "
        "its Job's label kueue.x-k8s.io/priority-class",
        "reason": "Invalid",
    }


@pytest.mark.parametrize("preview", [False, True])
def test_jobs_need_a_known_queue_and_a_limit_within_it(preview: bool) -> None:
    recording = run(lambda: JobRules("rules", _args()) and None, preview=preview)
    label = (
        "(has({0}.metadata.labels) && 'kueue.x-k8s.io/{1}' in {0}.metadata.labels ? "
        "{0}.metadata.labels['kueue.x-k8s.io/{1}'] : '')"
    )
    deadline = "(has({0}.spec.activeDeadlineSeconds) ? {0}.spec.activeDeadlineSeconds : -1)"
    queue, priority = (label.format("object", name) for name in ("queue-name", "priority-class"))
    old_queue, old_priority = (label.format("oldObject", name) for name in ("queue-name", "priority-class"))
    changed = (
        f"request.operation == 'CREATE' || {deadline.format('object')} != {deadline.format('oldObject')} || "
        f"{queue} != {old_queue} || {priority} != {old_priority}"
    )
    advice = "product: default 60 s, at most 120 s; research: default 3600 s, at most 7200 s"
    recording.assert_resource(
        POLICY,
        "rules-jobs",
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata("jobs-jobs"),
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "namespaceSelector": IN_JOBS,
                    "resourceRules": [
                        {
                            "apiGroups": ["batch"],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE", "UPDATE"],
                            "resources": ["jobs"],
                        }
                    ],
                },
                "matchConditions": [{"name": "what-is-judged-changed", "expression": changed}],
                "variables": [
                    {"name": "limits", "expression": '{"product": 120, "research": 7200}'},
                    {"name": "queue", "expression": queue},
                    {"name": "priority", "expression": priority},
                ],
                "validations": [
                    {
                        "expression": "variables.queue in variables.limits",
                        "message": "a Job in jobs must name its queue: set label "
                        "kueue.x-k8s.io/queue-name to one of: product, research",
                        "reason": "Invalid",
                    },
                    {
                        "expression": "has(object.spec.activeDeadlineSeconds)",
                        "message": "a Job in jobs must end by itself: set spec.activeDeadlineSeconds "
                        f"({advice})",
                        "reason": "Invalid",
                    },
                    {
                        "expression": "!has(object.spec.activeDeadlineSeconds) || "
                        "!(variables.queue in variables.limits) || "
                        "object.spec.activeDeadlineSeconds <= variables.limits[variables.queue]",
                        "message": f"spec.activeDeadlineSeconds is above the limit of the queue ({advice})",
                        "reason": "Invalid",
                    },
                    {
                        "expression": "!has(object.spec.managedBy) || "
                        "object.spec.managedBy == 'kubernetes.io/job-controller'",
                        "message": "a Job in jobs is run by the cluster's own controller: remove "
                        "spec.managedBy. Another one would hold the quota and may start nothing",
                        "reason": "Invalid",
                    },
                    {
                        "expression": "variables.priority == '' || "
                        "variables.priority in ['low', 'normal', 'high']",
                        "message": "label kueue.x-k8s.io/priority-class names no priority there is; "
                        "accepted: low, normal, high",
                        "reason": "Invalid",
                    },
                    _no_class("object.spec.template.spec", "a Job"),
                ],
            },
        },
        parent="rules",
    )
    binding = recording.assert_resource(
        BINDING,
        "rules-jobs-binding",
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata("jobs-jobs"),
            "spec": {"policyName": "jobs-jobs", "validationActions": ["Deny"]},
        },
    )
    assert binding.options.depends_on == ("rules-jobs",)
    recording.assert_counts({"gpuplatform:scheduling:JobRules": 1, POLICY: 2, BINDING: 2})


def test_pods_of_the_namespace_name_no_priority_class() -> None:
    spec = run(lambda: JobRules("rules", _args()) and None).one(POLICY, "rules-pods").inputs["spec"]
    assert spec == {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": IN_JOBS,
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ],
        },
        "validations": [_no_class("object.spec", "a pod")],
    }


def test_a_site_may_allow_priority_classes_of_its_own() -> None:
    args = _args(priorities=("urgent",), pod_priority_classes=("batch", "nice"))
    recording = run(lambda: JobRules("rules", args) and None)
    pods = recording.one(POLICY, "rules-pods").inputs["spec"]["validations"][0]
    assert pods["expression"].endswith("object.spec.priorityClassName in ['batch', 'nice']")
    jobs = recording.one(POLICY, "rules-jobs").inputs["spec"]["validations"]
    assert any(one["expression"].endswith("variables.priority in ['urgent']") for one in jobs)


def test_two_namespaces_have_rules_of_their_own() -> None:
    def program() -> None:
        JobRules("rules", _args())
        JobRules("other", _args(namespace="other"))

    recording = run(program)
    recording.assert_counts({"gpuplatform:scheduling:JobRules": 2, POLICY: 4, BINDING: 4})
    assert len({policy.inputs["metadata"]["name"] for policy in recording.of_type(POLICY)}) == 4


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"namespace": "Jobs"}, "namespace"),
        ({"queues": ()}, "queues"),
        (
            {"queues": (QueueRule(queue="Q", default_time_limit_seconds=1, max_time_limit_seconds=1),)},
            "queues.queue",
        ),
        (
            {"queues": (QueueRule(queue="q", default_time_limit_seconds=1, max_time_limit_seconds=0),)},
            "queues.q.max_time_limit_seconds",
        ),
    ],
)
def test_impossible_rules_are_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]
