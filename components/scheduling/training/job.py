"""A Job whose pods form one process group: rank 0 is the pod of index 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.contracts import GpuPool, QueueRef, StorageMount
from components.core import (
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.kube import ownership_metadata
from components.scheduling._pool_pods import (
    FINISHED_JOBS_KEPT_SECONDS,
    RESTRICTED_CONTAINER,
    environment,
    placement_note,
    pod_annotations,
    pod_security,
    pool_command,
    pool_labels,
    pool_resources,
    pool_scheduling,
)
from components.scheduling.kueue_api import QUEUE_LABEL
from components.scheduling.training.space import DISTRIBUTED_LABEL, SPACE

USER_ID = 10001
CONTAINER = "worker"
CHECKPOINTS = "/checkpoints"
_PROGRAMS = "/opt/programs"
_SCRATCH = "/tmp"  # noqa: S108 - a volume of the pod alone
_PORT = 29500  # what torch.distributed takes by default
# process_group.py ends with it when a peer is lost.
_PEER_LOST = 75
_RETRIES = 6
_GRACE_SECONDS = 10
# A small model on one core; a process holds about 300 MiB of libraries.
_CPU_REQUESTS = {"cpu": "250m", "memory": "512Mi"}
_CPU_LIMITS = {"cpu": "1", "memory": "1Gi"}
_JOB_NAME_FIELD = "metadata.labels['batch.kubernetes.io/job-name']"


@dataclass(frozen=True, kw_only=True)
class DistributedJob:
    """What runs, on what.

    Args:
        name: Stem of the generated Job names and value of the name label, a DNS label.
        namespace: Namespace with a ``DistributedSpace``.
        ownership: Who owns and pays.
        image: Image with PyTorch and ``python3``; ``torchrun`` too where a pool is given.
        program: File of the space's ConfigMap.
        workers: Pods.
        env: Variables of the program; ``$(JOB_NAME)`` in a value becomes the Job's name.
        checkpoints: Volume mounted at ``/checkpoints``; pods on several nodes need one that many may mount.
        pool: Pool with GPUs; None runs one process per pod on any node's CPUs.
        gpus_per_worker: GPUs, and so processes, of a pod on a pool.
        queue: Queue that admits it; needed on a pool.
        time_limit_seconds: Killed after so long, s.
        simulated_seconds: How long simulated nodes pretend to run it, s.
        labels: More labels of the Job.
        annotations: More annotations of the Job.

    Raises:
        ArgsError: A bad name, a count below 1, a pool without GPUs or queue, more than the pool has.
    """

    name: str
    namespace: pulumi.Input[str]
    ownership: Ownership
    image: str
    program: str
    workers: int
    env: Mapping[str, str] = field(default_factory=dict)
    checkpoints: StorageMount | None = None
    pool: GpuPool | None = None
    gpus_per_worker: int = 0
    queue: QueueRef | None = None
    time_limit_seconds: int = 600
    simulated_seconds: int = 30
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("name", self.name),
            *check_not_empty("image", self.image, "an image reference"),
            *check_positive("workers", self.workers),
            *check_positive("time_limit_seconds", self.time_limit_seconds),
        ]
        if self.pool is not None:
            problems += _pool_problems(self, self.pool)
        raise_problems(f"distributed job {self.name!r}", problems)


def _pool_problems(job: DistributedJob, pool: GpuPool) -> list[Problem]:
    problems = check_positive("gpus_per_worker", job.gpus_per_worker)
    for path, value, most in (
        ("workers", job.workers, pool.max_nodes),
        ("gpus_per_worker", job.gpus_per_worker, pool.gpus_per_node),
    ):
        if value > most:
            accepted = f"at most {most} in pool {pool.name!r}"
            problems.append(Problem(path=path, value=str(value), accepted=accepted, fix="ask for less"))
    if job.queue is None:
        problems.append(
            Problem(path="queue", value="nothing", accepted="a queue of the pool", fix="name its queue")
        )
    return problems


def distributed_job(job: DistributedJob) -> dict[str, Any]:
    """Manifest of the Job, ready for ``kubectl create``.

    A pod that is lost is made anew under its name. Its peers notice by their connections, end with a code of
    their own that counts as no failure, and are made anew too; all start again from the last checkpoint. What
    evictions and preemptions end counts as no failure either. A defect of the program ends the Job after a
    few tries, the time limit in any case.
    """
    labels = {"app.kubernetes.io/name": job.name} if job.pool is None else pool_labels(job.name, job.pool)
    note = {} if job.pool is None else placement_note(job.pool)
    queue = {} if job.queue is None else {QUEUE_LABEL: job.queue.name}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": f"{job.name}-",
            **ownership_metadata(
                job.ownership,
                namespace=job.namespace,
                labels={**labels, **job.labels, **queue},
                annotations={**note, **job.annotations},
            ),
        },
        "spec": {
            "suspend": job.queue is not None,
            "parallelism": job.workers,
            "completions": job.workers,
            "completionMode": "Indexed",
            "backoffLimit": _RETRIES,
            "podFailurePolicy": {"rules": _failure_rules()},
            "activeDeadlineSeconds": job.time_limit_seconds,
            "ttlSecondsAfterFinished": FINISHED_JOBS_KEPT_SECONDS,
            "template": {
                "metadata": ownership_metadata(
                    job.ownership,
                    labels={**labels, DISTRIBUTED_LABEL: "true"},
                    annotations={} if job.pool is None else pod_annotations(job.pool, job.simulated_seconds),
                ),
                "spec": _pod(job),
            },
        },
    }


def _failure_rules() -> list[dict[str, Any]]:
    lost = {"containerName": CONTAINER, "operator": "In", "values": [_PEER_LOST]}
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "Ignore", "onExitCodes": lost},
    ]


def _pod(job: DistributedJob) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [
        {"name": "programs", "configMap": {"name": SPACE}},
        {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
    ]
    if job.checkpoints is not None:
        volumes.append({"name": "checkpoints", "persistentVolumeClaim": {"claimName": job.checkpoints.claim}})
    if job.pool is not None:
        # NCCL's transfers inside a node go through shared memory, of which a container has 64 MiB.
        volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}})
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "subdomain": SPACE,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        **({} if job.pool is None else pool_scheduling(job.pool)),
        "securityContext": pod_security(USER_ID, volumes=True),
        "containers": [_container(job)],
        "volumes": volumes,
    }


def _container(job: DistributedJob) -> dict[str, Any]:
    pool = job.pool
    mounts: list[dict[str, Any]] = [
        {"name": "programs", "mountPath": _PROGRAMS, "readOnly": True},
        {"name": "tmp", "mountPath": _SCRATCH},
    ]
    if job.checkpoints is not None:
        mounts.append({"name": "checkpoints", "mountPath": CHECKPOINTS})
    if pool is not None:
        mounts.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - the pod's own
    gpus = {} if pool is None else pool_resources(pool, job.gpus_per_worker)
    return {
        "name": CONTAINER,
        "image": job.image,
        "imagePullPolicy": "IfNotPresent",
        "command": _command(job),
        "env": _environment(job),
        "resources": {"requests": gpus or _CPU_REQUESTS, "limits": gpus or _CPU_LIMITS},
        "securityContext": dict(RESTRICTED_CONTAINER),
        "volumeMounts": mounts,
    }


def _command(job: DistributedJob) -> list[str]:
    program = f"{_PROGRAMS}/{job.program}"
    if job.pool is None:
        # Debian's torchrun fails on Python 3.11, and one process per pod needs no launcher.
        return ["python3", program]
    launcher = [
        *("torchrun", f"--nnodes={job.workers}", f"--nproc-per-node={job.gpus_per_worker}"),
        *("--node-rank=$(RANK)", "--master-addr=$(MASTER_ADDR)", f"--master-port={_PORT}"),
    ]
    return pool_command(job.pool, [*launcher, program])


def _environment(job: DistributedJob) -> list[dict[str, Any]]:
    """Names that others refer to come first: Kubernetes expands only what stands before."""
    fabric = {} if job.pool is None else dict(job.pool.nccl_environment)
    index = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    values = {
        "HOME": _SCRATCH,
        "MASTER_ADDR": f"$(JOB_NAME)-0.{SPACE}",
        "MASTER_PORT": str(_PORT),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "WORLD_SIZE": str(job.workers),
        **fabric,
        **job.env,
    }
    return [
        {"name": "JOB_NAME", "valueFrom": {"fieldRef": {"fieldPath": _JOB_NAME_FIELD}}},
        {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": index}}},
        *environment(values),
    ]
