"""Acceptance of a pool: the tests as manifests, their outputs judged against thresholds."""

from components.scheduling.acceptance.component import Acceptance
from components.scheduling.acceptance.jobs import (
    ACCEPTANCE_LABEL,
    TESTS_ANNOTATION,
    AcceptanceArgs,
    AcceptanceImages,
    acceptance_jobs,
    storage_probe,
)
from components.scheduling.acceptance.judge import Subject, floor_of, judge, nodes_of
from components.scheduling.acceptance.kinds import UNITS, AcceptanceTest
from components.scheduling.acceptance.result import AcceptanceResult, Floor, Verdict

__all__ = [
    "ACCEPTANCE_LABEL",
    "TESTS_ANNOTATION",
    "UNITS",
    "Acceptance",
    "AcceptanceArgs",
    "AcceptanceImages",
    "AcceptanceResult",
    "AcceptanceTest",
    "Floor",
    "Subject",
    "Verdict",
    "acceptance_jobs",
    "floor_of",
    "judge",
    "nodes_of",
    "storage_probe",
]
