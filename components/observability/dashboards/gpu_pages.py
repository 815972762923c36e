"""Dashboards of the GPUs: fleet, pool, node, job."""

from components.observability.dashboards.panels import (
    Dashboard,
    Kind,
    Panel,
    Step,
    Unit,
    at_least,
    at_most,
)
from components.observability.rules import gpu_health, gpu_usage, gpu_xid, presence
from components.observability.rules import gpu_labels as gpu
from components.observability.rules.settings import Limits

_ANY_GPU = gpu.by("Hostname", "gpu")
_GPU_LEGEND = "{{Hostname}} GPU {{gpu}}"
_POD_LEGEND = "{{namespace}}/{{pod}}"
_PLAIN = (Step(value=None, colour="blue"),)


def _throttled(metric: str) -> str:
    return f"sum {_ANY_GPU} (rate({metric}[5m])) / {gpu.VIOLATION_UNITS_PER_SECOND}"


def _panel(title: str, kind: Kind, expr: str, unit: Unit, **more: object) -> Panel:
    return Panel(title=title, kind=kind, expr=expr, unit=unit, **more)  # type: ignore[arg-type]


def fleet(limits: Limits) -> Dashboard:
    """All pools at a glance."""
    used = at_least(limits.utilisation_percent)
    alerts = 'sum(ALERTS{alertstate="firing"}) or vector(0)'
    return Dashboard(
        uid="gpu-platform-fleet",
        title="GPU fleet",
        description="How many GPUs there are, how many are held, how busy those are, and what is wrong.",
        panels=(
            _panel("GPUs", Kind.STAT, f"sum({presence.NODE_GPUS})", Unit.COUNT, steps=_PLAIN),
            _panel("Allocated", Kind.STAT, f"sum({gpu_usage.POOL_ALLOCATED})", Unit.COUNT, steps=_PLAIN),
            _panel(
                "Utilisation of allocated GPUs",
                Kind.STAT,
                f"avg({gpu_usage.ALLOCATED_UTILISATION})",
                Unit.PERCENT,
                steps=used,
            ),
            _panel("Firing alerts", Kind.STAT, alerts, Unit.COUNT, steps=at_most(1)),
            _panel(
                "Utilisation of allocated GPUs by pool",
                Kind.LINES,
                gpu_usage.POOL_UTILISATION,
                Unit.PERCENT,
                legend="{{pool}}",
                steps=used,
            ),
            _panel(
                "Allocated GPUs by pool",
                Kind.LINES,
                gpu_usage.POOL_ALLOCATED,
                Unit.COUNT,
                legend="{{pool}}",
                steps=_PLAIN,
            ),
            _panel("Power", Kind.LINES, f"sum by (pool) ({gpu.POWER})", Unit.WATTS, legend="{{pool}}"),
            _panel(
                "XIDs by action",
                Kind.LINES,
                f"sum by (action) ({gpu_xid.EVENTS}) or vector(0)",
                Unit.COUNT,
                legend="{{action}}",
                steps=at_most(1),
            ),
            _panel("Alerts", Kind.TABLE, 'ALERTS{alertstate="firing"}', Unit.COUNT),
        ),
    )


def pool(limits: Limits) -> Dashboard:
    """The pools side by side: what is promised, what is there, how it is used."""
    return Dashboard(
        uid="gpu-platform-pool",
        title="GPU pools",
        description="Nodes and GPUs against the settings, use and memory of each pool.",
        panels=(
            _panel(
                "Nodes that report",
                Kind.LINES,
                f"count by (pool) ({presence.NODE_GPUS})",
                Unit.COUNT,
                legend="{{pool}}",
            ),
            _panel("Nodes promised", Kind.LINES, presence.EXPECTED_NODES, Unit.COUNT, legend="{{pool}}"),
            _panel(
                "Utilisation of allocated GPUs",
                Kind.LINES,
                gpu_usage.POOL_UTILISATION,
                Unit.PERCENT,
                legend="{{pool}}",
                steps=at_least(limits.utilisation_percent),
            ),
            _panel(
                "Memory-copy utilisation of allocated GPUs",
                Kind.LINES,
                f"avg by (pool) ({gpu_usage.ALLOCATED_MEMORY_COPY})",
                Unit.PERCENT,
                legend="{{pool}}",
                steps=at_most(limits.memory_copy_percent),
            ),
            _panel(
                "GPU memory used",
                Kind.LINES,
                f"sum by (pool) ({gpu.MEMORY_USED}) "
                f"/ (sum by (pool) ({gpu.MEMORY_USED}) + sum by (pool) ({gpu.MEMORY_FREE}))",
                Unit.SHARE,
                legend="{{pool}}",
                steps=_PLAIN,
            ),
            _panel(
                "Hottest GPU",
                Kind.LINES,
                f"max by (pool) ({gpu.TEMPERATURE})",
                Unit.CELSIUS,
                legend="{{pool}}",
                steps=at_most(85),
            ),
            _panel("GPUs per node", Kind.TABLE, presence.NODE_GPUS, Unit.COUNT),
        ),
    )


