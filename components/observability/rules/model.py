"""Alerting and recording rules as records, and the plain form a PrometheusRule takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Severity(StrEnum):
    """How soon somebody must look."""

    CRITICAL = "critical"
    """Now: work is lost or hardware must leave service."""
    WARNING = "warning"
    """Within the working day: capacity or time is being lost."""
    INFO = "info"
    """Nobody is called; it explains other alerts."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A recording rule.

    Args:
        name: ``gpu_platform:<what>:<operation>``.
        expr: PromQL.
        labels: Labels added to each result.
    """

    name: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def rule(self) -> dict[str, Any]:
        """The entry of a rule group."""
        rule: dict[str, Any] = {"record": self.name, "expr": self.expr}
        return {**rule, "labels": dict(self.labels)} if self.labels else rule


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alerting rule.

    Args:
        name: Alert name, CamelCase; its runbook is ``<name in kebab case>.md``.
        expr: PromQL; a result is a finding.
        severity: How soon somebody must look.
        summary: One line; may use Prometheus templates.
        description: What was seen and what it means; may use templates.
        for_seconds: How long the expression must hold, seconds.
        labels: Labels added, e.g. the XID action.
    """

    name: str
    expr: str
    severity: Severity
    summary: str
    description: str
    for_seconds: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def runbook(self) -> str:
        """File name of the runbook."""
        return f"{_CAPITAL.sub('-', self.name).lower()}.md"

    def rule(self, runbook_base: str) -> dict[str, Any]:
        """The entry of a rule group; ``runbook_base`` is put before the runbook's file name."""
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": duration(self.for_seconds),
            "labels": {"severity": self.severity.value, **self.labels},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{runbook_base.rstrip('/')}/{self.runbook}",
            },
        }


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rules evaluated one after the other; records come before the alerts that read them.

    Args:
        name: Group name.
        records: Recording rules.
        alerts: Alerting rules.
    """

    name: str
    records: tuple[Record, ...] = ()
    alerts: tuple[Alert, ...] = ()

    def spec(self, runbook_base: str) -> dict[str, Any]:
        """One entry of a PrometheusRule's ``spec.groups``."""
        return {
            "name": self.name,
            "rules": [
                *(record.rule() for record in self.records),
                *(alert.rule(runbook_base) for alert in self.alerts),
            ],
        }


def duration(seconds: int) -> str:
    """A PromQL duration in its largest whole unit, e.g. ``30m``."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
