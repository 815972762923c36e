"""Manifests of Prometheus and Alertmanager; pure."""

from dataclasses import dataclass
from typing import Any

from components.contracts import SecretRef
from components.core import Ownership
from components.kube import ownership_metadata
from components.observability.login import (
    PORT_NAME,
    GuardedService,
    config_digest,
    proxy_container,
    proxy_volumes,
)
from components.observability.operator_api import API_VERSION, image_version
from components.observability.scrape import ACCOUNT, basic_auth

PROMETHEUS, ALERTMANAGER = "prometheus", "alertmanager"
_LOCAL_PORTS = {PROMETHEUS: 9090, ALERTMANAGER: 9093}
_TITLES = {PROMETHEUS: "Prometheus", ALERTMANAGER: "Alertmanager"}
USER_ID = 10001
_ALERTMANAGER_GIB = 1
_FULL = 0.85
_MIB_PER_GIB = 1024
_DIGEST = "gpu-platform/login"


@dataclass(frozen=True, kw_only=True)
class PrometheusPlan:
    """What decides Prometheus' manifest; meanings as in ``MonitoringArgs``."""

    ownership: Ownership
    namespace: str
    image: str
    retention_days: int
    size_gib: int
    storage_class: str | None
    scrape_interval_seconds: int


def guarded(app: str, proxy_image: str, login: SecretRef) -> GuardedService:
    """One of the two services behind the login."""
    return GuardedService(
        app=app, title=_TITLES[app], local_port=_LOCAL_PORTS[app], image=proxy_image, credentials=login
    )


def prometheus(wants: PrometheusPlan, guard: GuardedService) -> dict[str, Any]:
    """The Prometheus resource: it takes what its own namespace holds, and alerts its Alertmanager."""
    everything: dict[str, Any] = {}
    interval = f"{wants.scrape_interval_seconds}s"
    common = _common(wants.ownership, guard, image=wants.image, account=ACCOUNT)
    resources = _resources("100m", "1", "256Mi", "1Gi")
    alertmanagers = {
        "namespace": wants.namespace,
        "name": ALERTMANAGER,
        "port": PORT_NAME,
        "apiVersion": "v2",
        "basicAuth": basic_auth(guard.credentials),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Prometheus",
        "metadata": ownership_metadata(wants.ownership, name=PROMETHEUS, namespace=wants.namespace),
        "spec": {
            **common,
            "containers": [_merged(guard, wants.image, resources), *common["containers"]],
            "automountServiceAccountToken": True,
            "retention": f"{wants.retention_days}d",
            "retentionSize": f"{int(wants.size_gib * _MIB_PER_GIB * _FULL)}MiB",
            "storage": _storage(wants.ownership, wants.size_gib, wants.storage_class),
            "scrapeInterval": interval,
            "evaluationInterval": interval,
            "serviceDiscoveryRole": "EndpointSlice",
            "serviceMonitorSelector": everything,
            "podMonitorSelector": everything,
            "probeSelector": everything,
            "scrapeConfigSelector": everything,
            "ruleSelector": everything,
            "alerting": {"alertmanagers": [alertmanagers]},
            "resources": resources,
        },
    }


def alertmanager(
    *,
    ownership: Ownership,
    namespace: str,
    image: str,
    storage_class: str | None,
    guarded: GuardedService,
) -> dict[str, Any]:
    """The Alertmanager resource: it takes every AlertmanagerConfig of its namespace.

    The operator would let each of them see alerts of its own namespace only; all are of this one, so that
    matcher is off. Without any, alerts are shown and sent nowhere.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": "Alertmanager",
        "metadata": ownership_metadata(ownership, name=ALERTMANAGER, namespace=namespace),
        "spec": {
            **_common(ownership, guarded, image=image, account=ALERTMANAGER),
            "automountServiceAccountToken": False,
            "retention": "120h",
            "storage": _storage(ownership, _ALERTMANAGER_GIB, storage_class),
            "alertmanagerConfigSelector": {},
            "alertmanagerConfigMatcherStrategy": {"type": "None"},
            "resources": _resources("10m", "200m", "32Mi", "128Mi"),
        },
    }


def _common(ownership: Ownership, guard: GuardedService, *, image: str, account: str) -> dict[str, Any]:
    return {
        "image": image,
        "version": image_version(image),
        "imagePullPolicy": "IfNotPresent",
        "replicas": 1,
        "listenLocal": True,
        "serviceAccountName": account,
        "podMetadata": {
            "labels": ownership.labels(),
            "annotations": {**ownership.annotations(), _DIGEST: config_digest(guard)},
        },
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [proxy_container(guard)],
        "volumes": proxy_volumes(guard),
    }


def _merged(guard: GuardedService, image: str, resources: dict[str, Any]) -> dict[str, Any]:
    """What the operator's container becomes: probes of our own, and in the plan all that policies judge.

    BusyBox' wget takes the first address of a name only, which is ::1, where nothing listens; so the probes
    name the address in place of ``localhost``.
    """
    ready, healthy = (
        {"exec": {"command": ["wget", "-q", "-O", "/dev/null", f"http://127.0.0.1:{guard.local_port}{path}"]}}
        for path in ("/-/ready", "/-/healthy")
    )
    return {
        "name": PROMETHEUS,
        "image": image,
        "resources": resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "startupProbe": ready,
        "readinessProbe": ready,
        "livenessProbe": healthy,
    }


def _storage(ownership: Ownership, size_gib: int, storage_class: str | None) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{size_gib}Gi"}},
    }
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    metadata = {"labels": ownership.labels(), "annotations": ownership.annotations()}
    return {"volumeClaimTemplate": {"metadata": metadata, "spec": spec}}


def _resources(cpu: str, cpu_limit: str, memory: str, memory_limit: str) -> dict[str, Any]:
    return {
        "requests": {"cpu": cpu, "memory": memory},
        "limits": {"cpu": cpu_limit, "memory": memory_limit},
    }
