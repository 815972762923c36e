"""Servers that hold GPUs.

``dgx-*`` rows are vendor products. ``generic-*`` rows are planning figures for servers of any vendor;
replace one by a product row before anything is ordered.

Those with GPUs on NVLink follow the DGX of the same generation: 32 threads, one NIC and 1.92 TB of NVMe per
GPU; RAM in the DGX ratio (2 TiB to eight GPUs), so always above total GPU memory. Their supplies are 850 W
and 1200 W for one and two A100, else twice the boards' power, and for eight GPUs the DGX's maximum. The
system takes 400 W beside one or two boards, 800 W beside four, and the DGX's share beside eight.

Those with PCIe cards: 16 threads and 1.92 TB of NVMe per GPU; RAM 128 GiB per L40S, else 64 GiB, above the
GPU's memory; the system takes 400 W beside one or two cards, 800 W beside four, 1200 W beside eight, and
the supplies are the smallest of the usual sizes with a fifth to spare.
"""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.gpus import GPUS, Gpu
from components.catalog.prices import PriceClass, price_class
from components.catalog.table import Table

BTU_PER_HOUR_PER_WATT = 3.412


class Cooling(StrEnum):
    """How heat leaves the server."""

    AIR = "air"
    LIQUID = "liquid"


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
        system_watts: Most the whole server takes, W.
        psu_watts: What the supplies deliver while their redundancy is intact, W.
        cooling: How heat leaves it.
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
    system_watts: int
    psu_watts: int
    cooling: Cooling = Cooling.AIR
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

    @property
    def heat_btu_per_hour(self) -> int:
        """Heat the room must take away at most, BTU/h."""
        return round(self.system_watts * BTU_PER_HOUR_PER_WATT)

    @property
    def price_class(self) -> PriceClass:
        """Class of its purchase price."""
        return price_class(self.gpu, self.gpus)


_DGX_A100 = (
    "https://docs.nvidia.com/dgx/dgxa100-user-guide/introduction-to-dgxa100.html; "
    "second source: https://pcnews.ru/news/"
    "vycislitelnaa_sistema_nvidia_dgx_a100_ampere_osnasaetsa_sestu_blokami_pitania_po_3_kvt-985106.html"
)
_DGX_H100 = (
    "https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html; "
    "second source: https://unanswered.io/guide/nvidia-dgx-power-consumption-watts"
)
_DGX_B200 = "https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html"
_READ_ON = "2026-11-30"


def _dgx(  # noqa: PLR0917 - rows read as a table
    key: str,
    gpu: str,
    cpu_threads: int,
    ram_gib: int,
    numa_nodes: int,
    nvme_tb: float,
    watts: tuple[int, int],
    nic_gbit_per_second: int,
    source: str,
) -> Server:
    """A product row with eight GPUs and as many NICs; ``watts`` is the system's power and the supplies'."""
    return Server(
        key=key,
        gpu=gpu,
        gpus=8,
        cpu_threads=cpu_threads,
        ram_gib=ram_gib,
        numa_nodes=numa_nodes,
        nvme_tb=nvme_tb,
        system_watts=watts[0],
        psu_watts=watts[1],
        nics=8,
        nic_gbit_per_second=nic_gbit_per_second,
        source=source,
        date=_READ_ON,
    )


def _generic(  # noqa: PLR0917 - rows read as a table
    gpu: str,
    gpus: int,
    watts: tuple[int, int],
    network: tuple[int, int],
    per_gpu: tuple[int, int],
    source: str,
) -> Server:
    """A planning row: power of system and supplies, NICs and their rate, threads and GiB of RAM per GPU."""
    return Server(
        key=f"generic-{gpus}x-{gpu}",
        gpu=gpu,
        gpus=gpus,
        cpu_threads=per_gpu[0] * gpus,
        ram_gib=per_gpu[1] * gpus,
        numa_nodes=1 if gpus <= 2 else 2,
        nvme_tb=round(1.92 * gpus, 2),
        system_watts=watts[0],
        psu_watts=watts[1],
        nics=network[0],
        nic_gbit_per_second=network[1],
        planning=True,
        source=source,
        date=_READ_ON,
    )


