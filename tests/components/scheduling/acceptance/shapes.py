"""Pools and outputs the tests of acceptance share."""

from pathlib import Path
from typing import Any

from components.scheduling.acceptance import AcceptanceResult, AcceptanceTest, Subject, judge

DATA = Path(__file__).parent / "data"
WHEN = "2026-11-30T12:00:00+00:00"


def recorded(name: str) -> str:
    return (DATA / name).read_text()


def pool(**changes: Any) -> Subject:
    values: dict[str, Any] = {
        "pool": "h100",
        "gpu": "h100-80",
        "fabric": "infiniband-ndr",
        "nodes": 1,
        "gpus_per_node": 8,
        "together": 2,
        "simulated": False,
    }
    return Subject(**(values | changes))


def judged(test: AcceptanceTest, text: str, **changes: Any) -> AcceptanceResult:
    return judge(test, text, pool(**changes), WHEN)
