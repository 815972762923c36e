"""PrometheusOperator: CRDs by their chart, a controller that is at home in one namespace."""

from typing import Any

import pytest

from components.core import ArgsError
from components.kube import ChartSource
from components.observability import PrometheusOperator, PrometheusOperatorArgs
from tests.harness import Recording, run
from tests.harness.samples import ACCESS, OWNERSHIP

RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def args(**changes: Any) -> PrometheusOperatorArgs:
    values: dict[str, Any] = {
        "ownership": OWNERSHIP,
        "access": ACCESS,
        "crds": ChartSource(chart="/charts/crds", version="23.0.0"),
        "image": "example/operator:v0.85.0",
        "reloader_image": "example/reloader:v0.85.0",
        "namespace": "monitoring",
        "node_selector": "gpu-platform/simulated!=true",
    }
    return PrometheusOperatorArgs(**(values | changes))


def record(**changes: Any) -> Recording:
    return run(lambda: PrometheusOperator("op", args(**changes)) and None)


@pytest.mark.parametrize("preview", [False, True])
def test_nothing_else_is_created(preview: bool) -> None:
    recording = run(lambda: PrometheusOperator("op", args()) and None, preview=preview)
    recording.assert_counts(
        {
            "gpuplatform:observability:PrometheusOperator": 1,
            "gpuplatform:kube:ChartRelease": 1,
            "gpuplatform:kube:Workload": 1,
            RELEASE: 1,
            DEPLOYMENT: 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            f"{RBAC}:Role": 1,
            f"{RBAC}:RoleBinding": 1,
            f"{RBAC}:ClusterRole": 1,
            f"{RBAC}:ClusterRoleBinding": 1,
        }
    )


def test_the_crds_come_by_their_chart_and_the_operator_after_they_answer() -> None:
    recording = record()
    release = recording.one(RELEASE, "op-crds-release")
    assert (release.inputs["name"], release.inputs["namespace"]) == ("prometheus-operator-crds", "monitoring")
    assert release.inputs["values"] == {
        "crds": {"prometheusagents": {"enabled": False}, "thanosrulers": {"enabled": False}}
    }
    assert set(release.options.hooks) == {"after_create", "after_update"}
    assert "op-crds-release" in recording.one("gpuplatform:kube:Workload", "op-server").options.depends_on


def test_the_operator_keeps_to_its_namespace() -> None:
    container = (
        record().one(DEPLOYMENT, "op-server-deployment").inputs["spec"]["template"]["spec"]["containers"][0]
    )
    assert "command" not in container
    assert container["args"] == [
        "--namespaces=monitoring",
        "--prometheus-config-reloader=example/reloader:v0.85.0",
        "--config-reloader-cpu-request=10m",
        "--config-reloader-cpu-limit=100m",
        "--config-reloader-memory-request=24Mi",
        "--config-reloader-memory-limit=64Mi",
        "--kubelet-service=monitoring/kubelet",
        "--kubelet-endpoints=false",
        "--kubelet-endpointslice=true",
        "--kubelet-selector=gpu-platform/simulated!=true",
        "--labels=" + ",".join(f"{key}={value}" for key, value in sorted(OWNERSHIP.labels().items())),
    ]


def test_its_rights_outside_its_namespace_are_to_read_nodes_namespaces_and_classes() -> None:
    recording = record()
    rules = recording.one(f"{RBAC}:ClusterRole", "op-cluster-role").inputs["rules"]
    assert rules == [
        {"apiGroups": [""], "resources": ["nodes", "namespaces"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["get"]},
    ]
    for role in ("Role", "ClusterRole"):
        for item in recording.of_type(f"{RBAC}:{role}"):
            assert "*" not in str(item.inputs["rules"]), item.name


def test_every_node_is_scraped_where_no_selector_is_given() -> None:
    container = (
        record(node_selector="").one(DEPLOYMENT, "op-server-deployment").inputs["spec"]["template"]["spec"]
    )
    assert not [text for text in container["containers"][0]["args"] if "kubelet-selector" in text]


def test_a_bad_namespace_is_refused() -> None:
    with pytest.raises(ArgsError, match="namespace: got 'Monitoring'"):
        args(namespace="Monitoring")
