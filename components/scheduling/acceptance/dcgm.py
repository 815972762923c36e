"""Output of `dcgmi diag`, as JSON and as a table, of DCGM 3 and 4."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.scheduling.acceptance.result import Finding, OutputError, Verdict
from components.scheduling.acceptance.text import json_documents, lines, listed

# DCGM 3 and 4.
_ROOTS = ("DCGM GPU Diagnostic", "DCGM Diagnostic")
# What a level must have run to prove anything; names of DCGM 4, under which those of 3 are put.
REQUIRED: Mapping[int, tuple[str, ...]] = {
    1: (),
    2: ("memory", "pcie"),
    3: ("memory", "pcie", "diagnostic", "memory_bandwidth", "targeted_stress", "targeted_power"),
}
_SAME = {"gpu_memory": "memory"}
_ROW = re.compile(r"^[|] (?P<name>.{25}) [|] (?P<value>.*?) *[|]$")
_STATUS = re.compile(r"^(?:GPU\s?\d+: )?(Pass|Fail|Warn|Skip)\b(?:\s+-\s+(.*))?$")
_METADATA = {"DCGM Version": "dcgm", "Driver Version Detected": "driver"}
_DEVICES = "GPU Device IDs Detected"
_ENTITY = re.compile(r"^GPU\s?(\d+):")
_BAD = ("fail", "warn")


@dataclass(frozen=True, kw_only=True)
class DcgmReport:
    """One diagnostic of one node.

    Args:
        gpus: GPUs it saw; None where it doesn't say.
        statuses: Test → its worst status: ``fail``, ``warn``, ``skip``, ``pass``.
        notes: What it says about failures.
        versions: Software → version.
    """

    gpus: int | None
    statuses: Mapping[str, str]
    notes: tuple[str, ...]
    versions: Mapping[str, str]


def parse_dcgm(text: str) -> tuple[DcgmReport, ...]:
    """Every diagnostic in an output, whichever form.

    Raises:
        OutputError: There is none, or one is cut off.
    """
    if any(line.startswith("{") for line in lines(text)):
        reports = tuple(_from_json(document) for document in json_documents(text))
    else:
        reports = tuple(_from_table(part) for part in _tables(text))
    if not reports:
        first = next((line for line in lines(text) if line), "the output is empty")
        raise OutputError(f"no diagnostic in the output: {first}")
    return reports


def judge_dcgm(text: str, level: int, *, nodes: int, gpus_per_node: int) -> Finding:
    """Judge an output: every node, all its GPUs, everything the level stands for run and passed.

    Raises:
        OutputError: The output can't be read.
    """
    reports = parse_dcgm(text)
    counts = Counter(status for report in reports for status in report.statuses.values())
    measured = {f"tests_{status}": float(counts[status]) for status in ("pass", "fail", "warn", "skip")}
    measured["nodes"] = float(len(reports))

    fault = next((why for report in reports if (why := _fault(report, gpus_per_node))), None)
    gap = f"{len(reports)} nodes instead of {nodes}" if len(reports) != nodes else None
    gap = gap or next((why for report in reports if (why := _gap(report, level))), None)
    verdict, reason = Verdict.ACCEPTED, f"all tests of level {level} passed on {nodes} nodes"
    if fault or gap:
        verdict, reason = (Verdict.REJECTED, fault) if fault else (Verdict.NOT_JUDGED, gap or "")
    return Finding(verdict=verdict, reason=reason, measured=measured, versions=reports[0].versions)


def _fault(report: DcgmReport, gpus_per_node: int) -> str | None:
    bad = sorted(name for name, status in report.statuses.items() if status in _BAD)
    if bad:
        return f"{', '.join(bad)} failed" + (f": {report.notes[0]}" if report.notes else "")
    if report.gpus is not None and report.gpus != gpus_per_node:
        return f"{report.gpus} GPUs instead of {gpus_per_node}"
    return None


def _gap(report: DcgmReport, level: int) -> str | None:
    if report.gpus is None:
        return "it doesn't say how many GPUs it saw"
    missing = [name for name in REQUIRED[level] if report.statuses.get(name) != "pass"]
    if missing or "pass" not in report.statuses.values():
        return f"skipped or not run at level {level}: {', '.join(missing) or 'every test'}"
    return None


def _name(name: str) -> str:
    """`GPU Memory` → ``memory``, the way DCGM 4 writes names."""
    plain = re.sub(r"\W+", "_", name.strip().lower()).strip("_")
    return _SAME.get(plain, plain)


def _worst(statuses: list[str]) -> str:
    found = {status.lower() for status in statuses}
    return next((status for status in ("fail", "warn", "pass", "skip") if status in found), "skip")


def _from_json(document: Mapping[str, Any]) -> DcgmReport:
    root = next((document[name] for name in _ROOTS if isinstance(document.get(name), dict)), None)
    if root is None:
        raise OutputError("JSON without a DCGM diagnostic")
    if root.get("runtime_error"):
        raise OutputError(str(root["runtime_error"]))
    tests = [test for group in listed(root.get("test_categories")) for test in listed(group.get("tests"))]
    if not tests:
        raise OutputError("a DCGM diagnostic without tests")
    results = [result for test in tests for result in listed(test.get("results"))]
    meta = {**root, **document.get("metadata", {})}
    versions = {ours: str(meta[theirs]) for theirs, ours in _METADATA.items() if theirs in meta}
    if "dcgm" not in versions and "version" in meta:
        versions["dcgm"] = str(meta["version"])
    return DcgmReport(
        gpus=_json_gpus(document, meta, results),
        statuses={_name(str(test.get("name"))): _json_status(test) for test in tests},
        notes=tuple(note for result in results for note in _notes(result.get("warnings"))),
        versions=versions,
    )


def _json_status(test: Mapping[str, Any]) -> str:
    statuses = [str(result.get("status", "")) for result in listed(test.get("results"))]
    summary = test.get("test_summary")
    return _worst([*statuses, str(summary.get("status", ""))] if isinstance(summary, dict) else statuses)


def _json_gpus(
    document: Mapping[str, Any], meta: Mapping[str, Any], results: list[Mapping[str, Any]]
) -> int | None:
    for group in listed(document.get("entity_groups")):
        if group.get("entity_group") == "GPU":
            return len(listed(group.get("entities")))
    for key in ("GPU Device IDs", _DEVICES):
        if isinstance(meta.get(key), list):
            return len(meta[key])
    seen = {
        str(one["entity_id"]) for one in results if one.get("entity_group") == "GPU" and "entity_id" in one
    }
    for one in results:
        seen.update(
            part.strip() for part in str(one.get("gpu_ids", one.get("gpu_id", ""))).split(",") if part
        )
    return len(seen) or None


def _notes(warnings: object) -> list[str]:
    """DCGM 3 writes text, or lists of it; DCGM 4 objects with their error's number."""
    found = warnings if isinstance(warnings, list) else [warnings] if warnings else []
    return [str(one.get("warning", one)) if isinstance(one, dict) else str(one) for one in found]


