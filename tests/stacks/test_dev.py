"""The dev stack as a whole: every resource and its outputs. Findings: tests/policies/test_corpus.py."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from lab.paths import REPOSITORY
from stacks.config import KubeconfigCluster, Settings, load_file, settings_file
from stacks.config.models import SampleSettings, TrackingSettings
from stacks.config.models_monitoring import GrafanaSettings, MonitoringSettings, ReceiverSettings
from stacks.config.versions import read
from stacks.kinds import deploy
from stacks.machine import DEFAULT_STATE
from tests.harness import PASSWORDS, run
from tests.harness.recording import Recording

COMPONENTS = {
    "gpuplatform:compute:SimulatedGpuPool": 2,
    "gpuplatform:kube:ChartRelease": 2,
    "gpuplatform:kube:DeliveredSecret": 7,
    "gpuplatform:kube:Namespace": 6,
    "gpuplatform:kube:NetworkAllow": 11,
    "gpuplatform:kube:Workload": 5,
    "gpuplatform:mlops:ExperimentTracking": 1,
    "gpuplatform:observability:AlertRules": 1,
    "gpuplatform:observability:Login": 1,
    "gpuplatform:observability:Monitoring": 1,
    "gpuplatform:observability:PrometheusOperator": 1,
    "gpuplatform:observability:Scrapes": 1,
    "gpuplatform:observability:SimulatedGpuTelemetry": 1,
    "gpuplatform:scheduling:Acceptance": 2,
    "gpuplatform:scheduling:DistributedSpace": 2,
    "gpuplatform:scheduling:GangQueue": 1,
    "gpuplatform:scheduling:GpuAdmission": 1,
    "gpuplatform:scheduling:GpuFlavors": 1,
    "gpuplatform:scheduling:JobRules": 1,
    "gpuplatform:scheduling:KueueOperator": 1,
    "gpuplatform:scheduling:SampleJobs": 1,
    "gpuplatform:storage:ObjectStore": 1,
    "gpuplatform:storage:Postgres": 1,
    "gpuplatform:storage:SharedVolumes": 1,
}
RESOURCES = {
    "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy": 3,
    "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding": 3,
    "kubernetes:apps/v1:Deployment": 3,
    "kubernetes:apps/v1:StatefulSet": 2,
    "kubernetes:core/v1:ConfigMap": 10,
    "kubernetes:core/v1:LimitRange": 5,
    "kubernetes:core/v1:Namespace": 6,
    "kubernetes:core/v1:Node": 8,
    "kubernetes:core/v1:PersistentVolumeClaim": 6,
    "kubernetes:core/v1:ResourceQuota": 6,
    "kubernetes:core/v1:Secret": 10,
    "kubernetes:core/v1:Service": 9,
    "kubernetes:core/v1:ServiceAccount": 7,
    "kubernetes:helm.sh/v3:Release": 2,
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor": 2,
    "kubernetes:kueue.x-k8s.io/v1beta2:Topology": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass": 3,
    "kubernetes:monitoring.coreos.com/v1:Alertmanager": 1,
    "kubernetes:monitoring.coreos.com/v1:Prometheus": 1,
    "kubernetes:monitoring.coreos.com/v1:PrometheusRule": 8,
    "kubernetes:monitoring.coreos.com/v1:ServiceMonitor": 7,
    "kubernetes:monitoring.coreos.com/v1alpha1:ScrapeConfig": 1,
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": 45,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": 5,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": 3,
    "kubernetes:rbac.authorization.k8s.io/v1:Role": 4,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": 4,
    "pulumi:providers:kubernetes": 1,
    "random:index/randomPassword:RandomPassword": 7,
}


@pytest.fixture(scope="module")
def settings() -> Settings:
    """The committed settings."""
    return load_file(settings_file(REPOSITORY, "dev"), "dev", read(DEFAULT_STATE))


def _run(settings: Settings, *, preview: bool = False) -> Recording:
    return run(lambda: deploy(settings).exports(), preview=preview, made=PASSWORDS)


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_the_whole_stack(settings: Settings, preview: bool) -> None:
    _run(settings, preview=preview).assert_counts({**COMPONENTS, **RESOURCES})


def test_the_outputs_are_what_the_commands_read(settings: Settings) -> None:
    outputs = _run(settings).outputs
    assert set(outputs) == {
        "environment",
        "cluster",
        "pools",
        "queues",
        "services",
        "storage",
        "samples",
        "acceptance",
    }
    assert outputs["cluster"] == {
        "kubeconfig": "/var/lib/gpu-platform/kubeconfig",
        "context": "gpu-platform-lab",
    }
    assert outputs["pools"]["h100"] == {
        "place": "lab",
        "gpu": "h100-80",
        "product": "NVIDIA-H100-80GB-HBM3",
        "nodes": 4,
        "gpus": 32,
        "fabric": "infiniband-ndr",
        "simulated": True,
    }
    assert outputs["queues"]["research"]["gpuQuota"] == {"a100": 32, "h100": 32}
    assert outputs["services"]["mlflow"]["healthPath"] == "/health"
    assert outputs["samples"]["names"] == ["distributed-training", "gang", "training"]
    assert outputs["acceptance"]["a100"] == {
        "namespace": "gpu-platform-jobs",
        "configMap": "acceptance-a100",
        "tests": [
            *("nccl-intra", "nccl-inter", "dcgm-1", "dcgm-2", "dcgm-3"),
            *("storage-datasets", "storage-checkpoints", "gpt2", "bert"),
        ],
    }
    assert set(outputs["storage"]) == {"datasets", "checkpoints"}


def test_everything_uses_the_explicit_provider(settings: Settings) -> None:
    for item in _run(settings).resources:
        if item.type.startswith("kubernetes:"):
            assert item.options.provider.split("::")[-2] == "cluster", item.name


def test_a_cluster_of_the_users_own_gets_the_services_from_public_images(settings: Settings) -> None:
    versions = read(DEFAULT_STATE)
    own = replace(
        settings,
        cluster=KubeconfigCluster(source="kubeconfig", context="mine", path="/srv/kubeconfig"),
        artifacts=versions.supported,
        pools=MappingProxyType({}),
        queues=MappingProxyType({}),
        samples=SampleSettings(enabled=True, gang_job=None),
    )
    recording = _run(own)
    assert not recording.of_type("kubernetes:core/v1:Node")
    (release,) = recording.of_type("kubernetes:helm.sh/v3:Release")
    assert release.inputs["chart"] == versions.supported.charts["prometheus-operator-crds"].chart
    assert recording.outputs["samples"]["names"] == ["distributed-training", "training"]
    provider = recording.one("pulumi:providers:kubernetes", "cluster")
    assert provider.inputs["kubeconfig"] == "/srv/kubeconfig"
    images = [
        container["image"]
        for kind in ("Deployment", "StatefulSet")
        for item in recording.of_type(f"kubernetes:apps/v1:{kind}")
        for container in item.inputs["spec"]["template"]["spec"]["containers"]
    ]
    assert sorted(images) == sorted(
        versions.supported.images[n] for n in ("mlflow", "object-store", "postgres", "prometheus-operator")
    )


def test_without_tracking_the_training_sample_goes_and_the_gang_stays(settings: Settings) -> None:
    without = replace(settings, tracking=TrackingSettings(enabled=False))
    assert _run(without).outputs["samples"]["names"] == ["distributed-training", "gang"]
    alone = replace(without, samples=SampleSettings(gang_job=None, distributed_training=False))
    assert _run(alone).outputs["samples"] == {}


def test_tracking_and_monitoring_can_be_left_out(settings: Settings) -> None:
    without = replace(
        settings,
        tracking=TrackingSettings(enabled=False),
        samples=SampleSettings(enabled=False),
        monitoring=MonitoringSettings(enabled=False),
    )
    recording = _run(without)
    assert recording.outputs["services"] == {}
    assert recording.outputs["samples"] == {}
    assert not recording.of_type("random:index/randomPassword:RandomPassword")
    assert len(recording.of_type("kubernetes:core/v1:Node")) == 8


def test_monitoring_watches_what_there_is(settings: Settings) -> None:
    without = replace(
        settings, tracking=TrackingSettings(enabled=False), samples=SampleSettings(enabled=False)
    )
    recording = _run(without)
    assert set(recording.outputs["services"]) == {"prometheus", "alertmanager"}
    assert not recording.of_type("kubernetes:monitoring.coreos.com/v1alpha1:ScrapeConfig")
    namespaces = {
        item.inputs["metadata"]["name"] for item in recording.of_type("kubernetes:core/v1:Namespace")
    }
    assert "gpu-platform-monitoring" in namespaces


def test_receivers_and_grafana_are_added_where_they_are_asked_for(settings: Settings) -> None:
    monitoring = MonitoringSettings(
        receivers=MappingProxyType({"oncall": ReceiverSettings(url="https://relay.example/alerts")}),
        grafana=GrafanaSettings(enabled=True, image="docker.io/example/grafana:12.0.0"),
    )
    recording = _run(replace(settings, monitoring=monitoring))
    assert "grafana" in recording.outputs["services"]
    (config,) = recording.of_type("kubernetes:monitoring.coreos.com/v1alpha1:AlertmanagerConfig")
    assert config.inputs["metadata"]["name"] == "oncall"
