"""EC2 instance types: by hand from AWS's pages, and against EC2's own answers as moto recorded them."""

import gzip
import json
from pathlib import Path
from typing import Any

import moto
import pytest

from components.catalog import GPUS, INSTANCES, Instance

RECORDED: dict[str, Any] = json.loads(
    gzip.decompress(
        (Path(moto.__file__).parent / "ec2" / "resources" / "instance_types.json.gz").read_bytes()
    )
)
WITH_GPU = {key: row for key, row in RECORDED.items() if "GpuInfo" in row}
NAMES = {
    "A100": {"a100-40", "a100-80"},
    "A10G": {"a10g"},
    "B200": {"b200"},
    "B300": {"b300"},
    "H100": {"h100-80"},
    "H200": {"h200"},
    "L4": {"l4"},
    "L40S": {"l40s"},
    "RTX PRO 4500": {"rtx-pro-4500"},
    "RTX PRO Server 6000": {"rtx-pro-6000"},
    "T4": {"t4"},
    "T4g": {"t4g"},
    "V100": {"v100-32"},
}
# Where our rows say something else, and why. A new disagreement fails until it stands here.
PART = "EC2 counts no GPU where an instance has a part of one; a job there sees one device"
DEVIATIONS = {
    ("g6f.large", "gpus"): PART,
    ("g6f.xlarge", "gpus"): PART,
    ("g6f.2xlarge", "gpus"): PART,
    ("g6f.4xlarge", "gpus"): PART,
    ("gr6f.4xlarge", "gpus"): PART,
}


def _recorded(row: dict[str, Any]) -> dict[str, object]:
    gpus, network = row["GpuInfo"]["Gpus"], row["NetworkInfo"]
    (only,) = gpus
    return {
        "gpus": only["Count"],
        "gpu_memory_mib": only["MemoryInfo"]["SizeInMiB"],
        "gpu_memory_total_mib": row["GpuInfo"]["TotalGpuMemoryInMiB"],
        "vcpus": row["VCpuInfo"]["DefaultVCpus"],
        "ram_mib": row["MemoryInfo"]["SizeInMiB"],
        "network_cards": network["MaximumNetworkCards"],
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "nvme_gb": row.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "capacity_blocks": "capacity-block" in row["SupportedUsageClasses"],
        "network": _gbit(network["NetworkPerformance"]),
    }


def _gbit(text: str) -> int:
    """``Up to 25 Gigabit`` is 25, ``4x 100 Gigabit`` 400."""
    words = text.removesuffix(" Gigabit").removeprefix("Up to ").split("x ")
    return int(words[0]) * int(words[1]) if len(words) == 2 else int(words[0])


def _ours(row: Instance) -> dict[str, object]:
    return {
        "gpus": row.gpus,
        "gpu_memory_mib": row.gpu_memory_mib,
        "gpu_memory_total_mib": row.gpu_memory_total_mib,
        "vcpus": row.vcpus,
        "ram_mib": row.ram_gib * 1024,
        "network_cards": row.network_cards,
        "efa_interfaces": row.efa_interfaces,
        "nvme_gb": row.nvme_gb,
        "capacity_blocks": row.capacity_blocks,
        "network": row.network_gbit_per_second,
    }


def test_every_type_with_a_gpu_has_a_row_and_no_other_has() -> None:
    assert set(INSTANCES) == set(WITH_GPU)
    assert len(WITH_GPU) == 65


@pytest.mark.parametrize("key", WITH_GPU)
def test_rows_agree_with_what_ec2_says(key: str) -> None:
    theirs, ours = _recorded(WITH_GPU[key]), _ours(INSTANCES[key])
    different = {name for name in theirs if theirs[name] != ours[name]}
    assert different == {name for instance, name in DEVIATIONS if instance == key}, (theirs, ours)
    assert INSTANCES[key].gpu in NAMES[WITH_GPU[key]["GpuInfo"]["Gpus"][0]["Name"]]


# key, GPU, GPUs, vCPUs, RAM GiB, Gbit/s, cards, EFA interfaces, EFA, NVMe GB
BY_HAND = [
    ("p4d.24xlarge", "a100-40", 8, 96, 1152, 400, 4, 4, "efa-v1", 8000),
    ("p4de.24xlarge", "a100-80", 8, 96, 1152, 400, 4, 4, "efa-v1", 8000),
    ("p5.48xlarge", "h100-80", 8, 192, 2048, 3200, 32, 32, "efa-v2", 30400),
    ("p5e.48xlarge", "h200", 8, 192, 2048, 3200, 32, 32, "efa-v2", 30400),
    ("p5en.48xlarge", "h200", 8, 192, 2048, 3200, 16, 16, "efa-v3", 30400),
    ("p6-b200.48xlarge", "b200", 8, 192, 2048, 3200, 8, 8, "efa-v4", 30400),
    ("p6-b300.48xlarge", "b300", 8, 192, 4096, 6400, 17, 16, "efa-v4", 30400),
    ("g6.48xlarge", "l4", 8, 192, 768, 100, 1, 1, "efa-v2", 7520),
    ("g6.xlarge", "l4", 1, 4, 16, 10, 1, 0, None, 250),
    ("g5.8xlarge", "a10g", 1, 32, 128, 25, 1, 1, "efa-v1", 900),
    ("g6e.48xlarge", "l40s", 8, 192, 1536, 400, 4, 4, "efa-v2", 7600),
    ("g4dn.xlarge", "t4", 1, 4, 16, 25, 1, 0, None, 125),
]


@pytest.mark.parametrize("row", BY_HAND, ids=lambda row: row[0])
def test_types_people_train_on(row: tuple[object, ...]) -> None:
    found = INSTANCES[str(row[0])]
    assert row == (
        found.key,
        found.gpu,
        found.gpus,
        found.vcpus,
        found.ram_gib,
        found.network_gbit_per_second,
        found.network_cards,
        found.efa_interfaces,
        found.efa,
        found.nvme_gb,
    )


@pytest.mark.parametrize("row", INSTANCES.values(), ids=lambda row: row.key)
def test_every_row_holds_together(row: Instance) -> None:
    assert row.efa_interfaces <= row.network_cards
    assert row.efa is None or row.efa_interfaces > 0
    if row.fabric:
        rate = row.efa_interfaces * row.fabric.port_gbit_per_second
        assert rate >= row.network_gbit_per_second or row.gpu == "rtx-pro-6000" or row.nvlink is False
    whole_mib = row.gpu_memory_mib * row.gpu_parts
    assert abs(whole_mib - GPUS[row.gpu].memory_mib) < 0.07 * whole_mib
    assert row.nvlink is (row.gpus > 1 and row.key[0] == "p")


def test_numa_nodes_are_named_only_where_a_source_does() -> None:
    named = {key: row.numa_nodes for key, row in INSTANCES.items() if row.numa_nodes}
    assert named == {"p4d.24xlarge": 2, "p4de.24xlarge": 2, "g5.48xlarge": 2}
