"""Dashboards as data: fleet, pool, node, job, queue, services; pure functions to Grafana's JSON."""

from dataclasses import dataclass

from components.observability.dashboards.gpu_pages import fleet, job, node, pool
from components.observability.dashboards.panels import Dashboard, Kind, Panel, Step, Unit, grafana_json
from components.observability.dashboards.platform_pages import queue, services
from components.observability.rules.settings import Limits

__all__ = [
    "Dashboard",
    "Kind",
    "Panel",
    "Query",
    "Step",
    "Unit",
    "dashboards",
    "grafana_json",
    "queries",
]


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question of one panel."""

    dashboard: str
    panel: str
    expr: str


def dashboards(limits: Limits | None = None) -> tuple[Dashboard, ...]:
    """Every dashboard; colours change at the limits the alerts use, the production ones by default."""
    chosen = limits or Limits()
    return tuple(make(chosen) for make in (fleet, pool, node, job, queue, services))


def queries(pages: tuple[Dashboard, ...]) -> tuple[Query, ...]:
    """Every query of every panel, so that a test can put each to a live Prometheus."""
    return tuple(
        Query(dashboard=page.uid, panel=panel.title, expr=panel.expr)
        for page in pages
        for panel in page.panels
    )
