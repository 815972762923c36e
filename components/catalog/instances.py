"""EC2 instance types with NVIDIA GPUs.

Figures are EC2's own (``DescribeInstanceTypes``); a contract test compares each with a recorded copy of its
answers. The number of EFA interfaces is a limit of its own: it never follows from the number of network
cards.
"""

from dataclasses import dataclass

from components.catalog.fabrics import FABRICS, Fabric
from components.catalog.gpus import GPUS, Gpu
from components.catalog.instance_figures import FAMILIES, Family, Size
from components.catalog.table import Table


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One instance type.

    Args:
        key: Its name, e.g. ``p5.48xlarge``.
        gpu: Catalogue key of its GPU.
        gpus: GPUs a job sees, parts of one included.
        gpu_parts: Parts the hypervisor cuts each GPU into; 1 means whole GPUs.
        gpu_memory_mib: Memory of one GPU, or of one part, as EC2 reports it, MiB; the driver shows less.
        vcpus: Virtual CPUs.
        ram_gib: Memory, GiB.
        network_gbit_per_second: Most the network reaches, one way, Gbit/s; small types only in bursts.
        network_cards: Network cards.
        efa_interfaces: EFA interfaces it can have at most; 0 means no EFA.
        efa: Catalogue key of the EFA generation; None without EFA or where no source names it.
        nvme_gb: Local NVMe, GB; 0 means none. It is lost when the instance stops.
        numa_nodes: NUMA nodes; None where no source names them.
        capacity_blocks: Whether EC2 sells it by Capacity Block.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    gpu: str
    gpus: int
    gpu_parts: int = 1
    gpu_memory_mib: int
    vcpus: int
    ram_gib: int
    network_gbit_per_second: int
    network_cards: int
    efa_interfaces: int
    efa: str | None
    nvme_gb: int
    numa_nodes: int | None = None
    capacity_blocks: bool = False
    source: str
    date: str

    @property
    def gpu_row(self) -> Gpu:
        """The catalogue row of its GPU."""
        return GPUS[self.gpu]

    @property
    def fabric(self) -> Fabric | None:
        """Its EFA generation, or None."""
        return FABRICS[self.efa] if self.efa else None

    @property
    def gpu_memory_total_mib(self) -> int:
        """Memory of all its GPUs together, MiB, as EC2 reports it."""
        return self.gpus * self.gpu_memory_mib

    @property
    def nvlink(self) -> bool:
        """Whether its GPUs reach each other by NVLink."""
        return self.gpus > 1 and self.gpu_row.nvlink_links > 0


_READ_ON = "2026-11-30"
_TYPES = "https://aws.amazon.com/ec2/instance-types"
_SECOND = "second source: https://github.com/getmoto/moto/blob/master/moto/ec2/resources/instance_types.json"
# https://github.com/aws/aws-ofi-nccl/tree/master/topology
_NUMA_NODES = {"p4d.24xlarge": 2, "p4de.24xlarge": 2, "g5.48xlarge": 2}


def _instance(family: Family, size: Size) -> Instance:
    key = f"{family.name}.{size.name}"
    return Instance(
        key=key,
        gpu=family.gpu,
        gpus=size.gpus,
        gpu_parts=family.gpu_parts,
        gpu_memory_mib=family.gpu_memory_mib,
        vcpus=size.vcpus,
        ram_gib=size.ram_gib,
        network_gbit_per_second=size.network_gbit_per_second,
        network_cards=size.network_cards,
        efa_interfaces=size.efa_interfaces,
        efa=family.efa if size.efa_interfaces else None,
        nvme_gb=size.nvme_gb,
        numa_nodes=_NUMA_NODES.get(key),
        capacity_blocks=family.capacity_blocks,
        source=f"{_TYPES}/{family.name.partition('-')[0]}/; {_SECOND}",
        date=_READ_ON,
    )


INSTANCES: Table[Instance] = Table(
    "instance type", tuple(_instance(family, size) for family in FAMILIES for size in family.sizes)
)