def _nvlink(gpu: str, gpus: int, watts: tuple[int, int], nic_gbit_per_second: int, source: str) -> Server:
    return _generic(gpu, gpus, watts, (gpus, nic_gbit_per_second), (32, 256), source)


def _pcie(gpu: str, gpus: int, watts: tuple[int, int], network: tuple[int, int], ram_gib: int) -> Server:
    return _generic(gpu, gpus, watts, network, (16, ram_gib), GPUS[gpu].source)


SERVERS: Table[Server] = Table(
    "server",
    (
        # Two EPYC 7742; six supplies of 3 kW, three of them spare; eight NUMA nodes as four per socket.
        _dgx("dgx-a100-80", "a100-80", 256, 2048, 8, 30.72, (6500, 9000), 200, _DGX_A100),
        # Two Xeon 8480C; six supplies of 3.3 kW, two of them spare.
        _dgx("dgx-h100", "h100-80", 224, 2048, 2, 30.72, (10200, 13200), 400, _DGX_H100),
        _dgx("dgx-a100-40", "a100-40", 256, 1024, 8, 15.36, (6500, 9000), 200, _DGX_A100),
        # The H100's chassis with H200.
        _dgx("dgx-h200", "h200", 224, 2048, 2, 30.72, (10200, 13200), 400, _DGX_H100),
        # Two Xeon 8570; six supplies of 3.3 kW, one of them spare.
        _dgx("dgx-b200", "b200", 224, 2048, 2, 30.72, (14300, 16500), 400, _DGX_B200),
        _nvlink("a100-80", 1, (800, 850), 200, _DGX_A100),
        _nvlink("a100-80", 2, (1200, 1200), 200, _DGX_A100),
        _nvlink("a100-80", 4, (2400, 3200), 200, _DGX_A100),
        _nvlink("a100-80", 8, (6500, 6500), 200, _DGX_A100),
        _nvlink("h100-80", 1, (1100, 1400), 400, _DGX_H100),
        _nvlink("h100-80", 2, (1800, 2800), 400, _DGX_H100),
        _nvlink("h100-80", 4, (3600, 5600), 400, _DGX_H100),
        _nvlink("h100-80", 8, (10200, 10200), 400, _DGX_H100),
        _nvlink("a100-40", 1, (800, 850), 200, _DGX_A100),
        _nvlink("a100-40", 2, (1200, 1200), 200, _DGX_A100),
        _nvlink("a100-40", 4, (2400, 3200), 200, _DGX_A100),
        _nvlink("a100-40", 8, (6500, 6500), 200, _DGX_A100),
        _nvlink("h200", 4, (3600, 5600), 400, _DGX_H100),
        _nvlink("h200", 8, (10200, 10200), 400, _DGX_H100),
        _nvlink("b200", 8, (14300, 14300), 400, _DGX_B200),
        _pcie("l40s", 1, (750, 1200), (1, 200), 128),
        _pcie("l40s", 2, (1100, 1600), (1, 200), 128),
        _pcie("l40s", 4, (2200, 3200), (2, 200), 128),
        _pcie("l40s", 8, (4000, 4800), (4, 200), 128),
        _pcie("l4", 1, (472, 850), (1, 100), 64),
        _pcie("l4", 2, (544, 850), (1, 100), 64),
        _pcie("l4", 4, (1088, 1600), (1, 100), 64),
        _pcie("l4", 8, (1776, 2400), (2, 100), 64),
        _pcie("t4", 1, (470, 850), (1, 100), 64),
        _pcie("t4", 2, (540, 850), (1, 100), 64),
        _pcie("t4", 4, (1080, 1600), (1, 100), 64),
        _pcie("t4", 8, (1760, 2400), (2, 100), 64),
    ),
)
