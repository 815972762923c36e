"""Frozen records through which areas meet; the same shape on-prem and in the cloud.

Plain fields decide what exists; ``Input`` fields carry values that flow between resources.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pulumi


class Purpose(StrEnum):
    """What a mount is for; one purpose, one volume."""

    DATASETS = "datasets"
    CHECKPOINTS = "checkpoints"
    HOME = "home"
    SCRATCH = "scratch"


@dataclass(frozen=True, kw_only=True)
class ClusterAccess:
    """A Kubernetes API the program may use.

    Args:
        kubeconfig: Path or content; a secret when it is content.
        context: Context inside the kubeconfig.
        identity: Stable identifier of the cluster, so that a new kubeconfig replaces nothing.
    """

    kubeconfig: pulumi.Input[str]
    context: str
    identity: str


@dataclass(frozen=True, kw_only=True)
class Taint:
    """A node taint, and so what a job on that node must tolerate."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, kw_only=True)
class GpuPool:
    """GPU nodes of one kind in one place, however they came to be.

    Args:
        name: Pool name, a DNS label.
        place: Where it runs, e.g. ``lab``, ``onprem``, ``aws``.
        gpu_model: Catalogue key of the GPU.
        gpu_product: Value of the ``nvidia.com/gpu.product`` label.
        gpus_per_node: GPUs in each node.
        cpus_per_node: CPU threads in each node.
        memory_gib_per_node: RAM of each node, GiB.
        min_nodes: Fewest nodes.
        max_nodes: Most nodes; equals ``min_nodes`` for a fixed pool.
        fabric: Catalogue key of the fabric.
        nccl_environment: Variables a job on this pool sets.
        topology_levels: Node labels from the widest to the narrowest level.
        labels: Labels that select exactly this pool's nodes.
        taints: Taints on those nodes.
        multi_node_training: The pool is meant for jobs over several nodes.
        simulated: Nodes without hardware: placement is real, work is not.
    """

    name: str
    place: str
    gpu_model: str
    gpu_product: str
    gpus_per_node: int
    cpus_per_node: int
    memory_gib_per_node: int
    min_nodes: int
    max_nodes: int
    fabric: str
    nccl_environment: Mapping[str, str]
    topology_levels: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    multi_node_training: bool
    simulated: bool

    @property
    def max_gpus(self) -> int:
        """GPUs of the pool at its largest."""
        return self.max_nodes * self.gpus_per_node


@dataclass(frozen=True, kw_only=True)
class SecretRef:
    """A Kubernetes Secret present in every namespace it was delivered to.

    Args:
        name: Secret name, the same in each namespace; flows from the Secret, so that readers wait for it.
        keys: Role (``username``, ``password``, ``url`` …) → key inside the Secret.
    """

    name: pulumi.Input[str]
    keys: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class StorageMount:
    """A volume a job may mount.

    Args:
        name: Mount name.
        purpose: What it is for.
        namespace: Namespace of the claim.
        claim: PersistentVolumeClaim name.
        access_mode: Kubernetes access mode.
        storage_class: Class that provisioned it.
        size_gib: Requested size, GiB.
    """

    name: str
    purpose: Purpose
    namespace: pulumi.Input[str]
    claim: pulumi.Input[str]
    access_mode: str
    storage_class: str
    size_gib: int


@dataclass(frozen=True, kw_only=True)
class ObjectStore:
    """An S3-compatible store; ``credentials`` roles: ``access_key_id``, ``secret_access_key``."""

    endpoint: pulumi.Input[str]
    bucket: str
    region: str
    credentials: SecretRef


@dataclass(frozen=True, kw_only=True)
class DatabaseEndpoint:
    """A PostgreSQL database; ``credentials`` roles: ``username``, ``password``."""

    host: pulumi.Input[str]
    port: int
    database: str
    credentials: SecretRef
    tls: bool


@dataclass(frozen=True, kw_only=True)
class ServiceEndpoint:
    """A service inside the cluster; ``health_path`` is empty for one that speaks no HTTP."""

    namespace: pulumi.Input[str]
    service: pulumi.Input[str]
    port: int
    health_path: str
    auth: str


@dataclass(frozen=True, kw_only=True)
class MetricsEndpoint:
    """Where Prometheus scrapes a service."""

    namespace: pulumi.Input[str]
    service: pulumi.Input[str]
    port: int
    path: str
    job: str


@dataclass(frozen=True, kw_only=True)
class TrackingEndpoint:
    """Experiment tracking; ``credentials`` roles: ``username``, ``password``."""

    endpoint: ServiceEndpoint
    credentials: SecretRef
    metrics: MetricsEndpoint


@dataclass(frozen=True, kw_only=True)
class QueueRef:
    """A queue that takes jobs.

    Args:
        name: LocalQueue name.
        namespace: Namespace jobs are created in.
        pools: Names of the pools it may use.
        gpu_quota: GPUs it may hold at once, per pool.
        default_time_limit_seconds: Limit our job templates set.
        max_time_limit_seconds: Longest limit the queue's namespace accepts.
    """

    name: pulumi.Input[str]
    namespace: pulumi.Input[str]
    pools: tuple[str, ...]
    gpu_quota: Mapping[str, int] = field(default_factory=dict)
    default_time_limit_seconds: int
    max_time_limit_seconds: int
