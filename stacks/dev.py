"""The dev environment: simulated GPU pools, gang queues, and real services on one cluster."""

from collections.abc import Mapping
from pathlib import Path

from components.catalog import FABRICS, SERVERS
from components.compute import SimulatedGpuPool, SimulatedGpuPoolArgs
from components.contracts import ClusterAccess, GpuPool, StorageMount
from components.core import Ownership
from components.storage import SharedVolumes, SharedVolumesArgs, VolumeArgs
from stacks import mlplatform, monitoring, queueing
from stacks.config import LabCluster, Settings
from stacks.config.fields import DEFAULT_CLASSES
from stacks.namespaces import JOBS, Namespaces, make_namespaces
from stacks.outputs import StackOutputs
from stacks.providers import kubernetes_provider
from stacks.site import Site

LAB_KUBECONFIG = "/var/lib/gpu-platform/kubeconfig"
LAB_CONTEXT = "gpu-platform-lab"


def deploy(settings: Settings) -> StackOutputs:
    """Build the environment.

    Args:
        settings: Checked settings of kind ``dev``.

    Returns:
        What the stack exports.
    """
    access = cluster_access(settings)
    site = Site(
        settings=settings,
        ownership=Ownership(
            owner=settings.ownership.owner,
            project=settings.ownership.project,
            environment=settings.environment,
            cost_centre=settings.ownership.cost_centre,
            contact=settings.ownership.contact,
        ),
        access=access,
        provider=kubernetes_provider("cluster", access),
    )
    kueue = queueing.install(site)
    namespaces = make_namespaces(site, jobs_after=() if kueue is None else (kueue,))
    pools = _pools(site)
    queues = queueing.deploy(site, kueue, pools, namespaces)
    mounts = _volumes(site, namespaces)
    watched = monitoring.install(site)
    ml = mlplatform.deploy(site, namespaces, watcher=None if watched is None else watched.namespace)
    watching = monitoring.deploy(site, watched, kueue=kueue, ml=ml)
    samples = mlplatform.samples(site, namespaces, pools, queues)
    return StackOutputs(
        environment=settings.environment,
        kubeconfig=str(access.kubeconfig),
        context=access.context,
        pools=pools,
        queues=queues,
        services={**ml.services, **watching},
        mounts=mounts,
        samples=samples,
    )


def cluster_access(settings: Settings) -> ClusterAccess:
    """The cluster the settings name; its identity outlives a new kubeconfig."""
    cluster = settings.cluster
    if isinstance(cluster, LabCluster):
        return ClusterAccess(kubeconfig=LAB_KUBECONFIG, context=LAB_CONTEXT, identity=LAB_CONTEXT)
    path = str(Path(cluster.path or "~/.kube/config").expanduser())
    return ClusterAccess(kubeconfig=path, context=cluster.context, identity=cluster.context)


def _pools(site: Site) -> Mapping[str, GpuPool]:
    return {
        name: SimulatedGpuPool(
            f"pool-{name}",
            SimulatedGpuPoolArgs(
                pool=name,
                ownership=site.ownership,
                server=SERVERS[pool.server],
                fabric=FABRICS[pool.fabric],
                nodes=pool.nodes,
                nodes_per_rack=pool.topology.nodes_per_rack,
                racks_per_block=pool.topology.racks_per_block,
                multi_node_training=pool.multi_node_training,
            ),
            opts=site.after(),
        ).pool
        for name, pool in site.settings.pools.items()
    }


def _volumes(site: Site, namespaces: Namespaces) -> tuple[StorageMount, ...]:
    settings = site.settings
    datasets, checkpoints = settings.storage.datasets, settings.storage.checkpoints
    return SharedVolumes(
        "volumes",
        SharedVolumesArgs(
            namespaces=(JOBS,),
            ownership=site.ownership,
            datasets=VolumeArgs(
                claim=datasets.claim,
                storage_class=datasets.storage_class or DEFAULT_CLASSES["datasets"],
                size_gib=datasets.size_gib,
            ),
            checkpoints=VolumeArgs(
                claim=checkpoints.claim,
                storage_class=checkpoints.storage_class or DEFAULT_CLASSES["checkpoints"],
                size_gib=checkpoints.size_gib,
            ),
            protect=settings.kind != "dev",
        ),
        opts=site.after(namespaces.jobs),
    ).mounts
