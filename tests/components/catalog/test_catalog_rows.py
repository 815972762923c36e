"""Contract of the catalogue: whole rows with values written by hand, and rules every row keeps."""

import dataclasses
import datetime
import re
import subprocess
import sys

import pytest

from components.catalog import (
    FABRICS,
    GPUS,
    SERVERS,
    TABLES,
    Fabric,
    FabricKind,
    Gpu,
    MemoryClass,
    PriceClass,
    Row,
    Server,
    Table,
    UnknownKeyError,
    memory_class,
)

ROWS: list[Row] = [row for table in TABLES for row in table.values()]
PROVENANCE = {"source", "date"}


def _facts(row: object) -> dict[str, object]:
    assert dataclasses.is_dataclass(row)
    assert not isinstance(row, type)
    return {key: value for key, value in dataclasses.asdict(row).items() if key not in PROVENANCE}


# key, product, family, capability, GB, MiB, GB/s, NVLink links, GB/s, NVLS, W, CUDA from, last CUDA major
GPU_TABLE = [
    ("a100-80", "NVIDIA-A100-SXM4-80GB", "ampere", 8, 0, 80, 81920, 2039, 12, 600, False, 400, "11.0", None),
    ("a100-40", "NVIDIA-A100-SXM4-40GB", "ampere", 8, 0, 40, 40960, 1555, 12, 600, False, 400, "11.0", None),
    ("h100-80", "NVIDIA-H100-80GB-HBM3", "hopper", 9, 0, 80, 81559, 3350, 18, 900, True, 700, "11.8", None),
    ("h200", "NVIDIA-H200", "hopper", 9, 0, 141, 143771, 4800, 18, 900, True, 700, "11.8", None),
    ("b200", "NVIDIA-B200", "blackwell", 10, 0, 180, 183359, 8000, 18, 1800, True, 1000, "12.8", None),
    (
        "b300",
        "NVIDIA-B300-SXM6-AC",
        "blackwell",
        10,
        3,
        288,
        275040,
        8000,
        18,
        1800,
        True,
        1400,
        "12.9",
        None,
    ),
    ("l4", "NVIDIA-L4", "ada-lovelace", 8, 9, 24, 23034, 300, 0, 0, False, 72, "11.8", None),
    ("l40s", "NVIDIA-L40S", "ada-lovelace", 8, 9, 48, 46068, 864, 0, 0, False, 350, "11.8", None),
    ("a10g", "NVIDIA-A10G", "ampere", 8, 6, 24, 23028, 600, 0, 0, False, 300, "11.1", None),
    ("t4", "Tesla-T4", "turing", 7, 5, 16, 15360, 320, 0, 0, False, 70, "10.0", None),
    ("t4g", "NVIDIA-T4G", "turing", 7, 5, 16, 15360, 320, 0, 0, False, 70, "10.0", None),
    ("v100-32", "Tesla-V100-SXM2-32GB", "volta", 7, 0, 32, 32768, 900, 6, 300, False, 300, "9.0", 12),
]


def test_gpus_are_exactly_these() -> None:
    rows = [tuple(_facts(row).values()) for row in GPUS.values()]
    assert rows[:-2] == GPU_TABLE
    assert list(GPUS)[-2:] == ["rtx-pro-4500", "rtx-pro-6000"]
    assert [(GPUS[key].memory_gb, GPUS[key].power_watts) for key in list(GPUS)[-2:]] == [(32, 165), (96, 600)]


@pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.key)
def test_the_driver_shows_no_more_memory_than_is_sold_and_not_much_less(gpu: Gpu) -> None:
    shown_gb = gpu.memory_mib * 2**20 / 1e9
    assert 0.98 * gpu.memory_gb <= shown_gb <= 1.08 * gpu.memory_gb
    assert (gpu.nvlink_links == 0) == (gpu.nvlink_gb_per_second == 0)
    assert not gpu.nvls or gpu.nvlink_links == 18


@pytest.mark.parametrize(
    ("memory_gb", "found"),
    [
        (8, "8-15"),
        (15, "8-15"),
        (16, "16-23"),
        (24, "24-39"),
        (40, "40-79"),
        (79, "40-79"),
        (80, "80+"),
        (288, "80+"),
    ],
)
def test_memory_falls_into_classes(memory_gb: int, found: str) -> None:
    assert memory_class(memory_gb) is MemoryClass(found)
    assert GPUS["h200"].memory_class is MemoryClass.FROM_80
    assert GPUS["l4"].memory_class is MemoryClass.FROM_24
    with pytest.raises(ValueError, match="got 7; accepted: 8 or more"):
        memory_class(7)


