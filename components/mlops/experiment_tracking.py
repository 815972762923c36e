"""Experiment tracking and model registry: MLflow."""

from dataclasses import dataclass
from typing import ClassVar

import pulumi
from pulumi_random import RandomPassword

from components.contracts import (
    DatabaseEndpoint,
    MetricsEndpoint,
    ObjectStore,
    SecretRef,
    ServiceEndpoint,
    TrackingEndpoint,
)
from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_positive,
    raise_problems,
)
from components.kube import (
    NAME_LABEL,
    DeliveredSecret,
    DeliveredSecretArgs,
    HttpGet,
    InitStep,
    Pods,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    Workload,
    WorkloadArgs,
    allow_clients,
    client_problems,
)
from components.mlops import _tracking_plan as plan
from components.mlops._files import PREPARE_SERVER, program

USER_ID = 10001
ADMIN = "admin"
JOBS_USER = "jobs"
_PASSWORD_LENGTH = 32
_HEALTH = "/health"
_SERVER_ROLES = {
    "username": "admin-username",
    "password": "admin-password",
    "session": "session-key",
    "jobs": "jobs-password",
}
_RESOURCES = Resources(cpu_request="250m", cpu_limit="2", memory_request="1Gi", memory_limit="2Gi")


@dataclass(frozen=True, kw_only=True)
class ExperimentTrackingArgs:
    """An MLflow server and where it keeps its data.

    Args:
        namespace: Where it runs; the credentials of both databases and of the store must be there.
        ownership: Who owns and pays.
        image: MLflow image with an exact tag or digest, with psycopg2, boto3, flask-wtf and
            prometheus-flask-exporter.
        database: Database of runs and models.
        login_database: Database of users and permissions, on the same credentials.
        object_store: Where artifacts go.
        clients: Pods that may call it; each of their namespaces receives the job user's credentials.
        watchers: Pods that read its metrics, which MLflow shows to administrators only: each of their
            namespaces receives the administrator's credentials.
        app: Name of its objects and its host name, a DNS label.
        allowed_hosts: More Host headers to answer to, e.g. of an ingress; ``*`` is refused.
        replicas: Pods, 1 or more.
        workers: Server processes per pod, 1 or more; each takes about 300 MiB.
        protect: Refuse replacement and deletion of the passwords, and keep them when they leave the program.
        resources: Requests and limits.

    Raises:
        ArgsError: A bad name or count, no clients, ``*`` as host, databases with different credentials.
    """

    namespace: str
    ownership: Ownership
    image: pulumi.Input[str]
    database: DatabaseEndpoint
    login_database: DatabaseEndpoint
    object_store: ObjectStore
    clients: tuple[Pods, ...]
    watchers: tuple[Pods, ...] = ()
    app: str = "mlflow"
    allowed_hosts: tuple[str, ...] = ()
    replicas: int = 1
    workers: int = 2
    protect: bool = True
    resources: Resources = _RESOURCES

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("app", self.app),
            *check_dns_label("namespace", self.namespace),
            *check_positive("replicas", self.replicas),
            *check_positive("workers", self.workers),
            *client_problems((*self.clients, *self.watchers)),
        ]
        raise_problems("experiment tracking", problems + _host_problems(self) + _database_problems(self))


def _host_problems(args: ExperimentTrackingArgs) -> list[Problem]:
    return [
        Problem(
            path="allowed_hosts",
            value=repr(host),
            accepted="host names, with a port where clients send one",
            fix="name the hosts: a bare '*' lets any web page reach the server through a visitor's browser",
        )
        for host in args.allowed_hosts
        if not host.strip("*:. ") or "," in host
    ]


def _database_problems(args: ExperimentTrackingArgs) -> list[Problem]:
    if args.database.credentials is args.login_database.credentials:
        return []
    return [
        Problem(
            path="login_database.credentials",
            value="others than database.credentials",
            accepted="the same credentials for both databases",
            fix="let one role own both: the server has one PGUSER and one PGPASSWORD",
        )
    ]


