"""Forms a rule accepts or refuses that the planted faults do not show."""

from typing import Any

import pytest

from tests.policies.gpu_manifests import nodes
from tests.policies.manifests import (
    CONTAINER,
    POD_SPEC,
    POD_TEMPLATE,
    Resource,
    changed,
    claim,
    deployment,
    metadata,
)
from tests.policies.plans import BY_ID, judge


def _checks(rule: str, *resources: Resource, stack: str = "dev") -> list[str]:
    return [finding.check for finding in judge(BY_ID[rule], resources, stack) or ()]


_OWNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Pod": ("core/v1", POD_SPEC),
    "ReplicaSet": ("apps/v1", {"template": POD_TEMPLATE}),
    "StatefulSet": ("apps/v1", {"template": POD_TEMPLATE}),
    "DaemonSet": ("apps/v1", {"template": POD_TEMPLATE}),
    "Job": ("batch/v1", {"template": POD_TEMPLATE}),
    "CronJob": (
        "batch/v1",
        {"jobTemplate": {"metadata": metadata("job"), "spec": {"template": POD_TEMPLATE}}},
    ),
}


def _owner(kind: str, spec: dict[str, Any]) -> Resource:
    return Resource(
        name=kind.lower(),
        type=f"kubernetes:{_OWNERS[kind][0]}:{kind}",
        props={"metadata": metadata(kind.lower()), "spec": spec},
    )


@pytest.mark.parametrize("kind", _OWNERS)
def test_every_owner_of_pods_is_judged(kind: str) -> None:
    spec = _OWNERS[kind][1]
    assert judge(BY_ID["pods"], [_owner(kind, spec)]) == ()
    path = {"Pod": "", "CronJob": "jobTemplate.spec.template.spec."}.get(kind, "template.spec.")
    bad = changed(spec, f"{path}containers.0.securityContext.privileged", True)
    assert _checks("pods", _owner(kind, bad)) == ["privileged"]
    assert _checks("images", _owner(kind, changed(spec, f"{path}containers.0.image", "x:latest"))) == [
        "tag",
    ]


def test_untyped_resources_and_items_of_lists_are_judged() -> None:
    bad = changed(POD_SPEC, "containers.0.securityContext.privileged", True)
    untyped = Resource(
        name="bare", type="kubernetes:v1:Pod", props={"metadata": metadata("bare"), "spec": bad}
    )
    inside = Resource(name="list", type="kubernetes:core/v1:PodList", props={"items": [untyped.props]})
    assert _checks("pods", untyped) == ["privileged"]
    assert _checks("pods", inside) == ["privileged"]


def test_ephemeral_containers_are_judged_but_need_no_resources() -> None:
    debug = {key: value for key, value in CONTAINER.items() if key != "resources"}
    assert (
        judge(BY_ID["pods"], [deployment("web", changed(POD_TEMPLATE, "spec.ephemeralContainers", [debug]))])
        == ()
    )
    root = changed(debug, "securityContext.runAsUser", 0.0)
    pod = changed(POD_TEMPLATE, "spec.ephemeralContainers", [root])
    assert _checks("pods", deployment("web", pod)) == ["run-as-user"]


def test_containers_may_set_what_the_pod_does_not() -> None:
    own = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, **CONTAINER["securityContext"]}
    pod = changed(POD_TEMPLATE, "spec.securityContext", {})
    assert _checks("pods", deployment("web", pod)) == ["run-as-non-root", "seccomp"] * 2
    for name in ("containers", "initContainers"):
        pod = changed(pod, f"spec.{name}.0.securityContext", own)
    assert judge(BY_ID["pods"], [deployment("web", pod)]) == ()


def test_apparmor_annotations_are_judged() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/main"
    for value, checks in (("unconfined", ["apparmor"]), ("runtime/default", []), ("localhost/x", [])):
        pod = changed(POD_TEMPLATE, "metadata.annotations", {key: value})
        assert _checks("pods", deployment("web", pod)) == checks


@pytest.mark.parametrize(
    ("image", "checks"),
    [
        ("docker.io/library/postgres:15.14-bookworm", []),
        ("postgres:15.14", []),
        ("ghcr.io/coreweave/nccl-tests:12.8.1-devel-ubuntu22.04-nccl2.26.2-1-0708d2e", []),
        (f"registry.k8s.io/pause@sha256:{'a' * 64}", []),
        (f"registry.k8s.io/pause:latest@sha256:{'a' * 64}", []),
        ("gpu-platform.lab/postgres:15-0a1b2c3d4e5f", []),
        ("registry.k8s.io/pause:stable", ["tag"]),
        ("registry.k8s.io/pause:3.10-dev", ["tag"]),
        ("registry.k8s.io/pause:defaced", ["tag"]),
        ("registry.k8s.io.example.org/pause:3.10", ["registry"]),
        ("localhost:5000/web:1.2.3", ["registry"]),
        ("", ["reference"]),
        ("docker.io/library/postgres:15.14@sha256:short", ["reference"]),
        ("registry.k8s.io/pause:3.10 ", ["reference"]),
        (" registry.k8s.io/pause:3.10", ["reference"]),
        (f"registry.k8s.io/pause@sha256:{'a' * 64}\n", ["reference"]),
        ("registry.k8s.io/./pause:3.10", ["reference"]),
        ("registry.k8s.io//pause:3.10", ["reference"]),
        ("registry.k8s.io/Pause:3.10", ["reference"]),
        ("registry.k8s.io:443/pause:3.10", ["registry"]),
    ],
)
def test_image_references(image: str, checks: list[str]) -> None:
    assert (
        _checks("images", deployment("web", changed(POD_TEMPLATE, "spec.containers.0.image", image)))
        == checks
    )


