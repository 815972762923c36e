"""`dcgmi diag` outputs of DCGM 3 and 4, tables and JSON."""

from typing import Any

import pytest

from components.scheduling.acceptance import AcceptanceTest, Verdict
from tests.components.scheduling.acceptance.shapes import judged, recorded

ONE, TWO, THREE = AcceptanceTest.DCGM_1, AcceptanceTest.DCGM_2, AcceptanceTest.DCGM_3
A, R, N = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.NOT_JUDGED
TABLE, JSON = recorded("dcgm3-table.txt"), recorded("dcgm4-pass.json")
ERROR = "Error: unable to establish a connection to the specified host: nvidia-dcgm.gpu-operator:5555\n"

CASES: dict[str, tuple[AcceptanceTest, str, int, Verdict, str]] = {
    "table, level 1": (ONE, TABLE, 8, A, "all tests of level 1 passed on 1 nodes"),
    "table, level 2": (TWO, TABLE, 8, A, "all tests of level 2 passed on 1 nodes"),
    "level 2 is not level 3": (
        THREE,
        TABLE,
        8,
        N,
        "not run at level 3: diagnostic, memory_bandwidth, targeted",
    ),
    "table of seven GPUs": (TWO, TABLE.replace("20b2,20b2", "20b2", 1), 8, R, "7 GPUs instead of 8"),
    "cut table": (TWO, TABLE.partition("+-----  Stress")[0], 8, N, "the table is cut off"),
    "failed table": (
        TWO,
        recorded("dcgm3-fail-table.txt"),
        2,
        R,
        "memory failed: GPU 0 Error using CUDA API",
    ),
    "skipped table": (
        TWO,
        recorded("dcgm4-skip-table.txt"),
        1,
        N,
        "skipped or not run at level 2: memory, pcie",
    ),
    "JSON": (TWO, JSON, 2, A, "all tests of level 2 passed on 1 nodes"),
    "JSON, wrong GPUs": (TWO, JSON, 4, R, "2 GPUs instead of 4"),
    "JSON, text before it": (ONE, "Warning: x\n" + JSON, 2, A, "all tests of level 1"),
    "failed JSON": (
        ONE,
        recorded("dcgm4-fail.json"),
        2,
        R,
        "software failed: Persistence Mode: Persistence mode",
    ),
    "skipped JSON": (TWO, recorded("dcgm3-skip.json"), 1, N, "skipped or not run at level 2: memory, pcie"),
    "cut JSON": (ONE, JSON[: len(JSON) // 2], 2, N, "the JSON is cut off"),
    "no connection": (ONE, ERROR, 2, N, "unable to establish a connection"),
    "empty": (ONE, "", 2, N, "the output is empty"),
    "other JSON": (ONE, "{}", 2, N, "JSON without a DCGM diagnostic"),
    "runtime error": (ONE, '{"DCGM Diagnostic": {"runtime_error": "nvvs died"}}', 2, N, "nvvs died"),
    "no tests": (ONE, '{"DCGM Diagnostic": {"test_categories": []}}', 2, N, "without tests"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_output_proves_what_it_proves(case: tuple[AcceptanceTest, str, int, Verdict, str]) -> None:
    test, text, gpus, verdict, reason = case
    result = judged(test, text, gpus_per_node=gpus)
    assert (result.verdict, reason in result.reason) == (verdict, True), result.reason
    assert result.threshold is None


def test_what_it_measured_and_ran_on_is_kept() -> None:
    result = judged(TWO, TABLE)
    counts = {"tests_pass": 11.0, "tests_fail": 0.0, "tests_warn": 0.0, "tests_skip": 0.0, "nodes": 1.0}
    assert result.measured == counts
    assert result.versions == {"dcgm": "3.3.3", "driver": "535.104.12"}
    assert judged(TWO, JSON, gpus_per_node=2).versions == {"dcgm": "4.2.3", "driver": "570.148.08"}


@pytest.mark.parametrize(("text", "gpus"), [(TABLE, 8), (JSON, 2)], ids=["table", "JSON"])
def test_every_node_must_report(text: str, gpus: int) -> None:
    two: dict[str, Any] = {"nodes": 2, "gpus_per_node": gpus}
    assert judged(TWO, text + "\n" + text, **two).verdict is A
    assert judged(TWO, text, **two).reason == "1 nodes instead of 2"


def test_one_bad_node_rejects_the_pool() -> None:
    both = JSON + "\n" + recorded("dcgm4-fail.json")
    assert judged(TWO, both, nodes=2, gpus_per_node=2).verdict is R
