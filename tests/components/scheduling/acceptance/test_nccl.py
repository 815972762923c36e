"""nccl-tests outputs, recorded ones and what goes wrong with them."""

from typing import Any

import pytest

from components.scheduling.acceptance import AcceptanceTest, Verdict
from tests.components.scheduling.acceptance.shapes import WHEN, judged, recorded

INTRA, INTER = AcceptanceTest.NCCL_INTRA, AcceptanceTest.NCCL_INTER
# The recorded run ends at 2 GiB; the threshold holds at 16 GiB, the row NVLink's full rate is reached by.
ROW = (
    "  2147483648     536870912     float     sum      -1   7983.5  268.99  470.73      0"
    "   7985.2  268.93  470.63      0\n"
)
LARGE = (
    "  17179869184    4294967296     float     sum      -1  31934.0  268.99  {out}      {wrong}"
    "  31940.8  268.93  {into}      0\n"
)


def run(out: str = "470.73", into: str = "470.63", wrong: str = "0") -> str:
    """The recorded run with a row of 16 GiB more."""
    return recorded("nccl-h100.txt").replace(ROW, ROW + LARGE.format(out=out, into=into, wrong=wrong))


def test_a_sound_run_is_accepted_and_the_record_is_whole() -> None:
    result = judged(INTRA, "NCCL version 2.26.2+cuda12.8\n" + run())
    assert result.as_dict() == {
        "test": "nccl-intra",
        "pool": "h100",
        "nodes": 1,
        "gpus_per_node": 8,
        "measured": {"message_bytes": 17179869184.0, "runs": 1.0, "bus_gb_per_second": 470.63},
        "threshold": {
            "value": 460,
            "unit": "GB/s bus bandwidth",
            "source": "https://github.com/Azure/azurehpc-health-checks/blob/main/conf/nd96isr_h100_v5.conf",
            "message_bytes": 17179869184,
        },
        "verdict": "accepted",
        "reason": "470.63 GB/s at 17179869184 bytes, at least 460",
        "versions": {"nccl": "2.26.2+cuda12.8"},
        "when": WHEN,
    }


BAD = {
    "slow out of place": (run(out="459.99"), Verdict.REJECTED, "459.99 GB/s at 17179869184 bytes, below 460"),
    "slow in place": (run(into="370.10"), Verdict.REJECTED, "370.1 GB/s at 17179869184 bytes, below 460"),
    "no number": (run(out="nan"), Verdict.REJECTED, "a bandwidth that is no number"),
    "infinite": (run(into="inf"), Verdict.REJECTED, "a bandwidth that is no number"),
    "wrong values": (run(wrong="3"), Verdict.REJECTED, "wrong values in the result"),
    "out of bounds": (run().replace("values : 0 OK", "values : 2 FAILED"), Verdict.REJECTED, "wrong values"),
    "a GPU missing": (
        "".join(line for line in run().splitlines(keepends=True) if "Rank  7" not in line),
        Verdict.REJECTED,
        "7 GPUs instead of 8",
    ),
    "cut before the summary": (run().partition("# Out of")[0], Verdict.NOT_JUDGED, "ends before its summary"),
    "cut in a row": (run().rpartition("470.63")[0] + "470", Verdict.NOT_JUDGED, "a row is cut off"),
    "no message of that size": (
        recorded("nccl-h100.txt"),
        Verdict.NOT_JUDGED,
        "not every run has a message of",
    ),
    "empty": ("", Verdict.NOT_JUDGED, "no run of nccl-tests"),
    "another program": ("all_reduce_perf: not found\n", Verdict.NOT_JUDGED, "no run of nccl-tests"),
    "one node more": (run() + run(), Verdict.NOT_JUDGED, "2 runs instead of 1"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_what_is_not_sound_is_never_accepted(case: tuple[str, Verdict, str]) -> None:
    text, verdict, reason = case
    result = judged(INTRA, text)
    assert (result.verdict, reason in result.reason) == (verdict, True), result.reason


def test_the_worst_node_decides_and_every_node_must_report() -> None:
    two = run() + run(into="461.00")
    assert judged(INTRA, two, nodes=2).measured["bus_gb_per_second"] == 461.0
    assert judged(INTRA, two, nodes=2).verdict is Verdict.ACCEPTED
    assert judged(INTRA, run() + run(into="440.0"), nodes=2).verdict is Verdict.REJECTED
    assert judged(INTRA, run(), nodes=2).reason == "1 runs instead of 2"


def test_a_failure_of_nccl_is_told_in_its_own_words() -> None:
    result = judged(INTRA, recorded("nccl-failure.txt"), gpus_per_node=4)
    assert result.verdict is Verdict.REJECTED
    assert result.reason == "fastmoe: Test NCCL failure common.cu:777 'unhandled system error'"


def mpi(**changes: Any) -> Any:
    text = recorded("nccl-mpi-two-hosts.txt").replace("268435456      67108864", "17179869184    4294967296")
    return judged(INTER, text, **({"gpu": "a10g", "gpus_per_node": 1} | changes))


def test_a_run_over_two_hosts_is_judged_by_the_settings_figure() -> None:
    result = mpi(floors={INTER: 3.1})
    assert (result.verdict, result.measured["bus_gb_per_second"]) == (Verdict.ACCEPTED, 3.13)
    assert result.threshold is not None
    assert (result.threshold.source, result.threshold.value) == ("settings", 3.1)
    assert result.versions == {"nccl-tests": "2.18.0", "nccl": "22907"}
    assert mpi(floors={INTER: 3.14}).verdict is Verdict.REJECTED


def test_without_a_figure_nothing_is_accepted() -> None:
    result = mpi()
    assert result.verdict is Verdict.NOT_JUDGED
    assert "no threshold, neither published nor in the settings" in result.reason
    assert result.threshold is None


def test_gpus_of_one_node_do_not_stand_for_two() -> None:
    assert mpi(floors={INTER: 3.0}, together=1, gpus_per_node=2).reason == "2 nodes instead of 1"


def test_our_own_all_reduce_reads_the_same() -> None:
    text = recorded("all-reduce-gloo.txt").replace("4194304       1048576", "17179869184    4294967296")
    result = judged(INTER, text, gpus_per_node=1, floors={INTER: 0.9})
    assert (result.verdict, result.measured["bus_gb_per_second"]) == (Verdict.ACCEPTED, 0.96)
    assert result.versions["torch"] == "1.13.0a0"


def test_prefixes_of_kubectl_do_not_matter() -> None:
    text = "\n".join(f"[pod/acceptance-nccl-intra-x-0-abcde/test] {line}" for line in run().splitlines())
    assert judged(INTRA, text).verdict is Verdict.ACCEPTED