class ExperimentTracking(Component):
    """MLflow with login, on PostgreSQL and an object store; artifacts pass through the server.

    Creates generated passwords, the server's Secret, the job user's credentials in each client's namespace,
    a Deployment with its Service, and the way in for the clients. The way out (database, store) is opened by
    the components that own those. Deliberately not: TLS, an ingress, single sign-on, further users.

    Before the server a first step brings both schemas to this release and sets the users' passwords, under a
    lock in the database; so a new password and a new release need no hand work, and replicas don't race.
    The pods hold no data: updates roll. Where a release migrates the schema, the old pod serves the new
    schema for the seconds in between.

    The administrator's name and password are in the Secret ``<app>-server``; the metrics at ``/metrics`` ask
    for that login too, MLflow knows no lesser right for them. The job user may create experiments and models
    and sees only its own.

    Args:
        name: Logical name.
        args: What to run.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:mlops:ExperimentTracking"

    tracking: TrackingEndpoint
    url: pulumi.Output[str]
    admin: SecretRef
    watcher: SecretRef | None

    def __init__(
        self, name: str, args: ExperimentTrackingArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        generated = {
            use: self._generate(f"{name}-{use}", args)
            for use in ("admin-password", "jobs-password", "session-key")
        }
        self.admin = self._deliver_server(name, args, generated)
        url = f"http://{args.app}.{args.namespace}.svc:{plan.PORT}"
        jobs = self._deliver_clients(name, args, url, generated["jobs-password"])
        self.watcher = self._deliver_watchers(name, args, generated["admin-password"])
        workload = Workload(f"{name}-server", _workload(args, self.admin, generated), self.child())
        allow_clients(
            self,
            name,
            ownership=args.ownership,
            clients=(*args.clients, *args.watchers),
            server=Pods(namespace=args.namespace, labels={NAME_LABEL: args.app}),
            port=plan.PORT,
        )
        self.url = pulumi.Output.from_input(url)
        self.tracking = TrackingEndpoint(
            endpoint=ServiceEndpoint(
                namespace=args.namespace,
                service=workload.service,
                port=plan.PORT,
                health_path=_HEALTH,
                auth="basic",
            ),
            credentials=jobs,
            metrics=MetricsEndpoint(
                namespace=args.namespace,
                service=workload.service,
                port=plan.PORT,
                path="/metrics",
                job=args.app,
            ),
        )
        self.finish({"url": self.url})

    def _generate(self, name: str, args: ExperimentTrackingArgs) -> pulumi.Output[str]:
        password: pulumi.Output[str] = RandomPassword(
            name,
            length=_PASSWORD_LENGTH,
            special=False,
            opts=self.child(protect=args.protect or None, retain_on_delete=args.protect or None),
        ).result
        return password

    def _deliver_server(
        self, name: str, args: ExperimentTrackingArgs, generated: dict[str, pulumi.Output[str]]
    ) -> SecretRef:
        return DeliveredSecret(
            f"{name}-server-secret",
            DeliveredSecretArgs(
                secret=f"{args.app}-server",
                namespaces=(args.namespace,),
                ownership=args.ownership,
                values={"admin-username": ADMIN, **generated},
                roles=_SERVER_ROLES,
            ),
            self.child(),
        ).ref

    def _deliver_watchers(
        self, name: str, args: ExperimentTrackingArgs, password: pulumi.Output[str]
    ) -> SecretRef | None:
        if not args.watchers:
            return None
        delivered = DeliveredSecretArgs(
            secret=f"{args.app}-metrics",
            namespaces=tuple(watcher.namespace for watcher in args.watchers),
            ownership=args.ownership,
            values={"username": ADMIN, "password": password},
            roles={"username": "username", "password": "password"},
        )
        return DeliveredSecret(f"{name}-metrics", delivered, self.child()).ref

    def _deliver_clients(
        self, name: str, args: ExperimentTrackingArgs, url: str, password: pulumi.Output[str]
    ) -> SecretRef:
        return DeliveredSecret(
            f"{name}-credentials",
            DeliveredSecretArgs(
                secret=f"{args.app}-credentials",
                namespaces=tuple(client.namespace for client in args.clients),
                ownership=args.ownership,
                values=plan.client_values(url, JOBS_USER, password),
                roles=plan.CLIENT_ROLES,
            ),
            self.child(),
        ).ref


def _workload(
    args: ExperimentTrackingArgs, server: SecretRef, generated: dict[str, pulumi.Output[str]]
) -> WorkloadArgs:
    database, store = args.database.credentials, args.object_store.credentials
    hosts = plan.allowed_hosts(args.app, args.namespace, args.allowed_hosts)
    command = plan.server_command(workers=args.workers, bucket=args.object_store.bucket, hosts=hosts)
    health = HttpGet(path=_HEALTH, port="http")
    return WorkloadArgs(
        app=args.app,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        replicas=args.replicas,
        resources=args.resources,
        command=command[:1],
        arguments=command[1:],
        init=(InitStep(name="prepare", command=("python3", plan.PREPARE_PROGRAM)),),
        env=plan.server_env(args.database, args.object_store, ADMIN, JOBS_USER),
        secret_env={
            "PGUSER": SecretKey(secret=database, role="username"),
            "PGPASSWORD": SecretKey(secret=database, role="password"),
            "AWS_ACCESS_KEY_ID": SecretKey(secret=store, role="access_key_id"),
            "AWS_SECRET_ACCESS_KEY": SecretKey(secret=store, role="secret_access_key"),
            "MLFLOW_AUTH_ADMIN_PASSWORD": SecretKey(secret=server, role="password"),
            "MLFLOW_FLASK_SERVER_SECRET_KEY": SecretKey(secret=server, role="session"),
            "TRACKING_USER_PASSWORD": SecretKey(secret=server, role="jobs"),
        },
        files={
            plan.LOGIN_CONFIG: plan.database_uri(args.login_database).apply(plan.login_config),
            plan.PREPARE_PROGRAM: program(PREPARE_SERVER),
        },
        volumes=(ScratchVolume(name="tmp", path=plan.SCRATCH, size_mib=1024),),
        ports={"http": plan.PORT},
        # Two interpreters import the whole of MLflow: 10 s on an idle core, a minute on a busy machine.
        startup=Probe(http=health, period_seconds=3, failures=100),
        readiness=Probe(http=health),
        liveness=Probe(http=health, period_seconds=20, timeout_seconds=10, failures=6),
        user_id=USER_ID,
        group_id=USER_ID,
        roll_on=generated,
    )
