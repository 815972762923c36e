"""MLflow on a database and an object store."""

from typing import Any

import pulumi
import pytest

from components.contracts import DatabaseEndpoint, SecretRef
from components.core import ArgsError
from components.kube import Pods
from components.mlops import ExperimentTracking
from tests.components.mlops.shapes import (
    DEPLOYMENT,
    JOBS,
    MADE,
    PASSWORD,
    POLICY,
    ROLE,
    SECRET,
    arguments,
    database,
    pod,
    record,
)
from tests.harness import run


def test_the_contract_is_what_jobs_need() -> None:
    assert record().outputs == {
        "url": "http://mlflow.mlops.svc:5000",
        "endpoint": ["mlops", "mlflow", 5000, "/health", "basic"],
        "metrics": ["mlops", "mlflow", 5000, "/metrics", "mlflow"],
        "credentials": [
            "mlflow-credentials",
            {
                "url": "MLFLOW_TRACKING_URI",
                "username": "MLFLOW_TRACKING_USERNAME",
                "password": "MLFLOW_TRACKING_PASSWORD",
            },
        ],
        "admin": "mlflow-server",
    }


def test_nothing_else_is_created() -> None:
    record().assert_counts(
        {
            "gpuplatform:mlops:ExperimentTracking": 1,
            "gpuplatform:kube:DeliveredSecret": 2,
            "gpuplatform:kube:Workload": 1,
            "gpuplatform:kube:NetworkAllow": 1,
            PASSWORD: 3,
            SECRET: 2,
            DEPLOYMENT: 1,
            "kubernetes:core/v1:ConfigMap": 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            POLICY: 2,
        }
    )


def test_passwords_are_generated_and_kept() -> None:
    recording = record()
    for use in ("admin-password", "jobs-password", "session-key"):
        made = recording.assert_resource(
            PASSWORD, f"tracking-{use}", {"length": 32, "special": False}, parent="tracking"
        )
        assert (made.options.protect, made.options.retain_on_delete) == (True, True)
    unprotected = record(protect=False).of_type(PASSWORD)
    assert {made.options.protect for made in unprotected} == {None}


def test_jobs_get_one_login_and_the_server_the_rest() -> None:
    recording = record()
    server = recording.one(SECRET, "tracking-server-secret-mlops").inputs
    assert (server["metadata"]["name"], server["metadata"]["namespace"]) == ("mlflow-server", "mlops")
    assert server["stringData"] == {
        "admin-username": "admin",
        "admin-password": "made-for-tracking-admin-password",
        "jobs-password": "made-for-tracking-jobs-password",
        "session-key": "made-for-tracking-session-key",
    }
    jobs = recording.one(SECRET, "tracking-credentials-jobs").inputs
    assert (jobs["metadata"]["name"], jobs["metadata"]["namespace"]) == ("mlflow-credentials", "jobs")
    assert jobs["stringData"] == {
        "MLFLOW_TRACKING_URI": "http://mlflow.mlops.svc:5000",
        "MLFLOW_TRACKING_USERNAME": "jobs",
        "MLFLOW_TRACKING_PASSWORD": "made-for-tracking-jobs-password",
        "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD": "false",
        "MLFLOW_ENABLE_PROXY_MULTIPART_DOWNLOAD": "false",
    }
    recording.assert_secrets(
        ("tracking-server-secret-mlops", "stringData"), ("tracking-credentials-jobs", "stringData")
    )
    recording.assert_no_clear("made-for-")


def test_only_its_clients_reach_it() -> None:
    recording = record()
    ingress = recording.one(POLICY, "tracking-from-jobs-ingress").inputs
    assert ingress["metadata"]["namespace"] == "mlops"
    assert ingress["spec"] == {
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "podSelector": {},
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "jobs"}},
                    }
                ],
                "ports": [{"protocol": "TCP", "port": 5000}],
            }
        ],
    }
    service = recording.one("kubernetes:core/v1:Service", "tracking-server-service").inputs["spec"]
    assert service["type"] == "ClusterIP"


def test_allowed_hosts_and_workers_can_be_set() -> None:
    arguments_ = pod(record(allowed_hosts=("mlflow.example.com",), workers=1))["containers"][0]["args"]
    assert "--workers=1" in arguments_
    assert any(item.endswith(",127.0.0.1:*,mlflow.example.com") for item in arguments_)


def test_a_new_password_restarts_the_server() -> None:
    def digest(made: str) -> str:
        recording = run(lambda: ExperimentTracking("t", arguments()).url, made={PASSWORD: {"result": made}})
        template = recording.one(DEPLOYMENT, "t-server-deployment").inputs["spec"]["template"]
        return str(template["metadata"]["annotations"]["gpu-platform/content"])

    assert digest("old") == digest("old") != digest("new")


def test_two_servers_live_side_by_side() -> None:
    def program() -> None:
        ExperimentTracking("one", arguments())
        ExperimentTracking("two", arguments(app="tracking-b", namespace="other"))

    recording = run(program, made=MADE)
    names = [
        (r.type, r.inputs["metadata"]["namespace"], r.inputs["metadata"]["name"])
        for r in recording.resources
        if r.type.startswith("kubernetes:")
    ]
    assert len(set(names)) == len(names) == 16
    recording.assert_no_clear("made-for-")


def test_a_preview_shows_the_same_objects() -> None:
    planned, done = record(preview=True), record()
    assert {(r.type, r.name) for r in planned.resources} == {(r.type, r.name) for r in done.resources}
    assert pod(planned)["containers"] == pod(done)["containers"]
    assert planned.outputs == done.outputs


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"allowed_hosts": ("*",)}, "allowed_hosts: got '*'"),
        ({"allowed_hosts": ("*:*",)}, "allowed_hosts: got '*:*'"),
        ({"allowed_hosts": ("a.example,*",)}, "allowed_hosts: got 'a.example,*'"),
        ({"replicas": 0}, "replicas: got 0"),
        ({"workers": 0}, "workers: got 0"),
        ({"app": "ML"}, "app: got 'ML'"),
        ({"namespace": "a b"}, "namespace: got 'a b'"),
        ({"clients": ()}, "clients: got nothing"),
        ({"clients": (JOBS, JOBS)}, "clients: got namespace 'jobs' twice"),
        (
            {"login_database": database("a", SecretRef(name="other", keys=ROLE.keys))},
            "login_database.credentials: got others",
        ),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        arguments(**changes)
    assert message in str(caught.value)


def test_values_that_come_later_are_accepted() -> None:
    def program() -> pulumi.Output[str]:
        later = DatabaseEndpoint(
            host=pulumi.Output.from_input("db.example"), port=1, database="x", credentials=ROLE, tls=False
        )
        return ExperimentTracking("tracking", arguments(database=later)).url

    env = {item["name"]: item.get("value") for item in pod(run(program, made=MADE))["containers"][0]["env"]}
    assert env["MLFLOW_BACKEND_STORE_URI"] == "postgresql+psycopg2://db.example:1/x"


def test_who_reads_the_metrics_gets_the_administrators_login() -> None:
    recording = record(
        watchers=(Pods(namespace="monitoring", labels={"app.kubernetes.io/name": "prometheus"}),)
    )
    secret = recording.one("kubernetes:core/v1:Secret", "tracking-metrics-monitoring").inputs
    assert secret["metadata"]["name"] == "mlflow-metrics"
    assert set(secret["stringData"]) == {"username", "password"}
    names = {item.name for item in recording.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")}
    assert {"tracking-from-monitoring-ingress", "tracking-from-monitoring-egress"} <= names
