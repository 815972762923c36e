"""An S3-compatible store in the cluster, for places without a managed one."""

import re
from dataclasses import dataclass
from typing import ClassVar

import pulumi
from pulumi_random import RandomPassword

from components import contracts
from components.core import Component, Ownership, Problem, check_dns_label, check_positive, raise_problems
from components.kube import (
    NAME_LABEL,
    ClaimVolume,
    DeliveredSecret,
    DeliveredSecretArgs,
    HttpGet,
    Pods,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    Workload,
    WorkloadArgs,
    WorkloadKind,
    allow_clients,
    client_namespaces,
    client_problems,
)
from components.storage._claims import claim_volume, keep

PORT = 7070
REGION = "us-east-1"
USER_ID = 10001
_DATA = "/data"
_HEALTH = "/healthz"
_KEY_LENGTH = 40
# The S3 rule, without the dots that break TLS certificates.
_BUCKET = re.compile(r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")
_ROLES = {"access_key_id": "access-key-id", "secret_access_key": "secret-access-key"}
_RESOURCES = Resources(cpu_request="50m", cpu_limit="1", memory_request="128Mi", memory_limit="512Mi")


@dataclass(frozen=True, kw_only=True)
class ObjectStoreArgs:
    """A versitygw gateway over one volume.

    Args:
        namespace: Where it runs.
        ownership: Who owns and pays.
        image: versitygw image with an exact tag or digest; ``versitygw`` on its PATH.
        bucket: The one bucket.
        size_gib: Size of the volume, GiB, 1 or more.
        clients: Pods that may connect; each of their namespaces receives the credentials.
        app: Name of its objects, a DNS label.
        storage_class: Class of the volume; None takes the cluster's default. Its file system must hold
            extended attributes, where the gateway keeps the objects' metadata.
        protect: Refuse deletion and replacement of volume and key, and keep them when they leave the program.
        resources: Requests and limits.

    Raises:
        ArgsError: A bad name or size, no clients, two entries for one namespace.
    """

    namespace: str
    ownership: Ownership
    image: pulumi.Input[str]
    bucket: str
    size_gib: int
    clients: tuple[Pods, ...]
    app: str = "object-store"
    storage_class: str | None = None
    protect: bool = True
    resources: Resources = _RESOURCES

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("app", self.app),
            *check_dns_label("namespace", self.namespace),
            *check_positive("size_gib", self.size_gib),
            *client_problems(self.clients),
        ]
        if not _BUCKET.fullmatch(self.bucket):
            problems.append(
                Problem(
                    path="bucket",
                    value=repr(self.bucket),
                    accepted="3 to 63 characters a-z, 0-9 and '-', starting and ending alphanumeric",
                    fix="choose such a name",
                )
            )
        raise_problems("object store", problems)


class ObjectStore(Component):
    """versitygw on a volume of its own: one account, one bucket, reachable by its clients only.

    Creates the secret key, its copies for the readers, the volume claim, a StatefulSet of one pod with its
    Service, and the network policies. Deliberately not: TLS (plain HTTP inside the cluster; the network
    policies and request signatures protect it), further accounts, replication and backups. A second pod
    could not share the volume, so an update stops the store for some seconds.

    A changed key reaches the store at once: the gateway reads it at start and the pod restarts with it.

    Args:
        name: Logical name.
        args: What to run.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:storage:ObjectStore"

    store: contracts.ObjectStore
    service: contracts.ServiceEndpoint

    def __init__(self, name: str, args: ObjectStoreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        key = RandomPassword(
            f"{name}-secret-key",
            length=_KEY_LENGTH,
            special=False,
            opts=keep(self, protect=args.protect),
        )
        credentials = self._deliver(name, args, key.result)
        workload = Workload(
            f"{name}-gateway",
            _workload(args, self._claim(name, args), credentials, key.result),
            self.child(),
        )
        self._allow(name, args)
        self.store = contracts.ObjectStore(
            endpoint=pulumi.Output.concat("http://", workload.service, f".{args.namespace}.svc:{PORT}"),
            bucket=args.bucket,
            region=REGION,
            credentials=credentials.ref,
        )
        self.service = contracts.ServiceEndpoint(
            namespace=args.namespace,
            service=workload.service,
            port=PORT,
            health_path=_HEALTH,
            auth="S3 signature",
        )
        self.finish({"endpoint": self.store.endpoint})

    def _claim(self, name: str, args: ObjectStoreArgs) -> pulumi.Output[str]:
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

    def _allow(self, name: str, args: ObjectStoreArgs) -> None:
        allow_clients(
            self,
            name,
            ownership=args.ownership,
            clients=args.clients,
            server=Pods(namespace=args.namespace, labels={NAME_LABEL: args.app}),
            port=PORT,
        )

    def _deliver(self, name: str, args: ObjectStoreArgs, key: pulumi.Output[str]) -> DeliveredSecret:
        return DeliveredSecret(
            f"{name}-credentials",
            DeliveredSecretArgs(
                secret=f"{args.app}-credentials",
                namespaces=client_namespaces(args.namespace, args.clients),
                ownership=args.ownership,
                values={"access-key-id": args.app, "secret-access-key": key},
                roles=_ROLES,
            ),
            self.child(),
        )


def _workload(
    args: ObjectStoreArgs,
    claim: pulumi.Input[str],
    credentials: DeliveredSecret,
    key: pulumi.Output[str],
) -> WorkloadArgs:
    health = HttpGet(path=_HEALTH, port="s3")
    return WorkloadArgs(
        app=args.app,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        kind=WorkloadKind.STATEFUL_SET,
        resources=args.resources,
        command=("versitygw",),
        # Quiet: request lines would hold signatures of presigned addresses.
        arguments=("--port", f":{PORT}", "--health", _HEALTH, "--region", REGION, "--quiet", "posix", _DATA),
        secret_env={
            "ROOT_ACCESS_KEY_ID": SecretKey(secret=credentials.ref, role="access_key_id"),
            "ROOT_SECRET_ACCESS_KEY": SecretKey(secret=credentials.ref, role="secret_access_key"),
        },
        volumes=(
            # Lock files only; objects and uploads in progress lie in the bucket.
            ScratchVolume(name="root", path=_DATA, size_mib=64),
            # A directory is a bucket of the root account: the mount makes it, and nobody can delete it.
            ClaimVolume(name="data", path=f"{_DATA}/{args.bucket}", claim=claim, sub_path=args.bucket),
        ),
        ports={"s3": PORT},
        startup=Probe(http=health, period_seconds=2, failures=60),
        readiness=Probe(http=health),
        liveness=Probe(http=health, failures=6),
        user_id=USER_ID,
        group_id=USER_ID,
        roll_on={"secret-access-key": key},
    )
