"""Alerting and recording rules as data: GPUs, queues, storage, MLflow, backups.

``rule_groups(settings)`` gives the ``spec.groups`` of a PrometheusRule. Nothing here needs
kube-state-metrics.
"""

from typing import Any

from components.observability.rules import (
    backups,
    gpu_health,
    gpu_usage,
    gpu_xid,
    presence,
    queues,
    tracking,
    volumes,
)
from components.observability.rules._xid import XID_ACTIONS, XidAction
from components.observability.rules.gpu_labels import COLLECTED, collectors_csv
from components.observability.rules.model import Alert, Group, Record, Severity
from components.observability.rules.settings import (
    ExpectedPool,
    Jobs,
    Limits,
    RuleSettings,
    Watch,
    Windows,
    shortened,
)

__all__ = [
    "COLLECTED",
    "XID_ACTIONS",
    "Alert",
    "ExpectedPool",
    "Group",
    "Jobs",
    "Limits",
    "Record",
    "RuleSettings",
    "Severity",
    "Watch",
    "Windows",
    "XidAction",
    "alerts",
    "collectors_csv",
    "groups",
    "rule_groups",
    "shortened",
]


def groups(settings: RuleSettings) -> tuple[Group, ...]:
    """Every group, as records."""
    subjects = (gpu_usage, gpu_health, gpu_xid, presence, queues, volumes, tracking, backups)
    return tuple(subject.group(settings) for subject in subjects)


def alerts(settings: RuleSettings) -> tuple[Alert, ...]:
    """Every alert of every group."""
    return tuple(alert for group in groups(settings) for alert in group.alerts)


def rule_groups(settings: RuleSettings) -> list[dict[str, Any]]:
    """The ``spec.groups`` of a PrometheusRule, which is also what a Prometheus rule file holds."""
    return [group.spec(settings.runbook_base) for group in groups(settings)]
