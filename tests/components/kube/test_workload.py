"""Workload: hardened pods, and restarts when their content changes."""

from typing import Any

import pulumi
import pytest

from components.contracts import Taint
from components.kube import (
    ClaimVolume,
    CustomObject,
    HttpGet,
    InitStep,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    SecretVolume,
    Workload,
    WorkloadArgs,
    WorkloadKind,
)
from tests.harness import UNKNOWN, Recording, run
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP, SECRET, metadata

DEPLOYMENT, STATEFUL_SET = "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:StatefulSet"
SERVICE, ACCOUNT = "kubernetes:core/v1:Service", "kubernetes:core/v1:ServiceAccount"
CONFIG_MAP, COMPONENT = "kubernetes:core/v1:ConfigMap", "gpuplatform:kube:Workload"
RESOURCES = Resources(cpu_request="100m", cpu_limit="1", memory_request="64Mi", memory_limit="128Mi")
RESOURCES_OUT = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}}
LOCKED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def _args(**changes: Any) -> WorkloadArgs:
    values: dict[str, Any] = {
        "app": "web",
        "namespace": "apps",
        "ownership": OWNERSHIP,
        "image": "example/web:1",
        "resources": RESOURCES,
    }
    return WorkloadArgs(**(values | changes))


def _run(args: WorkloadArgs, *, preview: bool = False) -> Recording:
    def program() -> dict[str, object]:
        workload = Workload("web", args)
        return {"service": workload.service, "namespace": workload.namespace, "labels": workload.labels}

    return run(program, preview=preview)


def _pod(recording: Recording, type_: str = DEPLOYMENT, name: str = "web-deployment") -> dict[str, Any]:
    return dict(recording.one(type_, name).inputs["spec"]["template"])


@pytest.mark.parametrize("preview", [False, True])
def test_the_smallest_workload_is_already_locked_down(preview: bool) -> None:
    recording = _run(_args(), preview=preview)
    recording.assert_resource(
        DEPLOYMENT,
        "web-deployment",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata("web", "apps", app="web"),
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app.kubernetes.io/name": "web"}},
                "template": {
                    "metadata": {
                        "labels": {**LABELS, "app.kubernetes.io/name": "web"},
                        "annotations": ANNOTATIONS,
                    },
                    "spec": {
                        "serviceAccountName": "web",
                        "automountServiceAccountToken": False,
                        "enableServiceLinks": False,
                        "securityContext": {
                            "runAsNonRoot": True,
                            "runAsUser": 65532,
                            "runAsGroup": 65532,
                            "fsGroup": 65532,
                            "fsGroupChangePolicy": "OnRootMismatch",
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                        "terminationGracePeriodSeconds": 30,
                        "containers": [
                            {
                                "name": "web",
                                "image": "example/web:1",
                                "imagePullPolicy": "IfNotPresent",
                                "resources": RESOURCES_OUT,
                                "securityContext": LOCKED,
                            }
                        ],
                    },
                },
            },
        },
        parent="web",
    )
    recording.assert_resource(
        ACCOUNT,
        "web-account",
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata("web", "apps", app="web"),
            "automountServiceAccountToken": False,
        },
    )
    recording.assert_counts({COMPONENT: 1, DEPLOYMENT: 1, ACCOUNT: 1})
    assert recording.outputs == {
        "service": "web",
        "namespace": "apps",
        "labels": {"app.kubernetes.io/name": "web"},
    }


FULL: dict[str, Any] = {
    "kind": WorkloadKind.STATEFUL_SET,
    "command": ("serve",),
    "arguments": ("--fast",),
    "env": {"B": "2", "A": "1", "PASSWORD_FILE": "/run/secret/password"},
    "secret_env": {"DB_PASSWORD": SecretKey(secret=SECRET, role="password")},
    "files": {"/etc/web/web.conf": "listen = 80"},
    "volumes": (
        ClaimVolume(name="data", path="/data", claim="data", sub_path="web"),
        ClaimVolume(name="sets", path="/sets", claim="sets", read_only=True),
        ScratchVolume(name="tmp", path="/scratch", size_mib=64),
        SecretVolume(name="login", path="/run/secret", secret=SECRET, roles=("password",)),
    ),
    "ports": {"http": 8080, "admin": 9000},
    "readiness": Probe(http=HttpGet(path="/ready", port="http", headers={"Host": "web"})),
    "liveness": Probe(tcp_port="http", period_seconds=20),
    "startup": Probe(command=("check",), failures=30),
    "init": (InitStep(name="migrate", command=("migrate",)),),
    "node_selector": {"kubernetes.io/os": "linux"},
    "tolerations": (Taint(key="k", value="v", effect="NoSchedule"),),
}


