"""The S3-compatible store in the cluster."""

from typing import Any

import pytest

from components.contracts import ServiceEndpoint
from components.core import ArgsError
from components.kube import Pods
from components.storage import ObjectStore, ObjectStoreArgs
from tests.components.storage.shapes import (
    CLAIM,
    MADE,
    MLFLOW,
    OWNERSHIP,
    PASSWORD,
    POLICY,
    SECRET,
    STATEFUL_SET,
    claim,
    metadata,
    secret,
    secret_env,
)
from tests.harness import Recording, run


def arguments(**changes: Any) -> ObjectStoreArgs:
    base: dict[str, Any] = {
        "namespace": "data",
        "ownership": OWNERSHIP,
        "image": "registry.example/object-store:1",
        "bucket": "mlflow",
        "size_gib": 5,
        "clients": (MLFLOW,),
    }
    return ObjectStoreArgs(**(base | changes))


def record(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        store = ObjectStore("store", arguments(**changes)).store
        return {
            "endpoint": store.endpoint,
            "bucket": store.bucket,
            "region": store.region,
            "secret": store.credentials.name,
            "keys": dict(store.credentials.keys),
        }

    return run(program, made=MADE, preview=preview)


def test_the_contract_is_what_readers_need() -> None:
    assert record().outputs == {
        "endpoint": "http://object-store.data.svc:7070",
        "bucket": "mlflow",
        "region": "us-east-1",
        "secret": "object-store-credentials",
        "keys": {"access_key_id": "access-key-id", "secret_access_key": "secret-access-key"},
    }


def test_the_service_says_how_to_reach_it() -> None:
    found: list[ServiceEndpoint] = []
    recording = run(lambda: found.append(ObjectStore("store", arguments()).service), made=MADE)
    assert (found[0].namespace, found[0].port, found[0].health_path, found[0].auth) == (
        "data",
        7070,
        "/healthz",
        "S3 signature",
    )
    service = recording.one("kubernetes:core/v1:Service", "store-gateway-service").inputs
    assert (service["metadata"]["name"], service["spec"]["type"]) == ("object-store", "ClusterIP")


def test_nothing_else_is_created() -> None:
    record().assert_counts(
        {
            "gpuplatform:storage:ObjectStore": 1,
            "gpuplatform:kube:DeliveredSecret": 1,
            "gpuplatform:kube:Workload": 1,
            "gpuplatform:kube:NetworkAllow": 1,
            PASSWORD: 1,
            SECRET: 2,
            CLAIM: 1,
            STATEFUL_SET: 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            POLICY: 2,
        }
    )


def test_the_key_is_generated_kept_and_delivered() -> None:
    recording = record()
    key = recording.assert_resource(PASSWORD, "store-secret-key", {"length": 40, "special": False})
    assert (key.options.protect, key.options.retain_on_delete) == (True, True)
    values = {"access-key-id": "object-store", "secret-access-key": "made-for-store-secret-key"}
    for namespace in ("data", "mlops"):
        recording.assert_resource(
            SECRET,
            f"store-credentials-{namespace}",
            secret("object-store-credentials", namespace, values),
            parent="store-credentials",
        )
    recording.assert_secrets(
        ("store-credentials-data", "stringData"), ("store-credentials-mlops", "stringData")
    )
    recording.assert_no_clear("made-for-")


def test_the_volume_is_kept() -> None:
    found = record().assert_resource(
        CLAIM, "store-data", claim("object-store-data", "data", "5Gi"), parent="store"
    )
    assert (found.options.protect, found.options.retain_on_delete) == (True, True)
    named = record(storage_class="fast", protect=False)
    found = named.assert_resource(
        CLAIM, "store-data", claim("object-store-data", "data", "5Gi", storageClassName="fast")
    )
    assert (found.options.protect, found.options.retain_on_delete) == (None, None)


def test_the_gateway_runs_hardened_with_the_bucket_as_its_volume() -> None:
    gateway = record().one(STATEFUL_SET, "store-gateway-statefulset")
    spec = gateway.inputs["spec"]
    assert gateway.inputs["metadata"]["name"] == "object-store"
    assert (spec["replicas"], spec["serviceName"]) == (1, "object-store")
    pod = spec["template"]["spec"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod["volumes"] == [
        {"name": "root", "emptyDir": {"sizeLimit": "64Mi"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "object-store-data", "readOnly": False}},
    ]
    assert "initContainers" not in pod
    probe = {"httpGet": {"path": "/healthz", "port": "s3"}, "timeoutSeconds": 5, "initialDelaySeconds": 0}
    assert pod["containers"] == [
        {
            "name": "object-store",
            "image": "registry.example/object-store:1",
            "imagePullPolicy": "IfNotPresent",
            "command": ["versitygw"],
            "args": [
                *("--port", ":7070", "--health", "/healthz", "--region", "us-east-1", "--quiet"),
                *("posix", "/data"),
            ],
            "env": [
                secret_env("ROOT_ACCESS_KEY_ID", "object-store-credentials", "access-key-id"),
                secret_env("ROOT_SECRET_ACCESS_KEY", "object-store-credentials", "secret-access-key"),
            ],
            "ports": [{"name": "s3", "containerPort": 7070, "protocol": "TCP"}],
            "volumeMounts": [
                {"name": "root", "mountPath": "/data"},
                {"name": "data", "mountPath": "/data/mlflow", "subPath": "mlflow"},
            ],
            "resources": {
                "requests": {"cpu": "50m", "memory": "128Mi"},
                "limits": {"cpu": "1", "memory": "512Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "startupProbe": {**probe, "periodSeconds": 2, "failureThreshold": 60},
            "readinessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 3},
            "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 6},
        }
    ]


def test_only_its_clients_reach_it() -> None:
    recording = record()
    port = {"protocol": "TCP", "port": 7070}
    store = {"matchLabels": {"app.kubernetes.io/name": "object-store"}}
    mlflow = {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}

    def inside(name: str) -> dict[str, Any]:
        return {"matchLabels": {"kubernetes.io/metadata.name": name}}

    for side, namespace, spec in (
        (
            "ingress",
            "data",
            {
                "podSelector": store,
                "policyTypes": ["Ingress"],
                "ingress": [
                    {
                        "from": [{"podSelector": mlflow, "namespaceSelector": inside("mlops")}],
                        "ports": [port],
                    }
                ],
            },
        ),
        (
            "egress",
            "mlops",
            {
                "podSelector": mlflow,
                "policyTypes": ["Egress"],
                "egress": [
                    {"to": [{"podSelector": store, "namespaceSelector": inside("data")}], "ports": [port]}
                ],
            },
        ),
    ):
        name = f"store-from-mlops-{side}"
        recording.assert_resource(
            POLICY,
            name,
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "NetworkPolicy",
                "metadata": metadata(name, namespace),
                "spec": spec,
            },
        )


def test_a_new_key_restarts_the_gateway() -> None:
    def digest(made: str) -> str:
        recording = run(
            lambda: ObjectStore("store", arguments()).store.endpoint, made={PASSWORD: {"result": made}}
        )
        template = recording.one(STATEFUL_SET, "store-gateway-statefulset").inputs["spec"]["template"]
        return str(template["metadata"]["annotations"]["gpu-platform/content"])

    assert digest("old") == digest("old") != digest("new")


def test_two_stores_live_side_by_side() -> None:
    def program() -> None:
        ObjectStore("one", arguments())
        ObjectStore("two", arguments(app="models", bucket="models"))

    recording = run(program, made=MADE)
    claims = {item.inputs["metadata"]["name"] for item in recording.of_type(CLAIM)}
    assert claims == {"object-store-data", "models-data"}
    policies = [item.inputs["metadata"]["name"] for item in recording.of_type(POLICY)]
    assert len(set(policies)) == len(policies) == 4


def test_a_preview_shows_the_same_objects() -> None:
    planned, done = record(preview=True), record()
    assert {(r.type, r.name) for r in planned.resources} == {(r.type, r.name) for r in done.resources}
    assert planned.outputs == done.outputs
    assert (
        planned.one(STATEFUL_SET, "store-gateway-statefulset").inputs["spec"]["template"]["spec"]
        == done.one(STATEFUL_SET, "store-gateway-statefulset").inputs["spec"]["template"]["spec"]
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bucket": "MLflow"}, "bucket: got 'MLflow'"),
        ({"bucket": "ab"}, "bucket: got 'ab'"),
        ({"bucket": "a/../b"}, "bucket: got 'a/../b'"),
        ({"bucket": "mlflow\n"}, "bucket: got 'mlflow"),
        ({"size_gib": 0}, "size_gib: got 0"),
        ({"app": "Object_Store"}, "app: got 'Object_Store'"),
        ({"namespace": ""}, "namespace: got ''"),
        ({"clients": ()}, "clients: got nothing"),
        ({"clients": (MLFLOW, Pods(namespace="mlops"))}, "clients: got namespace 'mlops' twice"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        arguments(**changes)
    assert message in str(caught.value)
