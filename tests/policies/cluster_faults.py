"""Faults planted in what a whole cluster shares: roles, webhooks, node storage, open traffic."""

from typing import Any

from tests.policies.fault import Fault
from tests.policies.manifests import (
    POD_TEMPLATE,
    Resource,
    api_service,
    binding,
    changed,
    deployment,
    metadata,
    network_policy,
    role,
    webhook,
)

_MAIN = "spec.containers.0"


def _fault(rule: str, check: str, says: str, resource: Resource) -> Fault:
    return Fault(rule=rule, check=check, says=says, added=(resource,))


def _service(name: str, image: str, says: str, **fields: Any) -> Fault:
    """A container of a well-known image without its login."""
    pod = changed(POD_TEMPLATE, f"{_MAIN}.image", f"docker.io/library/{image}")
    for key, value in fields.items():
        pod = changed(pod, f"{_MAIN}.{key}", value)
    return _fault("access", "login", says, deployment(f"access-{name}", pod))


_TOKEN_VOLUME = {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
ACCESS = (
    _fault("access", "wildcard", "rules[0].verbs has *", role("access-verbs", verbs=["*"])),
    _fault("access", "wildcard", "rules[0].resources has *", role("access-resources", resources=["*"])),
    _fault("access", "wildcard", "rules[0].apiGroups has *", role("access-groups", apiGroups=["*"])),
    _fault("access", "escalation", "verbs has bind", role("access-bind", verbs=["bind"])),
    _fault("access", "exec", "has pods/exec", role("access-exec", kind="Role", resources=["pods/exec"])),
    _fault("access", "secrets", "reads Secrets", role("access-secrets", resources=["secrets"])),
    _fault("access", "cluster-admin", "cluster-admin to ops", binding("access-admin", "cluster-admin")),
    _fault("access", "broad", "it gives edit in every", binding("access-edit", "edit")),
    _fault(
        "access",
        "everyone",
        "subjects[0] is system:authenticated",
        binding("access-everyone", "reader", group="system:authenticated"),
    ),
    _fault(
        "access",
        "token",
        "automountServiceAccountToken is absent",
        deployment("access-token", changed(POD_TEMPLATE, "spec.automountServiceAccountToken", None)),
    ),
    _fault(
        "access",
        "token",
        "volumes[1].projected mounts a token",
        deployment("access-volume", changed(POD_TEMPLATE, "spec.volumes.1", _TOKEN_VOLUME)),
    ),
    _service("redis", "redis:7.4.6", "runs redis without a login", args=["--port", "6379"]),
    _service(
        "postgres",
        "postgres:15.14",
        "runs postgres with its login off",
        env=[{"name": "POSTGRES_HOST_AUTH_METHOD", "value": "trust"}],
    ),
    _service("mlflow", "mlflow:3.17.2", "accepted: --app-name basic-auth", args=["mlflow", "server"]),
)

ADMISSION = (
    _fault(
        "admission",
        "webhook",
        "it sees requests to the API",
        webhook("admission-mutating", "MutatingWebhookConfiguration"),
    ),
    _fault(
        "admission",
        "webhook",
        "ValidatingWebhookConfiguration/admission-validating",
        webhook("admission-validating", "ValidatingWebhookConfiguration"),
    ),
    _fault(
        "admission",
        "api-service",
        "a pod answers for the API server",
        api_service("admission-api", {"name": "api", "namespace": "team"}),
    ),
)


def _volume(name: str, purpose: str, **spec: Any) -> Resource:
    return Resource(
        name=name,
        type="kubernetes:core/v1:PersistentVolume",
        props={
            "metadata": metadata(name, namespace=None, gpu_platform__purpose=purpose),
            "spec": spec,
        },
    )


HOST_STORAGE = (
    _fault(
        "host-storage",
        "host-path",
        "spec.hostPath opens",
        _volume("host-storage-path", "scratch", hostPath={"path": "/mnt/scratch"}),
    ),
    _fault(
        "host-storage",
        "local",
        "'/mnt/disk' for purpose datasets",
        _volume("host-storage-datasets", "datasets", local={"path": "/mnt/disk"}),
    ),
    _fault(
        "host-storage",
        "local",
        "'/mnt/../etc' for purpose scratch",
        _volume("host-storage-dots", "scratch", local={"path": "/mnt/../etc"}),
    ),
)

_ANYWHERE = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]
NETWORK = (
    _fault(
        "network",
        "allow-all",
        "spec.ingress[0] opens every port to everyone",
        network_policy("network-rule", ingress=[{}]),
    ),
    _fault(
        "network",
        "allow-all",
        "spec.egress[0] opens every port to everyone",
        network_policy("network-block", egress=[{"to": _ANYWHERE}]),
    ),
    _fault(
        "network",
        "allow-all",
        "spec.ingress[0] opens every port",
        network_policy("network-spaces", ingress=[{"from": [{"namespaceSelector": {}}]}]),
    ),
    _fault(
        "network",
        "allow-all",
        "spec.ingress[0] opens ports of every pod",
        network_policy(
            "network-pods", podSelector={}, ingress=[{"from": _ANYWHERE, "ports": [{"port": 80}]}]
        ),
    ),
    _fault(
        "network",
        "allow-all",
        "spec.egress[0] opens every port",
        network_policy("network-range", egress=[{"to": _ANYWHERE, "ports": [{"port": 1, "endPort": 65535}]}]),
    ),
)

CLUSTER = (*ACCESS, *ADMISSION, *HOST_STORAGE, *NETWORK)
