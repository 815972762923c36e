"""Plain values several tests share."""

from typing import Any

from components.catalog import FABRICS, SERVERS
from components.contracts import ClusterAccess, GpuPool, QueueRef, SecretRef, Taint
from components.core import Ownership

OWNERSHIP = Ownership(
    owner="ml-platform",
    project="gpu-platform",
    environment="dev",
    cost_centre="research",
    contact="ml-platform@example.com",
)
LABELS = {
    "gpu-platform/owner": "ml-platform",
    "gpu-platform/project": "gpu-platform",
    "gpu-platform/environment": "dev",
    "gpu-platform/cost-centre": "research",
    "gpu-platform/managed-by": "pulumi",
}
ANNOTATIONS = {"gpu-platform/contact": "ml-platform@example.com"}
ACCESS = ClusterAccess(kubeconfig="/state/kubeconfig", context="lab", identity="lab")
SERVER, FABRIC = SERVERS["dgx-a100-80"], FABRICS["infiniband-hdr"]
SECRET = SecretRef(name="database", keys={"username": "user", "password": "password"})
POOL = GpuPool(
    name="a100",
    place="lab",
    gpu_model="a100-80",
    gpu_product="NVIDIA-A100-SXM4-80GB",
    gpus_per_node=8,
    cpus_per_node=256,
    memory_gib_per_node=2048,
    min_nodes=4,
    max_nodes=4,
    fabric="infiniband-hdr",
    nccl_environment={"NCCL_IB_HCA": "mlx5", "NCCL_COLLNET_ENABLE": "0"},
    topology_levels=("gpu-platform/topology-block", "gpu-platform/topology-rack", "kubernetes.io/hostname"),
    labels={"gpu-platform/pool": "a100"},
    taints=(Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),),
    multi_node_training=True,
    simulated=True,
)
QUEUE = QueueRef(
    name="research",
    namespace="jobs",
    pools=("a100",),
    gpu_quota={"a100": 32},
    default_time_limit_seconds=3600,
    max_time_limit_seconds=86400,
)


def metadata(name: str | None = None, namespace: str | None = None, **labels: str) -> dict[str, Any]:
    """Expected metadata of an object of ours; keyword ``app`` adds the name label."""
    extra = {"app.kubernetes.io/name": labels["app"]} if "app" in labels else {}
    found: dict[str, Any] = {"labels": {**LABELS, **extra}, "annotations": ANNOTATIONS}
    if name is not None:
        found["name"] = name
    if namespace is not None:
        found["namespace"] = namespace
    return found
