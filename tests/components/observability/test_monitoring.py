"""Prometheus and Alertmanager: their resources, their login, who reaches whom."""

from typing import Any

import pytest

from components.core import ArgsError
from components.observability import Monitoring, MonitoringArgs
from components.observability.operator_api import image_version
from tests.components.observability.shapes import MADE, PASSWORD, crd
from tests.harness import Recording, run
from tests.harness.crd import crd_problems
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP

PROMETHEUS = "kubernetes:monitoring.coreos.com/v1:Prometheus"
ALERTMANAGER = "kubernetes:monitoring.coreos.com/v1:Alertmanager"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1"


def args(**changes: Any) -> MonitoringArgs:
    values: dict[str, Any] = {
        "namespace": "monitoring",
        "ownership": OWNERSHIP,
        "prometheus_image": "example/prometheus:v3.5.0",
        "alertmanager_image": "example/alertmanager:0.25.0-abc",
        "proxy_image": "example/nginx:1.28.0",
    }
    return MonitoringArgs(**(values | changes))


def record(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        made = Monitoring("m", args(**changes))
        return {
            name: {"service": end.service, "port": end.port, "health": end.health_path, "auth": end.auth}
            for name, end in (("prometheus", made.prometheus), ("alertmanager", made.alertmanager))
        }

    return run(program, made=MADE, preview=preview)


@pytest.mark.parametrize("preview", [False, True])
def test_nothing_else_is_created(preview: bool) -> None:
    record(preview=preview).assert_counts(
        {
            "gpuplatform:observability:Monitoring": 1,
            "gpuplatform:observability:Login": 1,
            "gpuplatform:kube:DeliveredSecret": 1,
            "gpuplatform:kube:NetworkAllow": 1,
            PASSWORD: 1,
            PROMETHEUS: 1,
            ALERTMANAGER: 1,
            "kubernetes:core/v1:Secret": 1,
            "kubernetes:core/v1:ConfigMap": 2,
            "kubernetes:core/v1:Service": 2,
            "kubernetes:core/v1:ServiceAccount": 2,
            "kubernetes:networking.k8s.io/v1:NetworkPolicy": 2,
            f"{RBAC}:ClusterRole": 1,
            f"{RBAC}:ClusterRoleBinding": 1,
        }
    )


def test_both_answer_through_their_proxy() -> None:
    assert record().outputs == {
        name: {"service": name, "port": 9080, "health": "/-/healthy", "auth": "basic"}
        for name in ("prometheus", "alertmanager")
    }


def test_the_login_is_generated_kept_and_hashed_for_the_proxy() -> None:
    recording = record()
    password = recording.assert_resource(PASSWORD, "m-login-password", {"length": 32, "special": False})
    assert (password.options.protect, password.options.retain_on_delete) == (True, True)
    secret = recording.one("kubernetes:core/v1:Secret", "m-login-secret-monitoring")
    assert secret.inputs["stringData"] == {
        "username": "admin",
        "password": "made-for-m-login-password",
        "htpasswd": "admin:hash-for-m-login-password\n",
    }
    recording.assert_secrets(("m-login-secret-monitoring", "stringData"))
    recording.assert_no_clear("made-for-", "hash-for-")


def test_prometheus_takes_what_its_namespace_holds_and_alerts_with_the_login() -> None:
    found = record(size_gib=10, retention_days=7, storage_class="fast", scrape_interval_seconds=15)
    spec = found.one(PROMETHEUS, "m-prometheus").inputs["spec"]
    assert {key: spec[key] for key in spec if key.endswith("Selector")} == {
        "serviceMonitorSelector": {},
        "podMonitorSelector": {},
        "probeSelector": {},
        "scrapeConfigSelector": {},
        "ruleSelector": {},
    }
    assert spec["alerting"] == {
        "alertmanagers": [
            {
                "namespace": "monitoring",
                "name": "alertmanager",
                "port": "login",
                "apiVersion": "v2",
                "basicAuth": {
                    "username": {"name": "monitoring-login", "key": "username"},
                    "password": {"name": "monitoring-login", "key": "password"},
                },
            }
        ]
    }
    assert (spec["version"], spec["image"]) == ("3.5.0", "example/prometheus:v3.5.0")
    assert (spec["retention"], spec["retentionSize"]) == ("7d", "8704MiB")
    assert (spec["scrapeInterval"], spec["evaluationInterval"]) == ("15s", "15s")
    assert spec["storage"] == {
        "volumeClaimTemplate": {
            "metadata": {"labels": LABELS, "annotations": ANNOTATIONS},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}},
                "storageClassName": "fast",
            },
        }
    }


