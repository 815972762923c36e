"""Alerting and recording rules as data: GPUs, queues, storage, MLflow, backups.

``rule_groups(settings)`` gives the ``spec.groups`` of a PrometheusRule. Nothing here needs
kube-state-metrics.
"""

from typing import Any

from components.observability.rules._xid import XID_ACTIONS, XidAction
from components.observability.rules.backups import backups
from components.observability.rules.gpu_health import health
from components.observability.rules.gpu_labels import COLLECTED, collectors_csv
from components.observability.rules.gpu_usage import usage
from components.observability.rules.gpu_xid import xid
from components.observability.rules.model import Alert, Group, Record, Severity
from components.observability.rules.presence import presence
from components.observability.rules.queues import queues
from components.observability.rules.settings import (
    ExpectedPool,
    Jobs,
    Limits,
    RuleSettings,
    Watch,
    Windows,
    shortened,
)
from components.observability.rules.tracking import tracking
from components.observability.rules.volumes import volumes

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
    return tuple(
        make(settings) for make in (usage, health, xid, presence, queues, volumes, tracking, backups)
    )


def alerts(settings: RuleSettings) -> tuple[Alert, ...]:
    """Every alert of every group."""
    return tuple(alert for group in groups(settings) for alert in group.alerts)


def rule_groups(settings: RuleSettings) -> list[dict[str, Any]]:
    """The ``spec.groups`` of a PrometheusRule, which is also what a Prometheus rule file holds."""
    return [group.spec(settings.runbook_base) for group in groups(settings)]