def node(limits: Limits) -> Dashboard:
    """Every GPU of every node: temperature, power, clocks, errors."""
    share = at_most(limits.violation_share)

    def lines(title: str, expr: str, unit: Unit, steps: tuple[Step, ...] = _PLAIN) -> Panel:
        return Panel(title=title, kind=Kind.LINES, expr=expr, unit=unit, legend=_GPU_LEGEND, steps=steps)

    return Dashboard(
        uid="gpu-platform-node",
        title="GPU nodes",
        description="The state of each GPU: first look of the hardware runbooks.",
        panels=(
            lines("Utilisation", f"max {_ANY_GPU} ({gpu.UTILISATION})", Unit.PERCENT),
            lines("Temperature", f"max {_ANY_GPU} ({gpu.TEMPERATURE})", Unit.CELSIUS, at_most(85)),
            lines(
                "Memory temperature", f"max {_ANY_GPU} ({gpu.MEMORY_TEMPERATURE})", Unit.CELSIUS, at_most(95)
            ),
            lines("Power", f"max {_ANY_GPU} ({gpu.POWER})", Unit.WATTS),
            lines("Held down by power", _throttled(gpu.POWER_VIOLATION), Unit.SHARE, share),
            lines("Held down by temperature", _throttled(gpu.THERMAL_VIOLATION), Unit.SHARE, share),
            lines("NVLink", f"max {_ANY_GPU} ({gpu.NVLINK_BANDWIDTH})", Unit.MEGABYTES_PER_SECOND),
            lines(
                "NVLink replays in 15 min",
                f"sum {_ANY_GPU} (increase({gpu.NVLINK_REPLAY}[15m]))",
                Unit.COUNT,
                at_most(limits.nvlink_errors),
            ),
            lines(
                "Uncorrectable ECC errors",
                f"max {_ANY_GPU} ({gpu.ECC_UNCORRECTABLE})",
                Unit.COUNT,
                at_most(1),
            ),
            lines("Remapped rows", f"max {_ANY_GPU} ({gpu.ROWS_REMAPPED})", Unit.COUNT, at_most(1)),
            Panel(
                title="Last XID of each GPU",
                kind=Kind.TABLE,
                expr=f"max by (Hostname, gpu, modelName) ({gpu.XID_LAST})",
                unit=Unit.COUNT,
                description="DCGM keeps the last code until the driver is loaded anew; 0 is none.",
            ),
        ),
    )


def job(limits: Limits) -> Dashboard:
    """What each job makes of its GPUs."""
    each = "by (namespace, pod)"

    def lines(title: str, expr: str, unit: Unit, steps: tuple[Step, ...] = _PLAIN) -> Panel:
        return Panel(title=title, kind=Kind.LINES, expr=expr, unit=unit, legend=_POD_LEGEND, steps=steps)

    return Dashboard(
        uid="gpu-platform-job",
        title="GPU jobs",
        description="For the owner of a job: are my GPUs busy, and does one of them hold the others back.",
        panels=(
            lines(
                "Utilisation",
                f"avg {each} ({gpu_usage.ALLOCATED_UTILISATION})",
                Unit.PERCENT,
                at_least(limits.utilisation_percent),
            ),
            lines("Slowest GPU", f"min {each} ({gpu_usage.ALLOCATED_UTILISATION})", Unit.PERCENT),
            lines(
                "Memory copy",
                f"avg {each} ({gpu_usage.ALLOCATED_MEMORY_COPY})",
                Unit.PERCENT,
                at_most(limits.memory_copy_percent),
            ),
            lines("GPU memory used", f"sum {each} ({gpu.MEMORY_USED}{gpu.ALLOCATED})", Unit.MEBIBYTES),
            lines("Power", f"sum {each} ({gpu.POWER}{gpu.ALLOCATED})", Unit.WATTS),
            lines("NVLink", f"sum {each} ({gpu_health.NVLINK_THROUGHPUT})", Unit.MEGABYTES_PER_SECOND),
            Panel(
                title="GPUs per pod",
                kind=Kind.TABLE,
                expr=f"count by (pool, namespace, pod) ({gpu_usage.ALLOCATED_UTILISATION})",
                unit=Unit.COUNT,
            ),
        ),
    )
