"""KueueOperator: what the chart is told, and the gate before the first queue."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core import ArgsError
from components.kube import ChartSource
from components.scheduling import KueueOperator, KueueOperatorArgs
from components.scheduling.operator import chart_values
from tests.harness import run
from tests.harness.samples import ACCESS, ANNOTATIONS, LABELS, OWNERSHIP

COUNTS = {
    "gpuplatform:scheduling:KueueOperator": 1,
    "gpuplatform:kube:Namespace": 1,
    "gpuplatform:kube:ChartRelease": 1,
    "kubernetes:core/v1:Namespace": 1,
    "kubernetes:core/v1:ResourceQuota": 1,
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": 4,
    "kubernetes:helm.sh/v3:Release": 1,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": 2,
}


def _args(**changes: Any) -> KueueOperatorArgs:
    values: dict[str, Any] = {
        "ownership": OWNERSHIP,
        "access": ACCESS,
        "source": ChartSource(chart="/charts/kueue", version="0.17.0"),
        "image": "example/kueue:0.17.0",
    }
    return KueueOperatorArgs(**(values | changes))


@pytest.mark.parametrize("preview", [False, True])
def test_kueue_gets_a_guarded_namespace_and_one_release(preview: bool) -> None:
    recording = run(lambda: KueueOperator("kueue", _args()) and None, preview=preview)
    release = recording.one("kubernetes:helm.sh/v3:Release", "kueue-chart-release")
    assert (release.inputs["name"], release.inputs["namespace"]) == ("kueue", "kueue-system")
    assert release.inputs["chart"] == "/charts/kueue"
    assert release.inputs["values"] == chart_values(_args())
    assert release.parent == "kueue-chart"
    assert set(release.options.hooks) == {"after_create", "after_update"}
    recording.assert_counts(COUNTS)


def test_aggregated_roles_come_before_the_chart_and_go_after_it() -> None:
    recording = run(lambda: KueueOperator("kueue", _args()) and None)
    inputs = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": "kueue-batch-admin-role",
            "labels": {**LABELS, "app.kubernetes.io/managed-by": "Helm"},
            "annotations": {
                **ANNOTATIONS,
                "meta.helm.sh/release-name": "kueue",
                "meta.helm.sh/release-namespace": "kueue-system",
            },
        },
        "aggregationRule": {
            "clusterRoleSelectors": [{"matchLabels": {"rbac.kueue.x-k8s.io/batch-admin": "true"}}]
        },
    }
    recording.assert_resource(
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "kueue-batch-admin", inputs, parent="kueue"
    )
    chart = recording.one("gpuplatform:kube:ChartRelease", "kueue-chart")
    assert {"kueue-batch-admin", "kueue-batch-user"} <= set(chart.options.depends_on)
    # Helm's own wait would hang on them at uninstall.
    assert recording.one("kubernetes:helm.sh/v3:Release", "kueue-chart-release").inputs["skipAwait"] is True


def test_exactly_the_aggregated_roles_of_the_chart_are_ours(kueue_chart: Path) -> None:
    files = sorted((kueue_chart / "templates").rglob("*.yaml"))
    aggregated = [file.stem for file in files if "aggregationRule" in file.read_text()]
    assert aggregated == ["batch_admin_role", "batch_user_role"]


def test_the_api_server_reaches_the_webhook_and_kueue_the_api_server_and_nothing_else() -> None:
    recording = run(lambda: KueueOperator("kueue", _args()) and None)
    policies = {
        policy.inputs["metadata"]["name"]: policy.inputs["spec"]
        for policy in recording.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    }
    assert set(policies) == {"default-deny", "allow-dns", "allow-api-server-calls", "allow-to-api-server"}
    ports = {port["port"] for port in policies["allow-api-server-calls"]["ingress"][0]["ports"]}
    assert ports == {9443, 8443, 8082}
    assert {p["port"] for p in policies["allow-to-api-server"]["egress"][0]["ports"]} == {443, 6443}
    for name in ("allow-api-server-calls", "allow-to-api-server"):
        assert policies[name]["podSelector"] == {"matchLabels": {"control-plane": "controller-manager"}}


def test_the_values_are_these_and_no_more() -> None:
    values = chart_values(_args(pods_ready_timeout_seconds=120))
    config = yaml.safe_load(values["managerConfig"].pop("controllerManagerConfigYaml"))
    assert values == {
        "enablePrometheus": False,
        "enableCertManager": False,
        "enableKueueViz": False,
        "managerConfig": {},
        "controllerManager": {
            "replicas": 1,
            "featureGates": [{"name": "TopologyAwareScheduling", "enabled": True}],
            "manager": {
                "image": {"repository": "example/kueue", "tag": "0.17.0", "pullPolicy": "IfNotPresent"},
                "podAnnotations": ANNOTATIONS,
                "resources": {
                    "requests": {"cpu": "100m", "memory": "256Mi"},
                    "limits": {"cpu": "2", "memory": "512Mi"},
                },
            },
        },
    }
    assert config == {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", "kueue-system"],
                }
            ]
        },
        "waitForPodsReady": {
            "timeout": "120s",
            "blockAdmission": False,
            "requeuingStrategy": {"timestamp": "Eviction", "backoffLimitCount": 3},
        },
        "integrations": {"frameworks": ["batch/job"]},
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
    }


def test_every_value_exists_in_the_chart(kueue_chart: Path) -> None:
    known = yaml.safe_load((kueue_chart / "values.yaml").read_text())

    def unknown(values: dict[str, Any], place: Any, path: str) -> list[str]:
        found = []
        for key, value in values.items():
            if key not in place:
                found.append(f"{path}{key}")
            elif isinstance(value, dict) and place[key]:
                found += unknown(value, place[key], f"{path}{key}.")
        return found

    assert unknown(chart_values(_args()), known, "") == []


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"namespace": "Kueue"}, "namespace"),
        ({"pods_ready_timeout_seconds": 0}, "pods_ready_timeout_seconds"),
    ],
)
def test_an_impossible_operator_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]
