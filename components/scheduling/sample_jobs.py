"""Sample jobs, rendered as manifests and delivered where their readers are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
import yaml
from pulumi_kubernetes.core.v1 import ConfigMap

from components.contracts import GpuPool, QueueRef
from components.core import Component, Ownership, Problem, check_positive, raise_problems
from components.kube import count, gibibytes, ownership_metadata
from components.scheduling.kueue_api import GPU_RESOURCE, QUEUE_LABEL, REQUIRED_TOPOLOGY_ANNOTATION

CONFIG_MAP = "sample-jobs"
GANG_JOB = "gang"
PLACEMENT_ONLY = "placement only: these nodes are simulated, no container starts and nothing is measured"
_USER_ID = 65532
_FINISHED_JOBS_KEPT_SECONDS = 3600
# Not the whole server: the kubelet and the operators' daemons need their part on real nodes.
_NODE_PART_PERCENT = 90
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
            data={f"{sample}.yaml": _as_yaml(manifests[sample]) for sample in self.samples},
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
    labels = {"app.kubernetes.io/name": GANG_JOB, "gpu-platform/pool": args.pool.name}
    if args.pool.simulated:
        labels["gpu-platform/simulated"] = "true"
    metadata = ownership_metadata(
        ownership,
        namespace=queue.namespace,
        labels={**labels, QUEUE_LABEL: queue.name},
        annotations={"gpu-platform/note": PLACEMENT_ONLY} if args.pool.simulated else {},
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
            "ttlSecondsAfterFinished": _FINISHED_JOBS_KEPT_SECONDS,
            "template": {
                "metadata": ownership_metadata(ownership, labels=labels, annotations=_pod_annotations(args)),
                "spec": _pod_spec(args),
            },
        },
    }


def _pod_annotations(args: GangJobArgs) -> dict[str, str]:
    annotations = {REQUIRED_TOPOLOGY_ANNOTATION: args.pool.topology_levels[0]}
    if args.pool.simulated:
        annotations["gpu-platform/note"] = PLACEMENT_ONLY
        annotations["pod-complete.stage.kwok.x-k8s.io/delay"] = f"{args.simulated_seconds}s"
        annotations["pod-complete.stage.kwok.x-k8s.io/jitter-delay"] = f"{args.simulated_seconds}s"
    return annotations


def _pod_spec(args: GangJobArgs) -> dict[str, Any]:
    pool = args.pool
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": dict(pool.labels),
        "tolerations": [
            {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            for taint in pool.taints
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER_ID,
            "runAsGroup": _USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "all-reduce",
                "image": args.image,
                "imagePullPolicy": "IfNotPresent",
                "command": _command(args),
                "env": [
                    {"name": name, "value": value} for name, value in sorted(pool.nccl_environment.items())
                ],
                "resources": {"requests": _resources(args), "limits": _resources(args)},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }


def _command(args: GangJobArgs) -> list[str]:
    if args.pool.simulated:
        return ["sh", "-c", f"echo '{PLACEMENT_ONLY}'"]
    return ["all_reduce_perf", *_NCCL_SIZES, "-g", str(args.gpus_per_node)]


def _resources(args: GangJobArgs) -> dict[str, str]:
    pool = args.pool
    part = args.gpus_per_node * _NODE_PART_PERCENT
    whole = pool.gpus_per_node * 100
    return {
        "cpu": count(max(1, pool.cpus_per_node * part // whole)),
        "memory": gibibytes(max(1, pool.memory_gib_per_node * part // whole)),
        GPU_RESOURCE: count(args.gpus_per_node),
    }


def _as_yaml(manifest: pulumi.Input[Mapping[str, Any]]) -> pulumi.Output[str]:
    return pulumi.Output.from_input(manifest).apply(_dump)


def _dump(manifest: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(manifest), sort_keys=False, width=120))
