"""Figures of EC2 instance types, family by family; ``instances`` says what each one means."""

from typing import NamedTuple


class Size(NamedTuple):
    """One size of a family."""

    name: str
    gpus: int
    vcpus: int
    ram_gib: int
    network_gbit_per_second: int
    network_cards: int
    efa_interfaces: int
    nvme_gb: int


class Family(NamedTuple):
    """What the sizes of a family share; ``gpu_parts`` is how many parts each GPU is cut into."""

    name: str
    gpu: str
    gpu_memory_mib: int
    efa: str | None
    sizes: tuple[Size, ...]
    capacity_blocks: bool = False
    gpu_parts: int = 1


FAMILIES = (
    Family(
        "p3dn",
        "v100-32",
        32768,
        "efa-v1",
        (Size("24xlarge", 8, 96, 768, 100, 1, 1, 1800),),
    ),
    Family(
        "p4d",
        "a100-40",
        40960,
        "efa-v1",
        (Size("24xlarge", 8, 96, 1152, 400, 4, 4, 8000),),
        capacity_blocks=True,
    ),
    Family(
        "p4de",
        "a100-80",
        81920,
        "efa-v1",
        (Size("24xlarge", 8, 96, 1152, 400, 4, 4, 8000),),
        capacity_blocks=True,
    ),
    Family(
        "p5",
        "h100-80",
        81920,
        "efa-v2",
        (
            Size("4xlarge", 1, 16, 256, 100, 1, 1, 3800),
            Size("48xlarge", 8, 192, 2048, 3200, 32, 32, 30400),
        ),
        capacity_blocks=True,
    ),
    Family(
        "p5e",
        "h200",
        144384,
        "efa-v2",
        (Size("48xlarge", 8, 192, 2048, 3200, 32, 32, 30400),),
        capacity_blocks=True,
    ),
    Family(
        "p5en",
        "h200",
        144384,
        "efa-v3",
        (Size("48xlarge", 8, 192, 2048, 3200, 16, 16, 30400),),
        capacity_blocks=True,
    ),
    Family(
        "p6-b200",
        "b200",
        183359,
        "efa-v4",
        (Size("48xlarge", 8, 192, 2048, 3200, 8, 8, 30400),),
        capacity_blocks=True,
    ),
    # One card more than EFA interfaces: the first is plain Ethernet.
    Family(
        "p6-b300",
        "b300",
        275040,
        "efa-v4",
        (Size("48xlarge", 8, 192, 4096, 6400, 17, 16, 30400),),
        capacity_blocks=True,
    ),
    Family(
        "g4dn",
        "t4",
        16384,
        "efa-v1",
        (
            Size("xlarge", 1, 4, 16, 25, 1, 0, 125),
            Size("2xlarge", 1, 8, 32, 25, 1, 0, 225),
            Size("4xlarge", 1, 16, 64, 25, 1, 0, 225),
            Size("8xlarge", 1, 32, 128, 50, 1, 1, 900),
            Size("12xlarge", 4, 48, 192, 50, 1, 1, 900),
            Size("16xlarge", 1, 64, 256, 50, 1, 1, 900),
            Size("metal", 8, 96, 384, 100, 1, 1, 1800),
        ),
    ),
    Family(
        "g5",
        "a10g",
        22888,
        "efa-v1",
        (
            Size("xlarge", 1, 4, 16, 10, 1, 0, 250),
            Size("2xlarge", 1, 8, 32, 10, 1, 0, 450),
            Size("4xlarge", 1, 16, 64, 25, 1, 0, 600),
            Size("8xlarge", 1, 32, 128, 25, 1, 1, 900),
            Size("12xlarge", 4, 48, 192, 40, 1, 1, 3800),
            Size("16xlarge", 1, 64, 256, 25, 1, 1, 1900),
            Size("24xlarge", 4, 96, 384, 50, 1, 1, 3800),
            Size("48xlarge", 8, 192, 768, 100, 1, 1, 7600),
        ),
    ),
    Family(
        "g5g",
        "t4g",
        16384,
        None,
        (
            Size("xlarge", 1, 4, 8, 10, 1, 0, 0),
            Size("2xlarge", 1, 8, 16, 10, 1, 0, 0),
            Size("4xlarge", 1, 16, 32, 10, 1, 0, 0),
            Size("8xlarge", 1, 32, 64, 12, 1, 0, 0),
            Size("16xlarge", 2, 64, 128, 25, 1, 0, 0),
            Size("metal", 2, 64, 128, 25, 1, 0, 0),
        ),
    ),
    Family(
        "g6",
        "l4",
        22888,
        "efa-v2",
        (
            Size("xlarge", 1, 4, 16, 10, 1, 0, 250),
            Size("2xlarge", 1, 8, 32, 10, 1, 0, 450),
            Size("4xlarge", 1, 16, 64, 25, 1, 0, 600),
            Size("8xlarge", 1, 32, 128, 25, 1, 1, 900),
            Size("12xlarge", 4, 48, 192, 40, 1, 1, 3760),
            Size("16xlarge", 1, 64, 256, 25, 1, 1, 1880),
            Size("24xlarge", 4, 96, 384, 50, 1, 1, 3760),
            Size("48xlarge", 8, 192, 768, 100, 1, 1, 7520),
        ),
    ),
    Family(
        "gr6",
        "l4",
        22888,
        "efa-v2",
        (
            Size("4xlarge", 1, 16, 128, 25, 1, 0, 600),
            Size("8xlarge", 1, 32, 256, 25, 1, 1, 900),
        ),
    ),
    Family(
        "g6f",
        "l4",
        2861,
        None,
        (
            Size("large", 1, 2, 8, 10, 1, 0, 100),
            Size("xlarge", 1, 4, 16, 10, 1, 0, 100),
        ),
        gpu_parts=8,
    ),
    Family("g6f", "l4", 5722, None, (Size("2xlarge", 1, 8, 32, 10, 1, 0, 200),), gpu_parts=4),
    Family("g6f", "l4", 11444, None, (Size("4xlarge", 1, 16, 64, 25, 1, 0, 450),), gpu_parts=2),
    Family("gr6f", "l4", 11444, None, (Size("4xlarge", 1, 16, 128, 25, 1, 0, 450),), gpu_parts=2),
    Family(
        "g6e",
        "l40s",
        45776,
        "efa-v2",
        (
            Size("xlarge", 1, 4, 32, 20, 1, 0, 250),
            Size("2xlarge", 1, 8, 64, 20, 1, 0, 450),
            Size("4xlarge", 1, 16, 128, 20, 1, 0, 600),
            Size("8xlarge", 1, 32, 256, 25, 1, 1, 900),
            Size("12xlarge", 4, 48, 384, 100, 1, 1, 3800),
            Size("16xlarge", 1, 64, 512, 35, 1, 1, 1900),
            Size("24xlarge", 4, 96, 768, 200, 2, 2, 3800),
            Size("48xlarge", 8, 192, 1536, 400, 4, 4, 7600),
        ),
    ),
    # No source read names the EFA generation of g7.
    Family(
        "g7",
        "rtx-pro-4500",
        32768,
        None,
        (
            Size("2xlarge", 1, 8, 32, 60, 1, 0, 440),
            Size("4xlarge", 1, 16, 64, 100, 1, 0, 875),
            Size("8xlarge", 1, 32, 128, 100, 1, 1, 930),
            Size("12xlarge", 2, 48, 192, 175, 1, 1, 1900),
            Size("24xlarge", 4, 96, 384, 350, 1, 1, 3800),
            Size("48xlarge", 8, 192, 768, 700, 2, 2, 7600),
        ),
    ),
    Family(
        "g7e",
        "rtx-pro-6000",
        98304,
        "efa-v4",
        (
            Size("2xlarge", 1, 8, 64, 50, 1, 0, 1900),
            Size("4xlarge", 1, 16, 128, 50, 1, 0, 1900),
            Size("8xlarge", 1, 32, 256, 100, 1, 1, 1900),
            Size("12xlarge", 2, 48, 512, 400, 1, 1, 3800),
            Size("24xlarge", 4, 96, 1024, 800, 2, 2, 7600),
            Size("48xlarge", 8, 192, 2048, 1600, 4, 4, 15200),
        ),
    ),
)
