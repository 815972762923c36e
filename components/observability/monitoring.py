"""Prometheus and Alertmanager, each behind a login."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding

from components.contracts import SecretRef, ServiceEndpoint
from components.core import Component, Ownership, Problem, check_dns_label, check_positive, raise_problems
from components.kube import (
    NAME_LABEL,
    CustomObject,
    Flow,
    NetworkAllow,
    NetworkAllowArgs,
    Pods,
    ownership_metadata,
)
from components.kube.network import ANYWHERE, Direction
from components.observability import _monitoring_plan as plan
from components.observability import operator, simulated_gpu_telemetry
from components.observability.login import (
    PORT,
    GuardedService,
    Login,
    LoginArgs,
    create_config,
    create_service,
)
from components.observability.operator_api import ALERTMANAGER_PODS, PROMETHEUS_PODS, image_version
from components.observability.scrape import ACCOUNT

HEALTH = "/-/healthy"
READY = "/-/ready"
_API_SERVER_PORTS = (443, 6443)
_ASK_THE_API_SERVER = (operator.APP, plan.PROMETHEUS, simulated_gpu_telemetry.APP)
_KUBELET_PORT = 10250
# Receivers answer on 443 outside; others name their port in ``receiver_ports``.
_HTTPS = 443


@dataclass(frozen=True, kw_only=True)
class MonitoringArgs:
    """A Prometheus and an Alertmanager.

    Args:
        namespace: Existing namespace, that of the operator.
        ownership: Who owns and pays.
        prometheus_image: Image whose tag begins with the release.
        alertmanager_image: The same.
        proxy_image: Image of the proxy that asks for the login.
        retention_days: How long series are kept, days.
        size_gib: Size of Prometheus' volume, GiB; the oldest series go when 85 % of it are full.
        storage_class: Class of both volumes; None takes the cluster's default.
        scrape_interval_seconds: Between two scrapes of a target and two evaluations of a rule.
        gate: Hooks that hold back the first custom resources until the CRDs are served.
        protect: Refuse replacement and deletion of the password, and keep it when it leaves the program.

    Raises:
        ArgsError: A bad name or number, or an image without its release.
    """

    namespace: str
    ownership: Ownership
    prometheus_image: str
    alertmanager_image: str
    proxy_image: str
    retention_days: int = 15
    size_gib: int = 20
    storage_class: str | None = None
    scrape_interval_seconds: int = 30
    gate: pulumi.ResourceHookBinding | None = None
    protect: bool = True

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("namespace", self.namespace),
            *check_positive("retention_days", self.retention_days),
            *check_positive("size_gib", self.size_gib),
            *check_positive("scrape_interval_seconds", self.scrape_interval_seconds),
        ]
        for path in ("prometheus_image", "alertmanager_image"):
            problems += _release_problems(path, getattr(self, path))
        raise_problems("monitoring", problems)


def _release_problems(path: str, image: str) -> list[Problem]:
    try:
        image_version(image)
    except ValueError:
        return [
            Problem(
                path=path,
                value=repr(image),
                accepted="an image whose tag begins with its release, such as name:v3.5.0",
                fix="write the tag too, before the digest where there is one",
            )
        ]
    return []


def flows(webhooks: tuple[str, ...] = ()) -> tuple[Flow, ...]:
    """What the namespace of the monitoring must allow beside its own traffic.

    Args:
        webhooks: Addresses Alertmanager tells; it may reach their ports, and 443 for receivers of users' own.
    """
    named = (urlsplit(url) for url in webhooks)
    ports = {_HTTPS, *(url.port or (80 if url.scheme == "http" else _HTTPS) for url in named)}
    return (
        *(
            Flow(
                name=f"{app}-to-api-server",
                direction=Direction.EGRESS,
                peers=(ANYWHERE,),
                ports=_API_SERVER_PORTS,
                pods={NAME_LABEL: app},
            )
            for app in _ASK_THE_API_SERVER
        ),
        Flow(
            name="to-kubelets",
            direction=Direction.EGRESS,
            peers=(ANYWHERE,),
            ports=(_KUBELET_PORT,),
            pods=PROMETHEUS_PODS,
        ),
        Flow(
            name="to-receivers",
            direction=Direction.EGRESS,
            peers=(ANYWHERE,),
            ports=tuple(sorted(ports)),
            pods=ALERTMANAGER_PODS,
        ),
    )


class Monitoring(Component):
    """Prometheus that takes every monitor and rule of its namespace, and its Alertmanager.

    Creates the login, both custom resources, their accounts, their Services, and the ways between them.
    Deliberately not: scrapes (``Scrapes``), rules (``AlertRules``), receivers (``Receivers``), high
    availability, remote write, TLS.

    Args:
        name: Logical name.
        args: How they run.
        opts: Options, inherited by the children; depend on the operator.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:Monitoring"

    prometheus: ServiceEndpoint
    alertmanager: ServiceEndpoint
    login: SecretRef

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.login = Login(
            f"{name}-login",
            LoginArgs(
                namespace=args.namespace,
                ownership=args.ownership,
                secret="monitoring-login",  # noqa: S106 - its name
                protect=args.protect,
            ),
            self.child(),
        ).credentials
        self._create_rights(name, args)
        self.alertmanager = self._create_alertmanager(name, args)
        self.prometheus = self._create_prometheus(name, args)
        NetworkAllow(
            f"{name}-alerts",
            NetworkAllowArgs(
                ownership=args.ownership,
                client=Pods(namespace=args.namespace, labels=PROMETHEUS_PODS),
                server=Pods(namespace=args.namespace, labels=ALERTMANAGER_PODS),
                ports=(PORT,),
            ),
            self.child(),
        )
        self.finish({"login": self.login.name})

    def _create_prometheus(self, name: str, args: MonitoringArgs) -> ServiceEndpoint:
        guarded = plan.guarded(plan.PROMETHEUS, args.proxy_image, self.login)
        wants = plan.PrometheusPlan(
            ownership=args.ownership,
            namespace=args.namespace,
            image=args.prometheus_image,
            retention_days=args.retention_days,
            size_gib=args.size_gib,
            storage_class=args.storage_class,
            scrape_interval_seconds=args.scrape_interval_seconds,
        )
        return self._create(f"{name}-prometheus", args, guarded, plan.prometheus(wants, guarded))

    def _create_alertmanager(self, name: str, args: MonitoringArgs) -> ServiceEndpoint:
        guarded = plan.guarded(plan.ALERTMANAGER, args.proxy_image, self.login)
        manifest = plan.alertmanager(
            ownership=args.ownership,
            namespace=args.namespace,
            image=args.alertmanager_image,
            storage_class=args.storage_class,
            guarded=guarded,
        )
        return self._create(f"{name}-alertmanager", args, guarded, manifest)

    def _create(
        self, name: str, args: MonitoringArgs, guarded: GuardedService, manifest: dict[str, object]
    ) -> ServiceEndpoint:
        config = create_config(
            self, name, ownership=args.ownership, namespace=args.namespace, guarded=guarded
        )
        made = CustomObject(name, manifest, self.child(depends_on=[config], hooks=args.gate))
        service = create_service(
            self,
            name,
            ownership=args.ownership,
            namespace=args.namespace,
            guarded=guarded,
            after=made,
        )
        return ServiceEndpoint(
            namespace=args.namespace, service=service, port=PORT, health_path=HEALTH, auth="basic"
        )

    def _create_rights(self, name: str, args: MonitoringArgs) -> None:
        for account in (ACCOUNT, plan.ALERTMANAGER):
            ServiceAccount(
                f"{name}-{account}-account",
                metadata=ownership_metadata(args.ownership, name=account, namespace=args.namespace),
                automount_service_account_token=False,
                opts=self.child(),
            )
        cluster = f"{ACCOUNT}-{args.namespace}"
        metadata = ownership_metadata(args.ownership, name=cluster)
        ClusterRole(
            f"{name}-metrics",
            metadata=metadata,
            rules=[
                {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
                {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
                {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
            ],
            opts=self.child(),
        )
        ClusterRoleBinding(
            f"{name}-metrics-binding",
            metadata=metadata,
            role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": cluster},
            subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": args.namespace}],
            opts=self.child(),
        )
