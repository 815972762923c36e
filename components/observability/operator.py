"""The prometheus-operator: CRDs by their chart, the controller as a workload of ours."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.contracts import ClusterAccess
from components.core import Component, Ownership, check_dns_label, raise_problems
from components.kube import (
    ChartRelease,
    ChartReleaseArgs,
    ChartSource,
    HttpGet,
    Probe,
    Readiness,
    Resources,
    Workload,
    WorkloadArgs,
    ownership_metadata,
)
from components.observability.operator_api import API_VERSION

APP = "prometheus-operator"
RELEASE = "prometheus-operator-crds"
KUBELET_SERVICE = "kubelet"
_PORT = 8080
# Kinds nobody here makes; their CRDs are the two largest.
_UNUSED = ("prometheusagents", "thanosrulers")
_RESOURCES = Resources(cpu_request="50m", cpu_limit="500m", memory_request="64Mi", memory_limit="256Mi")


@dataclass(frozen=True, kw_only=True)
class PrometheusOperatorArgs:
    """How the operator is installed.

    Args:
        ownership: Who owns and pays.
        access: The cluster, for the readiness gate.
        crds: The chart of the CRDs.
        image: Operator image with an exact tag or digest.
        reloader_image: Image of the config reloader it puts beside Prometheus and Alertmanager.
        namespace: Existing namespace of the operator and of everything it looks after.
        node_selector: Nodes whose kubelet is scraped, a label selector; empty means all.
    """

    ownership: Ownership
    access: ClusterAccess
    crds: ChartSource
    image: str
    reloader_image: str
    namespace: str
    node_selector: str = ""

    def __post_init__(self) -> None:
        raise_problems("prometheus operator", check_dns_label("namespace", self.namespace))


class PrometheusOperator(Component):
    """The operator, at home in one namespace: it reads and writes nothing outside it but the list of nodes.

    Creates the release of the CRDs with the gate that waits for them, access rights, and the operator. Makes
    the Service ``kubelet`` through the operator, which keeps the nodes' addresses in it. Deliberately not:
    the admission webhook (rules are tested before they are sent), Prometheus Agent and Thanos.

    Args:
        name: Logical name.
        args: How it is installed.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:PrometheusOperator"

    workload: pulumi.Resource
    gate: pulumi.ResourceHookBinding | None

    def __init__(
        self, name: str, args: PrometheusOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        crds = ChartRelease(
            f"{name}-crds",
            ChartReleaseArgs(
                release=RELEASE,
                namespace=args.namespace,
                source=args.crds,
                values={"crds": {kind: {"enabled": False} for kind in _UNUSED}},
                readiness=Readiness(
                    access=args.access, plural="prometheusrules", manifest=_probe_rule(args.namespace)
                ),
            ),
            opts=self.child(),
        )
        rights = self._create_rights(name, args)
        self.workload = Workload(f"{name}-server", _workload(args), self.child(depends_on=[crds, *rights]))
        self.gate = crds.gate
        self.finish({})

    def _create_rights(self, name: str, args: PrometheusOperatorArgs) -> list[pulumi.Resource]:
        subject = {"kind": "ServiceAccount", "name": APP, "namespace": args.namespace}
        cluster = f"{APP}-{args.namespace}"
        here = ownership_metadata(args.ownership, name=APP, namespace=args.namespace)
        wide = ownership_metadata(args.ownership, name=cluster)
        group = "rbac.authorization.k8s.io"
        return [
            Role(f"{name}-role", metadata=here, rules=_namespace_rules(), opts=self.child()),
            RoleBinding(
                f"{name}-role-binding",
                metadata=here,
                role_ref={"apiGroup": group, "kind": "Role", "name": APP},
                subjects=[subject],
                opts=self.child(),
            ),
            ClusterRole(f"{name}-cluster-role", metadata=wide, rules=_cluster_rules(), opts=self.child()),
            ClusterRoleBinding(
                f"{name}-cluster-role-binding",
                metadata=wide,
                role_ref={"apiGroup": group, "kind": "ClusterRole", "name": cluster},
                subjects=[subject],
                opts=self.child(),
            ),
        ]


def _rule(group: str, resources: str, verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}


def _namespace_rules() -> list[dict[str, Any]]:
    """What upstream's ClusterRole grants, without wildcards and in one namespace."""
    owners = "prometheuses alertmanagers"
    return [
        _rule("monitoring.coreos.com", owners, "get list watch update patch"),
        _rule(
            "monitoring.coreos.com",
            " ".join(f"{kind}/{part}" for kind in owners.split() for part in ("status", "finalizers")),
            "get update patch",
        ),
        _rule(
            "monitoring.coreos.com",
            "servicemonitors podmonitors probes scrapeconfigs prometheusrules alertmanagerconfigs",
            "get list watch",
        ),
        _rule("apps", "statefulsets", "get list watch create update patch delete deletecollection"),
        _rule("", "configmaps secrets", "get list watch create update patch delete deletecollection"),
        _rule("", "pods", "list delete"),
        _rule("", "services services/finalizers endpoints", "get list watch create update patch delete"),
        _rule("discovery.k8s.io", "endpointslices", "get list watch create update patch delete"),
        _rule("events.k8s.io", "events", "create patch"),
        _rule("", "events", "create patch"),
    ]


def _cluster_rules() -> list[dict[str, Any]]:
    return [
        _rule("", "nodes namespaces", "get list watch"),
        _rule("storage.k8s.io", "storageclasses", "get"),
    ]


def _workload(args: PrometheusOperatorArgs) -> WorkloadArgs:
    arguments = [
        f"--namespaces={args.namespace}",
        f"--prometheus-config-reloader={args.reloader_image}",
        "--config-reloader-cpu-request=10m",
        "--config-reloader-cpu-limit=100m",
        "--config-reloader-memory-request=24Mi",
        "--config-reloader-memory-limit=64Mi",
        f"--kubelet-service={args.namespace}/{KUBELET_SERVICE}",
        "--kubelet-endpoints=false",
        "--kubelet-endpointslice=true",
    ]
    if args.node_selector:
        arguments.append(f"--kubelet-selector={args.node_selector}")
    labels = ",".join(f"{key}={value}" for key, value in sorted(args.ownership.labels().items()))
    arguments.append(f"--labels={labels}")
    return WorkloadArgs(
        app=APP,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        resources=_RESOURCES,
        arguments=tuple(arguments),
        env={"GOGC": "30"},
        ports={"http": _PORT},
        readiness=Probe(http=HttpGet(path="/healthz", port="http")),
        liveness=Probe(http=HttpGet(path="/healthz", port="http"), failures=6),
        user_id=65534,
        group_id=65534,
        service_account_token=True,
    )


def _probe_rule(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "PrometheusRule",
        "metadata": {"name": "readiness-probe", "namespace": namespace},
        "spec": {"groups": []},
    }
