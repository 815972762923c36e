"""What a test of a pool came to; the record others keep and show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from components.scheduling.acceptance.kinds import AcceptanceTest


class Verdict(StrEnum):
    """What the output of a test proves.

    ``accepted``: all of it was measured and meets its threshold. ``rejected``: it shows a fault. ``not
    judged``: it proves neither, such as a truncated output or one without a threshold. ``placement only``:
    the nodes are simulated; whatever the output says, nothing was measured.
    """

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_JUDGED = "not judged"
    PLACEMENT_ONLY = "placement only"


class OutputError(Exception):
    """An output that can't be read to its end.

    Args:
        reason: What is wrong with it.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The least a test must reach.

    Args:
        value: The figure.
        unit: Its unit.
        source: Public address, or ``settings``.
        message_bytes: Message size it holds for; 0 where there is none.
    """

    value: float
    unit: str
    source: str
    message_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one judge made of an output, before it becomes a result."""

    verdict: Verdict
    reason: str
    measured: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def settle(
    *, fault: str | None, gap: str | None, value: float | None, floor: Floor | None, words: str
) -> tuple[Verdict, str]:
    """Verdict and reason from what an output shows.

    Args:
        fault: What shows a fault, if anything.
        gap: What it lacks to prove anything, if anything.
        value: The figure to compare.
        floor: Its least.
        words: What the figure is.
    """
    if fault is not None:
        return Verdict.REJECTED, fault
    if gap is not None or value is None:
        return Verdict.NOT_JUDGED, gap or f"no {words} in it"
    reached = f"{value:.6g} {words}"
    if floor is None:
        return Verdict.NOT_JUDGED, f"{reached}; no threshold, neither published nor in the settings"
    # Also false for a value that is no number.
    if value >= floor.value:
        return Verdict.ACCEPTED, f"{reached}, at least {floor.value:g}"
    return Verdict.REJECTED, f"{reached}, below {floor.value:g}"


@dataclass(frozen=True, kw_only=True)
class AcceptanceResult:
    """The result of one test of one pool.

    Args:
        test: The test.
        pool: Name of the pool.
        nodes: Nodes that should take part.
        gpus_per_node: GPUs of each.
        measured: Figure → value, units in the names; empty where nothing was.
        threshold: What it was compared with; None where the test judges itself or there is none.
        verdict: What the output proves.
        reason: Why, in words.
        versions: Software → version, as far as the output names it.
        when: Time of the judgement, ISO 8601 with offset.
    """

    test: AcceptanceTest
    pool: str
    nodes: int
    gpus_per_node: int
    measured: Mapping[str, float]
    threshold: Floor | None
    verdict: Verdict
    reason: str
    versions: Mapping[str, str]
    when: str

    def as_dict(self) -> dict[str, Any]:
        """The record in plain JSON values."""
        floor = self.threshold
        return {
            "test": self.test.value,
            "pool": self.pool,
            "nodes": self.nodes,
            "gpus_per_node": self.gpus_per_node,
            "measured": dict(self.measured),
            "threshold": None
            if floor is None
            else {
                "value": floor.value,
                "unit": floor.unit,
                "source": floor.source,
                "message_bytes": floor.message_bytes,
            },
            "verdict": self.verdict.value,
            "reason": self.reason,
            "versions": dict(self.versions),
            "when": self.when,
        }
