"""Dashboards as records, and their Grafana form by the Foundation SDK."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from grafana_foundation_sdk.builders import dashboard as dashboards
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.dashboard import GridPos, Threshold, ThresholdsMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

_HEIGHT = 8
_WIDTHS = {"stat": 6, "timeseries": 12, "table": 24}
_COLUMNS = 24


class Kind(StrEnum):
    """How a panel shows its result."""

    STAT = "stat"
    LINES = "timeseries"
    TABLE = "table"


class Unit(StrEnum):
    """Grafana's unit ids that are used here."""

    PERCENT = "percent"
    SHARE = "percentunit"
    SECONDS = "s"
    WATTS = "watt"
    CELSIUS = "celsius"
    MEBIBYTES = "mbytes"
    MEGABYTES_PER_SECOND = "MBs"
    PER_SECOND = "reqps"
    COUNT = "short"


@dataclass(frozen=True, kw_only=True)
class Step:
    """From ``value`` on the panel turns ``colour``; None is where the scale begins."""

    value: float | None
    colour: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One question to Prometheus and how the answer is shown.

    Args:
        title: Heading.
        kind: Stat, lines or table.
        expr: PromQL.
        unit: Unit of the values.
        legend: Legend with ``{{label}}``; the labels of the series where empty.
        steps: Colours by value, lowest first.
        description: What to read from it.
    """

    title: str
    kind: Kind
    expr: str
    unit: Unit
    legend: str = ""
    steps: tuple[Step, ...] = (Step(value=None, colour="green"),)
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """A page of panels.

    Args:
        uid: Stable identifier, also the file's name.
        title: Heading.
        description: Whom it serves with what.
        panels: In reading order.
    """

    uid: str
    title: str
    description: str
    panels: tuple[Panel, ...]


def at_least(least: float, *, good: str = "green", bad: str = "red") -> tuple[Step, ...]:
    """Bad below ``least``, good from there on."""
    return (Step(value=None, colour=bad), Step(value=least, colour=good))


def at_most(most: float, *, good: str = "green", bad: str = "red") -> tuple[Step, ...]:
    """Good below ``most``, bad from there on."""
    return (Step(value=None, colour=good), Step(value=most, colour=bad))


def grafana_json(page: Dashboard, *, datasource: str) -> str:
    """The dashboard as Grafana imports it.

    Args:
        page: The dashboard.
        datasource: Uid of the Prometheus data source.
    """
    builder = (
        dashboards.Dashboard(page.title)
        .uid(page.uid)
        .description(page.description)
        .tags(["gpu-platform"])
        .refresh("30s")
        .time("now-1h", "now")
        .timezone("utc")
    )
    x, y = 0, 0
    for number, panel in enumerate(page.panels, start=1):
        width = _WIDTHS[panel.kind.value]
        if x + width > _COLUMNS:
            x, y = 0, y + _HEIGHT
        builder = builder.with_panel(
            _panel(panel, datasource).id(number).grid_pos(GridPos(h=_HEIGHT, w=width, x=x, y=y))
        )
        x += width
    encoded: str = JSONEncoder(sort_keys=True, indent=2).encode(builder.build())
    return encoded


def _panel(panel: Panel, datasource: str) -> stat.Panel | timeseries.Panel | table.Panel:
    source = DataSourceRef(type_val="prometheus", uid=datasource)
    query = prometheus.Dataquery().ref_id("A").datasource(source).expr(panel.expr)
    if panel.legend:
        query = query.legend_format(panel.legend)
    builders: Mapping[Kind, type[stat.Panel | timeseries.Panel | table.Panel]] = {
        Kind.STAT: stat.Panel,
        Kind.LINES: timeseries.Panel,
        Kind.TABLE: table.Panel,
    }
    # A table shows the moment, one row per series; the others a stretch of time.
    query = query.instant().format(PromQueryFormat.TABLE) if panel.kind is Kind.TABLE else query.range()
    return (
        builders[panel.kind]()
        .title(panel.title)
        .description(panel.description)
        .datasource(source)
        .unit(panel.unit.value)
        .thresholds(
            dashboards.ThresholdsConfig()
            .mode(ThresholdsMode.ABSOLUTE)
            .steps([Threshold(value=step.value, color=step.colour) for step in panel.steps])
        )
        .with_target(query)
    )
