"""Thresholds, XIDs and prices: values written by hand from the sources their rows name."""

import datetime

import pytest

from components.catalog import (
    BOARD_PRICES,
    FABRICS,
    GPUS,
    INSTANCES,
    PRICES,
    THRESHOLDS,
    XIDS,
    Confidence,
    Market,
    Metric,
    UnknownKeyError,
    XidClass,
    all_reduce_threshold,
    port_threshold,
    quote,
    xid_class,
)
from components.catalog.xids import ACTIONS

TODAY = datetime.date(2026, 11, 30)
MIB, GIB = 2**20, 2**30


@pytest.mark.parametrize(
    ("gpu", "fabric", "nodes", "message_bytes", "minimum"),
    [
        ("a100-40", None, 1, 16 * GIB, 228),
        ("a100-80", None, 1, 8 * GIB, 185),
        ("h100-80", None, 1, 16 * GIB, 460),
        ("h100-80", None, 1, 8 * GIB, 420),
        ("h100-80", None, 1, 256 * MIB, None),  # too small to be judged by
        ("h200", None, 1, 16 * GIB, 440),
        ("b200", None, 1, 16 * GIB, 440),
        ("b300", None, 1, 16 * GIB, 800),
        ("a100-40", "efa-v1", 2, 2 * GIB, 26),
        ("a100-80", "efa-v1", 2, 2 * GIB, 70.2),  # 78 measured
        ("h100-80", "efa-v2", 2, 128 * MIB, 260.1),  # 289 measured
        ("h100-80", "efa-v2", 2, 2 * GIB, 398.7),  # 443 measured
        ("h100-80", "efa-v2", 2, 3 * GIB, 398.7),
        ("h100-80", "efa-v2", 2, 4 * GIB, 418.5),  # 465 measured
        ("h100-80", "efa-v2", 2, 16 * GIB, 438.3),  # 487 measured
        ("h100-80", "efa-v2", 8, 16 * GIB, 300),
        ("h100-80", "infiniband-ndr", 4, 16 * GIB, 100),
        ("h100-80", "infiniband-ndr", 1, 16 * GIB, 460),  # one node: the fabric does not matter
        ("h100-80", "ethernet-100", 2, 16 * GIB, None),
        ("l4", None, 1, 16 * GIB, None),
    ],
)
def test_all_reduce(
    gpu: str, fabric: str | None, nodes: int, message_bytes: int, minimum: float | None
) -> None:
    found = all_reduce_threshold(gpu, fabric=fabric, nodes=nodes, message_bytes=message_bytes)
    assert (found.minimum if found else None) == minimum


def test_ports() -> None:
    found = {
        (metric.value, fabric): row.minimum
        for metric in Metric
        for fabric in FABRICS
        if (row := port_threshold(metric, fabric))
    }
    assert found == {
        ("rdma-port", "infiniband-hdr"): 185,
        ("rdma-port", "infiniband-ndr"): 375,
        ("nccl-loopback", "infiniband-hdr"): 18,
        ("nccl-loopback", "infiniband-ndr"): 40,
    }


def test_thresholds_stay_below_what_the_hardware_can_do() -> None:
    for row in THRESHOLDS.values():
        assert row.gpu is None or row.gpu in GPUS
        if row.metric is Metric.RDMA_PORT and row.fabric:
            assert row.value < FABRICS[row.fabric].port_gbit_per_second
        if row.metric is Metric.ALL_REDUCE and row.gpu and row.fabric is None:
            # All-reduce bus bandwidth is one way; NVSwitch reduction reaches a little more than half of both.
            assert row.value < 0.55 * GPUS[row.gpu].nvlink_gb_per_second
    # The figure often asked of eight A100 fails healthy ones.
    assert all(row.value < 280 for row in THRESHOLDS.values() if row.gpu in {"a100-40", "a100-80"})


# NVIDIA's catalogue, and the table operators of public reference systems act on.
BY_CLASS = {
    XidClass.ISOLATE: {54},
    XidClass.REBOOT: {79, 151, 168},
    XidClass.RESET: {46, 48, 62, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158, 171, 172},
    XidClass.MONITOR: {144, 145, 146, 147, 148, 149, 150, 159},
    XidClass.SUPPORT: {78, 142, 165, 166, 167, 169, 170},
    XidClass.INFORMATION: {
        37,
        38,
        43,
        44,
        45,
        63,
        66,
        67,
        92,
        93,
        106,
        107,
        121,
        137,
        141,
        152,
        153,
        154,
        157,
    }
    | {160, 161, 162, 163, 164},
}


