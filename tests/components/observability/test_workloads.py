"""The exporter of simulated GPUs and Grafana as they run."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.contracts import ServiceEndpoint
from components.core import ArgsError
from components.observability import (
    Grafana,
    GrafanaArgs,
    Scrape,
    SimulatedGpuTelemetry,
    SimulatedGpuTelemetryArgs,
)
from lab.paths import REPOSITORY
from tests.components.observability.shapes import LOGIN, MADE, PASSWORD
from tests.harness import Recording, run
from tests.harness.samples import OWNERSHIP

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
PACKAGE = REPOSITORY / "components" / "observability" / "gpu_telemetry"
PROMETHEUS = ServiceEndpoint(
    namespace="monitoring", service="prometheus", port=9080, health_path="/-/healthy", auth="basic"
)


def telemetry(*, preview: bool = False) -> tuple[Recording, Scrape]:
    found: list[Scrape] = []
    args = SimulatedGpuTelemetryArgs(namespace="monitoring", ownership=OWNERSHIP, image="example/python:3.11")
    recording = run(lambda: found.append(SimulatedGpuTelemetry("t", args).scrape), preview=preview)
    return recording, found[0]


@pytest.mark.parametrize("preview", [False, True])
def test_the_exporter_and_its_rights_and_nothing_else(preview: bool) -> None:
    recording, _ = telemetry(preview=preview)
    recording.assert_counts(
        {
            "gpuplatform:observability:SimulatedGpuTelemetry": 1,
            "gpuplatform:kube:Workload": 1,
            DEPLOYMENT: 1,
            "kubernetes:core/v1:ConfigMap": 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            f"{RBAC}:ClusterRole": 1,
            f"{RBAC}:ClusterRoleBinding": 1,
            f"{RBAC}:Role": 1,
            f"{RBAC}:RoleBinding": 1,
        }
    )


def test_the_exporter_may_list_nodes_and_pods_and_read_the_faults() -> None:
    recording, _ = telemetry()
    assert recording.one(f"{RBAC}:ClusterRole", "t-placement").inputs["rules"] == [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}
    ]
    assert recording.one(f"{RBAC}:Role", "t-faults").inputs["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["gpu-faults"], "verbs": ["get"]}
    ]


def test_the_whole_program_is_shipped() -> None:
    recording, _ = telemetry()
    data = recording.one("kubernetes:core/v1:ConfigMap", "t-exporter-files").inputs["data"]
    assert data == {
        f"opt.gpu-platform.gpu_telemetry.{file.name}": file.read_text() for file in PACKAGE.glob("*.py")
    }


def test_it_is_scraped_as_the_real_exporter_is() -> None:
    _, scrape = telemetry()
    endpoint = scrape.endpoint
    assert (endpoint.job, endpoint.port, endpoint.path) == ("dcgm-exporter", 9400, "/metrics")
    assert scrape.honor_labels
    assert not scrape.pool_label  # it says the pool itself: its own node is none of those it plays


def grafana(**changes: Any) -> Recording:
    values: dict[str, Any] = {
        "namespace": "monitoring",
        "ownership": OWNERSHIP,
        "image": "example/grafana:12.0.0",
        "prometheus": PROMETHEUS,
        "prometheus_login": LOGIN,
        "dashboards": {"fleet": {"title": "Fleet"}},
    }
    return run(lambda: Grafana("g", GrafanaArgs(**(values | changes))) and None, made=MADE)


def test_grafana_has_a_login_a_source_and_its_dashboards() -> None:
    recording = grafana()
    recording.assert_counts(
        {
            "gpuplatform:observability:Grafana": 1,
            "gpuplatform:kube:DeliveredSecret": 1,
            "gpuplatform:kube:NetworkAllow": 1,
            "gpuplatform:kube:Workload": 1,
            PASSWORD: 1,
            DEPLOYMENT: 1,
            "kubernetes:core/v1:ConfigMap": 1,
            "kubernetes:core/v1:Secret": 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            "kubernetes:networking.k8s.io/v1:NetworkPolicy": 2,
        }
    )
    data = recording.one("kubernetes:core/v1:ConfigMap", "g-server-files").inputs["data"]
    (source,) = json.loads(data["etc.grafana.provisioning.datasources.prometheus.yaml"])["datasources"]
    assert source["url"] == "http://prometheus.monitoring.svc:9080"
    assert source["secureJsonData"] == {"basicAuthPassword": "$PROMETHEUS_PASSWORD"}
    assert json.loads(data["etc.grafana.dashboards.fleet.json"]) == {"title": "Fleet"}
    env = recording.one(DEPLOYMENT, "g-server-deployment").inputs["spec"]["template"]["spec"]["containers"][
        0
    ]["env"]
    values = {item["name"]: item.get("value") or item["valueFrom"]["secretKeyRef"] for item in env}
    assert values["GF_AUTH_ANONYMOUS_ENABLED"] == "false"
    assert values["GF_SECURITY_ADMIN_PASSWORD"] == {"name": "grafana-login", "key": "password"}
    assert values["PROMETHEUS_PASSWORD"] == {"name": "monitoring-login", "key": "password"}
    recording.assert_no_clear("made-for-")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ArgsError, match=r"dashboards.My Board: got 'My Board'"):
        grafana(dashboards={"My Board": {}})
    with pytest.raises(ArgsError, match="namespace"):
        SimulatedGpuTelemetryArgs(namespace="", ownership=OWNERSHIP, image="x:1")


def test_the_program_needs_nothing_but_the_standard_library() -> None:
    text = "\n".join(Path(file).read_text() for file in PACKAGE.glob("*.py"))
    assert "components" not in text
