"""From the output of a test to its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from components.catalog import all_reduce_threshold
from components.scheduling.acceptance.benchmark import judge_benchmark
from components.scheduling.acceptance.dcgm import judge_dcgm
from components.scheduling.acceptance.fio import judge_fio
from components.scheduling.acceptance.kinds import (
    BENCHMARKS,
    DCGM_LEVELS,
    LARGEST_MESSAGE_BYTES,
    STORAGE,
    UNITS,
    AcceptanceTest,
)
from components.scheduling.acceptance.nccl import judge_nccl
from components.scheduling.acceptance.result import AcceptanceResult, Finding, Floor, OutputError, Verdict

_PUBLISHED_GPUS = 8


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The pool that is judged.

    Args:
        pool: Its name.
        gpu: Catalogue key of its GPU.
        fabric: Catalogue key of its fabric.
        nodes: Its nodes.
        gpus_per_node: GPUs of each.
        together: Nodes of the tests that span nodes.
        simulated: Nodes without hardware.
        floors: Test → least figure of the settings, in the unit of ``UNITS``; goes before the published one.
    """

    pool: str
    gpu: str
    fabric: str
    nodes: int
    gpus_per_node: int
    together: int
    simulated: bool
    floors: Mapping[AcceptanceTest, float] = field(default_factory=dict)


def floor_of(test: AcceptanceTest, subject: Subject) -> Floor | None:
    """What the test must reach: the settings' figure, else the published one, else None."""
    nccl = test in (AcceptanceTest.NCCL_INTRA, AcceptanceTest.NCCL_INTER)
    if test in subject.floors:
        size = LARGEST_MESSAGE_BYTES if nccl else 0
        return Floor(value=subject.floors[test], unit=UNITS[test], source="settings", message_bytes=size)
    # The published figures are of nodes with eight GPUs.
    if not nccl or subject.gpus_per_node != _PUBLISHED_GPUS:
        return None
    row = all_reduce_threshold(
        subject.gpu,
        fabric=subject.fabric,
        nodes=subject.together if test is AcceptanceTest.NCCL_INTER else 1,
        message_bytes=LARGEST_MESSAGE_BYTES,
    )
    if row is None:
        return None
    # A figure of a smaller message holds for the largest too: bandwidth grows with the message.
    return Floor(value=row.minimum, unit=UNITS[test], source=row.source, message_bytes=LARGEST_MESSAGE_BYTES)


def nodes_of(test: AcceptanceTest, subject: Subject) -> int:
    """Nodes that take part: the tests that span nodes a group, one client for storage, else every node."""
    if test in (AcceptanceTest.NCCL_INTER, *BENCHMARKS):
        return subject.together
    return 1 if test in STORAGE else subject.nodes


def judge(test: AcceptanceTest, text: str, subject: Subject, when: str) -> AcceptanceResult:
    """Judge the output of a test. On simulated nodes nothing is ever accepted or rejected.

    Args:
        test: The test.
        text: Its output: the log of its pods, one after the other.
        subject: The pool.
        when: Time of the judgement, ISO 8601.
    """
    floor = floor_of(test, subject)
    if subject.simulated:
        reason = "the nodes are simulated: nothing was measured, whatever the output says"
        finding = Finding(verdict=Verdict.PLACEMENT_ONLY, reason=reason)
    else:
        try:
            finding = _finding(test, text, subject, floor)
        except OutputError as error:
            finding = Finding(verdict=Verdict.NOT_JUDGED, reason=error.reason)
    return AcceptanceResult(
        test=test,
        pool=subject.pool,
        nodes=nodes_of(test, subject),
        gpus_per_node=subject.gpus_per_node,
        measured=finding.measured,
        threshold=floor,
        verdict=finding.verdict,
        reason=finding.reason,
        versions=finding.versions,
        when=when,
    )


def _finding(test: AcceptanceTest, text: str, subject: Subject, floor: Floor | None) -> Finding:
    gpus = subject.gpus_per_node
    if test is AcceptanceTest.NCCL_INTRA:
        return judge_nccl(text, floor, runs=subject.nodes, nodes=1, gpus_per_node=gpus)
    if test is AcceptanceTest.NCCL_INTER:
        return judge_nccl(text, floor, runs=1, nodes=subject.together, gpus_per_node=gpus)
    if test in DCGM_LEVELS:
        return judge_dcgm(text, DCGM_LEVELS[test], nodes=subject.nodes, gpus_per_node=gpus)
    if test in STORAGE:
        return judge_fio(text, floor, writes=test is AcceptanceTest.STORAGE_CHECKPOINTS)
    return judge_benchmark(text, floor, processes=subject.together * gpus)
