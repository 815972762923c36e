"""What Prometheus scrapes and how it logs in there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.rbac.v1 import Role, RoleBinding

from components.contracts import MetricsEndpoint, SecretRef
from components.core import Component, Ownership, Problem, check_not_empty, raise_problems
from components.kube import CustomObject, NetworkAllow, NetworkAllowArgs, Pods, ownership_metadata
from components.observability.operator_api import (
    API_VERSION,
    CA_FILE,
    PROMETHEUS_PODS,
    SCRAPE_API_VERSION,
    TOKEN_FILE,
)

ACCOUNT = "prometheus"
_RBAC = "rbac.authorization.k8s.io"


class ScrapeLogin(StrEnum):
    """How Prometheus shows who it is."""

    NONE = "none"
    BASIC = "basic"
    TOKEN = "token"  # noqa: S105 - a way, no token


@dataclass(frozen=True, kw_only=True)
class Scrape:
    """One service and how it is scraped.

    Args:
        endpoint: Where its metrics are; ``job`` becomes the label ``job`` of every series.
        pods: Its pods: for finding them, and for the way in.
        service_labels: Labels of its Service; empty where ``by_name`` is set.
        pod_port: Port of the pods.
        port_name: Name of the Service's port, where there are no pods behind it whose port could be told.
        login: How Prometheus logs in.
        credentials: For BASIC: roles ``username`` and ``password``, in Prometheus' namespace.
        https: Speak TLS.
        verify: Check the server's certificate against the cluster's authority.
        honor_labels: The series' own ``namespace``, ``pod`` and ``container`` stay, and those of the target
            are left out, as telemetry about other pods needs.
        pool_label: Series carry ``pool``, their node's label ``gpu-platform/pool``.
        by_name: Ask the Service by its name instead of each pod: for servers that judge the Host header. One
            pod answers each time, so counters of several pods would mix.
        opens_way: Open the way to its pods; off where the service's own component has done it.
        keep: Regular expression of the metric names to keep; empty keeps all.
    """

    endpoint: MetricsEndpoint
    pods: Pods
    pod_port: int
    port_name: str = ""
    service_labels: Mapping[str, str] = field(default_factory=dict)
    login: ScrapeLogin = ScrapeLogin.NONE
    credentials: SecretRef | None = None
    https: bool = False
    verify: bool = True
    honor_labels: bool = False
    pool_label: bool = False
    by_name: bool = False
    opens_way: bool = True
    keep: str = ""

    def __post_init__(self) -> None:
        problems = []
        if not self.by_name:
            problems += check_not_empty("service_labels", self.service_labels, "labels of the Service")
        if (self.login is ScrapeLogin.BASIC) != (self.credentials is not None):
            problems.append(
                Problem(
                    path="credentials",
                    value="given" if self.credentials else "nothing",
                    accepted="a Secret where login is basic, nothing elsewhere",
                    fix="set both or neither",
                )
            )
        raise_problems(f"scrape of {self.endpoint.job!r}", problems)


@dataclass(frozen=True, kw_only=True)
class ScrapesArgs:
    """Everything one Prometheus scrapes.

    Args:
        ownership: Who owns and pays.
        namespace: Namespace of Prometheus.
        scrapes: The services; each ``job`` once.
        gate: Hooks that hold back the first custom resources until the CRDs are served.
    """

    ownership: Ownership
    namespace: str
    scrapes: tuple[Scrape, ...]
    gate: pulumi.ResourceHookBinding | None = None

    def __post_init__(self) -> None:
        jobs = [scrape.endpoint.job for scrape in self.scrapes]
        raise_problems(
            "scrapes",
            [
                Problem(
                    path="scrapes", value=f"job {job!r} twice", accepted="each job once", fix="rename one"
                )
                for job in sorted({job for job in jobs if jobs.count(job) > 1})
            ],
        )


class Scrapes(Component):
    """One ServiceMonitor or ScrapeConfig per service, the way to its pods, and the right to find them.

    Makes no metrics and no rules. Services of one namespace share one role there.

    Args:
        name: Logical name.
        args: What is scraped.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:Scrapes"

    def __init__(self, name: str, args: ScrapesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for scrape in args.scrapes:
            job = scrape.endpoint.job
            manifest = scrape_config(args, scrape) if scrape.by_name else service_monitor(args, scrape)
            CustomObject(f"{name}-{job}", manifest, self.child(hooks=args.gate))
            if scrape.opens_way:
                NetworkAllow(
                    f"{name}-to-{job}",
                    NetworkAllowArgs(
                        ownership=args.ownership,
                        client=Pods(namespace=args.namespace, labels=PROMETHEUS_PODS),
                        server=scrape.pods,
                        ports=(scrape.pod_port,),
                    ),
                    self.child(),
                )
        for namespace in sorted({scrape.pods.namespace for scrape in args.scrapes if not scrape.by_name}):
            self._create_discovery(f"{name}-{namespace}", namespace, args)
        self.finish({})

    def _create_discovery(self, name: str, namespace: str, args: ScrapesArgs) -> None:
        metadata = ownership_metadata(args.ownership, name=f"{ACCOUNT}-discovery", namespace=namespace)
        verbs = ["get", "list", "watch"]
        Role(
            f"{name}-role",
            metadata=metadata,
            rules=[
                {"apiGroups": [""], "resources": ["services", "endpoints", "pods"], "verbs": verbs},
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": verbs},
            ],
            opts=self.child(),
        )
        RoleBinding(
            f"{name}-role-binding",
            metadata=metadata,
            role_ref={"apiGroup": _RBAC, "kind": "Role", "name": f"{ACCOUNT}-discovery"},
            subjects=[{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": args.namespace}],
            opts=self.child(),
        )


def service_monitor(args: ScrapesArgs, scrape: Scrape) -> dict[str, Any]:
    """The ServiceMonitor of a service whose pods are asked one by one."""
    endpoint = scrape.endpoint
    how: dict[str, Any] = {
        **({"port": scrape.port_name} if scrape.port_name else {"targetPort": scrape.pod_port}),
        "path": endpoint.path,
        "scheme": "https" if scrape.https else "http",
        "honorLabels": scrape.honor_labels,
        "relabelings": _relabelings(scrape),
        **_kept(scrape),
    }
    if scrape.https:
        how["tlsConfig"] = {"caFile": CA_FILE} if scrape.verify else {"insecureSkipVerify": True}
    if scrape.login is ScrapeLogin.TOKEN:
        how["bearerTokenFile"] = TOKEN_FILE
    how |= _basic(scrape)
    return {
        "apiVersion": API_VERSION,
        "kind": "ServiceMonitor",
        "metadata": ownership_metadata(args.ownership, name=endpoint.job, namespace=args.namespace),
        "spec": {
            **({"attachMetadata": {"node": True}} if scrape.pool_label else {}),
            "namespaceSelector": {"matchNames": [scrape.pods.namespace]},
            "selector": {"matchLabels": dict(scrape.service_labels)},
            "endpoints": [how],
        },
    }


def scrape_config(args: ScrapesArgs, scrape: Scrape) -> dict[str, Any]:
    """The ScrapeConfig of a service that is asked by its name."""
    endpoint = scrape.endpoint
    target = pulumi.Output.concat(endpoint.service, f".{scrape.pods.namespace}.svc:{endpoint.port}")
    return {
        "apiVersion": SCRAPE_API_VERSION,
        "kind": "ScrapeConfig",
        "metadata": ownership_metadata(args.ownership, name=endpoint.job, namespace=args.namespace),
        "spec": {
            "metricsPath": endpoint.path,
            "scheme": "HTTPS" if scrape.https else "HTTP",
            "honorLabels": scrape.honor_labels,
            "staticConfigs": [{"targets": [target], "labels": {"namespace": scrape.pods.namespace}}],
            "relabelings": [{"targetLabel": "job", "replacement": endpoint.job}],
            **_kept(scrape),
            **_basic(scrape),
        },
    }


def _relabelings(scrape: Scrape) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = [{"targetLabel": "job", "replacement": scrape.endpoint.job}]
    if scrape.honor_labels:
        # Otherwise a series that names no pod would seem to be about the exporter's own.
        rules.append({"action": "labeldrop", "regex": "namespace|pod|container|service|endpoint"})
    if scrape.pool_label:
        label = "__meta_kubernetes_node_label_gpu_platform_pool"
        rules.append({"sourceLabels": [label], "targetLabel": "pool"})
    return rules


def _kept(scrape: Scrape) -> dict[str, Any]:
    if not scrape.keep:
        return {}
    rule = {"sourceLabels": ["__name__"], "regex": scrape.keep, "action": "keep"}
    return {"metricRelabelings": [rule]}


def _basic(scrape: Scrape) -> dict[str, Any]:
    if scrape.credentials is None:
        return {}
    return {"basicAuth": basic_auth(scrape.credentials)}


def basic_auth(credentials: SecretRef) -> dict[str, Any]:
    """A login in the operator's form."""
    return {
        role: {"name": credentials.name, "key": credentials.keys[role]} for role in ("username", "password")
    }
