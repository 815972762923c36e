"""Output of nccl-tests and of our own all-reduce, which writes the same table."""

import math
import re
from dataclasses import dataclass

from components.scheduling.acceptance.result import Finding, Floor, OutputError, settle
from components.scheduling.acceptance.text import lines

_BEGIN = re.compile(r"^\s*#?\s*nThread \d+ nGpus \d+")
_RANK = re.compile(r"^\s*#\s+Rank\s+\d+\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device")
_AVERAGE = re.compile(r"^\s*#\s*Avg bus bandwidth\s*:")
_WRONG = re.compile(r"^\s*#\s*Out of bounds values\s*:\s*(\d+)\s*(OK|FAILED)")
_FAILURE = re.compile(r"Test (NCCL|CUDA) failure|Test failure|NCCL failure|Cuda failure", re.IGNORECASE)
_VERSIONS = {
    "nccl-tests": re.compile(r"nccl-tests version (\S+)"),
    "nccl": re.compile(r"(?:NCCL version |nccl-library=|backend nccl nccl )(\S+)"),
    "torch": re.compile(r"^# torch (\S+)"),
}
# size count type redop [root], then time algbw busbw wrong, twice. Versions before 2.12 have no root.
_WORDS, _WORDS_WITH_ROOT = 12, 13
_TAIL = 8


@dataclass(frozen=True, kw_only=True)
class NcclRow:
    """One message size.

    Args:
        size_bytes: Message size.
        bus_gb_per_second: The lower bus bandwidth of out of place and in place, GB/s; NaN where one is no
            number.
        wrong: Wrong elements.
    """

    size_bytes: int
    bus_gb_per_second: float
    wrong: int


@dataclass(frozen=True, kw_only=True)
class NcclTable:
    """One run.

    Args:
        hosts: Host of each rank.
        rows: Message sizes in order.
        wrong: Wrong values by the run's own count.
        complete: The run reached its summary.
        failures: Lines that tell a failure.
    """

    hosts: tuple[str, ...]
    rows: tuple[NcclRow, ...]
    wrong: int
    complete: bool
    failures: tuple[str, ...]


def parse_nccl(text: str) -> tuple[NcclTable, ...]:
    """Every run in an output; logs of several nodes stand one after the other.

    Raises:
        OutputError: There is no run in it, or a row is cut off.
    """
    parts: list[list[str]] = []
    before: list[str] = []
    for line in lines(text):
        if _BEGIN.match(line):
            parts.append([])
        (parts[-1] if parts else before).append(line)
    failures = [line.strip() for line in before if _FAILURE.search(line)]
    if not parts:
        raise OutputError(failures[0] if failures else "no run of nccl-tests in the output")
    return tuple(_table(part) for part in parts)


def nccl_versions(text: str) -> dict[str, str]:
    """Versions an output names."""
    clean = "\n".join(lines(text))
    found = {name: re.search(pattern.pattern, clean, re.MULTILINE) for name, pattern in _VERSIONS.items()}
    return {name: match.group(1) for name, match in found.items() if match}


def _table(part: list[str]) -> NcclTable:
    wrong = [int(match.group(1)) for line in part if (match := _WRONG.match(line))]
    failed = [line.strip() for line in part if _FAILURE.search(line)]
    rows = [line for line in part if re.match(r"^\s*\d+\s+\d+\s+[a-z]", line)]
    # A row that lost its last word looks like one of an old version; the head and the other rows tell.
    rooted = any(re.match(r"^\s*#\s+size\s.*\sroot\s", line) for line in part)
    rooted = rooted or any(len(row.split()) == _WORDS_WITH_ROOT for row in rows)
    return NcclTable(
        hosts=tuple(match.group(1) for line in part if (match := _RANK.match(line))),
        rows=tuple(_row(row, _WORDS_WITH_ROOT if rooted else _WORDS) for row in rows),
        wrong=sum(wrong),
        complete=any(_AVERAGE.match(line) for line in part),
        failures=tuple(failed),
    )


def _row(line: str, length: int) -> NcclRow:
    words = line.split()
    if len(words) != length:
        raise OutputError(f"a row is cut off: {line.strip()!r}")
    tail = words[-_TAIL:]
    rates = [float(word) for word in (tail[2], tail[6]) if word != "N/A"]
    # Old versions write the largest relative error where new ones count wrong elements.
    wrong = sum(int(word) for word in (tail[3], tail[7]) if word.isdigit())
    lowest = min(rates) if rates and all(map(math.isfinite, rates)) else math.nan
    return NcclRow(size_bytes=int(words[0]), bus_gb_per_second=lowest, wrong=wrong)


def judge_nccl(text: str, floor: Floor | None, *, runs: int, nodes: int, gpus_per_node: int) -> Finding:
    """Judge an output: every run whole, on the GPUs it should have, right and fast enough.

    Args:
        text: The output.
        floor: Least bus bandwidth; None leaves a sound output unjudged.
        runs: Runs there should be, one for each node, or one over all.
        nodes: Nodes of each run.
        gpus_per_node: GPUs of each node.

    Raises:
        OutputError: The output can't be read.
    """
    tables = parse_nccl(text)
    size = floor.message_bytes if floor else max((row.size_bytes for row in tables[0].rows), default=0)
    rates = [row.bus_gb_per_second for table in tables for row in table.rows if row.size_bytes == size]
    lowest = min(rates) if rates and all(map(math.isfinite, rates)) else None
    measured = {"message_bytes": float(size), "runs": float(len(tables))}
    if lowest is not None:
        measured["bus_gb_per_second"] = lowest
    verdict, reason = settle(
        fault=next((why for table in tables if (why := _fault(table, nodes, gpus_per_node))), None),
        gap=_gap(tables, runs, size),
        value=lowest,
        floor=floor,
        words=f"GB/s at {size} bytes",
    )
    return Finding(verdict=verdict, reason=reason, measured=measured, versions=nccl_versions(text))


def _gap(tables: tuple[NcclTable, ...], runs: int, size: int) -> str | None:
    """What the output lacks."""
    if not all(table.complete for table in tables):
        return "a run ends before its summary"
    if len(tables) != runs:
        return f"{len(tables)} runs instead of {runs}"
    if any(size not in [row.size_bytes for row in table.rows] for table in tables):
        return f"not every run has a message of {size} bytes"
    return None


def _fault(table: NcclTable, nodes: int, gpus_per_node: int) -> str | None:
    """What shows that the hardware or the run is not sound."""
    ranks, hosts = len(table.hosts), set(table.hosts)
    if table.failures:
        return table.failures[0]
    if ranks != nodes * gpus_per_node:
        return f"{ranks} GPUs instead of {nodes * gpus_per_node}"
    if len(hosts) != nodes:
        return f"{len(hosts)} nodes instead of {nodes}"
    if table.wrong or any(row.wrong for row in table.rows):
        return "wrong values in the result"
    # Small messages round to 0.00 GB/s; NaN and infinity never come from a measured time.
    if any(not math.isfinite(row.bus_gb_per_second) for row in table.rows):
        return "a bandwidth that is no number"
    return None