def test_lab_images_are_for_development_only() -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.image", "gpu-platform.lab/kueue:0.17.0")
    assert _checks("images", deployment("web", pod), stack="prod") == ["registry"]


def test_image_volumes_and_images_of_custom_resources_are_judged() -> None:
    volume = changed(POD_TEMPLATE, "spec.volumes.1", {"name": "data", "image": {"reference": "x/y:latest"}})
    assert _checks("images", deployment("web", volume)) == ["tag", "registry"]
    custom = Resource(
        name="prometheus",
        type="kubernetes:monitoring.coreos.com/v1:Prometheus",
        props={"metadata": metadata("p"), "spec": {"image": "registry.k8s.io/prometheus:latest"}},
    )
    assert _checks("images", custom) == ["tag"]


@pytest.mark.parametrize(
    ("name", "value", "checks"),
    [
        ("PGPASSWORD", "x1", ["env"]),
        ("apiKey", "x1", ["env"]),
        ("dbPassword", "x1", ["env"]),
        ("HF_TOKEN", "x1", ["env"]),
        ("MLFLOW_FLASK_SERVER_SECRET_KEY", "x1", ["env"]),
        ("AWS_CREDENTIALS", "x1", ["env"]),
        ("DB_PASS", "x1", ["env"]),
        ("pgpass", "x1", ["env"]),
        ("BYPASS", "x1", []),
        ("COMPASS_HEADING", "x1", []),
        ("SSH", "-----BEGIN OPENSSH PRIVATE KEY-----", ["shape"]),
        ("HEADERS", "Authorization: Bearer x1", ["shape"]),
        ("MAX_TOKENS", "512", []),
        ("MONKEY", "x1", []),
        ("KEYBOARD", "x1", []),
        ("SECRET_NAME", "db", []),
        ("TOKEN_FILE", "/run/token", []),
        ("SSH_PUBLIC_KEY", "ssh-ed25519 AAAA", []),
        ("DB_PASSWORD", "$(OTHER)", []),
        ("DB_PASSWORD", "prefix-$(OTHER)", ["env"]),
        ("DB_PASSWORD", "", []),
        ("DB_URL", "postgresql://user:$(DB_PASSWORD)@db:5432/x", []),
        ("DB_URL", "postgresql://db:5432/x?user=a@b", []),
        ("PROXY", "https://a:b@proxy", ["url"]),
        ("LIST", "http://a.example:80,http://u:p@b.example", ["url"]),
    ],
)
def test_names_and_values_of_plain_environment(name: str, value: str, checks: list[str]) -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.env", [{"name": name, "value": value}])
    assert _checks("pods-secrets", deployment("web", pod)) == checks


def test_claims_come_as_a_pair_with_classes_of_their_own() -> None:
    assert _checks("storage-split", claim("datasets")) == ["pair"]
    assert _checks("storage-split", claim("checkpoints")) == ["pair"]
    bare = [
        Resource(name=item.name, type=item.type, props=changed(item.props, "spec.storageClassName", None))
        for item in (claim("datasets"), claim("checkpoints"))
    ]
    assert _checks("storage-split", *bare) == ["class"]
    assert _checks("storage-split", bare[0], claim("checkpoints")) == ["class"]


def test_claims_on_one_volume_fail() -> None:
    pinned = [
        Resource(name=item.name, type=item.type, props=changed(item.props, "spec.volumeName", "disk-1"))
        for item in (claim("datasets"), claim("checkpoints"))
    ]
    assert _checks("storage-split", *pinned) == ["volume"]


def test_a_claim_mounted_for_the_other_purpose_fails() -> None:
    pod = changed(
        POD_TEMPLATE, "spec.containers.0.volumeMounts", [{"name": "datasets", "mountPath": "/data"}]
    )
    pod = changed(pod, "spec.volumes.0.name", "checkpoints")
    pod = changed(pod, "spec.containers.0.volumeMounts.0.name", "checkpoints")
    assert _checks("storage-split", claim("datasets"), claim("checkpoints"), deployment("web", pod)) == [
        "mount"
    ]


def test_pools_need_a_name_and_one_fabric() -> None:
    stray = Resource(
        name="stray",
        type="kubernetes:core/v1:Node",
        props={
            "metadata": metadata("stray", namespace=None),
            "status": {"capacity": {"nvidia.com/gpu": "8"}},
        },
    )
    assert _checks("fabric", stray) == ["pool"]
    mixed = [
        *nodes("mixed", 3, gpu_platform__fabric="infiniband-hdr"),
        *(
            Resource(name=f"more-{item.name}", type=item.type, props=item.props)
            for item in nodes("mixed", 2, gpu_platform__fabric="infiniband-ndr")
        ),
    ]
    assert _checks("fabric", *mixed) == ["mixed"]
    unheard = nodes("x", 1, gpu_platform__fabric="token-ring", gpu_platform__multi_node="true")
    assert _checks("fabric", *unheard) == ["fabric"]
