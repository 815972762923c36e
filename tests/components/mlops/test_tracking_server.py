"""What the MLflow pods are told and how they run."""

from tests.components.mlops.shapes import DEPLOYMENT, database, pod, record, secret_env


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
        {
            "name": "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX",
            "value": r"\A((mlflow-artifacts|runs|models):/|(dummy-source|prompt-template)\Z)",
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
