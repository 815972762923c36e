"""Servers that hold GPUs.

``dgx-*`` rows are vendor products. ``generic-*`` rows are planning figures for servers of any vendor, derived
from the vendor rows: 32 threads, one NIC and 1.92 TB of NVMe per GPU; RAM in the DGX ratio (2 TiB to eight
GPUs), so always above total GPU memory; supplies of 850 W and 1200 W for one and two A100 (which leaves at
least 400 W beside the boards), else twice the boards' power, and for eight GPUs the DGX's maximum. Replace
one by a product row before anything is ordered.
"""

from dataclasses import dataclass

from components.catalog.gpus import GPUS, Gpu
from components.catalog.table import Table


@dataclass(frozen=True, kw_only=True)
class Server:
    """One kind of server.

    Args:
        key: Catalogue key.
        gpu: Catalogue key of its GPU.
        gpus: GPUs in it.
        cpu_threads: Hardware threads of all sockets.
        ram_gib: System memory, GiB; above the total GPU memory.
        numa_nodes: NUMA nodes as delivered.
        nvme_tb: Local NVMe for data, without boot drives, TB.
        psu_watts: What the supplies deliver while their redundancy is intact, W.
        nics: Network ports for traffic between GPUs.
        nic_gbit_per_second: Rate of one of those ports, one way, Gbit/s.
        planning: A planning figure rather than a product.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    gpu: str
    gpus: int
    cpu_threads: int
    ram_gib: int
    numa_nodes: int
    nvme_tb: float
    psu_watts: int
    nics: int
    nic_gbit_per_second: int
    planning: bool = False
    source: str
    date: str

    @property
    def gpu_row(self) -> Gpu:
        """The catalogue row of its GPU."""
        return GPUS[self.gpu]

    @property
    def gpu_memory_gb(self) -> int:
        """Memory of all GPUs together, GB as sold."""
        return self.gpus * self.gpu_row.memory_gb

    @property
    def gpu_power_watts(self) -> int:
        """Power of all GPU boards together, W."""
        return self.gpus * self.gpu_row.power_watts


_DGX_A100 = (
    "https://docs.nvidia.com/dgx/dgxa100-user-guide/introduction-to-dgxa100.html; "
    "second source: https://pcnews.ru/news/"
    "vycislitelnaa_sistema_nvidia_dgx_a100_ampere_osnasaetsa_sestu_blokami_pitania_po_3_kvt-985106.html"
)
_DGX_H100 = (
    "https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html; "
    "second source: https://unanswered.io/guide/nvidia-dgx-power-consumption-watts"
)
_READ_ON = "2026-11-30"


def _generic(
    gpu: str, gpus: int, *, numa_nodes: int, psu_watts: int, nic_gbit_per_second: int, source: str
) -> Server:
    """A planning row; the ratios are those of the module's docstring."""
    return Server(
        key=f"generic-{gpus}x-{gpu}",
        gpu=gpu,
        gpus=gpus,
        cpu_threads=32 * gpus,
        ram_gib=256 * gpus,
        numa_nodes=numa_nodes,
        nvme_tb=round(1.92 * gpus, 2),
        psu_watts=psu_watts,
        nics=gpus,
        nic_gbit_per_second=nic_gbit_per_second,
        planning=True,
        source=source,
        date=_READ_ON,
    )


def _generic_a100(gpus: int, numa_nodes: int, psu_watts: int) -> Server:
    return _generic(
        "a100-80", gpus, numa_nodes=numa_nodes, psu_watts=psu_watts, nic_gbit_per_second=200, source=_DGX_A100
    )


def _generic_h100(gpus: int, numa_nodes: int, psu_watts: int) -> Server:
    return _generic(
        "h100-80", gpus, numa_nodes=numa_nodes, psu_watts=psu_watts, nic_gbit_per_second=400, source=_DGX_H100
    )


SERVERS: Table[Server] = Table(
    "server",
    (
        # Two EPYC 7742; six supplies of 3 kW, three of them spare; eight NUMA nodes as four per socket.
        Server(
            key="dgx-a100-80",
            gpu="a100-80",
            gpus=8,
            cpu_threads=256,
            ram_gib=2048,
            numa_nodes=8,
            nvme_tb=30.72,
            psu_watts=9000,
            nics=8,
            nic_gbit_per_second=200,
            source=_DGX_A100,
            date=_READ_ON,
        ),
        # Two Xeon 8480C; six supplies of 3.3 kW, two of them spare.
        Server(
            key="dgx-h100",
            gpu="h100-80",
            gpus=8,
            cpu_threads=224,
            ram_gib=2048,
            numa_nodes=2,
            nvme_tb=30.72,
            psu_watts=13200,
            nics=8,
            nic_gbit_per_second=400,
            source=_DGX_H100,
            date=_READ_ON,
        ),
        _generic_a100(1, 1, 850),
        _generic_a100(2, 1, 1200),
        _generic_a100(4, 2, 3200),
        _generic_a100(8, 2, 6500),
        _generic_h100(1, 1, 1400),
        _generic_h100(2, 1, 2800),
        _generic_h100(4, 2, 5600),
        _generic_h100(8, 2, 10200),
    ),
)
