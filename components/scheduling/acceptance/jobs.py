"""Manifests of the tests of one pool."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from components.contracts import GpuPool, Purpose, QueueRef, StorageMount
from components.core import Ownership, Problem, check_not_empty, check_positive, raise_problems
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
from components.scheduling.acceptance.kinds import (
    BENCHMARKS,
    DCGM_LEVELS,
    LARGEST_MESSAGE_BYTES,
    STORAGE,
    AcceptanceTest,
)
from components.scheduling.kueue_api import QUEUE_LABEL
from components.scheduling.sample_jobs import nccl_command
from components.scheduling.training import ALL_REDUCE, SPACE, TRAIN, DistributedJob, distributed_job
from components.scheduling.training.job import USER_ID

ACCEPTANCE_LABEL = "gpu-platform/acceptance"
TESTS_ANNOTATION = "gpu-platform/acceptance-tests"
STORAGE_PROBE = "storage_probe.py"
# The GPU Operator's host engine (`dcgm.enabled=true`): it has the privileges a diagnostic needs, its Service
# leads to the engine of the caller's own node.
DCGM_NAMESPACE, DCGM_PODS, DCGM_PORT = "gpu-operator", {"app": "nvidia-dcgm"}, 5555
_MOUNT, _PROGRAMS = "/mnt/tested", "/opt/programs"
_PURPOSES = {
    AcceptanceTest.STORAGE_DATASETS: Purpose.DATASETS,
    AcceptanceTest.STORAGE_CHECKPOINTS: Purpose.CHECKPOINTS,
}
# Enough for the longest: dcgmi diag takes about 1, 2 and 30 minutes at levels 1, 2 and 3.
_LIMIT_SECONDS = {
    AcceptanceTest.DCGM_1: 600,
    AcceptanceTest.DCGM_2: 1200,
    AcceptanceTest.DCGM_3: 3600,
}
_OTHER_LIMIT_SECONDS = 1800
_SIMULATED_SECONDS = 10
# Above every cache of a storage server's client; read and written in blocks of 4 MiB.
_STORAGE_BYTES = 64 << 30
_STORAGE_RESOURCES = {"cpu": "4", "memory": "8Gi"}
_BENCHMARK_STEPS, _BENCHMARK_WARM_UP_STEPS = 120, 20


@dataclass(frozen=True, kw_only=True)
class AcceptanceImages:
    """What the tests run in.

    Args:
        nccl_tests: Image with ``all_reduce_perf``.
        dcgm: Image with ``dcgmi``, of the host engine's own major version.
        training: Image with PyTorch, ``python3`` and ``torchrun``.
    """

    nccl_tests: str
    dcgm: str
    training: str


@dataclass(frozen=True, kw_only=True)
class AcceptanceArgs:
    """The tests of one pool.

    Args:
        ownership: Who owns and pays.
        pool: The pool.
        queue: Queue that admits them; its namespace needs a ``DistributedSpace``.
        tests: Which.
        together: Nodes of the tests that span nodes, all in one topology block.
        images: What they run in.
        mounts: Mounts of the queue's namespace, for the storage tests.

    Raises:
        ArgsError: No test, more nodes than the pool has, a storage test without its mount.
    """

    ownership: Ownership
    pool: GpuPool
    queue: QueueRef
    tests: tuple[AcceptanceTest, ...]
    together: int
    images: AcceptanceImages
    mounts: tuple[StorageMount, ...] = ()

    def __post_init__(self) -> None:
        problems = [
            *check_not_empty("tests", self.tests, "one test or more"),
            *check_positive("together", self.together),
        ]
        if self.together > self.pool.max_nodes:
            accepted = f"at most {self.pool.max_nodes} in pool {self.pool.name!r}"
            problems.append(
                Problem(path="together", value=str(self.together), accepted=accepted, fix="ask for less")
            )
        purposes = {mount.purpose for mount in self.mounts}
        problems += [
            Problem(path="mounts", value="nothing", accepted=f"the mount of {test}", fix="hand it over")
            for test in self.tests
            if test in STORAGE and _PURPOSES[test] not in purposes
        ]
        raise_problems(f"acceptance of pool {self.pool.name!r}", problems)


def storage_probe() -> Mapping[str, str]:
    """The program of the storage tests, for the ConfigMap of the ``DistributedSpace``."""
    folder = files("components.scheduling.acceptance") / "files"
    return {STORAGE_PROBE: (folder / STORAGE_PROBE).read_text(encoding="utf-8")}


def acceptance_jobs(args: AcceptanceArgs) -> dict[AcceptanceTest, dict[str, Any]]:
    """Test → manifest of its Job."""
    return {test: _job(args, test) for test in args.tests}


def _job(args: AcceptanceArgs, test: AcceptanceTest) -> dict[str, Any]:
    pool = args.pool
    if test is AcceptanceTest.NCCL_INTER:
        largest = str(LARGEST_MESSAGE_BYTES)
        return _spanning(
            args, test, ALL_REDUCE, {"ALL_REDUCE_MIN_BYTES": "8", "ALL_REDUCE_MAX_BYTES": largest}
        )
    if test in BENCHMARKS:
        steps, warm_up = str(_BENCHMARK_STEPS), str(_BENCHMARK_WARM_UP_STEPS)
        benchmark = {"TRAIN_MODEL": test.value, "TRAIN_STEPS": steps, "TRAIN_WARM_UP_STEPS": warm_up}
        return _spanning(args, test, TRAIN, benchmark)
    if test in STORAGE:
        return _storage(args, test)
    if test is AcceptanceTest.NCCL_INTRA:
        command, image = nccl_command(pool.gpus_per_node), args.images.nccl_tests
        env: Mapping[str, str] = pool.nccl_environment
    else:
        engine = f"nvidia-dcgm.{DCGM_NAMESPACE}:{DCGM_PORT}"
        command = ["dcgmi", "diag", "--host", engine, "-r", str(DCGM_LEVELS[test]), "-j"]
        image, env = args.images.dcgm, {}
    # All GPUs of a node each, so that every node gets one pod and nothing else runs beside it.
    container = _container(args, image, command, env, pool_resources(pool, pool.gpus_per_node))
    return _per_node(args, test, container, pods=pool.max_nodes)


def _spanning(
    args: AcceptanceArgs, test: AcceptanceTest, program: str, env: Mapping[str, str]
) -> dict[str, Any]:
    return distributed_job(
        DistributedJob(
            name=f"acceptance-{test}",
            namespace=args.queue.namespace,
            ownership=args.ownership,
            image=args.images.training,
            program=program,
            workers=args.together,
            env=env,
            pool=args.pool,
            gpus_per_worker=args.pool.gpus_per_node,
            queue=args.queue,
            time_limit_seconds=_limit(args, test),
            simulated_seconds=_SIMULATED_SECONDS,
            labels={ACCEPTANCE_LABEL: args.pool.name},
            annotations={TESTS_ANNOTATION: test.value},
        )
    )


def _storage(args: AcceptanceArgs, test: AcceptanceTest) -> dict[str, Any]:
    """One client: a claim that one node may mount has no second, and a client's rate is what a job sees."""
    mount = next(mount for mount in args.mounts if mount.purpose is _PURPOSES[test])
    env = {"STORAGE_NAME": mount.purpose.value, "STORAGE_PATH": _MOUNT, "STORAGE_BYTES": str(_STORAGE_BYTES)}
    command = ["python3", f"{_PROGRAMS}/{STORAGE_PROBE}"]
    container = _container(args, args.images.training, command, env, _STORAGE_RESOURCES)
    container["volumeMounts"] += [
        {"name": "programs", "mountPath": _PROGRAMS, "readOnly": True},
        {"name": "tested", "mountPath": _MOUNT},
    ]
    volumes: list[dict[str, Any]] = [{"name": "programs", "configMap": {"name": SPACE}}]
    # A simulated node can't hold a volume: a claim that binds late would wait there for its first reader.
    tested = (
        {"emptyDir": {}} if args.pool.simulated else {"persistentVolumeClaim": {"claimName": mount.claim}}
    )
    volumes.append({"name": "tested", **tested})
    return _per_node(args, test, container, pods=1, volumes=volumes)


