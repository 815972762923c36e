"""The settings of an environment, section by section; the text under each field is what editors show.

Nothing here reads a file, the network or the environment. Values that need each other are compared in
``checks``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from stacks.config.acceptance import AcceptanceSettings
from stacks.config.fields import (
    DEFAULT_LIMIT_MINUTES,
    DEFAULT_MAX_LIMIT_MINUTES,
    DEFAULT_NODES_PER_RACK,
    DEFAULT_RACKS_PER_BLOCK,
    BlockRacks,
    ChartReference,
    ChartVersion,
    ClassName,
    Contact,
    ContextName,
    FabricKey,
    FairShare,
    FilePath,
    Flag,
    Form,
    GpuQuota,
    HostName,
    ImageReference,
    Minutes,
    NodeCount,
    NodeGpus,
    RackNodes,
    Registry,
    Replicas,
    ServerKey,
    SizeGib,
    Slug,
)
from stacks.config.models_monitoring import MonitoringSettings
from stacks.config.operation import DriverSettings, KubeletSettings, MigSettings, SharingSettings
from stacks.config.section import ByName, Section, empty


class OwnershipSettings(Section):
    """Who owns and pays for everything of the environment; printed on every object as labels."""

    owner: Slug
    """Team that answers for it."""
    project: Slug
    """Project it belongs to."""
    cost_centre: Slug
    """Where the cost goes."""
    contact: Contact
    """How to reach the owner: a mail address, a channel, a page."""


class LabCluster(Section):
    """The cluster of this machine, made by `make up`, with simulated GPU nodes."""

    source: Literal["lab"]
    """The lab's own cluster."""


class KubeconfigCluster(Section):
    """A cluster of your own, reached through a kubeconfig; real nodes only."""

    source: Literal["kubeconfig"]
    """A cluster named by a context."""
    context: ContextName
    """Context inside the kubeconfig."""
    path: FilePath | None = None
    """Kubeconfig file; left out: kubectl's own default."""


ClusterSettings = Annotated[
    LabCluster | KubeconfigCluster,
    Field(discriminator="source"),
    Form(
        accepted="a mapping with `source: lab`, or `source: kubeconfig` and a `context`",
        fix="write `{source: lab}`",
        known=("lab", "kubeconfig"),
    ),
]


class ChartSettings(Section):
    """Where one Helm chart comes from instead of the pinned place."""

    chart: ChartReference
    """`oci://` address, or absolute path of a chart's directory."""
    version: ChartVersion
    """Exact version of the chart, in quotes."""


class ArtifactSettings(Section):
    """Replacements for pinned images and charts, and a registry that mirrors them (air-gapped sites)."""

    registry_mirror: Registry | None = None
    """Takes the place of the registry host in every pinned image and `oci://` chart not replaced by name."""
    images: ByName[ImageReference] = Field(default_factory=empty)
    """Image name of versions.toml to the full reference that replaces it."""
    charts: ByName[ChartSettings] = Field(default_factory=empty)
    """Chart name of versions.toml to the chart that replaces it."""


class TopologySettings(Section):
    """How a pool's nodes stand: nodes in racks, racks in blocks of non-blocking fabric.

    The defaults are one scalable unit of NVIDIA's DGX SuperPOD: 32 nodes, four to a rack.
    """

    nodes_per_rack: RackNodes = DEFAULT_NODES_PER_RACK
    """Nodes in one rack."""
    racks_per_block: BlockRacks = DEFAULT_RACKS_PER_BLOCK
    """Racks in one block."""


class PoolSettings(Section):
    """GPU nodes of one kind. In kind dev they are simulated: placement is real, work is not."""

    server: ServerKey
    """Server of the catalogue; it decides GPU model, GPUs per node, CPU, RAM and NUMA nodes."""
    nodes: NodeCount
    """Number of nodes."""
    fabric: FabricKey
    """Network between the nodes; InfiniBand or EFA above four nodes and for multi-node training."""
    multi_node_training: Flag = False
    """The pool is meant for jobs that span nodes."""
    topology: TopologySettings = TopologySettings()
    """Racks and blocks, for topology-aware placement."""
    acceptance: AcceptanceSettings | None = None
    """Tests the pool must pass before people use it; left out: none."""
    kubelet: KubeletSettings = KubeletSettings()
    """How the kubelet places CPUs, memory and GPUs."""
    mig: MigSettings | None = None
    """How each GPU is cut into instances; left out: whole GPUs."""
    sharing: SharingSettings = SharingSettings()
    """Several pods on one GPU."""
    driver: DriverSettings | None = None
    """Driver and CUDA of the nodes; left out: what the GPU Operator brings, none where simulated."""


