"""PostgreSQL in the cluster, for places without a managed database."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi
from pulumi_random import RandomPassword

from components.contracts import DatabaseEndpoint, SecretRef, ServiceEndpoint
from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.kube import (
    NAME_LABEL,
    ClaimVolume,
    DeliveredSecret,
    DeliveredSecretArgs,
    Pods,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    SecretVolume,
    Workload,
    WorkloadArgs,
    WorkloadKind,
    allow_clients,
    client_namespaces,
    client_problems,
)
from components.storage._claims import claim_volume, keep

PORT = 5432
USER_ID = 10001
SUPERUSER = "postgres"
_DATA = "/var/lib/postgresql/data"
_SECRETS = "/run/secrets/postgres"
_SCRIPT = "/etc/gpu-platform/databases.sql"
_PASSWORD_LENGTH = 32
# PostgreSQL cuts names at 63 bytes; this form needs no quoting anywhere.
_IDENTIFIER = re.compile(r"^[a-z][a-z0-9_]{0,62}$")
_RESOURCES = Resources(cpu_request="100m", cpu_limit="1", memory_request="256Mi", memory_limit="512Mi")


@dataclass(frozen=True, kw_only=True)
class PostgresArgs:
    """One PostgreSQL server with the databases of one service.

    Args:
        namespace: Where it runs.
        ownership: Who owns and pays.
        image: PostgreSQL image with an exact tag or digest and the entry point of the public image.
        role: Login role that owns the databases and is no superuser.
        databases: Databases to make, one or more.
        size_gib: Size of the volume, GiB, 1 or more.
        clients: Pods that may connect; each of their namespaces receives the role's credentials.
        app: Name of its objects, a DNS label.
        storage_class: Class of the volume; None takes the cluster's default.
        protect: Refuse deletion and replacement of volume and passwords, and keep them when they leave the
            program.
        resources: Requests and limits.

    Raises:
        ArgsError: A bad name or size, no databases, no clients, two entries for one namespace.
    """

    namespace: str
    ownership: Ownership
    image: pulumi.Input[str]
    role: str
    databases: tuple[str, ...]
    size_gib: int
    clients: tuple[Pods, ...]
    app: str = "postgres"
    storage_class: str | None = None
    protect: bool = True
    resources: Resources = _RESOURCES

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("app", self.app),
            *check_dns_label("namespace", self.namespace),
            *check_positive("size_gib", self.size_gib),
            *check_not_empty("databases", self.databases, "one database name or more"),
            *client_problems(self.clients),
            *_identifier_problems("role", self.role),
        ]
        for database in self.databases:
            problems += _identifier_problems("databases", database)
        raise_problems("postgres", problems)


def _identifier_problems(path: str, value: str) -> list[Problem]:
    if _IDENTIFIER.fullmatch(value) and value != SUPERUSER:
        return []
    return [
        Problem(
            path=path,
            value=repr(value),
            accepted=f"1 to 63 characters a-z, 0-9 and '_', starting with a letter, not {SUPERUSER!r}",
            fix="choose such a name",
        )
    ]


def databases_script(role: str, databases: tuple[str, ...]) -> str:
    """The psql script that makes role and databases; running it again changes nothing.

    The password comes from the environment, and neither psql nor the server repeats a failed statement, so
    no secret gets into a file, an event or a log. PUBLIC loses its default right to connect: a role sees the
    databases it owns.
    """
    lines = [
        r"\set VERBOSITY terse",
        r"\getenv role_password ROLE_PASSWORD",
        "SET log_min_error_statement = panic;",
        f"SELECT 'CREATE ROLE {role}' WHERE NOT EXISTS"  # noqa: S608 - names are checked identifiers
        rf" (SELECT FROM pg_roles WHERE rolname = '{role}') \gexec",
        f"ALTER ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'role_password';",
    ]
    for database in sorted(set(databases)):
        lines += [
            f"SELECT 'CREATE DATABASE {database} OWNER {role}' WHERE NOT EXISTS"  # noqa: S608 - likewise
            rf" (SELECT FROM pg_database WHERE datname = '{database}') \gexec",
            f"REVOKE ALL ON DATABASE {database} FROM PUBLIC;",
        ]
    return "\n".join(lines) + "\n"


class Postgres(Component):
    """PostgreSQL on a volume of its own, with the databases of one service.

    Creates two passwords (superuser, role), the role's credentials in each reader's namespace, the volume
    claim, a StatefulSet of one pod with its Service, and the network policies. Every connection logs in with
    scram-sha-256; the superuser's password never leaves this namespace. Deliberately not: TLS, standby
    servers, backups, upgrades across major versions, removal of databases.

    The startup probe makes role and databases and sets the role's password, at every start of the pod: a
    database that is added later, a new password and a first start that was cut off all converge. (The image's
    own first-start scripts run on an empty volume only.) The superuser's password is the one the volume was
    made with; its resource must not be replaced.

    Args:
        name: Logical name.
        args: What to run.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:storage:Postgres"

    databases: Mapping[str, DatabaseEndpoint]
    service: ServiceEndpoint

    def __init__(self, name: str, args: PostgresArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        readers = client_namespaces(args.namespace, args.clients)
        superuser, _ = self._deliver(name, "superuser", SUPERUSER, (args.namespace,), args)
        role, password = self._deliver(name, "role", args.role, readers, args)
        claim = self._claim(name, args)
        workload = Workload(f"{name}-server", _workload(args, claim, superuser, role, password), self.child())
        self._allow(name, args)
        host = pulumi.Output.concat(workload.service, f".{args.namespace}.svc")
        self.databases = {
            database: DatabaseEndpoint(host=host, port=PORT, database=database, credentials=role, tls=False)
            for database in sorted(set(args.databases))
        }
        # No health path: it does not speak HTTP.
        self.service = ServiceEndpoint(
            namespace=args.namespace,
            service=workload.service,
            port=PORT,
            health_path="",
            auth="scram-sha-256",
        )
        self.finish({"host": host})

    def _claim(self, name: str, args: PostgresArgs) -> pulumi.Output[str]:
        return claim_volume(
            self,
            f"{name}-data",
            ownership=args.ownership,
            claim=f"{args.app}-data",
            namespace=args.namespace,
            size_gib=args.size_gib,
            access_mode="ReadWriteOnce",
            storage_class=args.storage_class,
            protect=args.protect,
        )

    def _allow(self, name: str, args: PostgresArgs) -> None:
        allow_clients(
            self,
            name,
            ownership=args.ownership,
            clients=args.clients,
            server=Pods(namespace=args.namespace, labels={NAME_LABEL: args.app}),
            port=PORT,
        )

    def _deliver(
        self, name: str, use: str, user: str, namespaces: tuple[str, ...], args: PostgresArgs
    ) -> tuple[SecretRef, pulumi.Output[str]]:
        password = RandomPassword(
            f"{name}-{use}-password",
            length=_PASSWORD_LENGTH,
            special=False,
            opts=keep(self, protect=args.protect),
        )
        delivered = DeliveredSecret(
            f"{name}-{use}",
            DeliveredSecretArgs(
                secret=f"{args.app}-{use}",
                namespaces=namespaces,
                ownership=args.ownership,
                values={"username": user, "password": password.result},
                roles={"username": "username", "password": "password"},
            ),
            self.child(),
        )
        return delivered.ref, password.result


def _workload(
    args: PostgresArgs,
    claim: pulumi.Input[str],
    superuser: SecretRef,
    role: SecretRef,
    password: pulumi.Input[str],
) -> WorkloadArgs:
    # By address: while the first start still makes its data, the server listens on its socket only.
    login = ("--host=127.0.0.1", f"--port={PORT}", f"--username={SUPERUSER}")
    answers = Probe(command=("pg_isready", *login), failures=6)
    make_databases = (
        *("psql", *login, f"--dbname={SUPERUSER}", "--no-psqlrc", "--quiet"),
        *("--set=ON_ERROR_STOP=1", f"--file={_SCRIPT}"),
    )
    return WorkloadArgs(
        app=args.app,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        kind=WorkloadKind.STATEFUL_SET,
        resources=args.resources,
        env={
            "PGDATA": f"{_DATA}/pgdata",
            "POSTGRES_USER": SUPERUSER,
            "POSTGRES_DB": SUPERUSER,
            "POSTGRES_PASSWORD_FILE": f"{_SECRETS}/password",
            "POSTGRES_INITDB_ARGS": "--auth=scram-sha-256 --data-checksums",
        },
        secret_env={
            "PGPASSWORD": SecretKey(secret=superuser, role="password"),
            "ROLE_PASSWORD": SecretKey(secret=role, role="password"),
        },
        files={_SCRIPT: databases_script(args.role, args.databases)},
        volumes=(
            ClaimVolume(name="data", path=_DATA, claim=claim),
            ScratchVolume(name="socket", path="/var/run/postgresql", size_mib=1),
            ScratchVolume(name="tmp", path="/tmp", size_mib=64),  # noqa: S108 - a volume of the pod alone
            SecretVolume(name="superuser", path=_SECRETS, secret=superuser, roles=("password",)),
        ),
        ports={"postgres": PORT},
        startup=Probe(command=make_databases, period_seconds=3, timeout_seconds=20, failures=100),
        readiness=answers,
        liveness=answers,
        user_id=USER_ID,
        group_id=USER_ID,
        roll_on={"role-password": password},
        # A checkpoint of a busy server takes longer than the default 30 s.
        termination_grace_seconds=60,
    )