def _per_node(
    args: AcceptanceArgs,
    test: AcceptanceTest,
    container: Mapping[str, Any],
    *,
    pods: int,
    volumes: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A Job of pods that know nothing of one another."""
    pool, labels = args.pool, pool_labels(f"acceptance-{test}", args.pool)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": f"acceptance-{test}-",
            **ownership_metadata(
                args.ownership,
                namespace=args.queue.namespace,
                labels={**labels, ACCEPTANCE_LABEL: pool.name, QUEUE_LABEL: args.queue.name},
                annotations={**placement_note(pool), TESTS_ANNOTATION: test.value},
            ),
        },
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            # A second try would hide the fault the test is there to find; the other nodes still finish.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": pods,
            "activeDeadlineSeconds": _limit(args, test),
            "ttlSecondsAfterFinished": FINISHED_JOBS_KEPT_SECONDS,
            "template": {
                "metadata": ownership_metadata(
                    args.ownership,
                    labels={**labels, ACCEPTANCE_LABEL: pool.name},
                    annotations=pod_annotations(pool, _SIMULATED_SECONDS, one_block=False),
                ),
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    **pool_scheduling(pool),
                    "securityContext": pod_security(USER_ID, volumes=True),
                    "containers": [container],
                    "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}}, *(volumes or [])],
                },
            },
        },
    }


def _container(
    args: AcceptanceArgs,
    image: str,
    command: list[str],
    env: Mapping[str, str],
    resources: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "name": "test",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": pool_command(args.pool, command),
        "env": environment({"HOME": "/tmp", **env}),  # noqa: S108 - a volume of the pod alone
        "resources": {"requests": dict(resources), "limits": dict(resources)},
        "securityContext": dict(RESTRICTED_CONTAINER),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - as above
    }


def _limit(args: AcceptanceArgs, test: AcceptanceTest) -> int:
    """The test's time, or the queue's longest where that is less."""
    return min(_LIMIT_SECONDS.get(test, _OTHER_LIMIT_SECONDS), args.queue.max_time_limit_seconds)
