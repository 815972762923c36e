"""Telemetry of simulated GPUs against a scrape of the real exporter, placement and faults."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.observability.gpu_telemetry.faults import faults_of, is_fault, key, write
from components.observability.gpu_telemetry.placement import Placement, model_name, node_of
from components.observability.gpu_telemetry.scrape import Fleet

REAL = Path(__file__).parent / "data" / "dcgm-exporter.prom"
_LINE = re.compile(r"^(?P<metric>[A-Za-z_:]+)\{(?P<labels>[^}]*)\} (?P<value>\S+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def node(name: str = "a100-b0-r0-n0", gpus: int = 2) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "labels": {
                "nvidia.com/gpu.count": str(gpus),
                "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
                "nvidia.com/gpu.family": "ampere",
                "nvidia.com/gpu.memory": "81920",
                "gpu-platform/pool": "a100",
            },
        }
    }


def pod(uid: str, gpus: int, node_name: str = "a100-b0-r0-n0") -> dict[str, Any]:
    container = {"name": "train", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {
        "metadata": {"uid": uid, "namespace": "jobs", "name": f"job-{uid}"},
        "spec": {"nodeName": node_name, "containers": [container]},
        "status": {"phase": "Running"},
    }


Samples = dict[str, list[tuple[dict[str, str], float]]]


def parsed(text: str) -> Samples:
    found: Samples = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            labels = dict(_LABEL.findall(match["labels"]))
            found.setdefault(match["metric"], []).append((labels, float(match["value"])))
    return found


def headers(text: str, word: str) -> dict[str, str]:
    lines = [line.split(" ", 3) for line in text.splitlines() if line.startswith(f"# {word} ")]
    return {parts[2]: parts[3] for parts in lines}


def scrape(*, pods: tuple[dict[str, Any], ...] = (), faults: Mapping[str, str] | None = None) -> Samples:
    return parsed(Fleet().scrape([node()], pods, faults or {}, 1000.0))


def values(samples: Samples, metric: str) -> dict[str, float]:
    return {labels["gpu"]: value for labels, value in samples[f"DCGM_FI_DEV_{metric}"]}


def injected(name: str, gpu: int = 1) -> dict[str, str]:
    return {key("a100-b0-r0-n0", gpu): write({name: 990.0})}


def test_names_types_and_help_are_those_of_the_real_exporter() -> None:
    real, played = REAL.read_text(), Fleet().scrape([node()], [pod("1", 1)], {}, 1000.0)
    assert headers(real, "TYPE").items() <= headers(played, "TYPE").items()
    helps = headers(played, "HELP")
    assert {metric: f"LAB, simulated GPU: {text}" for metric, text in headers(real, "HELP").items()} == {
        metric: helps[metric] for metric in headers(real, "HELP")
    }
    assert all(text.startswith("LAB, simulated GPU: ") for text in helps.values())


def test_labels_are_those_of_the_real_exporter_and_the_pool_which_the_scrape_adds_there() -> None:
    real = parsed(REAL.read_text())
    played = scrape(pods=(pod("1", 1),))
    for metric, samples in real.items():
        held = next(labels for labels, _ in played[metric] if labels["gpu"] == "0")
        assert set(held) - {"pool"} == set(samples[0][0]), metric
        free = next(labels for labels, _ in played[metric] if labels["gpu"] == "1")
        assert not set(free) & {"pod", "namespace", "container"}, metric


def test_label_values_have_the_real_form() -> None:
    labels, _ = scrape(pods=(pod("1", 1),))["DCGM_FI_DEV_GPU_UTIL"][0]
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", labels.pop("UUID"))
    assert re.fullmatch(r"[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.0", labels.pop("pci_bus_id"))
    assert labels == {
        "gpu": "0",
        "device": "nvidia0",
        "modelName": "NVIDIA A100-SXM4-80GB",
        "Hostname": "a100-b0-r0-n0",
        "DCGM_FI_DRIVER_VERSION": "580.95.05",
        "container": "train",
        "namespace": "jobs",
        "pod": "job-1",
        "pod_uid": "",
        "pool": "a100",
    }


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("NVIDIA-A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA-H100-80GB-HBM3", "NVIDIA H100 80GB HBM3"),
        ("NVIDIA-L40S", "NVIDIA L40S"),
    ],
)
def test_models_are_called_as_the_driver_calls_them(product: str, name: str) -> None:
    assert model_name(product) == name


def test_a_gpu_is_busy_where_a_pod_holds_it() -> None:
    samples = scrape(pods=(pod("1", 1),))
    assert values(samples, "GPU_UTIL") == {"0": 95, "1": 0}
    assert values(samples, "FB_USED") == {"0": 69632, "1": 0}
    assert values(samples, "FB_FREE") == {"0": 81920 - 500 - 69632, "1": 81920 - 500}


def test_pods_keep_their_gpus_and_free_ones_are_given_again() -> None:
    nodes = {"a100-b0-r0-n0": node_of(node(gpus=4))}
    known = {name: found for name, found in nodes.items() if found}
    placement = Placement()
    placement.update(known, [pod("1", 1), pod("2", 1)])
    placement.update(known, [pod("2", 1), pod("3", 2)])
    held = {index: holder.pod for (_, index), holder in placement.holders().items()}
    assert held == {0: "job-3", 1: "job-2", 2: "job-3"}


def test_pods_that_do_not_run_or_run_elsewhere_hold_nothing() -> None:
    ended = {**pod("1", 1), "status": {"phase": "Succeeded"}}
    samples = scrape(pods=(ended, pod("2", 1, "elsewhere")))
    assert values(samples, "GPU_UTIL") == {"0": 0, "1": 0}


def test_an_xid_has_its_code_its_text_and_a_count_in_the_window() -> None:
    samples = scrape(faults=injected("xid:79"))
    last = {
        labels["gpu"]: (labels["err_code"], labels["err_msg"], value)
        for labels, value in samples["DCGM_FI_DEV_XID_ERRORS"]
    }
    assert last == {"0": ("0", "No Error", 0), "1": ("79", "GPU has fallen off the bus", 79)}
    counts = {
        labels["gpu"]: (labels.get("xid"), labels["window_size_in_ms"], value)
        for labels, value in samples["DCGM_EXP_XID_ERRORS_COUNT"]
    }
    assert counts == {"0": (None, "300000", 0), "1": ("79", "300000", 1)}


def test_an_xid_leaves_the_window_and_stays_the_last_one() -> None:
    fleet = Fleet()
    samples = parsed(fleet.scrape([node()], [], injected("xid:79"), 990.0 + 301))
    assert [value for _, value in samples["DCGM_EXP_XID_ERRORS_COUNT"]] == [0, 0]
    assert values(samples, "XID_ERRORS") == {"0": 0, "1": 79}


@pytest.mark.parametrize(
    ("fault", "metric", "value"),
    [
        ("ecc:dbe", "ECC_DBE_VOL_TOTAL", 1),
        ("row-remap:rows", "UNCORRECTABLE_REMAPPED_ROWS", 1),
        ("row-remap:pending", "ROW_REMAP_PENDING", 1),
        ("row-remap:failure", "ROW_REMAP_FAILURE", 1),
        ("thermal", "GPU_TEMP", 92),
    ],
)
def test_a_fault_shows_in_its_metric_of_its_gpu_only(fault: str, metric: str, value: float) -> None:
    healthy = values(scrape(), metric)
    assert values(scrape(faults=injected(fault)), metric) == {**healthy, "1": value}


@pytest.mark.parametrize(
    ("fault", "metric", "rise"),
    [
        ("ecc:sbe", "ECC_SBE_VOL_TOTAL", 15),
        ("nvlink:crc", "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", 15),
        ("nvlink:replay", "NVLINK_REPLAY_ERROR_COUNT_TOTAL", 15),
        ("nvlink:recovery", "NVLINK_RECOVERY_ERROR_COUNT_TOTAL", 15),
        ("thermal", "THERMAL_VIOLATION", 15e9),
        ("power", "POWER_VIOLATION", 15e9),
    ],
)
def test_a_counted_fault_rises_while_it_lasts_and_stays_when_it_ends(
    fault: str, metric: str, rise: float
) -> None:
    fleet = Fleet()
    fleet.scrape([node()], [], {}, 1000.0)
    lasting = parsed(fleet.scrape([node()], [], injected(fault), 1015.0))
    over = parsed(fleet.scrape([node()], [], {}, 1030.0))
    assert values(lasting, metric) == values(over, metric) == {"0": 0, "1": rise}


def test_energy_is_what_power_adds_up_to() -> None:
    fleet = Fleet()
    fleet.scrape([node()], [], {}, 1000.0)
    samples = parsed(fleet.scrape([node()], [], {}, 1010.0))
    assert values(samples, "TOTAL_ENERGY_CONSUMPTION") == {"0": 600_000, "1": 600_000}  # 60 W, 10 s, mJ


def test_low_utilisation_shows_only_where_a_pod_holds_the_gpu() -> None:
    assert values(scrape(pods=(pod("1", 2),), faults=injected("utilisation:10")), "GPU_UTIL") == {
        "0": 95,
        "1": 10,
    }
    assert values(scrape(faults=injected("utilisation:10")), "GPU_UTIL") == {"0": 0, "1": 0}


def test_no_nvlink_traffic_although_the_gpu_works() -> None:
    samples = scrape(pods=(pod("1", 2),), faults=injected("nvlink:bandwidth"))
    assert values(samples, "NVLINK_BANDWIDTH_TOTAL") == {"0": 190_000, "1": 0}


def test_a_missing_gpu_says_nothing() -> None:
    samples = scrape(faults=injected("missing"))
    assert {labels["gpu"] for found in samples.values() for labels, _ in found} == {"0"}


@pytest.mark.parametrize("name", ["xid:79", "ecc:dbe", "utilisation:0", "utilisation:100", "missing"])
def test_faults_that_can_be_injected(name: str) -> None:
    assert is_fault(name)


@pytest.mark.parametrize("name", ["xid", "xid:0", "xid:201", "xid:-1", "xid:²", "utilisation:101", "ecc", ""])
def test_what_is_no_fault(name: str) -> None:
    assert not is_fault(name)


@pytest.mark.parametrize("value", ["", "no json", "[]", '{"no-fault": 1}', '{"ecc:dbe": "yesterday"}'])
def test_a_broken_entry_ends_nothing(value: str) -> None:
    assert faults_of({"n.0": value}, "n", 0) == ()


def test_a_node_that_says_too_little_is_left_out() -> None:
    assert node_of({"metadata": {"name": "plain"}}) is None
