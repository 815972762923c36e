"""LAB: the exporter that plays the telemetry of simulated GPU nodes."""

from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar

import pulumi
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components.contracts import MetricsEndpoint
from components.core import Component, Ownership, check_dns_label, raise_problems
from components.kube import (
    NAME_LABEL,
    HttpGet,
    Pods,
    Probe,
    Resources,
    Workload,
    WorkloadArgs,
    ownership_metadata,
)
from components.observability.scrape import Scrape

APP = "gpu-telemetry"
FAULTS_CONFIG_MAP = "gpu-faults"
# The job of GPU series, whoever exports them: rules name it, so the real exporter's scrape has the same.
JOB = "dcgm-exporter"
PORT = 9400
_PACKAGE = "gpu_telemetry"
_MODULES = ("__init__", "__main__", "faults", "placement", "readings", "scrape", "server")
_PROGRAM = "/opt/gpu-platform"
_RBAC = "rbac.authorization.k8s.io"
# Eight nodes of eight GPUs cost some 10 ms of a core a scrape; a thousand nodes need more memory than this.
_RESOURCES = Resources(cpu_request="20m", cpu_limit="500m", memory_request="48Mi", memory_limit="256Mi")


@dataclass(frozen=True, kw_only=True)
class SimulatedGpuTelemetryArgs:
    """How the exporter runs.

    Args:
        namespace: Where it runs, and where the ConfigMap with injected faults is.
        ownership: Who owns and pays.
        image: Image with Python 3.11 as ``python3`` on its PATH.
    """

    namespace: str
    ownership: Ownership
    image: pulumi.Input[str]

    def __post_init__(self) -> None:
        raise_problems("simulated gpu telemetry", check_dns_label("namespace", self.namespace))


class SimulatedGpuTelemetry(Component):
    """DCGM's metric names and labels for nodes without GPUs; busy where the scheduler placed a pod.

    Creates the exporter and its right to read nodes, pods and the faults. Every help text says LAB. Measures
    nothing: its figures are made up from placement and injected faults, and prove rules and dashboards only.
    The ConfigMap ``gpu-faults`` belongs to the command that injects faults, not to this component.

    Args:
        name: Logical name.
        args: How it runs.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:SimulatedGpuTelemetry"

    scrape: Scrape

    def __init__(
        self, name: str, args: SimulatedGpuTelemetryArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        rights = self._create_rights(name, args)
        workload = Workload(f"{name}-exporter", _workload(args), self.child(depends_on=rights))
        self.scrape = Scrape(
            endpoint=MetricsEndpoint(
                namespace=args.namespace, service=workload.service, port=PORT, path="/metrics", job=JOB
            ),
            pods=Pods(namespace=args.namespace, labels=workload.labels),
            pod_port=PORT,
            service_labels={NAME_LABEL: APP},
            honor_labels=True,
        )
        self.finish({})

    def _create_rights(self, name: str, args: SimulatedGpuTelemetryArgs) -> list[pulumi.Resource]:
        subject = {"kind": "ServiceAccount", "name": APP, "namespace": args.namespace}
        cluster = f"{APP}-{args.namespace}"
        wide = ownership_metadata(args.ownership, name=cluster)
        here = ownership_metadata(args.ownership, name=APP, namespace=args.namespace)
        return [
            ClusterRole(
                f"{name}-placement",
                metadata=wide,
                rules=[{"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}],
                opts=self.child(),
            ),
            ClusterRoleBinding(
                f"{name}-placement-binding",
                metadata=wide,
                role_ref={"apiGroup": _RBAC, "kind": "ClusterRole", "name": cluster},
                subjects=[subject],
                opts=self.child(),
            ),
            Role(
                f"{name}-faults",
                metadata=here,
                rules=[
                    {
                        "apiGroups": [""],
                        "resources": ["configmaps"],
                        "resourceNames": [FAULTS_CONFIG_MAP],
                        "verbs": ["get"],
                    }
                ],
                opts=self.child(),
            ),
            RoleBinding(
                f"{name}-faults-binding",
                metadata=here,
                role_ref={"apiGroup": _RBAC, "kind": "Role", "name": APP},
                subjects=[subject],
                opts=self.child(),
            ),
        ]


def _workload(args: SimulatedGpuTelemetryArgs) -> WorkloadArgs:
    source = files("components.observability") / _PACKAGE
    health = HttpGet(path="/healthz", port="metrics")
    return WorkloadArgs(
        app=APP,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        resources=_RESOURCES,
        command=("python3", "-m", _PACKAGE),
        env={
            "FAULTS_NAMESPACE": args.namespace,
            "FAULTS_CONFIG_MAP": FAULTS_CONFIG_MAP,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": _PROGRAM,
        },
        files={
            f"{_PROGRAM}/{_PACKAGE}/{module}.py": (source / f"{module}.py").read_text(encoding="utf-8")
            for module in _MODULES
        },
        ports={"metrics": PORT},
        readiness=Probe(http=health),
        liveness=Probe(http=health, failures=6),
        user_id=10001,
        group_id=10001,
        service_account_token=True,
    )
