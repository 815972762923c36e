"""PostgreSQL in the cluster."""

from typing import Any

import pytest

from components.contracts import ServiceEndpoint
from components.core import ArgsError
from components.storage import Postgres, PostgresArgs
from components.storage.postgres import databases_script
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
    secret,
    secret_env,
)
from tests.harness import Recording, run


def arguments(**changes: Any) -> PostgresArgs:
    base: dict[str, Any] = {
        "namespace": "data",
        "ownership": OWNERSHIP,
        "image": "registry.example/postgres:15",
        "role": "mlflow",
        "databases": ("mlflow", "mlflow_auth"),
        "size_gib": 2,
        "clients": (MLFLOW,),
    }
    return PostgresArgs(**(base | changes))


def record(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        postgres = Postgres("postgres", arguments(**changes))
        return {
            name: [database.host, database.port, database.database, database.credentials.name, database.tls]
            for name, database in postgres.databases.items()
        }

    return run(program, made=MADE, preview=preview)


def test_each_database_has_an_endpoint() -> None:
    assert record().outputs == {
        "mlflow": ["postgres.data.svc", 5432, "mlflow", "postgres-role", False],
        "mlflow_auth": ["postgres.data.svc", 5432, "mlflow_auth", "postgres-role", False],
    }


def test_the_service_says_how_to_reach_it() -> None:
    found: list[ServiceEndpoint] = []
    recording = run(lambda: found.append(Postgres("postgres", arguments()).service), made=MADE)
    assert (found[0].namespace, found[0].port, found[0].health_path, found[0].auth) == (
        "data",
        5432,
        "",
        "scram-sha-256",
    )
    service = recording.one("kubernetes:core/v1:Service", "postgres-server-service").inputs
    assert (service["metadata"]["name"], service["spec"]["type"]) == ("postgres", "ClusterIP")


def test_nothing_else_is_created() -> None:
    record().assert_counts(
        {
            "gpuplatform:storage:Postgres": 1,
            "gpuplatform:kube:DeliveredSecret": 2,
            "gpuplatform:kube:Workload": 1,
            "gpuplatform:kube:NetworkAllow": 1,
            PASSWORD: 2,
            SECRET: 3,
            CLAIM: 1,
            STATEFUL_SET: 1,
            "kubernetes:core/v1:ConfigMap": 1,
            "kubernetes:core/v1:Service": 1,
            "kubernetes:core/v1:ServiceAccount": 1,
            POLICY: 2,
        }
    )


def test_the_superuser_stays_home_and_the_role_travels() -> None:
    recording = record()
    for use in ("superuser", "role"):
        made = recording.assert_resource(
            PASSWORD, f"postgres-{use}-password", {"length": 32, "special": False}
        )
        assert (made.options.protect, made.options.retain_on_delete) == (True, True)
    superuser = {"username": "postgres", "password": "made-for-postgres-superuser-password"}
    role = {"username": "mlflow", "password": "made-for-postgres-role-password"}
    for name, namespace, values in (
        ("superuser", "data", superuser),
        ("role", "data", role),
        ("role", "mlops", role),
    ):
        recording.assert_resource(
            SECRET, f"postgres-{name}-{namespace}", secret(f"postgres-{name}", namespace, values)
        )
    recording.assert_secrets(
        *((f"postgres-{name}", "stringData") for name in ("superuser-data", "role-data", "role-mlops"))
    )
    recording.assert_no_clear("made-for-")


def test_the_volume_is_kept() -> None:
    found = record().assert_resource(CLAIM, "postgres-data", claim("postgres-data", "data", "2Gi"))
    assert (found.options.protect, found.options.retain_on_delete) == (True, True)
    found = record(protect=False).one(CLAIM, "postgres-data")
    assert (found.options.protect, found.options.retain_on_delete) == (None, None)


def test_the_script_makes_role_and_databases_without_a_secret() -> None:
    assert databases_script("app", ("two", "one", "two")) == "\n".join(
        (
            r"\set VERBOSITY terse",
            r"\getenv role_password ROLE_PASSWORD",
            "SET log_min_error_statement = panic;",
            r"SELECT 'CREATE ROLE app' WHERE NOT EXISTS"
            r" (SELECT FROM pg_roles WHERE rolname = 'app') \gexec",
            "ALTER ROLE app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'role_password';",
            r"SELECT 'CREATE DATABASE one OWNER app' WHERE NOT EXISTS"
            r" (SELECT FROM pg_database WHERE datname = 'one') \gexec",
            "REVOKE ALL ON DATABASE one FROM PUBLIC;",
            r"SELECT 'CREATE DATABASE two OWNER app' WHERE NOT EXISTS"
            r" (SELECT FROM pg_database WHERE datname = 'two') \gexec",
            "REVOKE ALL ON DATABASE two FROM PUBLIC;",
            "",
        )
    )


def test_the_server_runs_hardened_and_its_startup_makes_the_databases() -> None:
    recording = record()
    pod = recording.one(STATEFUL_SET, "postgres-server-statefulset").inputs["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 60
    assert pod["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "postgres-data", "readOnly": False}},
        {"name": "socket", "emptyDir": {"sizeLimit": "1Mi"}},
        {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},
        {
            "name": "superuser",
            "secret": {
                "secretName": "postgres-superuser",
                "defaultMode": 0o440,
                "items": [{"key": "password", "path": "password"}],
            },
        },
        {"name": "files", "configMap": {"name": "postgres-files"}},
    ]
    login = ["--host=127.0.0.1", "--port=5432", "--username=postgres"]
    answers = {
        "exec": {"command": ["pg_isready", *login]},
        "periodSeconds": 10,
        "timeoutSeconds": 5,
        "failureThreshold": 6,
        "initialDelaySeconds": 0,
    }
    assert pod["containers"] == [
        {
            "name": "postgres",
            "image": "registry.example/postgres:15",
            "imagePullPolicy": "IfNotPresent",
            "env": [
                {"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"},
                {"name": "POSTGRES_DB", "value": "postgres"},
                {"name": "POSTGRES_INITDB_ARGS", "value": "--auth=scram-sha-256 --data-checksums"},
                {"name": "POSTGRES_PASSWORD_FILE", "value": "/run/secrets/postgres/password"},
                {"name": "POSTGRES_USER", "value": "postgres"},
                secret_env("PGPASSWORD", "postgres-superuser", "password"),
                secret_env("ROLE_PASSWORD", "postgres-role", "password"),
            ],
            "ports": [{"name": "postgres", "containerPort": 5432, "protocol": "TCP"}],
            "volumeMounts": [
                {"name": "data", "mountPath": "/var/lib/postgresql/data"},
                {"name": "socket", "mountPath": "/var/run/postgresql"},
                {"name": "tmp", "mountPath": "/tmp"},
                {"name": "superuser", "mountPath": "/run/secrets/postgres", "readOnly": True},
                {
                    "name": "files",
                    "mountPath": "/etc/gpu-platform/databases.sql",
                    "subPath": "etc.gpu-platform.databases.sql",
                    "readOnly": True,
                },
            ],
            "resources": {
                "requests": {"cpu": "100m", "memory": "256Mi"},
                "limits": {"cpu": "1", "memory": "512Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "startupProbe": {
                "exec": {
                    "command": [
                        *("psql", *login, "--dbname=postgres", "--no-psqlrc", "--quiet"),
                        *("--set=ON_ERROR_STOP=1", "--file=/etc/gpu-platform/databases.sql"),
                    ]
                },
                "periodSeconds": 3,
                "timeoutSeconds": 20,
                "failureThreshold": 100,
                "initialDelaySeconds": 0,
            },
            "readinessProbe": answers,
            "livenessProbe": answers,
        }
    ]
    files = recording.one("kubernetes:core/v1:ConfigMap", "postgres-server-files").inputs
    assert files["data"] == {
        "etc.gpu-platform.databases.sql": databases_script("mlflow", ("mlflow", "mlflow_auth"))
    }


def test_only_its_clients_reach_it() -> None:
    recording = record()
    ingress = recording.one(POLICY, "postgres-from-mlops-ingress").inputs["spec"]
    assert ingress == {
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "postgres"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}},
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "mlops"}},
                    }
                ],
                "ports": [{"protocol": "TCP", "port": 5432}],
            }
        ],
    }
    egress = recording.one(POLICY, "postgres-from-mlops-egress").inputs
    assert egress["metadata"]["namespace"] == "mlops"


