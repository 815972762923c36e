"""Log of the training program, one JSON object a line."""

import math
from collections.abc import Mapping
from typing import Any

from components.scheduling.acceptance.result import Finding, Floor, OutputError, settle
from components.scheduling.acceptance.text import json_documents, number


def judge_benchmark(text: str, floor: Floor | None, *, processes: int) -> Finding:
    """Judge a training's log: run to its end on all GPUs, loss finite and falling, fast enough.

    Args:
        text: The log of rank 0.
        floor: Least tokens per second of one GPU.
        processes: Processes there should be.

    Raises:
        OutputError: There is no such log in the text, or a line is cut off.
    """
    events = [one for one in json_documents(text) if "event" in one]
    if not events or events[0].get("event") != "start":
        raise OutputError("no log of the training program")
    losses = [number(one.get("loss")) for one in events if one["event"] == "step"]
    end = events[-1] if events[-1]["event"] == "end" else {}
    rate = number(end.get("tokens_per_second_per_process"))
    measured = {"steps": float(len(losses))}
    if rate is not None and math.isfinite(rate):
        measured["tokens_per_second_per_gpu"] = rate
    verdict, reason = settle(
        fault=_fault(events[0], end, losses, processes),
        gap=None if end else "the log ends before the training does",
        value=rate,
        floor=floor,
        words="tokens/s of one GPU",
    )
    versions = {"torch": str(end["torch"])} if "torch" in end else {}
    return Finding(verdict=verdict, reason=reason, measured=measured, versions=versions)


def _fault(
    start: Mapping[str, Any], end: Mapping[str, Any], losses: list[float | None], processes: int
) -> str | None:
    """What shows that the run is not sound."""
    if end and not end.get("completed"):
        return str(end.get("reason", "it ended early"))
    known = [loss for loss in losses if loss is not None]
    if len(known) < len(losses) or not all(map(math.isfinite, known)):
        return "the loss is not finite"
    if start.get("world_size") != processes:
        return f"{start.get('world_size')} GPUs instead of {processes}"
    if start.get("device") != "cuda":
        return f"it ran on {start.get('device')}, not on GPUs"
    if end and (len(known) < 2 or known[-1] >= known[0]):
        return "the loss did not fall"
    return None
