"""Expected objects that several tests of this folder share."""

from typing import Any

from components.core import Ownership
from components.kube import Pods

CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
SECRET = "kubernetes:core/v1:Secret"
STATEFUL_SET = "kubernetes:apps/v1:StatefulSet"
PASSWORD = "random:index/randomPassword:RandomPassword"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
# What the provider makes: a value that tells whose it is.
MADE = {PASSWORD: {"result": "made-for-{name}"}}
OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)
MLFLOW = Pods(namespace="mlops", labels={"app.kubernetes.io/name": "mlflow"})


def metadata(name: str, namespace: str, **labels: str) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "labels": OWNERSHIP.labels() | {key.replace("__", "/"): value for key, value in labels.items()},
        "annotations": OWNERSHIP.annotations(),
    }


def claim(name: str, namespace: str, size: str, **spec: Any) -> dict[str, Any]:
    expected: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name, namespace),
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec},
    }
    expected["metadata"]["annotations"] = OWNERSHIP.annotations() | {"pulumi.com/skipAwait": "true"}
    return expected


def secret(name: str, namespace: str, values: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": metadata(name, namespace),
        "stringData": values,
    }


def secret_env(name: str, secret_name: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret_name, "key": key}}}
