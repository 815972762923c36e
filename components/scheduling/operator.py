"""Kueue, the queue controller, by its chart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
import yaml
from pulumi_kubernetes.rbac.v1 import ClusterRole

from components.contracts import ClusterAccess
from components.core import Component, Ownership, check_dns_label, check_positive, raise_problems
from components.kube import (
    ANYWHERE,
    ChartRelease,
    ChartReleaseArgs,
    ChartSource,
    Direction,
    Flow,
    Readiness,
    TenantNamespace,
    TenantNamespaceArgs,
    ownership_metadata,
    split_image,
)
from components.scheduling.kueue_api import API_VERSION

RELEASE = "kueue"
DEFAULT_NAMESPACE = "kueue-system"
# A pod of an image of tens of GB may need this long on a node that has never pulled it.
DEFAULT_PODS_READY_TIMEOUT_SECONDS = 600
_REQUEUES_BEFORE_GIVING_UP = 3
_WEBHOOK_PORT, _METRICS_PORT, _VISIBILITY_PORT = 9443, 8443, 8082
_API_SERVER_PORTS = (443, 6443)
# Label of the chart's one pod template (manager/manager.yaml of 0.17.0).
_CONTROLLER = {"control-plane": "controller-manager"}
_AGGREGATED_ROLES = ("batch-admin", "batch-user")
# One manager with its surge pod during an upgrade.
_QUOTA: Mapping[str, str] = {
    "requests.cpu": "1",
    "requests.memory": "1Gi",
    "limits.cpu": "4",
    "limits.memory": "2Gi",
    "pods": "4",
}


@dataclass(frozen=True, kw_only=True)
class KueueOperatorArgs:
    """How Kueue is installed.

    Args:
        ownership: Who owns and pays.
        access: The cluster, for the readiness gate.
        source: The chart.
        image: Manager image with an exact tag or digest.
        namespace: Namespace it is put in.
        pods_ready_timeout_seconds: A started job is evicted when its pods are not all ready by then.
        block_admission: Start one job at a time: the next only when the last one's pods are ready. Off, as in
            Kueue's v1beta2 (kueue PR 7687): a gang is admitted with all its nodes chosen, also when it asks
            for no topology (implicit topology-aware scheduling since Kueue 0.11), and only queued jobs get
            GPUs, so two gangs can't each hold half of what both need. On, one job that never starts, for want
            of its image, holds up all others until its timeout.
    """

    ownership: Ownership
    access: ClusterAccess
    source: ChartSource
    image: str
    namespace: str = DEFAULT_NAMESPACE
    pods_ready_timeout_seconds: int = DEFAULT_PODS_READY_TIMEOUT_SECONDS
    block_admission: bool = False

    def __post_init__(self) -> None:
        raise_problems(
            "kueue operator",
            [
                *check_dns_label("namespace", self.namespace),
                *check_positive("pods_ready_timeout_seconds", self.pods_ready_timeout_seconds),
            ],
        )


class KueueOperator(Component):
    """Kueue with topology-aware scheduling, fair sharing and all-or-nothing starts.

    Creates its namespace and one chart release, and waits until its webhook judges queues. Manages batch
    Jobs that name a queue, nothing else. Creates no queue, no dashboard and no ServiceMonitor.

    Args:
        name: Logical name.
        args: How it is installed.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:KueueOperator"

    release: pulumi.Resource
    gate: pulumi.ResourceHookBinding | None

    def __init__(
        self, name: str, args: KueueOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        namespace = TenantNamespace(
            f"{name}-namespace",
            TenantNamespaceArgs(
                namespace=args.namespace, ownership=args.ownership, quota=_QUOTA, flows=_flows()
            ),
            opts=self.child(),
        )
        chart = ChartRelease(
            f"{name}-chart",
            ChartReleaseArgs(
                release=RELEASE,
                namespace=namespace.namespace,
                source=args.source,
                values=chart_values(args),
                readiness=_readiness(args),
            ),
            opts=self.child(depends_on=[namespace, *self._create_aggregated_roles(name, args)]),
        )
        self.release, self.gate = chart.release, chart.gate
        self.finish({})

    def _create_aggregated_roles(self, name: str, args: KueueOperatorArgs) -> list[pulumi.Resource]:
        """The chart's aggregated roles, made before it so that they are ours to delete after it.

        Seen with Kubernetes 1.34: while Helm uninstalls, the aggregation controller makes the role anew
        just after its deletion, without Helm's labels; the next installation then refuses to take it over.
        """
        helm = {"meta.helm.sh/release-name": RELEASE, "meta.helm.sh/release-namespace": args.namespace}
        return [
            ClusterRole(
                f"{name}-{role}",
                metadata=ownership_metadata(
                    args.ownership,
                    name=f"{RELEASE}-{role}-role",
                    labels={"app.kubernetes.io/managed-by": "Helm"},
                    annotations=helm,
                ),
                aggregation_rule={
                    "clusterRoleSelectors": [{"matchLabels": {f"rbac.kueue.x-k8s.io/{role}": "true"}}]
                },
                opts=self.child(),
            )
            for role in _AGGREGATED_ROLES
        ]


def chart_values(args: KueueOperatorArgs) -> dict[str, Any]:
    """Values of the chart; security contexts and probes are the chart's own, which are restricted already."""
    repository, tag = split_image(args.image)
    return {
        "enablePrometheus": False,
        "enableCertManager": False,
        "enableKueueViz": False,
        "controllerManager": {
            "replicas": 1,
            "featureGates": [{"name": "TopologyAwareScheduling", "enabled": True}],
            "manager": {
                "image": {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"},
                "podAnnotations": args.ownership.annotations(),
                "resources": {
                    "requests": {"cpu": "100m", "memory": "256Mi"},
                    "limits": {"cpu": "2", "memory": "512Mi"},
                },
            },
        },
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(manager_config(args))},
    }


def manager_config(args: KueueOperatorArgs) -> dict[str, Any]:
    """Configuration of the manager; a text of its own, for the chart takes no structure here."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": f":{_METRICS_PORT}"},
        "webhook": {"port": _WEBHOOK_PORT},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "manageJobsWithoutQueueName": False,
        # Without this the webhook would stand between the system's own Jobs and the API server.
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", args.namespace],
                }
            ]
        },
        "waitForPodsReady": {
            "timeout": f"{args.pods_ready_timeout_seconds}s",
            "blockAdmission": args.block_admission,
            "requeuingStrategy": {"timestamp": "Eviction", "backoffLimitCount": _REQUEUES_BEFORE_GIVING_UP},
        },
        "integrations": {"frameworks": ["batch/job"]},
        "fairSharing": {
            "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
        },
    }


def _flows() -> tuple[Flow, ...]:
    return (
        Flow(
            name="api-server-calls",
            direction=Direction.INGRESS,
            peers=(ANYWHERE,),
            ports=(_WEBHOOK_PORT, _METRICS_PORT, _VISIBILITY_PORT),
            pods=_CONTROLLER,
        ),
        Flow(
            name="to-api-server",
            direction=Direction.EGRESS,
            peers=(ANYWHERE,),
            ports=_API_SERVER_PORTS,
            pods=_CONTROLLER,
        ),
    )


def _readiness(args: KueueOperatorArgs) -> Readiness:
    return Readiness(
        access=args.access,
        plural="clusterqueues",
        manifest=_probe_queue(),
        deployments=(f"{args.namespace}/{RELEASE}-controller-manager",),
    )


def _probe_queue() -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterQueue",
        "metadata": {"name": "readiness-probe"},
        "spec": {"namespaceSelector": {}},
    }
