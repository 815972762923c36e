"""What the tracking server is told: addresses, arguments, login settings; pure.

Flags and variables as MLflow 3.17 reads them (mlflow/cli, mlflow/environment_variables.py,
mlflow/server/auth/config.py); run with PostgreSQL 15 and versitygw 1.8 on 2026-11-30.
"""

from typing import Any

import pulumi

from components.contracts import DatabaseEndpoint, ObjectStore

PORT = 5000
SCRATCH = "/tmp"  # noqa: S108 - a volume of the pod alone
METRICS_DIRECTORY = f"{SCRATCH}/metrics"
LOGIN_CONFIG = "/etc/mlflow/basic_auth.ini"
PREPARE_PROGRAM = "/etc/mlflow/prepare_server.py"

# Where a model version may come from: what the server itself stores or a record of it, so that it can ask
# whose that is. An address of the store (s3://…) it would read with its own key, and ask nobody; seen with
# MLflow 3.17.2: mlflow/server/handlers.py checks run and permission of these three forms only. The last two
# stand for the text of a prompt, which has no file.
MODEL_SOURCES = r"\A((mlflow-artifacts|runs|models):/|(dummy-source|prompt-template)\Z)"


def database_uri(database: DatabaseEndpoint) -> pulumi.Output[str]:
    """Address of a database without user and password.

    libpq takes both from PGUSER and PGPASSWORD, so the address may stand in arguments, files and logs. The
    driver is named because SQLAlchemy's default changed from psycopg2 to psycopg.
    """
    tls = "?sslmode=require" if database.tls else ""
    return pulumi.Output.concat(
        "postgresql+psycopg2://", database.host, f":{database.port}/{database.database}{tls}"
    )


def host_names(app: str, namespace: str) -> tuple[str, ...]:
    """Names by which pods reach the Service."""
    names = (app, f"{app}.{namespace}", f"{app}.{namespace}.svc", f"{app}.{namespace}.svc.cluster.local")
    return tuple(f"{name}:{PORT}" for name in names)


def allowed_hosts(app: str, namespace: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """Host headers the server answers to; others get 403, which stops DNS rebinding.

    Localhost is what a port-forward sends.
    """
    return (*host_names(app, namespace), "localhost:*", "127.0.0.1:*", *more)


def login_config(uri: str) -> str:
    """The login settings; without a secret, see ``database_uri``.

    A user sees what was shared with it and what it made, nothing else. A verified password counts for a
    minute per worker: hashing it anew costs each request some 0.3 s of a core, and a removed user or an old
    password lives on at most that long.
    """
    return "\n".join(
        (
            "[mlflow]",
            "default_permission = NO_PERMISSIONS",
            f"database_uri = {uri}",
            "authorization_function = mlflow.server.auth:authenticate_request_basic_auth",
            "grant_default_workspace_access = false",
            "auth_cache_ttl_seconds = 60",
            "",
        )
    )


def server_command(*, workers: int, bucket: str, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The server's command line."""
    return (
        "mlflow",
        "server",
        "--app-name=basic-auth",
        "--host=0.0.0.0",
        f"--port={PORT}",
        f"--workers={workers}",
        "--serve-artifacts",
        f"--artifacts-destination=s3://{bucket}",
        f"--allowed-hosts={','.join(hosts)}",
        f"--expose-prometheus={METRICS_DIRECTORY}",
    )


def server_env(database: DatabaseEndpoint, store: ObjectStore, admin: str, user: str) -> dict[str, Any]:
    """Plain variables of the server and of its preparation."""
    return {
        "MLFLOW_BACKEND_STORE_URI": database_uri(database),
        "MLFLOW_AUTH_CONFIG_PATH": LOGIN_CONFIG,
        "MLFLOW_AUTH_ADMIN_USERNAME": admin,
        "TRACKING_USER": user,
        "MLFLOW_S3_ENDPOINT_URL": store.endpoint,
        "AWS_DEFAULT_REGION": store.region,
        # The job interface runs code sent to it; CVE-2026-0545 was a login it did not ask for.
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        # The gateway keeps API keys of other services in this database.
        "MLFLOW_ENABLE_AI_GATEWAY": "false",
        "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX": MODEL_SOURCES,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "HOME": SCRATCH,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def client_values(url: pulumi.Input[str], user: str, password: pulumi.Input[str]) -> dict[str, Any]:
    """The Secret a job takes as its environment (``envFrom``): after that ``import mlflow`` just works.

    The server tells clients that they may fetch large files from the object store by presigned address;
    jobs can't reach the store, so both directions stay with the server.
    """
    return {
        "MLFLOW_TRACKING_URI": url,
        "MLFLOW_TRACKING_USERNAME": user,
        "MLFLOW_TRACKING_PASSWORD": password,
        "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD": "false",
        "MLFLOW_ENABLE_PROXY_MULTIPART_DOWNLOAD": "false",
    }


CLIENT_ROLES = {
    "url": "MLFLOW_TRACKING_URI",
    "username": "MLFLOW_TRACKING_USERNAME",
    "password": "MLFLOW_TRACKING_PASSWORD",
}