def test_a_new_role_password_restarts_the_server() -> None:
    def digest(made: str) -> str:
        recording = run(
            lambda: Postgres("postgres", arguments()).databases["mlflow"].host,
            made={PASSWORD: {"result": made}},
        )
        template = recording.one(STATEFUL_SET, "postgres-server-statefulset").inputs["spec"]["template"]
        return str(template["metadata"]["annotations"]["gpu-platform/content"])

    assert digest("old") == digest("old") != digest("new")


def test_two_servers_live_side_by_side() -> None:
    def program() -> None:
        Postgres("one", arguments())
        Postgres("two", arguments(app="features", role="feast", databases=("feast",)))

    recording = run(program, made=MADE)
    names = [(r.type, r.inputs["metadata"]["namespace"], r.inputs["metadata"]["name"])
             for r in recording.resources if r.type.startswith("kubernetes:")]  # fmt: skip
    assert len(set(names)) == len(names) == 20
    recording.assert_no_clear("made-for-")


def test_a_preview_shows_the_same_objects() -> None:
    planned, done = record(preview=True), record()
    assert {(r.type, r.name) for r in planned.resources} == {(r.type, r.name) for r in done.resources}
    assert planned.outputs == done.outputs
    assert [r.inputs for r in planned.of_type(CLAIM)] == [r.inputs for r in done.of_type(CLAIM)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"role": "postgres"}, "role: got 'postgres'"),
        ({"role": "ml'; DROP"}, "role: got"),
        ({"role": "mlflow\n"}, "role: got"),
        ({"databases": ()}, "databases: got nothing"),
        ({"databases": ("MLflow",)}, "databases: got 'MLflow'"),
        ({"size_gib": -1}, "size_gib: got -1"),
        ({"app": "-"}, "app: got '-'"),
        ({"namespace": "Data"}, "namespace: got 'Data'"),
        ({"clients": ()}, "clients: got nothing"),
        ({"clients": (MLFLOW, MLFLOW)}, "clients: got namespace 'mlops' twice"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        arguments(**changes)
    assert message in str(caught.value)