# key, GPU, GPUs, threads, RAM GiB, NUMA nodes, NVMe TB, system W, supplies W, NICs, Gbit/s each, planning
SERVER_TABLE = [
    ("dgx-a100-80", "a100-80", 8, 256, 2048, 8, 30.72, 6500, 9000, "air", 8, 200, False),
    ("dgx-h100", "h100-80", 8, 224, 2048, 2, 30.72, 10200, 13200, "air", 8, 400, False),
    ("dgx-a100-40", "a100-40", 8, 256, 1024, 8, 15.36, 6500, 9000, "air", 8, 200, False),
    ("dgx-h200", "h200", 8, 224, 2048, 2, 30.72, 10200, 13200, "air", 8, 400, False),
    ("dgx-b200", "b200", 8, 224, 2048, 2, 30.72, 14300, 16500, "air", 8, 400, False),
    ("generic-1x-a100-80", "a100-80", 1, 32, 256, 1, 1.92, 800, 850, "air", 1, 200, True),
    ("generic-2x-a100-80", "a100-80", 2, 64, 512, 1, 3.84, 1200, 1200, "air", 2, 200, True),
    ("generic-4x-a100-80", "a100-80", 4, 128, 1024, 2, 7.68, 2400, 3200, "air", 4, 200, True),
    ("generic-8x-a100-80", "a100-80", 8, 256, 2048, 2, 15.36, 6500, 6500, "air", 8, 200, True),
    ("generic-1x-h100-80", "h100-80", 1, 32, 256, 1, 1.92, 1100, 1400, "air", 1, 400, True),
    ("generic-2x-h100-80", "h100-80", 2, 64, 512, 1, 3.84, 1800, 2800, "air", 2, 400, True),
    ("generic-4x-h100-80", "h100-80", 4, 128, 1024, 2, 7.68, 3600, 5600, "air", 4, 400, True),
    ("generic-8x-h100-80", "h100-80", 8, 256, 2048, 2, 15.36, 10200, 10200, "air", 8, 400, True),
    ("generic-1x-a100-40", "a100-40", 1, 32, 256, 1, 1.92, 800, 850, "air", 1, 200, True),
    ("generic-2x-a100-40", "a100-40", 2, 64, 512, 1, 3.84, 1200, 1200, "air", 2, 200, True),
    ("generic-4x-a100-40", "a100-40", 4, 128, 1024, 2, 7.68, 2400, 3200, "air", 4, 200, True),
    ("generic-8x-a100-40", "a100-40", 8, 256, 2048, 2, 15.36, 6500, 6500, "air", 8, 200, True),
    ("generic-4x-h200", "h200", 4, 128, 1024, 2, 7.68, 3600, 5600, "air", 4, 400, True),
    ("generic-8x-h200", "h200", 8, 256, 2048, 2, 15.36, 10200, 10200, "air", 8, 400, True),
    ("generic-8x-b200", "b200", 8, 256, 2048, 2, 15.36, 14300, 14300, "air", 8, 400, True),
    ("generic-1x-l40s", "l40s", 1, 16, 128, 1, 1.92, 750, 1200, "air", 1, 200, True),
    ("generic-2x-l40s", "l40s", 2, 32, 256, 1, 3.84, 1100, 1600, "air", 1, 200, True),
    ("generic-4x-l40s", "l40s", 4, 64, 512, 2, 7.68, 2200, 3200, "air", 2, 200, True),
    ("generic-8x-l40s", "l40s", 8, 128, 1024, 2, 15.36, 4000, 4800, "air", 4, 200, True),
    ("generic-1x-l4", "l4", 1, 16, 64, 1, 1.92, 472, 850, "air", 1, 100, True),
    ("generic-2x-l4", "l4", 2, 32, 128, 1, 3.84, 544, 850, "air", 1, 100, True),
    ("generic-4x-l4", "l4", 4, 64, 256, 2, 7.68, 1088, 1600, "air", 1, 100, True),
    ("generic-8x-l4", "l4", 8, 128, 512, 2, 15.36, 1776, 2400, "air", 2, 100, True),
    ("generic-1x-t4", "t4", 1, 16, 64, 1, 1.92, 470, 850, "air", 1, 100, True),
    ("generic-2x-t4", "t4", 2, 32, 128, 1, 3.84, 540, 850, "air", 1, 100, True),
    ("generic-4x-t4", "t4", 4, 64, 256, 2, 7.68, 1080, 1600, "air", 1, 100, True),
    ("generic-8x-t4", "t4", 8, 128, 512, 2, 15.36, 1760, 2400, "air", 2, 100, True),
]


def test_servers_are_exactly_these() -> None:
    assert [tuple(_facts(row).values()) for row in SERVERS.values()] == SERVER_TABLE


def test_fabrics_are_exactly_these() -> None:
    assert [(row.key, row.kind.value, row.port_gbit_per_second) for row in FABRICS.values()] == [
        ("infiniband-hdr", "infiniband", 200),
        ("infiniband-ndr", "infiniband", 400),
        ("efa-v1", "efa", 100),
        ("efa-v2", "efa", 100),
        ("efa-v3", "efa", 200),
        ("efa-v4", "efa", 400),
        ("roce-100", "roce", 100),
        ("roce-200", "roce", 200),
        ("roce-400", "roce", 400),
        ("ethernet-10", "ethernet", 10),
        ("ethernet-25", "ethernet", 25),
        ("ethernet-40", "ethernet", 40),
        ("ethernet-50", "ethernet", 50),
        ("ethernet-100", "ethernet", 100),
        ("ethernet-200", "ethernet", 200),
        ("ethernet-400", "ethernet", 400),
    ]
    assert [key for key, row in FABRICS.items() if row.cloud_only] == ["efa-v1", "efa-v2", "efa-v3", "efa-v4"]
    assert [key for key, row in FABRICS.items() if row.needs_site_values] == [
        "roce-100",
        "roce-200",
        "roce-400",
    ]


