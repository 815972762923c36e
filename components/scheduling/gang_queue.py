"""A queue that starts a job with all its GPUs or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from components.contracts import GpuPool, QueueRef
from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.kube import CustomObject, count, gibibytes, ownership_metadata
from components.scheduling.kueue_api import API_VERSION, GPU_RESOURCE


@dataclass(frozen=True, kw_only=True)
class PoolShare:
    """What a queue may hold of one pool.

    Args:
        pool: The pool.
        flavor: Name of its ResourceFlavor.
        gpus: GPUs the queue may hold at once without borrowing.
    """

    pool: GpuPool
    flavor: pulumi.Input[str]
    gpus: int


@dataclass(frozen=True, kw_only=True)
class GangQueueArgs:
    """One team's queue.

    Args:
        queue: Name of the ClusterQueue and the LocalQueue, a DNS label.
        ownership: Who owns and pays.
        namespace: Existing namespace whose jobs may use it.
        shares: Quota per pool, tried in this order; CPUs and memory follow in the pool's own ratio.
        cohort: Queues of one cohort lend each other what they do not use; None lends nothing.
        fair_share: Weight when queues of one cohort compete for what is lent.
        default_time_limit_seconds: Limit our job templates set.
        max_time_limit_seconds: Longest limit a job may ask for.
        gate: Hooks that hold back the first custom resources until Kueue answers.
    """

    queue: str
    ownership: Ownership
    namespace: pulumi.Input[str]
    shares: tuple[PoolShare, ...]
    default_time_limit_seconds: int
    max_time_limit_seconds: int
    cohort: str | None = None
    fair_share: int = 1
    gate: pulumi.ResourceHookBinding | None = None

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("queue", self.queue),
            *check_not_empty("shares", self.shares, "a share of one pool or more"),
            *check_positive("default_time_limit_seconds", self.default_time_limit_seconds),
            *check_positive("fair_share", self.fair_share),
        ]
        if self.cohort is not None:
            problems += check_dns_label("cohort", self.cohort)
        if self.max_time_limit_seconds < self.default_time_limit_seconds:
            problems.append(
                Problem(
                    path="max_time_limit_seconds",
                    value=str(self.max_time_limit_seconds),
                    accepted=f"at least the default, {self.default_time_limit_seconds}",
                    fix="raise it or lower the default",
                )
            )
        for share in self.shares:
            problems += _share_problems(share)
        raise_problems(f"queue {self.queue!r}", problems)


def _share_problems(share: PoolShare) -> list[Problem]:
    path = f"shares.{share.pool.name}.gpus"
    problems = check_positive(path, share.gpus)
    if share.gpus > share.pool.max_gpus:
        problems.append(
            Problem(
                path=path,
                value=str(share.gpus),
                accepted=f"at most {share.pool.max_gpus}, all GPUs of the pool",
                fix="lower the quota or add nodes to the pool",
            )
        )
    return problems


class GangQueue(Component):
    """A ClusterQueue with quotas per pool and the LocalQueue that leads to it.

    A batch Job is admitted as a whole: Kueue keeps it suspended until GPUs, CPUs and memory for all its pods
    are free inside the topology it asks for. Creates no flavor (``GpuFlavors``), no namespace and no rule
    for what jobs must say (``JobRules``).

    Args:
        name: Logical name.
        args: The queue.
        opts: Options, inherited by the children; depend on the operator.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:GangQueue"

    queue: QueueRef

    def __init__(self, name: str, args: GangQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        cluster_queue = CustomObject(
            f"{name}-cluster-queue",
            {
                "apiVersion": API_VERSION,
                "kind": "ClusterQueue",
                "metadata": ownership_metadata(args.ownership, name=args.queue),
                "spec": cluster_queue_spec(args),
            },
            self.child(hooks=args.gate),
        )
        local_queue = CustomObject(
            f"{name}-local-queue",
            {
                "apiVersion": API_VERSION,
                "kind": "LocalQueue",
                "metadata": ownership_metadata(args.ownership, name=args.queue, namespace=args.namespace),
                "spec": {"clusterQueue": cluster_queue.object_name},
            },
            # Kueue keeps the reference unchangeable.
            self.child(replace_on_changes=("spec",), delete_before_replace=True, hooks=args.gate),
        )
        self.queue = QueueRef(
            name=local_queue.object_name,
            namespace=args.namespace,
            pools=tuple(share.pool.name for share in args.shares),
            gpu_quota={share.pool.name: share.gpus for share in args.shares},
            default_time_limit_seconds=args.default_time_limit_seconds,
            max_time_limit_seconds=args.max_time_limit_seconds,
        )
        self.finish({"name": self.queue.name, "namespace": args.namespace})


def cluster_queue_spec(args: GangQueueArgs) -> dict[str, Any]:
    """Spec of the ClusterQueue."""
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": args.namespace}},
        # A job that does not fit lets smaller ones pass; fair sharing keeps it from starving.
        "queueingStrategy": "BestEffortFIFO",
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Never" if args.cohort is None else "Any",
            "borrowWithinCohort": {"policy": "Never"},
        },
        "fairSharing": {"weight": count(args.fair_share)},
        "stopPolicy": "None",
        "resourceGroups": [
            {
                "coveredResources": list(quota(args.shares[0])),
                "flavors": [
                    {
                        "name": share.flavor,
                        "resources": [
                            {"name": resource, "nominalQuota": amount}
                            for resource, amount in quota(share).items()
                        ],
                    }
                    for share in args.shares
                ],
            }
        ],
    }
    if args.cohort is not None:
        spec["cohortName"] = args.cohort
    return spec


def quota(share: PoolShare) -> Mapping[str, str]:
    """Quota of one share; CPUs and memory are the same part of the pool as the GPUs, rounded up."""
    pool = share.pool
    return {
        "cpu": count(-(-share.gpus * pool.cpus_per_node // pool.gpus_per_node)),
        "memory": gibibytes(-(-share.gpus * pool.memory_gib_per_node // pool.gpus_per_node)),
        GPU_RESOURCE: count(share.gpus),
    }
