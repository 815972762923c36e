"""Does MLflow answer well: latency and errors.

MLflow 3.17.2 with ``--expose-prometheus`` (mlflow/server/prometheus_exporter.py, prometheus-flask-exporter
0.23.2): histogram ``mlflow_http_request_duration_seconds`` by ``method``, ``mlflow_version``, ``status``
with the client library's default buckets up to 10 s, counter ``mlflow_http_request_total`` by ``method``,
``status``; health checks are left out.
"""

from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

REQUESTS = "mlflow_http_request_total"
BUCKETS = "mlflow_http_request_duration_seconds_bucket"
LATENCY = "gpu_platform:tracking_latency_seconds:quantile"
ERROR_SHARE = "gpu_platform:tracking_errors:ratio"
ANSWERED = "gpu_platform:tracking_requests:window"


def group(settings: RuleSettings) -> Group:
    """Latency per quantile and the share of failed answers, judged only with enough requests."""
    limits, watch = settings.limits, settings.windows.latency
    return Group(
        name="tracking",
        records=_records(settings),
        alerts=(
            _latency("MlflowLatencyP50", "0.5", limits.latency_p50_seconds, watch.for_seconds, settings),
            _latency("MlflowLatencyP95", "0.95", limits.latency_p95_seconds, watch.for_seconds, settings),
            _latency("MlflowLatencyP99", "0.99", limits.latency_p99_seconds, watch.for_seconds, settings),
            _errors(settings),
        ),
    )


def _records(settings: RuleSettings) -> tuple[Record, ...]:
    of = f'job=~"{settings.jobs.tracking}"'
    slow, failing = (
        duration(watch.window_seconds) for watch in (settings.windows.latency, settings.windows.errors)
    )
    buckets = f"sum by (job, le) (rate({BUCKETS}{{{of}}}[{slow}]))"
    failed = f'sum by (job) (increase({REQUESTS}{{{of},status=~"5.."}}[{failing}]))'
    answered = f"sum by (job) (increase({REQUESTS}{{{of}}}[{failing}]))"
    return (
        Record(name=ANSWERED, expr=answered),
        *(
            Record(name=LATENCY, expr=f"histogram_quantile({q}, {buckets})", labels={"quantile": q})
            for q in ("0.5", "0.95", "0.99")
        ),
        # Without a single failure there is no series with status 5xx: that is 0, not nothing.
        Record(name=ERROR_SHARE, expr=f"({failed} or {ANSWERED} * 0) / ({ANSWERED} > 0)"),
    )


def _latency(name: str, quantile: str, most: float, for_seconds: int, settings: RuleSettings) -> Alert:
    fewest = settings.limits.fewest_requests
    return Alert(
        name=name,
        expr=f'{LATENCY}{{quantile="{quantile}"}} > {most} and on (job) {ANSWERED} >= {fewest}',
        severity=Severity.WARNING,
        for_seconds=for_seconds,
        summary=f"MLflow: quantile {quantile} of answers takes {{{{ $value | humanizeDuration }}}}",
        description=f"Above {most} s over {duration(settings.windows.latency.window_seconds)} "
        f"with at least {fewest} requests.",
    )


def _errors(settings: RuleSettings) -> Alert:
    watch, limits = settings.windows.errors, settings.limits
    return Alert(
        name="MlflowErrors",
        expr=f"{ERROR_SHARE} > {limits.error_share} and on (job) {ANSWERED} >= {limits.fewest_requests}",
        severity=Severity.CRITICAL,
        for_seconds=watch.for_seconds,
        summary="MLflow: {{ $value | humanizePercentage }} of answers are errors",
        description=f"More than {limits.error_share:.0%} of the answers of the last "
        f"{duration(watch.window_seconds)} had a status of 500 or more: runs lose metrics and artifacts.",
    )
