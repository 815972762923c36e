"""Parts of a plan, each of which keeps every rule: plain data, with or without engine."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHART = str(Path(__file__).parent / "sample")
IMAGE = "registry.k8s.io/kueue/kueue:v0.17.0"
NAMESPACE = "team"
COST = {
    "gpu-platform/owner": "ml-platform",
    "gpu-platform/project": "gpu-platform",
    "gpu-platform/environment": "dev",
    "gpu-platform/cost-centre": "research",
    "gpu-platform/managed-by": "pulumi",
}


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource of a plan: logical name, type token, properties, options."""

    name: str
    type: str
    props: Mapping[str, Any]
    protect: bool = False


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy of ``value`` with ``path`` (``a.b.0.c``) set to ``new``; None removes."""
    copy = deepcopy(value)
    *steps, last = [int(step) if step.isdigit() else step.replace("~", ".") for step in path.split(".")]
    spot = copy
    for step in steps:
        spot = spot[step] if isinstance(step, int) else spot.setdefault(step, {})
    if new is None:
        del spot[last]
    else:
        spot[last] = new
    return copy


def metadata(name: str, *, namespace: str | None = NAMESPACE, **labels: str) -> dict[str, Any]:
    """Metadata with the cost set; label names are written with ``__`` for ``/`` and ``_`` for ``-``."""
    own = {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}
    where = {"namespace": namespace} if namespace else {}
    return {"name": name, **where, "labels": {**COST, **own}}


CONTAINER: dict[str, Any] = {
    "name": "main",
    "image": IMAGE,
    "env": [
        {"name": "MODE", "value": "fast"},
        {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        {"name": "DB_URL", "value": "postgresql://user:$(DB_PASSWORD)@db/mlflow"},
        {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
        {"name": "SECRET_KEY_FILE", "value": "/run/secret/key"},
    ],
    "ports": [{"containerPort": 8080}],
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}},
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    "resources": {
        "requests": {"cpu": "10m", "memory": "16Mi"},
        "limits": {"cpu": "20m", "memory": "32Mi"},
    },
}
POD_SPEC: dict[str, Any] = {
    "automountServiceAccountToken": False,
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 65532.0,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "initContainers": [{**deepcopy(CONTAINER), "name": "init"}],
    "containers": [CONTAINER],
    "volumes": [
        {"name": "datasets", "persistentVolumeClaim": {"claimName": "datasets"}},
        {"name": "scratch", "emptyDir": {}},
    ],
}
POD_TEMPLATE: dict[str, Any] = {"metadata": {"labels": COST}, "spec": POD_SPEC}


def deployment(name: str = "web", pod: Mapping[str, Any] = POD_TEMPLATE) -> Resource:
    """A Deployment whose pod keeps every rule."""
    spec = {"selector": {"matchLabels": {"app": name}}, "template": pod}
    return Resource(
        name=name, type="kubernetes:apps/v1:Deployment", props={"metadata": metadata(name), "spec": spec}
    )


def service(name: str = "web") -> Resource:
    """A ClusterIP Service."""
    return Resource(
        name=name,
        type="kubernetes:core/v1:Service",
        props={"metadata": metadata(name), "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}},
    )


def namespace(name: str = NAMESPACE) -> Resource:
    """A namespace with the restricted pod-security label."""
    labels = {"pod_security.kubernetes.io__enforce": "restricted"}
    return Resource(
        name=name,
        type="kubernetes:core/v1:Namespace",
        props={"metadata": metadata(name, namespace=None, **labels)},
    )


def quota(name: str = NAMESPACE) -> Resource:
    """A quota of a namespace."""
    return Resource(
        name=f"{name}-quota",
        type="kubernetes:core/v1:ResourceQuota",
        props={"metadata": metadata("quota", namespace=name), "spec": {"hard": {"pods": "10"}}},
    )


def default_deny(name: str = NAMESPACE) -> Resource:
    """The default-deny policy of a namespace."""
    return Resource(
        name=f"{name}-default-deny",
        type="kubernetes:networking.k8s.io/v1:NetworkPolicy",
        props={
            "metadata": metadata("default-deny", namespace=name),
            "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        },
    )


def claim(purpose: str, storage_class: str | None = None) -> Resource:
    """A claim for one purpose, on a class of its own unless told otherwise."""
    return Resource(
        name=purpose,
        type="kubernetes:core/v1:PersistentVolumeClaim",
        props={
            "metadata": metadata(purpose, gpu_platform__purpose=purpose),
            "spec": {
                "storageClassName": storage_class or f"{purpose}-class",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )


def scratch_volume(name: str = "scratch") -> Resource:
    """A local volume on a disk for scratch."""
    return Resource(
        name=name,
        type="kubernetes:core/v1:PersistentVolume",
        props={
            "metadata": metadata(name, namespace=None, gpu_platform__purpose="scratch"),
            "spec": {"local": {"path": "/mnt/scratch"}},
        },
    )


def network_policy(name: str, **spec: Any) -> Resource:
    """A policy on the pods labelled ``app=web``."""
    return Resource(
        name=name,
        type="kubernetes:networking.k8s.io/v1:NetworkPolicy",
        props={
            "metadata": metadata(name),
            "spec": {"podSelector": {"matchLabels": {"app": "web"}}, **spec},
        },
    )


def role(name: str = "reader", *, kind: str = "ClusterRole", **rule: list[str]) -> Resource:
    """A role with one rule, reading Jobs unless told otherwise."""
    names = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list"], **rule}
    return Resource(
        name=name,
        type=f"kubernetes:rbac.authorization.k8s.io/v1:{kind}",
        props={"metadata": metadata(name, namespace=None), "rules": [names]},
    )


def binding(name: str, role: str, *, kind: str = "ClusterRoleBinding", group: str = "ops") -> Resource:
    """A binding of a cluster role to one group."""
    return Resource(
        name=name,
        type=f"kubernetes:rbac.authorization.k8s.io/v1:{kind}",
        props={
            "metadata": metadata(name, namespace=None),
            "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"},
            "subjects": [{"kind": "Group", "name": group, "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )


def api_service(name: str, service: Any = None) -> Resource:
    """An APIService; without a service the API server itself answers."""
    spec = {"group": "example.org", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 1}
    return Resource(
        name=name,
        type="kubernetes:apiregistration.k8s.io/v1:APIService",
        props={
            "metadata": metadata(f"v1.{name}.example.org", namespace=None),
            "spec": {**spec, **({} if service is None else {"service": service})},
        },
    )


def webhook(name: str, kind: str, **client: Any) -> Resource:
    """A webhook configuration with one webhook."""
    hook = {"name": f"{name}.example.org", "clientConfig": client or {"service": {"name": name}}}
    return Resource(
        name=name,
        type=f"kubernetes:admissionregistration.k8s.io/v1:{kind}",
        props={"metadata": metadata(name, namespace=None), "webhooks": [hook]},
    )


def release(name: str = "sample", **values: Any) -> Resource:
    """A Release of the test chart."""
    return Resource(
        name=name,
        type="kubernetes:helm.sh/v3:Release",
        props={"chart": CHART, "name": name, "namespace": NAMESPACE, "values": values},
    )


@dataclass(frozen=True)
class Marked:
    """A value the program holds as a Pulumi secret."""

    value: str


@dataclass(frozen=True)
class Later:
    """A value only known after the update."""