@pytest.mark.parametrize(("kind", "name"), [(PROMETHEUS, "prometheus"), (ALERTMANAGER, "alertmanager")])
def test_pods_are_restricted_and_answer_nobody_but_the_proxy(kind: str, name: str) -> None:
    spec = record().one(kind, f"m-{name}").inputs["spec"]
    assert spec["listenLocal"] is True
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    proxy = spec["containers"][-1]
    assert proxy["ports"] == [{"name": "login", "containerPort": 9080, "protocol": "TCP"}]
    assert proxy["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["volumes"] == [
        {"name": "login-config", "configMap": {"name": f"{name}-login"}},
        {
            "name": "login-secret",
            "secret": {
                "secretName": "monitoring-login",
                "defaultMode": 0o440,
                "items": [{"key": "htpasswd", "path": "htpasswd"}],
            },
        },
        {"name": "login-tmp", "emptyDir": {"sizeLimit": "16Mi"}},
    ]
    assert spec["podMetadata"]["labels"] == LABELS


def test_prometheus_is_probed_at_the_address_it_listens_on() -> None:
    patch, proxy = record().one(PROMETHEUS, "m-prometheus").inputs["spec"]["containers"]
    assert proxy["name"] == "login"
    url = "http://127.0.0.1:9090/-/"
    assert patch == {
        "name": "prometheus",
        "image": "example/prometheus:v3.5.0",
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "startupProbe": {"exec": {"command": ["wget", "-q", "-O", "/dev/null", f"{url}ready"]}},
        "readinessProbe": {"exec": {"command": ["wget", "-q", "-O", "/dev/null", f"{url}ready"]}},
        "livenessProbe": {"exec": {"command": ["wget", "-q", "-O", "/dev/null", f"{url}healthy"]}},
    }


def test_the_proxy_asks_for_the_login_but_not_for_health() -> None:
    config = record().one("kubernetes:core/v1:ConfigMap", "m-prometheus-login").inputs["data"]["nginx.conf"]
    lines = [line.strip() for line in config.splitlines()]
    assert "auth_basic_user_file /run/secrets/login/htpasswd;" in lines
    assert [line for line in lines if "auth_basic off" in line] == [
        f"location = /-/{path} {{ auth_basic off; proxy_pass http://127.0.0.1:9090; }}"
        for path in ("healthy", "ready")
    ]
    assert "location ~ ^/-/(quit|reload)$ { return 403; }" in lines


@pytest.mark.parametrize(
    ("kind", "name", "plural"),
    [(PROMETHEUS, "m-prometheus", "prometheuses"), (ALERTMANAGER, "m-alertmanager", "alertmanagers")],
)
def test_the_operators_definition_accepts_them(kind: str, name: str, plural: str) -> None:
    assert crd_problems(crd(plural), record().one(kind, name).inputs) == []


def test_it_waits_for_the_resource_before_the_service() -> None:
    service = record().one("kubernetes:core/v1:Service", "m-prometheus-service")
    assert "m-prometheus" in service.options.depends_on
    assert service.inputs["spec"]["selector"] == {"app.kubernetes.io/name": "prometheus"}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("quay.io/prometheus/prometheus:v3.5.0", "3.5.0"),
        ("gpu-platform.lab/prometheus:3.11.3-0123456789ab", "3.11.3"),
        ("registry:5000/prometheus:v2.55.1@sha256:" + "a" * 64, "2.55.1"),
    ],
)
def test_the_release_is_read_from_the_tag(image: str, version: str) -> None:
    assert image_version(image) == version


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prometheus_image": "example/p@sha256:" + "a" * 64}, "prometheus_image: got 'example/p@sha256"),
        ({"alertmanager_image": "example/a:latest"}, "alertmanager_image: got 'example/a:latest'"),
        ({"retention_days": 0}, "retention_days: got 0"),
        ({"size_gib": 0}, "size_gib: got 0"),
        ({"scrape_interval_seconds": 0}, "scrape_interval_seconds: got 0"),
        ({"namespace": ""}, "namespace: got ''"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        args(**changes)
    assert message in str(caught.value)
