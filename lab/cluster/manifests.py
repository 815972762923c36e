"""Shapes of the cluster's own objects: labels, access rights, a hardened deployment."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

LABELS = {
    "gpu-platform/owner": "lab",
    "gpu-platform/project": "gpu-platform",
    "gpu-platform/environment": "dev",
    "gpu-platform/cost-centre": "lab",
    "gpu-platform/managed-by": "lab",
}
Manifest = dict[str, Any]


def kubernetes_object(
    kind: str,
    name: str,
    *,
    api: str = "v1",
    namespace: str = "",
    **rest: Any,  # noqa: ANN401 - whatever the kind has
) -> Manifest:
    """An object with the lab's labels."""
    labels = {**LABELS, "app.kubernetes.io/part-of": "gpu-platform-lab"}
    metadata: Manifest = {"name": name, "labels": labels}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def rule(group: str, resources: str, verbs: str) -> Manifest:
    """One rule of a role; names separated by blanks."""
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}


def cluster_role(name: str, rules: list[Manifest], subject: Manifest) -> list[Manifest]:
    """A cluster role and its binding to one subject."""
    api = "rbac.authorization.k8s.io/v1"
    return [kubernetes_object("ClusterRole", name, api=api, rules=rules), binding(name, name, subject)]


def binding(name: str, role: str, subject: Manifest) -> Manifest:
    """A cluster role bound to one subject."""
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    return kubernetes_object(
        "ClusterRoleBinding",
        name,
        api="rbac.authorization.k8s.io/v1",
        roleRef=reference,
        subjects=[subject],
    )


def user(name: str) -> Manifest:
    """A user as subject."""
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}


def account(name: str, namespace: str) -> Manifest:
    """A service account as subject."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def secured(user: int) -> tuple[Manifest, Manifest]:
    """Security contexts of pod and container under the restricted standard."""
    pod = {"runAsNonRoot": True, "runAsUser": user, "seccompProfile": {"type": "RuntimeDefault"}}
    container = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    return pod, container


def resources(cpu: str, memory: str, cpu_limit: str, memory_limit: str) -> Manifest:
    """Requests and limits of a container."""
    return {
        "requests": {"cpu": cpu, "memory": memory},
        "limits": {"cpu": cpu_limit, "memory": memory_limit},
    }


def deployment(name: str, namespace: str, container: Manifest, settings: Mapping[str, str]) -> Manifest:
    """One hardened pod on the real node, under the restricted standard.

    Args:
        name: Name of the deployment, its service account and its ConfigMap, mounted as volume ``config``.
        namespace: Where it runs.
        container: What differs from container to container.
        settings: Content of the ConfigMap; the pod is started again when it changes.
    """
    pod_security, container_security = secured(65532)
    selector = {"app.kubernetes.io/name": name}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    template = {"labels": {**LABELS, **selector}, "annotations": {"gpu-platform/settings": digest[:16]}}
    spec = {
        "serviceAccountName": name,
        "securityContext": pod_security,
        "nodeSelector": {"gpu-platform/node": "real"},
        "priorityClassName": "system-cluster-critical",
        "containers": [
            {
                "name": name,
                "imagePullPolicy": "IfNotPresent",
                "securityContext": container_security,
                **container,
            }
        ],
        "volumes": [{"name": "config", "configMap": {"name": name}}],
    }
    return kubernetes_object(
        "Deployment",
        name,
        api="apps/v1",
        namespace=namespace,
        spec={
            "replicas": 1,
            "selector": {"matchLabels": selector},
            "template": {"metadata": template, "spec": spec},
        },
    )
