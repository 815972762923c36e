"""Do jobs get in: waits and standstill of Kueue's ClusterQueues.

Metrics of Kueue 0.17.0 (pkg/metrics/metrics.go): ``kueue_pending_workloads`` by ``cluster_queue`` and
``status``, ``kueue_admission_wait_time_seconds`` with buckets up to about 41000 s,
``kueue_admitted_workloads_total``, ``kueue_admitted_active_workloads``. Each replica of its manager
answers; sums take the label away.
"""

from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

PENDING = "gpu_platform:queue_pending:count"
RUNNING = "gpu_platform:queue_running:count"
_BY = "by (cluster_queue)"


def group(settings: RuleSettings) -> Group:
    """A long wait, a queue where nothing runs although work waits, a queue that admits nothing for hours."""
    return Group(
        name="queues",
        records=(
            Record(name=PENDING, expr=f"sum {_BY} (kueue_pending_workloads)"),
            Record(name=RUNNING, expr=f"sum {_BY} (kueue_admitted_active_workloads)"),
        ),
        alerts=(_wait(settings), _stuck(settings), _no_admission(settings)),
    )


def _wait(settings: RuleSettings) -> Alert:
    watch, limits = settings.windows.queue_wait, settings.limits
    window = duration(watch.window_seconds)
    rate = f"sum by (cluster_queue, le) (rate(kueue_admission_wait_time_seconds_bucket[{window}]))"
    return Alert(
        name="QueueWaitLong",
        expr=f"histogram_quantile({limits.queue_wait_quantile}, {rate}) > {limits.queue_wait_seconds}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary="Jobs of {{ $labels.cluster_queue }} waited {{ $value | humanizeDuration }}",
        description=f"Quantile {limits.queue_wait_quantile} of the wait of the last {window} is "
        f"above {duration(limits.queue_wait_seconds)}: the quota is too small, or large gangs find no room.",
    )


def _stuck(settings: RuleSettings) -> Alert:
    watch = settings.windows.queue_stuck
    return Alert(
        name="QueueStuck",
        expr=f"{PENDING} > 0 unless on (cluster_queue) {RUNNING} > 0",
        severity=Severity.CRITICAL,
        for_seconds=watch.for_seconds,
        summary="{{ $value }} jobs wait in {{ $labels.cluster_queue }} and none runs",
        description=f"For {duration(watch.for_seconds)} work waited while the queue had nothing running: a "
        "job that never fits, a stopped queue, a missing flavor, or a manager that does not schedule.",
    )


def _no_admission(settings: RuleSettings) -> Alert:
    watch = settings.windows.queue_no_admission
    window = duration(watch.window_seconds)
    admitted = f"sum {_BY} (increase(kueue_admitted_workloads_total[{window}])) > 0"
    return Alert(
        name="QueueNoAdmission",
        expr=f"({PENDING} > 0 and on (cluster_queue) {RUNNING} > 0) unless on (cluster_queue) {admitted}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary="{{ $labels.cluster_queue }} admits none of {{ $value }} waiting jobs",
        description=f"Jobs wait behind running ones and none was admitted for "
        f"{duration(watch.window_seconds + watch.for_seconds)}: time limits are long, a gang needs more than "
        "ever comes free at once, or running jobs hang.",
    )
