"""What a check says about the machine."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is; only an error stops the lab."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One result of one check.

    Args:
        id: Stable name of the check, e.g. ``disk.cache``.
        level: ``ok``, ``warning`` (untested or slow, the lab may still run) or ``error`` (the lab can't run).
        what: What was found, one line.
        cause: Why that is so or why it matters; empty when ok.
        fix: Command or change that mends it; empty when ok.
    """

    id: str
    level: Level
    what: str
    cause: str = ""
    fix: str = ""


def ok(check: str, what: str) -> Finding:
    """A finding that needs nothing."""
    return Finding(id=check, level=Level.OK, what=what)


def warning(check: str, what: str, *, cause: str, fix: str) -> Finding:
    """A finding under which the lab may still run."""
    return Finding(id=check, level=Level.WARNING, what=what, cause=cause, fix=fix)


def error(check: str, what: str, *, cause: str, fix: str) -> Finding:
    """A finding under which the lab can't run."""
    return Finding(id=check, level=Level.ERROR, what=what, cause=cause, fix=fix)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors, then warnings, then the rest; the order of the checks within each."""
    order = (Level.ERROR, Level.WARNING, Level.OK)
    return sorted(findings, key=lambda finding: order.index(finding.level))


def blocking(findings: Iterable[Finding]) -> list[Finding]:
    """The findings under which the lab can't run."""
    return [finding for finding in findings if finding.level is Level.ERROR]
