"""The ML platform of an environment: its data, experiment tracking and sample jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.contracts import GpuPool, Purpose, QueueRef, SecretRef, StorageMount, TrackingEndpoint
from components.kube import NAME_LABEL, Pods, TenantNamespace
from components.mlops import ExperimentTracking, ExperimentTrackingArgs, TrainingSample, training_sample
from components.scheduling import (
    DISTRIBUTED_SAMPLE,
    DistributedSample,
    DistributedSpace,
    DistributedSpaceArgs,
    GangJobArgs,
    SampleJobs,
    SampleJobsArgs,
    distributed_sample,
)
from components.storage import ObjectStore, ObjectStoreArgs, Postgres, PostgresArgs
from stacks.namespaces import DATA, JOBS, MLOPS, MONITORING, WORKBENCH, Namespaces
from stacks.outputs import Service
from stacks.site import Site

TRACKING_APP = "mlflow"
ROLE = "mlflow"
DATABASE, LOGIN_DATABASE = "mlflow", "mlflow_auth"
BUCKET = "mlflow"
TRAINING = "training"


@dataclass(frozen=True, kw_only=True)
class MlPlatform:
    """What of the ML platform others use.

    Args:
        services: Services by name.
        tracking: Experiment tracking; None where it is off.
        metrics_login: What its metrics ask for; None where nothing scrapes it.
    """

    services: Mapping[str, Service] = field(default_factory=dict)
    tracking: TrackingEndpoint | None = None
    metrics_login: SecretRef | None = None


def deploy(site: Site, namespaces: Namespaces, *, watcher: TenantNamespace | None) -> MlPlatform:
    """Database, object store and experiment tracking; nothing where tracking is off.

    Args:
        site: Where.
        namespaces: The namespaces.
        watcher: Namespace of the Prometheus that scrapes; None where there is none.
    """
    settings, ownership = site.settings, site.ownership
    if not settings.tracking.enabled:
        return MlPlatform()
    watching = () if watcher is None else (watcher,)
    waiting = site.after(namespaces.data, namespaces.mlops, namespaces.jobs, namespaces.workbench)
    clients = (Pods(namespace=MLOPS, labels={NAME_LABEL: TRACKING_APP}),)
    postgres = Postgres(
        "postgres",
        PostgresArgs(
            namespace=DATA,
            ownership=ownership,
            image=settings.artifacts.images["postgres"],
            role=ROLE,
            databases=(DATABASE, LOGIN_DATABASE),
            size_gib=settings.storage.database.size_gib,
            storage_class=settings.storage.database.storage_class,
            clients=clients,
            protect=settings.kind != "dev",
        ),
        opts=waiting,
    )
    store = ObjectStore(
        "object-store",
        ObjectStoreArgs(
            namespace=DATA,
            ownership=ownership,
            image=settings.artifacts.images["object-store"],
            bucket=BUCKET,
            size_gib=settings.storage.object_store.size_gib,
            storage_class=settings.storage.object_store.storage_class,
            clients=clients,
            protect=settings.kind != "dev",
        ),
        opts=waiting,
    )
    tracking = ExperimentTracking(
        "tracking",
        ExperimentTrackingArgs(
            namespace=MLOPS,
            ownership=ownership,
            image=settings.artifacts.images["mlflow"],
            database=postgres.databases[DATABASE],
            login_database=postgres.databases[LOGIN_DATABASE],
            object_store=store.store,
            clients=(Pods(namespace=JOBS), Pods(namespace=WORKBENCH)),
            watchers=tuple(Pods(namespace=MONITORING, labels={NAME_LABEL: "prometheus"}) for _ in watching),
            app=TRACKING_APP,
            allowed_hosts=settings.tracking.allowed_hosts,
            replicas=settings.tracking.replicas,
            protect=settings.kind != "dev",
        ),
        opts=site.after(namespaces.mlops, namespaces.jobs, namespaces.workbench, *watching, postgres, store),
    )
    services = {
        "mlflow": Service(endpoint=tracking.tracking.endpoint, credentials=tracking.admin),
        "object-store": Service(endpoint=store.service, credentials=store.store.credentials),
        "postgres": Service(endpoint=postgres.service, credentials=postgres.databases[DATABASE].credentials),
    }
    return MlPlatform(services=services, tracking=tracking.tracking, metrics_login=tracking.watcher)


def samples(
    site: Site,
    namespaces: Namespaces,
    pools: Mapping[str, GpuPool],
    queues: Mapping[str, QueueRef],
    mounts: tuple[StorageMount, ...],
) -> Mapping[str, Any]:
    """Manifests of the sample jobs, ready to be created; nothing where samples are off or none is left.

    The training logs to experiment tracking, so it goes with it.
    """
    settings, ownership = site.settings, site.ownership
    gang = settings.samples.gang_job
    if not settings.samples.enabled:
        return {}
    extra: dict[str, Mapping[str, Any]] = {}
    if settings.samples.distributed_training:
        extra[DISTRIBUTED_SAMPLE] = _distributed(site, namespaces, mounts)
    if settings.tracking.enabled:
        extra[TRAINING] = {
            "apiVersion": "v1",
            "kind": "List",
            "items": list(
                training_sample(
                    TrainingSample(
                        namespace=WORKBENCH, ownership=ownership, image=settings.artifacts.images["mlflow"]
                    )
                )
            ),
        }
    if gang is None and not extra:
        return {}
    made = SampleJobs(
        "samples",
        SampleJobsArgs(
            ownership=ownership,
            namespace=JOBS,
            gang=None
            if gang is None
            else GangJobArgs(
                pool=pools[gang.pool],
                queue=queues[gang.queue],
                nodes=gang.nodes,
                gpus_per_node=gang.gpus_per_node,
                image=settings.artifacts.images["nccl-tests"],
            ),
            extra=extra,
        ),
        opts=site.after(namespaces.jobs),
    )
    return {"namespace": JOBS, "configMap": made.config_map, "names": list(made.samples)}


def _distributed(site: Site, namespaces: Namespaces, mounts: tuple[StorageMount, ...]) -> Mapping[str, Any]:
    """The distributed sample, and what it needs of its namespace."""
    DistributedSpace(
        "workbench-space",
        DistributedSpaceArgs(namespace=WORKBENCH, ownership=site.ownership),
        opts=site.after(namespaces.workbench),
    )
    checkpoints = next(
        mount for mount in mounts if mount.namespace == WORKBENCH and mount.purpose is Purpose.CHECKPOINTS
    )
    return distributed_sample(
        DistributedSample(
            namespace=WORKBENCH,
            ownership=site.ownership,
            image=site.settings.artifacts.images["training"],
            checkpoints=checkpoints,
        )
    )
