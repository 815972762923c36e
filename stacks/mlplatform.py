"""The ML platform of an environment: its data, experiment tracking and sample jobs."""

from collections.abc import Mapping
from typing import Any

from components.contracts import GpuPool, QueueRef
from components.kube import NAME_LABEL, Pods
from components.mlops import ExperimentTracking, ExperimentTrackingArgs, TrainingSample, training_sample
from components.scheduling import GangJobArgs, SampleJobs, SampleJobsArgs
from components.storage import ObjectStore, ObjectStoreArgs, Postgres, PostgresArgs
from stacks.namespaces import DATA, JOBS, MLOPS, WORKBENCH, Namespaces
from stacks.outputs import Service
from stacks.site import Site

TRACKING_APP = "mlflow"
ROLE = "mlflow"
DATABASE, LOGIN_DATABASE = "mlflow", "mlflow_auth"
BUCKET = "mlflow"
TRAINING = "training"


def deploy(site: Site, namespaces: Namespaces) -> Mapping[str, Service]:
    """Database, object store and experiment tracking; nothing where tracking is off."""
    settings, ownership = site.settings, site.ownership
    if not settings.tracking.enabled:
        return {}
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
            app=TRACKING_APP,
            allowed_hosts=settings.tracking.allowed_hosts,
            replicas=settings.tracking.replicas,
            protect=settings.kind != "dev",
        ),
        opts=site.after(namespaces.mlops, namespaces.jobs, namespaces.workbench, postgres, store),
    )
    return {
        "mlflow": Service(endpoint=tracking.tracking.endpoint, credentials=tracking.admin),
        "object-store": Service(endpoint=store.service, credentials=store.store.credentials),
        "postgres": Service(endpoint=postgres.service, credentials=postgres.databases[DATABASE].credentials),
    }


def samples(
    site: Site, namespaces: Namespaces, pools: Mapping[str, GpuPool], queues: Mapping[str, QueueRef]
) -> Mapping[str, Any]:
    """Manifests of the sample jobs, ready to be created; nothing where samples are off or none is left.

    The training logs to experiment tracking, so it goes with it.
    """
    settings, ownership = site.settings, site.ownership
    gang = settings.samples.gang_job
    if not settings.samples.enabled or (gang is None and not settings.tracking.enabled):
        return {}
    extra = {}
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
