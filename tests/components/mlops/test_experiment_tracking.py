"""MLflow on a database and an object store."""

from typing import Any

import pulumi
import pytest

from components.contracts import DatabaseEndpoint, ObjectStore, SecretRef
from components.core import ArgsError, Ownership
from components.kube import Pods
from components.mlops import ExperimentTracking, ExperimentTrackingArgs
from tests.harness import Recording, run

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SECRET = "kubernetes:core/v1:Secret"
PASSWORD = "random:index/randomPassword:RandomPassword"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
MADE = {PASSWORD: {"result": "made-for-{name}"}}
OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)
ROLE = SecretRef(name="postgres-role", keys={"username": "username", "password": "password"})
KEY = SecretRef(name="store-key", keys={"access_key_id": "id", "secret_access_key": "key"})
JOBS = Pods(namespace="jobs")


def database(name: str, credentials: SecretRef = ROLE, *, tls: bool = False) -> DatabaseEndpoint:
    return DatabaseEndpoint(
        host="postgres.data.svc", port=5432, database=name, credentials=credentials, tls=tls
    )


def arguments(**changes: Any) -> ExperimentTrackingArgs:
    base: dict[str, Any] = {
        "namespace": "mlops",
        "ownership": OWNERSHIP,
        "image": "registry.example/mlflow:3",
        "database": database("mlflow"),
        "login_database": database("mlflow_auth"),
        "object_store": ObjectStore(
            endpoint="http://store.data.svc:7070", bucket="models", region="eu-1", credentials=KEY
        ),
        "clients": (JOBS,),
    }
    return ExperimentTrackingArgs(**(base | changes))


def record(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        made = ExperimentTracking("tracking", arguments(**changes))
        endpoint, metrics = made.tracking.endpoint, made.tracking.metrics
        return {
            "url": made.url,
            "endpoint": [
                endpoint.namespace,
                endpoint.service,
                endpoint.port,
                endpoint.health_path,
                endpoint.auth,
            ],
            "metrics": [metrics.namespace, metrics.service, metrics.port, metrics.path, metrics.job],
            "credentials": [made.tracking.credentials.name, dict(made.tracking.credentials.keys)],
            "admin": made.admin.name,
        }

    return run(program, made=MADE, preview=preview)


def pod(recording: Recording) -> Any:
    return recording.one(DEPLOYMENT, "tracking-server-deployment").inputs["spec"]["template"]["spec"]


def secret_env(name: str, secret: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


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


def test_the_server_asks_for_a_login_and_runs_no_jobs() -> None:
    container = pod(record())["containers"][0]
    assert container["command"] == ["mlflow"]
    assert container["args"] == [
        "server",
        "--app-name=basic-auth",
        "--host=0.0.0.0",
        "--port=5000",
        "--workers=2",
        "--serve-artifacts",
        "--artifacts-destination=s3://models",
        "--allowed-hosts=mlflow:5000,mlflow.mlops:5000,mlflow.mlops.svc:5000,"
        "mlflow.mlops.svc.cluster.local:5000,localhost:*,127.0.0.1:*",
        "--expose-prometheus=/tmp/metrics",
    ]
    assert container["env"] == [
        {"name": "AWS_DEFAULT_REGION", "value": "eu-1"},
        {"name": "DO_NOT_TRACK", "value": "true"},
        {"name": "HOME", "value": "/tmp"},
        {"name": "MLFLOW_AUTH_ADMIN_USERNAME", "value": "admin"},
        {"name": "MLFLOW_AUTH_CONFIG_PATH", "value": "/etc/mlflow/basic_auth.ini"},
        {
            "name": "MLFLOW_BACKEND_STORE_URI",
            "value": "postgresql+psycopg2://postgres.data.svc:5432/mlflow",
        },
        {"name": "MLFLOW_DISABLE_TELEMETRY", "value": "true"},
        {"name": "MLFLOW_ENABLE_AI_GATEWAY", "value": "false"},
        {"name": "MLFLOW_S3_ENDPOINT_URL", "value": "http://store.data.svc:7070"},
        {"name": "MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "false"},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        {"name": "TRACKING_USER", "value": "jobs"},
        secret_env("AWS_ACCESS_KEY_ID", "store-key", "id"),
        secret_env("AWS_SECRET_ACCESS_KEY", "store-key", "key"),
        secret_env("MLFLOW_AUTH_ADMIN_PASSWORD", "mlflow-server", "admin-password"),
        secret_env("MLFLOW_FLASK_SERVER_SECRET_KEY", "mlflow-server", "session-key"),
        secret_env("PGPASSWORD", "postgres-role", "password"),
        secret_env("PGUSER", "postgres-role", "username"),
        secret_env("TRACKING_USER_PASSWORD", "mlflow-server", "jobs-password"),
    ]


def test_the_server_runs_hardened_and_probed() -> None:
    recording = record(replicas=2)
    assert recording.one(DEPLOYMENT, "tracking-server-deployment").inputs["spec"]["replicas"] == 2
    spec = pod(recording)
    assert spec["volumes"] == [
        {"name": "tmp", "emptyDir": {"sizeLimit": "1024Mi"}},
        {"name": "files", "configMap": {"name": "mlflow-files"}},
    ]
    assert spec["securityContext"]["runAsUser"] == 10001
    container = spec["containers"][0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"] == {
        "requests": {"cpu": "250m", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "2Gi"},
    }
    assert container["ports"] == [{"name": "http", "containerPort": 5000, "protocol": "TCP"}]
    probes = {
        role: (probe["httpGet"], probe["periodSeconds"], probe["timeoutSeconds"], probe["failureThreshold"])
        for role, probe in container.items()
        if role.endswith("Probe")
    }
    health = {"path": "/health", "port": "http"}
    assert probes == {
        "startupProbe": (health, 3, 5, 100),
        "readinessProbe": (health, 10, 5, 3),
        "livenessProbe": (health, 20, 10, 6),
    }


def test_the_databases_are_prepared_first() -> None:
    recording = record()
    step = pod(recording)["initContainers"]
    assert [(item["name"], item["command"]) for item in step] == [
        ("prepare", ["python3", "/etc/mlflow/prepare_server.py"])
    ]
    files = recording.one("kubernetes:core/v1:ConfigMap", "tracking-server-files").inputs["data"]
    assert sorted(files) == ["etc.mlflow.basic_auth.ini", "etc.mlflow.prepare_server.py"]
    compile(files["etc.mlflow.prepare_server.py"], "prepare_server.py", "exec")


def test_users_see_nothing_that_was_not_shared() -> None:
    files = record().one("kubernetes:core/v1:ConfigMap", "tracking-server-files").inputs["data"]
    assert files["etc.mlflow.basic_auth.ini"].splitlines() == [
        "[mlflow]",
        "default_permission = NO_PERMISSIONS",
        "database_uri = postgresql+psycopg2://postgres.data.svc:5432/mlflow_auth",
        "authorization_function = mlflow.server.auth:authenticate_request_basic_auth",
        "grant_default_workspace_access = false",
        "auth_cache_ttl_seconds = 60",
    ]


def test_a_managed_database_is_reached_by_tls() -> None:
    recording = record(database=database("mlflow", tls=True))
    env = {item["name"]: item.get("value") for item in pod(recording)["containers"][0]["env"]}
    assert env["MLFLOW_BACKEND_STORE_URI"].endswith("/mlflow?sslmode=require")


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