class PoolQuotaSettings(Section):
    """What a queue may hold of one pool at once."""

    gpus: GpuQuota
    """GPUs; the quotas of all queues together stay within the pool."""


class QueueSettings(Section):
    """A queue that admits a job as a whole or not at all."""

    pools: Annotated[
        ByName[PoolQuotaSettings],
        Field(min_length=1),
        Form(accepted="at least one pool with its quota, such as `a100: {gpus: 8}`"),
    ]
    """Pool name to quota."""
    default_time_limit_minutes: Minutes = DEFAULT_LIMIT_MINUTES
    """Limit of a job that names none, minutes."""
    max_time_limit_minutes: Minutes = DEFAULT_MAX_LIMIT_MINUTES
    """Longest limit a job may ask for, minutes."""
    cohort: Slug | None = None
    """Queues of one cohort lend each other idle quota; left out: none."""
    fair_share: FairShare = 1
    """Weight when queues of one cohort compete for idle quota."""


class DatasetVolumeSettings(Section):
    """The shared volume with training data."""

    size_gib: SizeGib
    """Size, GiB."""
    storage_class: ClassName | None = None
    """StorageClass, never the checkpoints' one; left out: `standard`, in the lab only."""
    claim: Slug = "datasets"
    """Name of the PersistentVolumeClaim."""


class CheckpointVolumeSettings(Section):
    """The shared volume with checkpoints, on a file system of its own: their bursts starve data loading."""

    size_gib: SizeGib
    """Size, GiB."""
    storage_class: ClassName | None = None
    """StorageClass, never the datasets' one; left out: `fast`, in the lab only."""
    claim: Slug = "checkpoints"
    """Name of the PersistentVolumeClaim."""


class ServiceVolumeSettings(Section):
    """The volume behind a service that keeps data."""

    size_gib: SizeGib
    """Size, GiB."""
    storage_class: ClassName | None = None
    """StorageClass; left out: the cluster's default."""


class StorageSettings(Section):
    """Where data lives."""

    datasets: DatasetVolumeSettings
    """Volume with training data."""
    checkpoints: CheckpointVolumeSettings
    """Volume with checkpoints."""
    object_store: ServiceVolumeSettings
    """S3-compatible store, for artifacts of runs."""
    database: ServiceVolumeSettings
    """PostgreSQL, for what the services record."""


class TrackingSettings(Section):
    """Experiment tracking and model registry (MLflow)."""

    enabled: Flag = True
    """Build it."""
    replicas: Replicas = 1
    """Server pods."""
    allowed_hosts: Annotated[tuple[HostName, ...], Field(strict=False)] = ()
    """Host names it answers to beside its names inside the cluster."""


class GangJobSettings(Section):
    """The sample gang job (nccl-tests): all its pods start together or none does."""

    queue: Slug
    """Queue it is sent to."""
    pool: Slug
    """Pool it runs on."""
    nodes: NodeCount
    """Nodes it asks for, all in one topology block."""
    gpus_per_node: NodeGpus
    """GPUs it asks for on each node."""


class SampleSettings(Section):
    """Sample jobs with pass criteria (`make smoke`)."""

    enabled: Flag = True
    """Make what the samples need; the training sample is left out where tracking is off."""
    gang_job: GangJobSettings | None = None
    """Gang job; left out: only the training samples."""
    distributed_training: Flag = True
    """Training over two pods on CPUs, with checkpoints; in the lab its image is built for it."""


class DevSettings(Section):
    """The dev environment: one machine, simulated GPU nodes, real services."""

    kind: Literal["dev"]
    """Kind of environment; it decides which sections there are."""
    ownership: OwnershipSettings
    """Who owns and pays."""
    cluster: ClusterSettings
    """The Kubernetes cluster everything goes into."""
    artifacts: ArtifactSettings = Field(default_factory=ArtifactSettings)
    """Where images and charts come from, if not from the pins."""
    pools: ByName[PoolSettings] = Field(default_factory=empty)
    """GPU pools by name."""
    queues: ByName[QueueSettings] = Field(default_factory=empty)
    """Queues by name."""
    storage: StorageSettings
    """Volumes, object store, database."""
    tracking: TrackingSettings = TrackingSettings()
    """Experiment tracking."""
    monitoring: MonitoringSettings = Field(default_factory=MonitoringSettings)
    """Metrics and alerts."""
    samples: SampleSettings = SampleSettings()
    """Sample jobs."""


# The kinds of environment that exist; each further kind adds one model here.
KINDS: Mapping[str, type[DevSettings]] = MappingProxyType({"dev": DevSettings})
