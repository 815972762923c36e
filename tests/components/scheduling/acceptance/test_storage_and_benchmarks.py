"""fio's JSON, the training program's log, and the rule that simulated pools are never accepted."""

import json
from typing import Any

import pytest

from components.scheduling.acceptance import AcceptanceTest, Verdict
from tests.components.scheduling.acceptance.shapes import judged, recorded

READ, WRITE = AcceptanceTest.STORAGE_DATASETS, AcceptanceTest.STORAGE_CHECKPOINTS
A, R, N = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.NOT_JUDGED
FIO, OLD = recorded("fio-3.39.json"), recorded("fio-3.1.json")
FULL = "fio: io_u error on file /mnt/target/simple-write.0.0: No space left on device: write offset=902\n"

STORAGE: dict[str, tuple[AcceptanceTest, str, float | None, Verdict, str]] = {
    "read": (READ, FIO, 2.5, A, "2.5 GB/s read, at least 2.5"),
    "read slow": (READ, FIO, 2.6, R, "2.5 GB/s read, below 2.6"),
    "written": (WRITE, FIO, 1.5, A, "1.5 GB/s written, at least 1.5"),
    "KiB/s of an old version": (WRITE, OLD, 1.0, A, "1.024 GB/s written"),
    "nothing read": (READ, OLD, 1.0, N, "nothing was read"),
    "no threshold": (READ, FIO, None, N, "2.5 GB/s read; no threshold"),
    "error": (READ, FULL + FIO.replace('"error": 0', '"error": 28', 1), 1.0, R, "a job ended with error 28"),
    "no number": (READ, FIO.replace('"bw_bytes": 1500000000', '"bw_bytes": NaN', 1), 1.0, R, "no number"),
    "cut": (READ, FIO[:300], 1.0, N, "cut off"),
    "words": (READ, FULL, 1.0, N, "no JSON of fio in the output: fio: io_u error"),
    "other JSON": (READ, "{}", 1.0, N, "without jobs"),
}


@pytest.mark.parametrize("case", STORAGE.values(), ids=STORAGE)
def test_storage(case: tuple[AcceptanceTest, str, float | None, Verdict, str]) -> None:
    test, text, floor, verdict, reason = case
    result = judged(test, text, floors={} if floor is None else {test: floor})
    assert (result.verdict, reason in result.reason) == (verdict, True), result.reason


def log(
    *losses: float,
    world: int = 16,
    device: str = "cuda",
    end: dict[str, Any] | None = None,
    rate: float = 9e4,
) -> str:
    """A log of the training program on two nodes of eight GPUs."""
    done = {"event": "end", "completed": True, "tokens_per_second_per_process": rate, "torch": "2.7.1+cu128"}
    start = {"event": "start", "world_size": world, "model": "gpt2", "device": device, "resumed_from_step": 0}
    steps = [{"event": "step", "step": n, "loss": loss} for n, loss in enumerate(losses, 1)]
    return "NCCL INFO x\n" + "".join(
        json.dumps(one) + "\n" for one in (start, *steps, done if end is None else end)
    )


NO_LOSS = {"event": "end", "completed": False, "loss": None, "reason": "the loss is not finite"}
LOGS: dict[str, tuple[str, Verdict, str]] = {
    "sound": (log(10.8, 9.1), A, "90000 tokens/s of one GPU, at least 80000"),
    "slow": (log(10.8, 9.1, rate=7e4), R, "70000 tokens/s of one GPU, below 80000"),
    "fifteen GPUs": (log(10.8, 9.1, world=15), R, "15 GPUs instead of 16"),
    "on CPUs": (log(10.8, 9.1, device="cpu"), R, "it ran on cpu"),
    "not learning": (log(10.8, 10.9), R, "the loss did not fall"),
    "NaN in a step": (log(10.8, float("nan")), R, "the loss is not finite"),
    "gave up": (log(10.8, end=NO_LOSS), R, "the loss is not finite"),
    "cut between lines": (
        log(10.8, 9.1).rpartition('{"event": "end"')[0],
        N,
        "ends before the training does",
    ),
    "cut in a line": (log(10.8, 9.1)[:-30], N, "cut off"),
    "no rate": (log(10.8, 9.1, rate=float("nan")), R, "below 80000"),
    "a traceback": ("Traceback (most recent call last):\n", N, "no log of the training program"),
}


@pytest.mark.parametrize("case", LOGS.values(), ids=LOGS)
def test_benchmarks(case: tuple[str, Verdict, str]) -> None:
    text, verdict, reason = case
    result = judged(AcceptanceTest.GPT2, text, floors={AcceptanceTest.GPT2: 8e4})
    assert (result.verdict, reason in result.reason) == (verdict, True), result.reason


GOOD = {
    AcceptanceTest.DCGM_2: recorded("dcgm3-table.txt"),
    READ: FIO,
    WRITE: FIO,
    AcceptanceTest.GPT2: log(10.8, 9.1),
    AcceptanceTest.NCCL_INTRA: recorded("nccl-h100.txt"),
}


@pytest.mark.parametrize("test", list(AcceptanceTest))
def test_a_simulated_pool_is_never_accepted_nor_rejected(test: AcceptanceTest) -> None:
    floors = {one: 1.0 for one in AcceptanceTest if not one.value.startswith("dcgm")}
    for text in (GOOD.get(test, "anything"), recorded("nccl-failure.txt"), ""):
        result = judged(test, text, simulated=True, floors=floors)
        assert (result.verdict.value, dict(result.measured)) == ("placement only", {})
