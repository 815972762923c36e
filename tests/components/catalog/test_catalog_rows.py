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
    NCCL_ROWS,
    SERVERS,
    Fabric,
    FabricKind,
    Server,
    Table,
    UnknownKeyError,
)
from components.catalog.table import Row

ROWS: list[Row] = [*GPUS.values(), *SERVERS.values(), *FABRICS.values(), *NCCL_ROWS.values()]
PROVENANCE = {"source", "date"}


def _facts(row: object) -> dict[str, object]:
    assert dataclasses.is_dataclass(row)
    assert not isinstance(row, type)
    return {key: value for key, value in dataclasses.asdict(row).items() if key not in PROVENANCE}


def test_gpus_are_exactly_these() -> None:
    assert [_facts(row) for row in GPUS.values()] == [
        {
            "key": "a100-80",
            "product": "NVIDIA-A100-SXM4-80GB",
            "family": "ampere",
            "compute_major": 8,
            "compute_minor": 0,
            "memory_gb": 80,
            "memory_mib": 81920,
            "memory_gb_per_second": 2039,
            "nvlink_links": 12,
            "nvlink_gb_per_second": 600,
            "nvls": False,
            "power_watts": 400,
        },
        {
            "key": "h100-80",
            "product": "NVIDIA-H100-80GB-HBM3",
            "family": "hopper",
            "compute_major": 9,
            "compute_minor": 0,
            "memory_gb": 80,
            "memory_mib": 81559,
            "memory_gb_per_second": 3350,
            "nvlink_links": 18,
            "nvlink_gb_per_second": 900,
            "nvls": True,
            "power_watts": 700,
        },
    ]


# key, GPU, GPUs, threads, RAM GiB, NUMA nodes, NVMe TB, supplies W, NICs, Gbit/s each, planning
SERVER_TABLE = [
    ("dgx-a100-80", "a100-80", 8, 256, 2048, 8, 30.72, 9000, 8, 200, False),
    ("dgx-h100", "h100-80", 8, 224, 2048, 2, 30.72, 13200, 8, 400, False),
    ("generic-1x-a100-80", "a100-80", 1, 32, 256, 1, 1.92, 850, 1, 200, True),
    ("generic-2x-a100-80", "a100-80", 2, 64, 512, 1, 3.84, 1200, 2, 200, True),
    ("generic-4x-a100-80", "a100-80", 4, 128, 1024, 2, 7.68, 3200, 4, 200, True),
    ("generic-8x-a100-80", "a100-80", 8, 256, 2048, 2, 15.36, 6500, 8, 200, True),
    ("generic-1x-h100-80", "h100-80", 1, 32, 256, 1, 1.92, 1400, 1, 400, True),
    ("generic-2x-h100-80", "h100-80", 2, 64, 512, 1, 3.84, 2800, 2, 400, True),
    ("generic-4x-h100-80", "h100-80", 4, 128, 1024, 2, 7.68, 5600, 4, 400, True),
    ("generic-8x-h100-80", "h100-80", 8, 256, 2048, 2, 15.36, 10200, 8, 400, True),
]


def test_servers_are_exactly_these() -> None:
    assert [tuple(_facts(row).values()) for row in SERVERS.values()] == SERVER_TABLE


def test_fabrics_are_exactly_these() -> None:
    assert [(row.key, row.kind, row.port_gbit_per_second) for row in FABRICS.values()] == [
        ("infiniband-hdr", FabricKind.INFINIBAND, 200),
        ("infiniband-ndr", FabricKind.INFINIBAND, 400),
        ("ethernet-100", FabricKind.ETHERNET, 100),
    ]


@pytest.mark.parametrize(
    ("kind", "carries"), [("infiniband", True), ("efa", True), ("roce", False), ("ethernet", False)]
)
def test_only_infiniband_and_efa_carry_multi_node_training(kind: str, carries: bool) -> None:
    row = Fabric(key="x", kind=FabricKind(kind), port_gbit_per_second=400, source="s", date="2026-01-01")
    assert row.carries_multi_node_training is carries
    assert len(FabricKind) == 4


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.key))
def test_every_row_names_a_public_source_and_a_past_date(row: Row) -> None:
    assert re.match(r"https://\S+", row.source)
    assert datetime.date.fromisoformat(row.date) <= datetime.date(2026, 12, 31)


@pytest.mark.parametrize("row", SERVERS.values(), ids=lambda row: row.key)
def test_every_server_can_feed_and_power_its_gpus(row: Server) -> None:
    assert row.ram_gib > row.gpu_memory_gb
    assert row.psu_watts > row.gpu_power_watts
    assert row.nvme_tb >= 1
    assert row.gpu_memory_gb == row.gpus * 80
    assert row.gpu_power_watts == row.gpus * {"a100-80": 400, "h100-80": 700}[row.gpu]


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
