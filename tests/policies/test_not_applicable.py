"""A rule says nothing about what it does not judge; that is not the same as passing."""

import pytest

from tests.policies.gpu_manifests import nodes
from tests.policies.manifests import Resource, metadata, release, service
from tests.policies.plans import BY_ID, judge

_PROVIDER = Resource(name="cluster", type="pulumi:providers:kubernetes", props={})
_RANDOM = Resource(name="password", type="random:index/randomPassword:RandomPassword", props={"length": 20.0})
_COMPONENT = Resource(name="tracking", type="gpuplatform:mlops:ExperimentTracking", props={})
_CONFIG = Resource(
    name="settings", type="kubernetes:core/v1:ConfigMap", props={"metadata": metadata("settings"), "data": {}}
)
_CRD = Resource(
    name="crd",
    type="kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
    props={
        "metadata": metadata("x.example.org", namespace=None),
        "spec": {"versions": [{"template": {"spec": {"containers": [{"image": "x"}]}}}]},
    },
)
_GROUP = Resource(name="group", type="kubernetes:yaml/v2:ConfigGroup", props={"yaml": "kind: Pod"})
_CPU_NODE = Resource(
    name="cpu", type="kubernetes:core/v1:Node", props={"metadata": metadata("cpu", namespace=None)}
)
_LABEL_PATCH = Resource(
    name="patch", type="kubernetes:core/v1:ConfigMapPatch", props={"metadata": {"name": "x"}}
)

OUTSIDE = [_PROVIDER, _RANDOM, _COMPONENT, _GROUP]


@pytest.mark.parametrize(
    ("rule", "plan"),
    [
        *((rule, OUTSIDE) for rule in sorted(set(BY_ID) - {"exemptions"})),
        ("labels", [_LABEL_PATCH]),
        ("pods", [_CONFIG, _CRD, service()]),
        ("pods-secrets", [_CRD, service()]),
        ("images", [_CONFIG, _CRD, service()]),
        ("exposure", [_CONFIG, _CRD]),
        ("stateful", [_CONFIG, service()]),
        ("namespaces", [_CONFIG, service()]),
        ("storage-split", [_CONFIG, service()]),
        ("fabric", [_CPU_NODE, _CONFIG]),
        ("network", [_CONFIG, service()]),
        ("admission", [_CONFIG, service()]),
        ("access", [_CONFIG, service()]),
        ("host-storage", [_CONFIG, service()]),
        ("numa", [_CPU_NODE, *nodes("one", 1, None, **{"nvidia.com__gpu.count": "1"})]),
        ("sizing", [_CPU_NODE, _CONFIG]),
        ("mig", [_CPU_NODE, *nodes("whole", 1)]),
        ("acceptance", [_CPU_NODE, *nodes("alone", 1, gpu_platform__multi_node="true")]),
        ("acceptance", nodes("apart", 3)),
        ("scheduler", [_CONFIG, service(), *nodes("whole", 1)]),
        ("versions", [_CONFIG, service(), *nodes("whole", 1)]),
        ("charts", [_CONFIG]),
        ("charts-values", [_CONFIG]),
    ],
)
def test_rule_does_not_apply(rule: str, plan: list[Resource]) -> None:
    assert judge(BY_ID[rule], plan, "prod") is None


def test_small_pools_for_single_nodes_need_no_fast_fabric() -> None:
    assert judge(BY_ID["fabric"], nodes("small", 4, gpu_platform__fabric="ethernet-100")) == ()


def test_a_chart_that_renders_only_pods_of_its_test_is_still_judged() -> None:
    assert judge(BY_ID["charts"], [release()]) == ()
