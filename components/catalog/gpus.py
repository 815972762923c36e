"""GPU models."""

from dataclasses import dataclass

from components.catalog.table import Table


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU model.

    Args:
        key: Catalogue key.
        product: Value of the node label ``nvidia.com/gpu.product`` as GPU Feature Discovery writes it.
        family: Value of the node label ``nvidia.com/gpu.family``.
        compute_major: CUDA compute capability, major part.
        compute_minor: CUDA compute capability, minor part.
        memory_gb: Memory class as sold, GB.
        memory_mib: Memory the driver reports, MiB; value of ``nvidia.com/gpu.memory``.
        memory_gb_per_second: Peak memory bandwidth, GB/s.
        nvlink_links: NVLink links of one GPU.
        nvlink_gb_per_second: NVLink bandwidth of one GPU, both directions together, GB/s.
        nvls: NVLink SHARP: the NVSwitch can reduce in the network (NCCL algorithm NVLS).
        power_watts: Board power limit as shipped, W.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    product: str
    family: str
    compute_major: int
    compute_minor: int
    memory_gb: int
    memory_mib: int
    memory_gb_per_second: int
    nvlink_links: int
    nvlink_gb_per_second: int
    nvls: bool
    power_watts: int
    source: str
    date: str


GPUS: Table[Gpu] = Table(
    "GPU",
    (
        Gpu(
            key="a100-80",
            product="NVIDIA-A100-SXM4-80GB",
            family="ampere",
            compute_major=8,
            compute_minor=0,
            memory_gb=80,
            memory_mib=81920,
            memory_gb_per_second=2039,
            nvlink_links=12,
            nvlink_gb_per_second=600,
            nvls=False,
            power_watts=400,
            source="https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
            "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf; "
            "second source: https://glennklockwood.com/garden/processors/A100",
            date="2026-11-30",
        ),
        Gpu(
            key="h100-80",
            product="NVIDIA-H100-80GB-HBM3",
            family="hopper",
            compute_major=9,
            compute_minor=0,
            memory_gb=80,
            memory_mib=81559,
            memory_gb_per_second=3350,
            nvlink_links=18,
            nvlink_gb_per_second=900,
            nvls=True,
            power_watts=700,
            source="https://www.nvidia.com/en-us/data-center/h100/; "
            "second source: https://github.com/scaleway/docs-content/pull/5834",
            date="2026-11-30",
        ),
    ),
)