def _tables(text: str) -> list[list[str]]:
    """Rows of each table; one that doesn't reach its last rule is cut off."""
    parts: list[list[str]] = []
    whole = True
    for line in lines(text):
        if line.startswith("+===="):
            if not whole:
                break
            parts.append([])
            whole = False
        elif line.startswith("+----") and not line.startswith("+-----  "):
            whole = True
        elif parts and line.startswith(("|", "+")):
            parts[-1].append(line)
    if not whole:
        raise OutputError("the table is cut off")
    return parts


def _from_table(part: list[str]) -> DcgmReport:
    statuses: dict[str, list[str]] = {}
    versions: dict[str, str] = {}
    gpus, entities, notes, current = None, set(), [], ""
    for match in (_ROW.match(line) for line in part):
        if match is None:
            continue
        name, value = match["name"].strip(), match["value"].strip()
        if name == _DEVICES:
            gpus = len([one for one in value.split(",") if one.strip()])
        elif name in _METADATA:
            versions[_METADATA[name]] = value
        elif status := _STATUS.match(value):
            current = name or current
            statuses.setdefault(_name(current), []).append(status[1])
            if entity := _ENTITY.match(value):
                entities.add(entity[1])
        elif name.startswith("Warning") or (name.startswith("GPU") and value):
            notes.append(value)
    if not statuses:
        raise OutputError("a table without tests")
    return DcgmReport(
        gpus=gpus if gpus is not None else len(entities) or None,
        statuses={name: _worst(found) for name, found in statuses.items()},
        notes=tuple(notes),
        versions=versions,
    )