def test_everything_asked_for_is_in_the_pod() -> None:
    recording = _run(_args(**FULL))
    inputs = recording.one(STATEFUL_SET, "web-statefulset").inputs
    assert inputs["spec"]["serviceName"] == "web"
    spec = inputs["spec"]["template"]["spec"]
    mounts = [
        {"name": "data", "mountPath": "/data", "subPath": "web"},
        {"name": "sets", "mountPath": "/sets", "readOnly": True},
        {"name": "tmp", "mountPath": "/scratch"},
        {"name": "login", "mountPath": "/run/secret", "readOnly": True},
        {"name": "files", "mountPath": "/etc/web/web.conf", "subPath": "etc.web.web.conf", "readOnly": True},
    ]
    env = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "2"},
        {"name": "PASSWORD_FILE", "value": "/run/secret/password"},
        {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}}},
    ]
    common = {
        "image": "example/web:1",
        "imagePullPolicy": "IfNotPresent",
        "resources": RESOURCES_OUT,
        "securityContext": LOCKED,
        "env": env,
        "volumeMounts": mounts,
    }
    timing: dict[Any, Any] = {"timeoutSeconds": 5, "initialDelaySeconds": 0}
    http = {"path": "/ready", "port": "http", "httpHeaders": [{"name": "Host", "value": "web"}]}
    assert spec["containers"] == [
        {
            **common,
            "name": "web",
            "command": ["serve"],
            "args": ["--fast"],
            "ports": [
                {"name": "admin", "containerPort": 9000, "protocol": "TCP"},
                {"name": "http", "containerPort": 8080, "protocol": "TCP"},
            ],
            "readinessProbe": {"httpGet": http, "periodSeconds": 10, "failureThreshold": 3, **timing},
            "livenessProbe": {
                "tcpSocket": {"port": "http"},
                "periodSeconds": 20,
                "failureThreshold": 3,
                **timing,
            },
            "startupProbe": {
                "exec": {"command": ["check"]},
                "periodSeconds": 10,
                "failureThreshold": 30,
                **timing,
            },
        }
    ]
    assert spec["initContainers"] == [{**common, "name": "migrate", "command": ["migrate"]}]
    secret = {
        "secretName": "database",
        "defaultMode": 0o440,
        "items": [{"key": "password", "path": "password"}],
    }
    assert spec["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": False}},
        {"name": "sets", "persistentVolumeClaim": {"claimName": "sets", "readOnly": True}},
        {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},
        {"name": "login", "secret": secret},
        {"name": "files", "configMap": {"name": "web-files"}},
    ]
    assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert spec["tolerations"] == [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]
    recording.assert_counts({COMPONENT: 1, STATEFUL_SET: 1, ACCOUNT: 1, CONFIG_MAP: 1, SERVICE: 1})


def test_ports_make_a_cluster_ip_service_that_waits_for_the_pods() -> None:
    recording = _run(_args(ports={"http": 8080}))
    service = recording.assert_resource(
        SERVICE,
        "web-service",
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata("web", "apps", app="web"),
            "spec": {
                "type": "ClusterIP",
                "selector": {"app.kubernetes.io/name": "web"},
                "ports": [{"name": "http", "port": 8080, "targetPort": "http", "protocol": "TCP"}],
            },
        },
    )
    assert service.options.depends_on == ("web-deployment",)


def test_a_deployment_gives_its_volume_free_before_the_next_pod_takes_it() -> None:
    volumes = (ClaimVolume(name="data", path="/data", claim="data"),)
    spec = _run(_args(volumes=volumes)).one(DEPLOYMENT, "web-deployment").inputs["spec"]
    assert spec["strategy"] == {"type": "Recreate"}


def _content(**changes: Any) -> Any:
    return _pod(_run(_args(**changes)))["metadata"]["annotations"].get("gpu-platform/content")


def test_pods_restart_when_a_file_or_a_password_changes_and_only_then() -> None:
    first = _content(files={"/a": "1"}, roll_on={"password": "x"})
    assert first == _content(files={"/a": "1"}, roll_on={"password": "x"})
    others = [
        _content(files={"/a": "2"}, roll_on={"password": "x"}),
        _content(files={"/b": "1"}, roll_on={"password": "x"}),
        _content(files={"/a": "1"}, roll_on={"password": "y"}),
        _content(app="other", files={"/a": "1"}, roll_on={"password": "x"}),
        _content(),
    ]
    assert len({first, *others}) == 6
    assert others[-1] is None


def test_a_secret_value_reaches_neither_inputs_nor_annotations_in_the_clear() -> None:
    def program() -> None:
        Workload("web", _args(roll_on={"password": pulumi.Output.secret("hunter2")}))

    recording = run(program)
    recording.assert_no_clear("hunter2")
    recording.assert_secrets(("web-deployment", "spec.template.metadata.annotations.gpu-platform/content"))


def test_a_value_not_yet_known_leaves_the_rest_of_the_plan_visible() -> None:
    def program() -> None:
        manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        Workload("web", _args(roll_on={"id": CustomObject("secret", manifest).id}))

    pod = _pod(run(program, preview=True))
    assert pod["metadata"]["annotations"]["gpu-platform/content"] == UNKNOWN
    assert pod["spec"]["containers"][0]["image"] == "example/web:1"


def test_two_workloads_live_in_one_stack() -> None:
    def program() -> None:
        Workload("web", _args())
        Workload("api", _args(app="api"))

    run(program).assert_counts({COMPONENT: 2, DEPLOYMENT: 2, ACCOUNT: 2})
