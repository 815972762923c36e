"""Metrics, alerts and dashboards of the platform."""

from components.observability import targets
from components.observability.alert_rules import AlertRules, AlertRulesArgs
from components.observability.grafana import Grafana, GrafanaArgs
from components.observability.monitoring import Monitoring, MonitoringArgs, flows
from components.observability.operator import PrometheusOperator, PrometheusOperatorArgs
from components.observability.receivers import Receivers, ReceiversArgs
from components.observability.scrape import Scrape, ScrapeLogin, Scrapes, ScrapesArgs
from components.observability.simulated_gpu_telemetry import (
    SimulatedGpuTelemetry,
    SimulatedGpuTelemetryArgs,
)

__all__ = [
    "AlertRules",
    "AlertRulesArgs",
    "Grafana",
    "GrafanaArgs",
    "Monitoring",
    "MonitoringArgs",
    "PrometheusOperator",
    "PrometheusOperatorArgs",
    "Receivers",
    "ReceiversArgs",
    "Scrape",
    "ScrapeLogin",
    "Scrapes",
    "ScrapesArgs",
    "SimulatedGpuTelemetry",
    "SimulatedGpuTelemetryArgs",
    "flows",
    "targets",
]
