"""Which simulated nodes a pool has, where they stand and what they say of themselves; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.catalog import Fabric, Server
from components.compute.operation import Operation
from components.contracts import Taint
from components.core import dns_label
from components.kube import count, gibibytes, gigabytes

POOL_LABEL = "gpu-platform/pool"
FABRIC_LABEL = "gpu-platform/fabric"
MULTI_NODE_LABEL = "gpu-platform/multi-node"
NUMA_LABEL = "gpu-platform/numa-nodes"
TOPOLOGY_POLICY_LABEL = "gpu-platform/topology-policy"
CPU_POLICY_LABEL = "gpu-platform/cpu-policy"
MIG_LAYOUT_ANNOTATION = "gpu-platform/mig-layout"
SIMULATED_LABEL = "gpu-platform/simulated"
BLOCK_LABEL = "gpu-platform/topology-block"
RACK_LABEL = "gpu-platform/topology-rack"
HOST_LABEL = "kubernetes.io/hostname"
TOPOLOGY_LEVELS = (BLOCK_LABEL, RACK_LABEL, HOST_LABEL)

# The first is what GPU clouds and our real pools use; the second keeps real pods off nodes that run nothing.
TAINTS = (
    Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),
    Taint(key=SIMULATED_LABEL, value="true", effect="NoSchedule"),
)

# The kubelet's default, https://kubernetes.io/docs/setup/best-practices/cluster-large/ (read 2026-11)
_PODS_PER_NODE = 110
_GIGABYTES_PER_TERABYTE = 1000


@dataclass(frozen=True, kw_only=True)
class NodePlace:
    """One node and where it stands.

    Args:
        name: Node name; changes when the place does, as with a server that is moved.
        block: Value of the block label; racks of one block share the fabric's full bandwidth.
        rack: Value of the rack label; unique in the cluster.
    """

    name: str
    block: str
    rack: str


def plan_nodes(pool: str, *, nodes: int, nodes_per_rack: int, racks_per_block: int) -> tuple[NodePlace, ...]:
    """Fill rack after rack and block after block; more nodes move none of those already there.

    Args:
        pool: Pool name, the stem of every name.
        nodes: Nodes in all.
        nodes_per_rack: Nodes of a full rack.
        racks_per_block: Racks of a full block.
    """
    places = []
    for index in range(nodes):
        rack_index, host = divmod(index, nodes_per_rack)
        block_index, rack = divmod(rack_index, racks_per_block)
        block_name = dns_label(pool, f"b{block_index}")
        rack_name = dns_label(block_name, f"r{rack}")
        places.append(NodePlace(name=dns_label(rack_name, f"n{host}"), block=block_name, rack=rack_name))
    return tuple(places)


def node_labels(
    pool: str,
    place: NodePlace,
    server: Server,
    fabric: Fabric,
    *,
    multi_node_training: bool,
    operation: Operation,
) -> dict[str, str]:
    """Labels as the kubelet, GPU Feature Discovery and the site would write them.

    What only a driver could say (``nvidia.com/cuda.*``) is there where the operation names one.
    Names: https://github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery (read 2026-11).
    """
    gpu = server.gpu_row
    return {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": server.key,
        HOST_LABEL: place.name,
        BLOCK_LABEL: place.block,
        RACK_LABEL: place.rack,
        POOL_LABEL: pool,
        FABRIC_LABEL: fabric.key,
        MULTI_NODE_LABEL: str(multi_node_training).lower(),
        NUMA_LABEL: str(server.numa_nodes),
        SIMULATED_LABEL: "true",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": gpu.product,
        "nvidia.com/gpu.family": gpu.family,
        "nvidia.com/gpu.count": str(server.gpus),
        "nvidia.com/gpu.replicas": str(operation.sharing_replicas),
        "nvidia.com/gpu.sharing-strategy": operation.sharing_strategy,
        "nvidia.com/gpu.memory": str(gpu.memory_mib),
        "nvidia.com/gpu.machine": server.key,
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/gpu.compute.major": str(gpu.compute_major),
        "nvidia.com/gpu.compute.minor": str(gpu.compute_minor),
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.strategy": operation.mig_strategy,
        **operation_labels(operation),
    }


def operation_labels(operation: Operation) -> dict[str, str]:
    """What the kubelet's configuration and the driver add to the labels."""
    labels = {TOPOLOGY_POLICY_LABEL: operation.topology_policy, CPU_POLICY_LABEL: operation.cpu_policy}
    if operation.driver_version and operation.cuda_version:
        labels["nvidia.com/cuda.driver-version.full"] = operation.driver_version
        labels["nvidia.com/cuda.runtime-version.full"] = operation.cuda_version
    return labels


def node_annotations(operation: Operation) -> dict[str, str]:
    """What makes KWOK keep the node alive, the controller manager leave its pods, and the MIG layout."""
    layout = ",".join(f"{profile}={number}" for profile, number in operation.mig_layout.items())
    return {
        "kwok.x-k8s.io/node": "fake",
        "node.alpha.kubernetes.io/ttl": "0",
        **({MIG_LAYOUT_ANNOTATION: layout} if layout else {}),
    }


def node_spec() -> dict[str, Any]:
    """Node spec: the taints."""
    return {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in TAINTS]}


def node_status(server: Server) -> dict[str, Mapping[str, str]]:
    """Capacity and what pods may use of it; the API server takes a node's status at creation only."""
    resources = {
        "cpu": count(server.cpu_threads),
        "memory": gibibytes(server.ram_gib),
        "ephemeral-storage": gigabytes(round(server.nvme_tb * _GIGABYTES_PER_TERABYTE)),
        "pods": str(_PODS_PER_NODE),
        "nvidia.com/gpu": str(server.gpus),
    }
    return {"capacity": resources, "allocatable": resources}
