"""What every job template of ours says about the pods it puts on a pool."""

from collections.abc import Mapping
from typing import Any

from components.contracts import GpuPool
from components.kube import count, gibibytes
from components.scheduling.kueue_api import (
    GPU_RESOURCE,
    REQUIRED_TOPOLOGY_ANNOTATION,
    UNCONSTRAINED_TOPOLOGY_ANNOTATION,
)

PLACEMENT_ONLY = "placement only: these nodes are simulated, no container starts and nothing is measured"
USER_ID = 65532
FINISHED_JOBS_KEPT_SECONDS = 3600
# Not the whole server: the kubelet and the operators' daemons need their part on real nodes.
_NODE_PART_PERCENT = 90
RESTRICTED_CONTAINER: Mapping[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def pool_labels(name: str, pool: GpuPool) -> dict[str, str]:
    """Labels of a job and its pods on a pool."""
    labels = {"app.kubernetes.io/name": name, "gpu-platform/pool": pool.name}
    return {**labels, "gpu-platform/simulated": "true"} if pool.simulated else labels


def placement_note(pool: GpuPool) -> dict[str, str]:
    """Annotation that says what a job on simulated nodes proves; empty on real ones."""
    return {"gpu-platform/note": PLACEMENT_ONLY} if pool.simulated else {}


def pod_annotations(pool: GpuPool, simulated_seconds: int, *, one_block: bool = True) -> dict[str, str]:
    """Where the pods stand to one another, and how long simulated nodes pretend to run them.

    Args:
        pool: Their pool.
        simulated_seconds: Pretended time, s.
        one_block: All in one topology block, as traffic between them needs it; else anywhere in the pool.
    """
    where = {REQUIRED_TOPOLOGY_ANNOTATION: pool.topology_levels[0]}
    annotations = {
        **(where if one_block else {UNCONSTRAINED_TOPOLOGY_ANNOTATION: "true"}),
        **placement_note(pool),
    }
    if pool.simulated:
        annotations["pod-complete.stage.kwok.x-k8s.io/delay"] = f"{simulated_seconds}s"
        annotations["pod-complete.stage.kwok.x-k8s.io/jitter-delay"] = f"{simulated_seconds}s"
    return annotations


def pod_security(user_id: int, *, volumes: bool) -> dict[str, Any]:
    """Restricted pod security; with volumes the group may write to them."""
    security: dict[str, Any] = {"runAsNonRoot": True, "runAsUser": user_id, "runAsGroup": user_id}
    if volumes:
        security["fsGroup"] = user_id
    return {**security, "seccompProfile": {"type": "RuntimeDefault"}}


def pool_scheduling(pool: GpuPool) -> dict[str, Any]:
    """Node selector and tolerations of exactly this pool."""
    return {
        "nodeSelector": dict(pool.labels),
        "tolerations": [
            {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            for taint in pool.taints
        ],
    }


def pool_resources(pool: GpuPool, gpus: int) -> dict[str, str]:
    """GPUs, and the same part of the node's CPUs and memory."""
    part, whole = gpus * _NODE_PART_PERCENT, pool.gpus_per_node * 100
    return {
        "cpu": count(max(1, pool.cpus_per_node * part // whole)),
        "memory": gibibytes(max(1, pool.memory_gib_per_node * part // whole)),
        GPU_RESOURCE: count(gpus),
    }


def pool_command(pool: GpuPool, command: list[str]) -> list[str]:
    """The command on real nodes; on simulated ones only the sentence that nothing is measured."""
    return ["sh", "-c", f"echo '{PLACEMENT_ONLY}'"] if pool.simulated else command


def environment(values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Plain variables in the API's form, sorted."""
    return [{"name": name, "value": value} for name, value in sorted(values.items())]
