"""GPU models."""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.table import Table


class MemoryClass(StrEnum):
    """GPU memory in the classes that decide what fits, GB as sold; each reaches up to the next one."""

    FROM_8 = "8-15"
    FROM_16 = "16-23"
    FROM_24 = "24-39"
    FROM_40 = "40-79"
    FROM_80 = "80+"


_LOWER_BOUNDS_GB = (
    (80, MemoryClass.FROM_80),
    (40, MemoryClass.FROM_40),
    (24, MemoryClass.FROM_24),
    (16, MemoryClass.FROM_16),
)


def memory_class(memory_gb: int) -> MemoryClass:
    """The class of a GPU, or of a part of one.

    Args:
        memory_gb: Memory as sold, GB.

    Raises:
        ValueError: Less than 8 GB, which no class covers.
    """
    if memory_gb < 8:
        raise ValueError(f"memory_gb: got {memory_gb}; accepted: 8 or more")
    return next((found for lower, found in _LOWER_BOUNDS_GB if memory_gb >= lower), MemoryClass.FROM_8)


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
        cuda_min: First CUDA release whose compiler knows this GPU.
        cuda_max_major: Last CUDA major release that supports it, or None while all newer ones do.
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
    cuda_min: str
    cuda_max_major: int | None = None
    source: str
    date: str

    @property
    def memory_class(self) -> MemoryClass:
        """The class its memory falls into."""
        return memory_class(self.memory_gb)

    @property
    def compute_capability(self) -> str:
        """CUDA compute capability, e.g. ``9.0``."""
        return f"{self.compute_major}.{self.compute_minor}"


_READ_ON = "2026-11-30"
_A100 = (
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
    "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf; "
    "second source: https://glennklockwood.com/garden/processors/A100"
)
_H100 = (
    "https://www.nvidia.com/en-us/data-center/h100/; "
    "second source: https://github.com/scaleway/docs-content/pull/5834"
)
_H200 = (
    "https://www.nvidia.com/en-us/data-center/h200/; second source: https://github.com/mlcommons/"
    "inference_results_v4.1/blob/main/closed/NVIDIA/systems/H200-SXM-141GBx8_TRT_MaxQ.json"
)
# Measured from the driver's clocks: 7.7 TB/s, https://github.com/pytorch/ao/pull/4002
_B200 = (
    "https://www.nvidia.com/en-us/data-center/dgx-b200/; second source: https://github.com/mlcommons/"
    "inference_results_v6.0/blob/main/closed/Nebius/systems/nebius_b200_n1.json"
)
_B300 = (
    "https://www.nvidia.com/en-us/data-center/dgx-b300/; second source: https://huggingface.co/hardware/b300"
)
_L4 = "https://www.nvidia.com/en-us/data-center/l4/"
_L40S = "https://www.nvidia.com/en-us/data-center/l40s/; second source: https://huggingface.co/hardware/l40s"
# 300 W is the limit the driver shows on EC2, twice the figure of the A10 many tables repeat for it.
_A10G = (
    "https://aws.amazon.com/ec2/instance-types/g5/; second source: https://gist.github.com/askainet/forked"
)
_T4 = "https://www.nvidia.com/en-us/data-center/tesla-t4/; second source: https://huggingface.co/hardware/t4"
_T4G = "https://aws.amazon.com/ec2/instance-types/g5g/"
_V100 = (
    "https://images.nvidia.com/content/technologies/volta/pdf/"
    "tesla-volta-v100-datasheet-letter-fnl-web.pdf; "
    "last CUDA: https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/"
)
_RTX_4500 = "https://www.nvidia.com/en-us/data-center/rtx-pro-4500-blackwell-server-edition/"
_RTX_6000 = "https://www.nvidia.com/en-us/data-center/rtx-pro-6000-blackwell-server-edition/"


