"""GPU nodes without hardware, for placement that is real and work that is not."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi

from components.catalog import Fabric, Server, nccl_environment
from components.compute import _simulated_gpu_pool_plan as plan
from components.compute.operation import Operation
from components.contracts import GpuPool
from components.core import Component, Ownership, check_dns_label, check_positive, raise_problems
from components.kube import CustomObject, ownership_metadata


@dataclass(frozen=True, kw_only=True)
class SimulatedGpuPoolArgs:
    """A pool of equal simulated servers.

    Args:
        pool: Pool name, a DNS label; the stem of the node names.
        ownership: Who owns and pays.
        server: Catalogue row of the server.
        fabric: Catalogue row of the fabric.
        nodes: Nodes in the pool.
        nodes_per_rack: Nodes of a full rack.
        racks_per_block: Racks of a full block.
        multi_node_training: The pool is meant for jobs over several nodes.
        place: Where the pool runs, as ``GpuPool.place``.
        operation: Kubelet, MIG, sharing and driver, told by labels; capacity stays that of whole GPUs.
    """

    pool: str
    ownership: Ownership
    server: Server
    fabric: Fabric
    nodes: int
    nodes_per_rack: int
    racks_per_block: int
    multi_node_training: bool = False
    place: str = "lab"
    operation: Operation = field(default_factory=Operation)

    def __post_init__(self) -> None:
        raise_problems(
            f"simulated pool {self.pool!r}",
            [
                *check_dns_label("pool", self.pool),
                *check_positive("nodes", self.nodes),
                *check_positive("nodes_per_rack", self.nodes_per_rack),
                *check_positive("racks_per_block", self.racks_per_block),
            ],
        )


class SimulatedGpuPool(Component):
    """KWOK nodes that look like the catalogue's servers to the scheduler and to Kueue.

    Creates one ``Node`` per server. Does not install KWOK, and proves nothing about drivers, NCCL or
    bandwidth: pods placed there never run. A changed server replaces its nodes, because the API server takes
    a node's capacity at creation only.

    Args:
        name: Logical name.
        args: The pool.
        opts: Options, inherited by the nodes.
    """

    TYPE: ClassVar[str] = "gpuplatform:compute:SimulatedGpuPool"

    pool: GpuPool

    def __init__(
        self, name: str, args: SimulatedGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        places = plan.plan_nodes(
            args.pool,
            nodes=args.nodes,
            nodes_per_rack=args.nodes_per_rack,
            racks_per_block=args.racks_per_block,
        )
        for place in places:
            CustomObject(
                f"{name}-{place.name.removeprefix(args.pool).strip('-')}",
                _node(args, place),
                self.child(replace_on_changes=("status",), delete_before_replace=True),
            )
        self.pool = _contract(args)
        self.finish({"nodes": [place.name for place in places]})


def _node(args: SimulatedGpuPoolArgs, place: plan.NodePlace) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": ownership_metadata(
            args.ownership,
            name=place.name,
            labels=plan.node_labels(
                args.pool,
                place,
                args.server,
                args.fabric,
                multi_node_training=args.multi_node_training,
                operation=args.operation,
            ),
            annotations=plan.node_annotations(args.operation),
        ),
        "spec": plan.node_spec(),
        "status": plan.node_status(args.server),
    }


def _contract(args: SimulatedGpuPoolArgs) -> GpuPool:
    server = args.server
    gpu = server.gpu_row
    return GpuPool(
        name=args.pool,
        place=args.place,
        gpu_model=gpu.key,
        gpu_product=gpu.product,
        gpus_per_node=server.gpus,
        cpus_per_node=server.cpu_threads,
        memory_gib_per_node=server.ram_gib,
        min_nodes=args.nodes,
        max_nodes=args.nodes,
        fabric=args.fabric.key,
        nccl_environment=nccl_environment(gpu, args.fabric),
        topology_levels=plan.TOPOLOGY_LEVELS,
        labels={plan.POOL_LABEL: args.pool},
        taints=plan.TAINTS,
        multi_node_training=args.multi_node_training,
        simulated=True,
    )