def test_xids_that_are_not_the_applications_are_exactly_these() -> None:
    for name, numbers in BY_CLASS.items():
        assert {row.number for row in XIDS.values() if row.xid_class is name} == numbers, name


def test_xids_of_the_application_include_the_common_ones() -> None:
    application = {row.number for row in XIDS.values() if row.xid_class is XidClass.APPLICATION}
    assert {13, 31, 32, 94, 126, 135} <= application
    assert len(application) == 109 - sum(len(numbers) for numbers in BY_CLASS.values())


def test_an_xid_says_what_happened_and_what_to_do() -> None:
    row = XIDS["xid-79"]
    assert (row.number, row.meaning, row.drains) == (79, "GPU has fallen off the bus", True)
    assert row.action == "Drain the node and restart it, run dcgmi diag -r 3; if it returns, repair."
    assert not XIDS["xid-31"].drains
    assert XIDS["xid-126"].meaning == "copy engine 10 error"
    assert XIDS["xid-135"].meaning == "copy engine 19 error"
    assert set(ACTIONS) == set(XidClass)
    assert all(row.key == f"xid-{row.number}" and row.meaning for row in XIDS.values())


@pytest.mark.parametrize(
    ("number", "gpu", "mig", "found"),
    [
        (95, "a100-80", False, XidClass.REBOOT),
        (64, "a100-40", False, XidClass.REBOOT),
        (95, "a100-80", True, XidClass.RESET),
        (95, "h100-80", False, XidClass.RESET),
        (48, "a100-80", False, XidClass.RESET),
        (79, "h100-80", False, XidClass.REBOOT),
    ],
)
def test_an_a100_without_mig_cannot_contain_memory_errors(
    number: int, gpu: str, mig: bool, found: XidClass
) -> None:
    assert xid_class(number, gpu=gpu, mig=mig) is found


def test_unused_xids_are_unknown() -> None:
    with pytest.raises(UnknownKeyError, match="unknown XID 'xid-1'"):
        xid_class(1, gpu="h100-80")


@pytest.mark.parametrize(
    ("instance", "usd"),
    [
        ("p5.48xlarge", 55.04),
        ("p5en.48xlarge", 63.296),
        ("p4d.24xlarge", 21.957642),
        ("p4de.24xlarge", 27.44705),
        ("p6-b200.48xlarge", 113.9328),
        ("g5.xlarge", 1.006),
        ("g6.48xlarge", 13.3504),
        ("g6e.48xlarge", 30.13118),
        ("g4dn.xlarge", 0.526),
    ],
)
def test_on_demand_prices(instance: str, usd: float) -> None:
    found = quote(instance, Market.ON_DEMAND, today=TODAY)
    assert (found.usd_per_hour, found.confidence, found.age_days) == (usd, Confidence.LIST, 133)
    assert str(found) == f"{usd:.2f} USD/h (list, 2026-07-20)"


@pytest.mark.parametrize(
    ("instance", "market", "region"),
    [
        ("p5e.48xlarge", Market.ON_DEMAND, "us-east-1"),  # sold by Capacity Block only
        ("p5.48xlarge", Market.ON_DEMAND, "eu-central-1"),
        ("p5.48xlarge", Market.SPOT, "us-east-1"),
        ("nothing", Market.ON_DEMAND, "us-east-1"),
    ],
)
def test_what_has_no_price_is_unpriced_and_never_free(instance: str, market: Market, region: str) -> None:
    found = quote(instance, market, today=TODAY, region=region)
    assert (found.usd_per_hour, found.confidence, str(found)) == (None, Confidence.UNPRICED, "unpriced")


def test_old_prices_are_stale() -> None:
    block = quote("p5e.48xlarge", Market.CAPACITY_BLOCK, today=TODAY, region="us-east-2")
    assert (block.usd_per_hour, block.confidence) == (43.26, Confidence.STALE)
    last = datetime.date(2026, 7, 20) + datetime.timedelta(days=180)
    assert quote("g6.xlarge", Market.ON_DEMAND, today=last).confidence is Confidence.LIST
    late = last + datetime.timedelta(days=1)
    assert quote("g6.xlarge", Market.ON_DEMAND, today=late).confidence is Confidence.STALE


def test_every_price_is_of_a_known_thing_and_above_zero() -> None:
    assert {row.instance for row in PRICES.values()} == set(INSTANCES)
    assert all(row.usd_per_hour > 0 and row.max_age_days > 0 for row in PRICES.values())
    assert {key: row.usd for key, row in BOARD_PRICES.items()} == {
        "h100-80": 30_000,
        "h200": 32_000,
        "b300": 45_000,
        "l40s": 8_500,
        "t4": 2_000,
    }
    assert set(BOARD_PRICES) <= set(GPUS)
