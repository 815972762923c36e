"""Is everything there that should be: GPUs of a node, nodes of a pool, exporters."""

from components.observability.rules import gpu_labels as gpu
from components.observability.rules.model import Alert, Group, Record, Severity
from components.observability.rules.settings import RuleSettings

NODE_GPUS = "gpu_platform:node_gpus:count"
EXPECTED_GPUS = "gpu_platform:node_gpus:expected"
EXPECTED_NODES = "gpu_platform:pool_nodes:expected"


def group(settings: RuleSettings) -> Group:
    """What the settings promise against what telemetry shows; needs no kube-state-metrics."""
    expected = tuple(
        record
        for pool in settings.pools
        for record in (
            Record(name=EXPECTED_GPUS, expr=f"vector({pool.gpus_per_node})", labels={"pool": pool.name}),
            Record(name=EXPECTED_NODES, expr=f"vector({pool.nodes})", labels={"pool": pool.name}),
        )
    )
    # Counted by UUID first: a GPU cut into MIG instances has a series for each of them.
    count = f"count by (pool, Hostname) (count by (pool, Hostname, UUID) ({gpu.UTILISATION}))"
    return Group(
        name="presence",
        records=(Record(name=NODE_GPUS, expr=count), *expected),
        alerts=(
            _gpu_missing(settings),
            _pool_incomplete(settings),
            _exporter_down(settings),
            _target_down(settings),
        ),
    )


def _gpu_missing(settings: RuleSettings) -> Alert:
    return Alert(
        name="GpuMissing",
        expr=f"{NODE_GPUS} < on (pool) group_left () {EXPECTED_GPUS}",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.gpu_missing.for_seconds,
        summary="{{ $labels.Hostname }} shows only {{ $value }} GPUs",
        description="Fewer than pool {{ $labels.pool }} has per node: a GPU has fallen off the bus or the "
        "driver gave it up.",
        labels={"action": "reboot"},
    )


def _pool_incomplete(settings: RuleSettings) -> Alert:
    shown = f"count by (pool) ({NODE_GPUS})"
    return Alert(
        name="GpuPoolIncomplete",
        expr=f"({shown} or on (pool) {EXPECTED_NODES} * 0) < on (pool) {EXPECTED_NODES}",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.pool_incomplete.for_seconds,
        summary="Pool {{ $labels.pool }} shows only {{ $value }} nodes",
        description="Fewer nodes send GPU telemetry than the settings promise: nodes are gone, their "
        "exporter does not run, or the scrape lost the label pool.",
    )


def _exporter_down(settings: RuleSettings) -> Alert:
    up = f'up{{job=~"{settings.jobs.gpus}"}}'
    return Alert(
        name="GpuExporterDown",
        expr=f"{up} == 0 or absent({up})",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.target_down.for_seconds,
        summary="No GPU telemetry from {{ $labels.instance }}",
        description="The exporter does not answer or none is scraped: every GPU alert is blind there.",
    )


def _target_down(settings: RuleSettings) -> Alert:
    return Alert(
        name="ScrapeTargetDown",
        expr=f'up{{job!~"{settings.jobs.gpus}"}} == 0',
        severity=Severity.WARNING,
        for_seconds=settings.windows.target_down.for_seconds,
        summary="{{ $labels.job }} at {{ $labels.instance }} does not answer",
        description="Prometheus can't scrape it: alerts on its metrics are blind, and it may be down itself.",
    )