@pytest.mark.parametrize(
    ("kind", "carries"), [("infiniband", True), ("efa", True), ("roce", False), ("ethernet", False)]
)
def test_only_infiniband_and_efa_carry_multi_node_training(kind: str, carries: bool) -> None:
    row = Fabric(key="x", kind=FabricKind(kind), port_gbit_per_second=400, source="s", date="2026-01-01")
    assert row.carries_multi_node_training is carries
    assert len(FabricKind) == 4


def test_every_row_names_a_public_source_and_a_past_date() -> None:
    for row in ROWS:
        assert re.match(r"https?://\S+", row.source), row.key
        day = datetime.date.fromisoformat(row.date)
        assert datetime.date(2024, 1, 1) <= day <= datetime.date(2026, 12, 31), row.key


def test_no_table_is_left_out() -> None:
    assert [(table.noun, len(table)) for table in TABLES] == [
        ("GPU", 14),
        ("server", 32),
        ("instance type", 65),
        ("fabric", 16),
        ("NCCL row", 8),
        ("NCCL site", 1),
        ("GPU with MIG", 7),
        ("acceptance threshold", 19),
        ("XID", 109),
        ("driver branch", 5),
        ("CUDA release", 12),
        ("cuDNN release", 6),
        ("GPU Operator release", 3),
        ("Kubernetes release", 4),
        ("security floor", 9),
        ("price", 68),
        ("board price", 5),
    ]


POWER_WATTS = {
    "a100-80": 400,
    "a100-40": 400,
    "h100-80": 700,
    "h200": 700,
    "b200": 1000,
    "l40s": 350,
    "l4": 72,
    "t4": 70,
}
MEMORY_GB = {
    "a100-80": 80,
    "a100-40": 40,
    "h100-80": 80,
    "h200": 141,
    "b200": 180,
    "l40s": 48,
    "l4": 24,
    "t4": 16,
}


@pytest.mark.parametrize("row", SERVERS.values(), ids=lambda row: row.key)
def test_every_server_can_feed_and_power_its_gpus(row: Server) -> None:
    assert row.gpu_memory_gb == row.gpus * MEMORY_GB[row.gpu]
    assert row.gpu_power_watts == row.gpus * POWER_WATTS[row.gpu]
    assert row.ram_gib > row.gpu_memory_gb
    assert row.gpu_power_watts + 400 <= row.system_watts <= row.psu_watts
    assert row.nvme_tb >= 1
    assert row.gpus in {1, 2, 4, 8}
    assert row.nics >= 1
    assert row.heat_btu_per_hour > 3 * row.system_watts


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("dgx-h100", PriceClass.FROM_250),  # 8 x 30 000 x 1.4 = 336 000
        ("dgx-h200", PriceClass.FROM_250),
        ("generic-2x-h100-80", PriceClass.FROM_25),  # 84 000
        ("generic-4x-h100-80", PriceClass.FROM_100),  # 168 000
        ("generic-1x-l40s", PriceClass.BELOW_25),  # 11 900
        ("generic-8x-l40s", PriceClass.FROM_25),  # 95 200
        ("generic-8x-t4", PriceClass.BELOW_25),  # 22 400
        ("dgx-a100-80", PriceClass.UNPRICED),
        ("dgx-b200", PriceClass.UNPRICED),
    ],
)
def test_servers_have_a_price_class_where_their_gpu_has_a_price(key: str, found: PriceClass) -> None:
    assert SERVERS[key].price_class is found


def test_heat_is_power_in_the_unit_of_cooling() -> None:
    assert SERVERS["dgx-h100"].heat_btu_per_hour == 34802  # 10.2 kW


def test_product_labels_are_unique_and_fit_a_label_value() -> None:
    products = [row.product for row in GPUS.values()]
    assert len(set(products)) == len(products)
    assert all(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", one) for one in products)


def test_a_wrong_key_names_the_nearest_right_one() -> None:
    with pytest.raises(UnknownKeyError) as caught:
        SERVERS["DGX-A100"]
    assert caught.value.nearest == "dgx-a100-80"
    assert str(caught.value).startswith(
        "unknown server 'DGX-A100'; did you mean 'dgx-a100-80'? Known: dgx-a100-80,"
    )
    assert "DGX-A100" not in SERVERS
    assert SERVERS.get("nothing like it") is None
    assert GPUS.nearest("h100") == "h100-80"
    assert GPUS.nearest("") is None


def test_a_key_twice_is_refused() -> None:
    row = FABRICS["ethernet-100"]
    with pytest.raises(ValueError, match="two rows of the fabric table have the key 'ethernet-100'"):
        Table("fabric", (row, row))


def test_importing_the_catalogue_loads_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import components.catalog; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['components']"
