"""Dashboards of queues and services."""

from components.observability.dashboards.panels import Dashboard, Kind, Panel, Step, Unit, at_least, at_most
from components.observability.rules import backups, queues, tracking, volumes
from components.observability.rules.settings import Limits

_PLAIN = (Step(value=None, colour="blue"),)
_WAIT = "sum by (cluster_queue, le) (rate(kueue_admission_wait_time_seconds_bucket[1h]))"


def queue(limits: Limits) -> Dashboard:
    """Who waits, for how long, and what is admitted."""

    def lines(title: str, expr: str, unit: Unit, steps: tuple[Step, ...] = _PLAIN) -> Panel:
        return Panel(
            title=title, kind=Kind.LINES, expr=expr, unit=unit, legend="{{cluster_queue}}", steps=steps
        )

    return Dashboard(
        uid="gpu-platform-queue",
        title="Queues",
        description="Work that waits and work that runs, by ClusterQueue.",
        panels=(
            lines("Waiting", queues.PENDING, Unit.COUNT),
            lines("Running", queues.RUNNING, Unit.COUNT),
            lines(
                "Admitted in 1 h",
                "sum by (cluster_queue) (increase(kueue_admitted_workloads_total[1h]))",
                Unit.COUNT,
            ),
            lines("Wait for admission, median", f"histogram_quantile(0.5, {_WAIT})", Unit.SECONDS),
            lines(
                f"Wait for admission, quantile {limits.queue_wait_quantile}",
                f"histogram_quantile({limits.queue_wait_quantile}, {_WAIT})",
                Unit.SECONDS,
                at_most(limits.queue_wait_seconds),
            ),
            lines(
                "Evicted in 1 h",
                "sum by (cluster_queue) (increase(kueue_evicted_workloads_total[1h]))",
                Unit.COUNT,
            ),
            Panel(
                title="Waiting by reason",
                kind=Kind.TABLE,
                expr="sum by (cluster_queue, status) (kueue_pending_workloads)",
                unit=Unit.COUNT,
                description="Inadmissible: tried and waiting for room; active: about to be tried.",
            ),
        ),
    )


def services(limits: Limits) -> Dashboard:
    """MLflow, storage, backups and the monitoring itself."""
    return Dashboard(
        uid="gpu-platform-services",
        title="Services",
        description="Latency and errors of MLflow, room on disks and claims, age of backups, scrape targets.",
        panels=(
            Panel(
                title="Targets down",
                kind=Kind.STAT,
                expr="sum(up == bool 0)",
                unit=Unit.COUNT,
                steps=at_most(1),
            ),
            Panel(
                title="MLflow errors",
                kind=Kind.STAT,
                expr=f"max({tracking.ERROR_SHARE})",
                unit=Unit.SHARE,
                steps=at_most(limits.error_share),
            ),
            Panel(
                title="Least room in a claim",
                kind=Kind.STAT,
                expr=f"min({volumes.VOLUME_FREE})",
                unit=Unit.SHARE,
                steps=at_least(limits.volume_free_share),
            ),
            Panel(
                title="Oldest backup",
                kind=Kind.STAT,
                expr=f"max({backups.AGE})",
                unit=Unit.SECONDS,
                steps=at_most(limits.backup_age_seconds),
            ),
            Panel(
                title="MLflow latency",
                kind=Kind.LINES,
                expr=tracking.LATENCY,
                unit=Unit.SECONDS,
                legend="quantile {{quantile}}",
                steps=at_most(limits.latency_p99_seconds),
            ),
            Panel(
                title="MLflow requests",
                kind=Kind.LINES,
                expr=f"sum by (status) (rate({tracking.REQUESTS}[5m]))",
                unit=Unit.PER_SECOND,
                legend="{{status}}",
                steps=_PLAIN,
            ),
            Panel(
                title="Room on nodes",
                kind=Kind.LINES,
                expr=volumes.DISK_FREE,
                unit=Unit.SHARE,
                legend="{{instance}} {{device}}",
                steps=at_least(limits.disk_free_share),
            ),
            Panel(
                title="Room in claims",
                kind=Kind.LINES,
                expr=volumes.VOLUME_FREE,
                unit=Unit.SHARE,
                legend="{{namespace}}/{{persistentvolumeclaim}}",
                steps=at_least(limits.volume_free_share),
            ),
            Panel(title="Scrape targets", kind=Kind.TABLE, expr="up", unit=Unit.COUNT, steps=at_least(1)),
        ),
    )
