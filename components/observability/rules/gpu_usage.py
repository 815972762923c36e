"""Is what was given out also used: compute and memory-copy utilisation of allocated GPUs."""

from components.observability.rules import gpu_labels as gpu
from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

ALLOCATED_UTILISATION = "gpu_platform:gpu_utilisation:allocated"
ALLOCATED_MEMORY_COPY = "gpu_platform:gpu_memory_copy:allocated"
POOL_UTILISATION = "gpu_platform:pool_utilisation:mean"
POOL_ALLOCATED = "gpu_platform:pool_gpus:allocated"
_EACH = gpu.by(*gpu.GPU, *gpu.WORKLOAD)


def group(settings: RuleSettings) -> Group:
    """Utilisation of GPUs that are held by a pod; idle ones are the queue's matter."""
    return Group(
        name="gpu-usage",
        records=(
            Record(name=ALLOCATED_UTILISATION, expr=f"max {_EACH} ({gpu.UTILISATION}{gpu.ALLOCATED})"),
            Record(name=ALLOCATED_MEMORY_COPY, expr=f"max {_EACH} ({gpu.MEMORY_COPY}{gpu.ALLOCATED})"),
            Record(name=POOL_UTILISATION, expr=f"avg by (pool) ({ALLOCATED_UTILISATION})"),
            Record(name=POOL_ALLOCATED, expr=f"count by (pool) ({ALLOCATED_UTILISATION})"),
        ),
        alerts=(_utilisation(settings), _memory_copy(settings)),
    )


def _utilisation(settings: RuleSettings) -> Alert:
    watch, least = settings.windows.utilisation, settings.limits.utilisation_percent
    window = duration(watch.window_seconds)
    return Alert(
        name="GpuUtilisationLow",
        # Without the second half a pool would be blamed for a job that has ended.
        expr=f"avg_over_time({POOL_UTILISATION}[{window}]) < {least} and on (pool) {POOL_ALLOCATED} > 0",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary='Allocated GPUs of pool {{ $labels.pool }} are {{ $value | printf "%.0f" }} % busy',
        description=f"Mean utilisation of the GPUs held by pods stayed below {least} % over {window}; "
        "jobs wait for data, for each other, or hold more GPUs than they use.",
    )


def _memory_copy(settings: RuleSettings) -> Alert:
    watch, limits = settings.windows.memory_copy, settings.limits
    window = duration(watch.window_seconds)
    return Alert(
        name="GpuMemoryCopyBound",
        expr=f"avg_over_time({ALLOCATED_MEMORY_COPY}[{window}]) > {limits.memory_copy_percent} "
        f"and avg_over_time({ALLOCATED_UTILISATION}[{window}]) < {limits.utilisation_percent}",
        severity=Severity.INFO,
        for_seconds=watch.for_seconds,
        summary="GPU {{ $labels.gpu }} of {{ $labels.Hostname }} moves memory more than it computes",
        description=f"Its memory interface was busy more than {limits.memory_copy_percent} % of {window} "
        f"while its utilisation stayed below {limits.utilisation_percent} %; "
        "pod {{ $labels.namespace }}/{{ $labels.pod }}.",
    )
