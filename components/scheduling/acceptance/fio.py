"""fio's JSON output, and that of our own storage probe, which has the same fields."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.scheduling.acceptance.result import Finding, Floor, OutputError, settle
from components.scheduling.acceptance.text import json_documents, listed, number


@dataclass(frozen=True, kw_only=True)
class FioRun:
    """All jobs of one run together.

    Args:
        read_gb_per_second: Read rate, GB/s; None where nothing was read.
        write_gb_per_second: Write rate, GB/s; None where nothing was written.
        error: Number of the first job's error, 0 without one.
        version: Version of the program.
    """

    read_gb_per_second: float | None
    write_gb_per_second: float | None
    error: int
    version: str


def parse_fio(text: str) -> tuple[FioRun, ...]:
    """Every run in an output.

    Raises:
        OutputError: There is none, or one is cut off.
    """
    runs = tuple(_run(document) for document in json_documents(text))
    if not runs:
        first = next((line for line in text.splitlines() if line.strip()), "the output is empty")
        raise OutputError(f"no JSON of fio in the output: {first.strip()}")
    return runs


def judge_fio(text: str, floor: Floor | None, *, writes: bool) -> Finding:
    """Judge an output by the rate of reading or writing.

    Args:
        text: The output.
        floor: Least rate, GB/s.
        writes: Judge writing, as checkpoints do; else reading.

    Raises:
        OutputError: The output can't be read.
    """
    runs = parse_fio(text)
    sides = {
        "read_gb_per_second": [run.read_gb_per_second for run in runs],
        "write_gb_per_second": [run.write_gb_per_second for run in runs],
    }
    known = {name: [rate for rate in found if rate is not None] for name, found in sides.items()}
    measured = {name: min(found) for name, found in known.items() if found and all(map(math.isfinite, found))}
    wanted, words = ("write_gb_per_second", "written") if writes else ("read_gb_per_second", "read")
    error = next((run.error for run in runs if run.error), 0)
    fault = f"a job ended with error {error}" if error else None
    if fault is None and not all(map(math.isfinite, known[wanted])):
        fault = "a rate that is no number"
    verdict, reason = settle(
        fault=fault,
        gap=None if len(known[wanted]) == len(runs) else f"nothing was {words}",
        value=measured.get(wanted),
        floor=floor,
        words=f"GB/s {words}",
    )
    return Finding(verdict=verdict, reason=reason, measured=measured, versions={"fio": runs[0].version})


def _run(document: Mapping[str, Any]) -> FioRun:
    jobs = listed(document.get("jobs"))
    if not jobs:
        raise OutputError("JSON without jobs of fio")
    errors = [int(number(job.get("error")) or 0) for job in jobs]
    return FioRun(
        read_gb_per_second=_rate(jobs, "read"),
        write_gb_per_second=_rate(jobs, "write"),
        error=next((error for error in errors if error), 0),
        version=str(document.get("fio version", "unknown")),
    )


def _rate(jobs: list[Mapping[str, Any]], direction: str) -> float | None:
    """Sum over jobs, GB/s; versions before 3.2 tell only KiB/s."""
    total, moved = 0.0, False
    for job in jobs:
        side = job.get(direction)
        if not isinstance(side, dict) or number(side.get("io_bytes")) in (None, 0.0):
            continue
        rate, kib = number(side.get("bw_bytes")), number(side.get("bw"))
        if rate is None and kib is None:
            continue
        total += rate if rate is not None else (kib or 0.0) * 1024
        moved = True
    return total / 1e9 if moved else None
