"""The dev environment: simulated GPU pools, gang queues, and real services on one cluster."""

from collections.abc import Mapping

from components.catalog import FABRICS, SERVERS
from components.compute import SimulatedGpuPool, SimulatedGpuPoolArgs
from components.contracts import GpuPool, StorageMount
from components.core import Ownership
from components.storage import SharedVolumes, SharedVolumesArgs, VolumeArgs
from stacks import acceptance, mlplatform, monitoring, queueing
from stacks.access import cluster_access
from stacks.config import Settings
from stacks.config.fields import DEFAULT_CLASSES
from stacks.namespaces import JOBS, WORKBENCH, Namespaces, make_namespaces
from stacks.operation import operation_of
from stacks.outputs import StackOutputs
from stacks.providers import kubernetes_provider
from stacks.site import Site


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
    watching = monitoring.deploy(site, watched, kueue=kueue, ml=ml, pools=pools)
    samples = mlplatform.samples(site, namespaces, pools, queues, mounts)
    return StackOutputs(
        environment=settings.environment,
        kubeconfig=str(access.kubeconfig),
        context=access.context,
        pools=pools,
        queues=queues,
        services={**ml.services, **watching},
        mounts=tuple(mount for mount in mounts if mount.namespace == JOBS),
        samples=samples,
        acceptance=acceptance.deploy(site, namespaces, pools, queues, mounts),
    )


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
                operation=operation_of(pool),
            ),
            opts=site.after(),
        ).pool
        for name, pool in site.settings.pools.items()
    }


def _volumes(site: Site, namespaces: Namespaces) -> tuple[StorageMount, ...]:
    settings = site.settings
    # The workbench's own claims serve the sample that writes checkpoints.
    samples = settings.samples.enabled and settings.samples.distributed_training
    datasets, checkpoints = settings.storage.datasets, settings.storage.checkpoints
    return SharedVolumes(
        "volumes",
        SharedVolumesArgs(
            namespaces=(JOBS, WORKBENCH) if samples else (JOBS,),
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
        opts=site.after(namespaces.jobs, namespaces.workbench),
    ).mounts
