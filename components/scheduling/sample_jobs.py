"""Sample jobs, rendered as manifests and delivered where their readers are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
import yaml
from pulumi_kubernetes.core.v1 import ConfigMap

from components.contracts import GpuPool, QueueRef
from components.core import Component, Ownership, Problem, check_positive, raise_problems
from components.kube import ownership_metadata
from components.scheduling._pool_pods import (
    FINISHED_JOBS_KEPT_SECONDS,
    RESTRICTED_CONTAINER,
    USER_ID,
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

CONFIG_MAP = "sample-jobs"
GANG_JOB = "gang"
# 8 B to 16 GiB, doubling: below 1 GiB the bus bandwidth of eight GPUs is not reached.
_NCCL_SIZES = ("-b", "8", "-e", "16G", "-f", "2")


@dataclass(frozen=True, kw_only=True)
class GangJobArgs:
    """A job over several nodes.

    Args:
        pool: Pool it runs on.
        queue: Queue that admits it; it is put in the queue's namespace.
        nodes: Nodes, one pod each.
        gpus_per_node: GPUs of each pod.
        image: Image with ``all_reduce_perf``.
        simulated_seconds: How long simulated nodes pretend to run it.
    """

    pool: GpuPool
    queue: QueueRef
    nodes: int
    gpus_per_node: int
    image: str
    simulated_seconds: int = 30

    def __post_init__(self) -> None:
        problems = [
            *check_positive("nodes", self.nodes),
            *check_positive("gpus_per_node", self.gpus_per_node),
            *check_positive("simulated_seconds", self.simulated_seconds),
        ]
        for path, value, most in (
            ("nodes", self.nodes, self.pool.max_nodes),
            ("gpus_per_node", self.gpus_per_node, self.pool.gpus_per_node),
        ):
            if value > most:
                problems.append(
                    Problem(
                        path=path,
                        value=str(value),
                        accepted=f"at most {most} in pool {self.pool.name!r}",
                        fix="ask for less or take a larger pool",
                    )
                )
        raise_problems("gang job", problems)


@dataclass(frozen=True, kw_only=True)
class SampleJobsArgs:
    """Which samples there are.

    Args:
        ownership: Who owns and pays.
        namespace: Namespace of the ConfigMap.
        gang: The gang job; None leaves it out.
        extra: Name → manifest of samples other areas bring, such as the training.
    """

    ownership: Ownership
    namespace: pulumi.Input[str]
    gang: GangJobArgs | None = None
    extra: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class SampleJobs(Component):
    """A ConfigMap ``sample-jobs`` with one manifest per sample, ready for ``kubectl create``.

    Runs nothing: a job is its user's to start. The names in the manifests are generated, so that a sample can
    run more than once.

    Args:
        name: Logical name.
        args: Which samples.
        opts: Options, inherited by the ConfigMap.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:SampleJobs"

    config_map: pulumi.Output[str]
    samples: tuple[str, ...]

    def __init__(self, name: str, args: SampleJobsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        manifests: dict[str, pulumi.Input[Mapping[str, Any]]] = dict(args.extra)
        if args.gang is not None:
            manifests[GANG_JOB] = gang_job(args.ownership, args.gang)
        self.samples = tuple(sorted(manifests))
        ConfigMap(
            f"{name}-manifests",
            metadata=ownership_metadata(args.ownership, name=CONFIG_MAP, namespace=args.namespace),
            data={f"{sample}.yaml": as_yaml(manifests[sample]) for sample in self.samples},
            opts=self.child(),
        )
        self.config_map = pulumi.Output.from_input(CONFIG_MAP)
        self.finish({"config_map": self.config_map})


def gang_job(ownership: Ownership, args: GangJobArgs) -> dict[str, Any]:
    """Manifest of a Job that takes all its nodes at once, inside one block of the pool's topology.

    On real nodes each pod runs NCCL's all-reduce over its own GPUs with the pool's NCCL environment; a run
    across nodes needs an MPI launcher and is not this sample. On simulated nodes it proves placement and
    admission, and says so.
    """
    queue = args.queue
    labels = pool_labels(GANG_JOB, args.pool)
    metadata = ownership_metadata(
        ownership,
        namespace=queue.namespace,
        labels={**labels, QUEUE_LABEL: queue.name},
        annotations=placement_note(args.pool),
    )
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": f"{GANG_JOB}-", **metadata},
        "spec": {
            "suspend": True,
            "parallelism": args.nodes,
            "completions": args.nodes,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "activeDeadlineSeconds": queue.default_time_limit_seconds,
            "ttlSecondsAfterFinished": FINISHED_JOBS_KEPT_SECONDS,
            "template": {
                "metadata": ownership_metadata(
                    ownership, labels=labels, annotations=pod_annotations(args.pool, args.simulated_seconds)
                ),
                "spec": _pod_spec(args),
            },
        },
    }


def _pod_spec(args: GangJobArgs) -> dict[str, Any]:
    pool = args.pool
    resources = pool_resources(pool, args.gpus_per_node)
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        **pool_scheduling(pool),
        "securityContext": pod_security(USER_ID, volumes=False),
        "containers": [
            {
                "name": "all-reduce",
                "image": args.image,
                "imagePullPolicy": "IfNotPresent",
                "command": pool_command(pool, nccl_command(args.gpus_per_node)),
                "env": environment(pool.nccl_environment),
                "resources": {"requests": resources, "limits": resources},
                "securityContext": dict(RESTRICTED_CONTAINER),
            }
        ],
    }


def nccl_command(gpus: int) -> list[str]:
    """nccl-tests' all-reduce over the GPUs of one node."""
    return ["all_reduce_perf", *_NCCL_SIZES, "-g", str(gpus)]


def as_yaml(manifest: pulumi.Input[Mapping[str, Any]]) -> pulumi.Output[str]:
    """A manifest as text, its outputs resolved."""
    return pulumi.Output.from_input(manifest).apply(_dump)


def _dump(manifest: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(manifest), sort_keys=False, width=120))
