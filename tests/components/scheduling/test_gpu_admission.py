"""GpuAdmission: who may make a pod that asks for GPUs, in every namespace."""

from typing import Any

import pytest

from components.core import ArgsError
from components.scheduling import GpuAdmission, GpuAdmissionArgs
from tests.harness import run
from tests.harness.samples import OWNERSHIP, metadata

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
CONTROLLER = "system:serviceaccount:kube-system:job-controller"


def _args(**changes: Any) -> GpuAdmissionArgs:
    values: dict[str, Any] = {"ownership": OWNERSHIP, "queue_namespaces": ("jobs",)}
    return GpuAdmissionArgs(**(values | changes))


@pytest.mark.parametrize("preview", [False, True])
def test_only_the_job_controller_makes_gpu_pods(preview: bool) -> None:
    recording = run(lambda: GpuAdmission("gpu", _args()) and None, preview=preview)
    asks = (
        "{0}.exists(c, has(c.resources) && ((has(c.resources.limits) && c.resources.limits.exists(r, "
        "r.startsWith('nvidia.com/'))) || (has(c.resources.requests) && c.resources.requests.exists(r, "
        "r.startsWith('nvidia.com/')))))"
    )
    containers = asks.format("object.spec.containers")
    first = asks.format("object.spec.initContainers")
    recording.assert_resource(
        POLICY,
        "gpu",
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata("gpu-platform-gpu-pods"),
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "namespaceSelector": {},
                    "resourceRules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["pods"],
                        }
                    ],
                },
                "matchConditions": [
                    {
                        "name": "asks-for-gpus",
                        "expression": f"{containers} || (has(object.spec.initContainers) && {first})",
                    }
                ],
                "validations": [
                    {
                        "expression": "request.namespace in ['jobs'] && "
                        f"request.userInfo.username in ['{CONTROLLER}']",
                        "message": "a pod gets GPUs only as part of a Job with the label "
                        "kueue.x-k8s.io/queue-name in namespace jobs, and only the Job's controller may "
                        "make it",
                        "reason": "Invalid",
                    }
                ],
            },
        },
        parent="gpu",
    )
    binding = recording.assert_resource(
        BINDING,
        "gpu-binding",
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata("gpu-platform-gpu-pods"),
            "spec": {"policyName": "gpu-platform-gpu-pods", "validationActions": ["Deny"]},
        },
    )
    assert binding.options.depends_on == ("gpu",)
    recording.assert_counts({"gpuplatform:scheduling:GpuAdmission": 1, POLICY: 1, BINDING: 1})


def test_other_controllers_and_exempt_namespaces_are_named() -> None:
    args = _args(queue_namespaces=("two", "one"), creators=("b", "a"), exempt_namespaces=("gpu-operator",))
    spec = run(lambda: GpuAdmission("gpu", args) and None).one(POLICY, "gpu").inputs["spec"]
    assert spec["matchConstraints"]["namespaceSelector"] == {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["gpu-operator"]}
        ]
    }
    assert spec["validations"][0]["expression"] == (
        "request.namespace in ['one', 'two'] && request.userInfo.username in ['a', 'b']"
    )


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"queue_namespaces": ()}, "queue_namespaces"),
        ({"queue_namespaces": ("Jobs",)}, "queue_namespaces"),
        ({"exempt_namespaces": ("kube_system",)}, "exempt_namespaces"),
        ({"creators": ()}, "creators"),
    ],
)
def test_an_impossible_rule_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]