def _gpu(  # noqa: PLR0917 - rows read as a table
    key: str,
    product: str,
    family: str,
    compute: tuple[int, int],
    memory: tuple[int, int, int],
    nvlink: tuple[int, int],
    power_watts: int,
    cuda_min: str,
    source: str,
    *,
    nvls: bool = False,
    cuda_max_major: int | None = None,
) -> Gpu:
    """A row; ``memory`` is GB as sold, MiB and GB/s, ``nvlink`` is links and GB/s."""
    return Gpu(
        key=key,
        product=product,
        family=family,
        compute_major=compute[0],
        compute_minor=compute[1],
        memory_gb=memory[0],
        memory_mib=memory[1],
        memory_gb_per_second=memory[2],
        nvlink_links=nvlink[0],
        nvlink_gb_per_second=nvlink[1],
        nvls=nvls,
        power_watts=power_watts,
        cuda_min=cuda_min,
        cuda_max_major=cuda_max_major,
        source=source,
        date=_READ_ON,
    )


GPUS: Table[Gpu] = Table(
    "GPU",
    (
        _gpu(
            "a100-80",
            "NVIDIA-A100-SXM4-80GB",
            "ampere",
            (8, 0),
            (80, 81920, 2039),
            (12, 600),
            400,
            "11.0",
            _A100,
        ),
        _gpu(
            "a100-40",
            "NVIDIA-A100-SXM4-40GB",
            "ampere",
            (8, 0),
            (40, 40960, 1555),
            (12, 600),
            400,
            "11.0",
            _A100,
        ),
        _gpu(
            "h100-80",
            "NVIDIA-H100-80GB-HBM3",
            "hopper",
            (9, 0),
            (80, 81559, 3350),
            (18, 900),
            700,
            "11.8",
            _H100,
            nvls=True,
        ),
        _gpu(
            "h200",
            "NVIDIA-H200",
            "hopper",
            (9, 0),
            (141, 143771, 4800),
            (18, 900),
            700,
            "11.8",
            _H200,
            nvls=True,
        ),
        _gpu(
            "b200",
            "NVIDIA-B200",
            "blackwell",
            (10, 0),
            (180, 183359, 8000),
            (18, 1800),
            1000,
            "12.8",
            _B200,
            nvls=True,
        ),
        _gpu(
            "b300",
            "NVIDIA-B300-SXM6-AC",
            "blackwell",
            (10, 3),
            (288, 275040, 8000),
            (18, 1800),
            1400,
            "12.9",
            _B300,
            nvls=True,
        ),
        _gpu("l4", "NVIDIA-L4", "ada-lovelace", (8, 9), (24, 23034, 300), (0, 0), 72, "11.8", _L4),
        _gpu("l40s", "NVIDIA-L40S", "ada-lovelace", (8, 9), (48, 46068, 864), (0, 0), 350, "11.8", _L40S),
        _gpu("a10g", "NVIDIA-A10G", "ampere", (8, 6), (24, 23028, 600), (0, 0), 300, "11.1", _A10G),
        _gpu("t4", "Tesla-T4", "turing", (7, 5), (16, 15360, 320), (0, 0), 70, "10.0", _T4),
        _gpu("t4g", "NVIDIA-T4G", "turing", (7, 5), (16, 15360, 320), (0, 0), 70, "10.0", _T4G),
        _gpu(
            "v100-32",
            "Tesla-V100-SXM2-32GB",
            "volta",
            (7, 0),
            (32, 32768, 900),
            (6, 300),
            300,
            "9.0",
            _V100,
            cuda_max_major=12,
        ),
        _gpu(
            "rtx-pro-4500",
            "NVIDIA-RTX-PRO-4500-Blackwell-Server-Edition",
            "blackwell",
            (12, 0),
            (32, 32768, 800),
            (0, 0),
            165,
            "12.8",
            _RTX_4500,
        ),
        _gpu(
            "rtx-pro-6000",
            "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
            "blackwell",
            (12, 0),
            (96, 97887, 1597),
            (0, 0),
            600,
            "12.8",
            _RTX_6000,
        ),
    ),
)
