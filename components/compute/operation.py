"""How the nodes of a pool are operated; labels and annotations tell it to policies and people."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Kubelet, MIG, sharing and driver of a pool's nodes.

    Args:
        topology_policy: Topology manager policy of the kubelet.
        cpu_policy: CPU manager policy of the kubelet.
        mig_strategy: ``single`` or ``mixed``, as the GPU Operator names it.
        mig_layout: MIG profile → instances on one GPU; empty for whole GPUs.
        sharing_strategy: ``none``, ``time-slicing`` or ``mps``.
        sharing_replicas: Pods that share one GPU.
        driver_version: Full driver version; empty where nothing says it.
        cuda_version: CUDA release of the driver; empty where nothing says it.
    """

    topology_policy: str = "single-numa-node"
    cpu_policy: str = "static"
    mig_strategy: str = "single"
    mig_layout: Mapping[str, int] = field(default_factory=dict)
    sharing_strategy: str = "none"
    sharing_replicas: int = 1
    driver_version: str = ""
    cuda_version: str = ""
