"""The dev stack as a whole: every resource and its outputs. Findings: tests/policies/test_corpus.py."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from lab.paths import REPOSITORY
from stacks.config import KubeconfigCluster, Settings, load_file, settings_file
from stacks.config.models import SampleSettings, TrackingSettings
from stacks.config.versions import read
from stacks.kinds import deploy
from tests.harness import run
from tests.harness.recording import Recording

COMPONENTS = {
    "gpuplatform:compute:SimulatedGpuPool": 2,
    "gpuplatform:kube:ChartRelease": 1,
    "gpuplatform:kube:DeliveredSecret": 5,
    "gpuplatform:kube:Namespace": 5,
    "gpuplatform:kube:NetworkAllow": 4,
    "gpuplatform:kube:Workload": 3,
    "gpuplatform:mlops:ExperimentTracking": 1,
    "gpuplatform:scheduling:GangQueue": 1,
    "gpuplatform:scheduling:GpuFlavors": 1,
    "gpuplatform:scheduling:JobRules": 1,
    "gpuplatform:scheduling:KueueOperator": 1,
    "gpuplatform:scheduling:SampleJobs": 1,
    "gpuplatform:storage:ObjectStore": 1,
    "gpuplatform:storage:Postgres": 1,
    "gpuplatform:storage:SharedVolumes": 1,
}
RESOURCES = {
    "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy": 2,
    "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding": 2,
    "kubernetes:apps/v1:Deployment": 1,
    "kubernetes:apps/v1:StatefulSet": 2,
    "kubernetes:core/v1:ConfigMap": 3,
    "kubernetes:core/v1:LimitRange": 4,
    "kubernetes:core/v1:Namespace": 5,
    "kubernetes:core/v1:Node": 8,
    "kubernetes:core/v1:PersistentVolumeClaim": 4,
    "kubernetes:core/v1:ResourceQuota": 5,
    "kubernetes:core/v1:Secret": 8,
    "kubernetes:core/v1:Service": 3,
    "kubernetes:core/v1:ServiceAccount": 3,
    "kubernetes:helm.sh/v3:Release": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor": 2,
    "kubernetes:kueue.x-k8s.io/v1beta2:Topology": 1,
    "kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass": 3,
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": 20,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": 2,
    "pulumi:providers:kubernetes": 1,
    "random:index/randomPassword:RandomPassword": 6,
}


@pytest.fixture(scope="module")
def settings() -> Settings:
    """The committed settings."""
    return load_file(settings_file(REPOSITORY, "dev"), "dev", read())


def _run(settings: Settings, *, preview: bool = False) -> Recording:
    return run(lambda: deploy(settings).exports(), preview=preview)


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_the_whole_stack(settings: Settings, preview: bool) -> None:
    _run(settings, preview=preview).assert_counts({**COMPONENTS, **RESOURCES})


def test_the_outputs_are_what_the_commands_read(settings: Settings) -> None:
    outputs = _run(settings).outputs
    assert set(outputs) == {"environment", "cluster", "pools", "queues", "services", "storage", "samples"}
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
    assert outputs["samples"]["names"] == ["gang", "training"]


def test_everything_uses_the_explicit_provider(settings: Settings) -> None:
    for item in _run(settings).resources:
        if item.type.startswith("kubernetes:"):
            assert item.options.provider.split("::")[-2] == "cluster", item.name


def test_a_cluster_of_the_users_own_gets_the_services_from_public_images(settings: Settings) -> None:
    versions = read()
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
    assert not recording.of_type("kubernetes:helm.sh/v3:Release")
    assert recording.outputs["samples"]["names"] == ["training"]
    provider = recording.one("pulumi:providers:kubernetes", "cluster")
    assert provider.inputs["kubeconfig"] == "/srv/kubeconfig"
    images = [
        container["image"]
        for kind in ("Deployment", "StatefulSet")
        for item in recording.of_type(f"kubernetes:apps/v1:{kind}")
        for container in item.inputs["spec"]["template"]["spec"]["containers"]
    ]
    assert sorted(images) == sorted(
        versions.supported.images[n] for n in ("mlflow", "object-store", "postgres")
    )


def test_tracking_can_be_left_out(settings: Settings) -> None:
    without = replace(
        settings, tracking=TrackingSettings(enabled=False), samples=SampleSettings(enabled=False)
    )
    recording = _run(without)
    assert recording.outputs["services"] == {}
    assert recording.outputs["samples"] == {}
    assert not recording.of_type("random:index/randomPassword:RandomPassword")
    assert len(recording.of_type("kubernetes:core/v1:Node")) == 8
