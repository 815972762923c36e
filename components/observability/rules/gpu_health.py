"""Is the hardware sound: NVLink, clocks held down, ECC, remapped rows."""

from components.observability.rules import gpu_labels as gpu
from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

NVLINK_THROUGHPUT = "gpu_platform:gpu_nvlink_mb_per_second:allocated"
_EACH = gpu.by(*gpu.GPU)
_WHERE = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}"
_WHICH = "{{ $labels.modelName }} {{ $labels.UUID }}"


def group(settings: RuleSettings) -> Group:
    """Faults and degradation of single GPUs; XIDs have a group of their own."""
    return Group(
        name="gpu-health",
        records=(
            Record(
                name=NVLINK_THROUGHPUT,
                expr=f"max {gpu.by(*gpu.GPU, *gpu.WORKLOAD)} ({gpu.NVLINK_BANDWIDTH}{gpu.ALLOCATED})",
            ),
        ),
        alerts=(
            _nvlink_errors(settings),
            _nvlink_recovery(settings),
            _nvlink_bandwidth(settings),
            _violation(settings, "GpuPowerViolation", gpu.POWER_VIOLATION, "power"),
            _violation(settings, "GpuThermalViolation", gpu.THERMAL_VIOLATION, "temperature"),
            _ecc_uncorrectable(settings),
            _ecc_correctable(settings),
            _row_remapped(settings),
            _row_remap_failed(),
        ),
    )


def _rise(metric: str, window: str) -> str:
    # Summed per GPU: the series of one GPU changes its name whenever a pod takes or leaves it.
    return f"sum {_EACH} (increase({metric}[{window}]))"


def _nvlink_errors(settings: RuleSettings) -> Alert:
    watch, most = settings.windows.nvlink_errors, settings.limits.nvlink_errors
    window = duration(watch.window_seconds)
    metrics = (gpu.NVLINK_CRC_FLIT, gpu.NVLINK_CRC_DATA, gpu.NVLINK_REPLAY)
    # A union, so that a GPU generation that lacks one of the counters is not blind to the others.
    rises = (f'label_replace(increase({metric}[{window}]), "kind", "{metric}", "", "")' for metric in metrics)
    return Alert(
        name="NvlinkErrors",
        expr=f"sum {_EACH} ({' or '.join(rises)}) > {most}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary=f'{_WHERE}: {{{{ $value | printf "%.0f" }}}} NVLink errors in {window}',
        description=f"{_WHICH}: CRC errors and replays slow every collective of the job down.",
    )


def _nvlink_recovery(settings: RuleSettings) -> Alert:
    watch = settings.windows.nvlink_errors
    window = duration(watch.window_seconds)
    return Alert(
        name="NvlinkRecovery",
        expr=f"{_rise(gpu.NVLINK_RECOVERY, window)} > 0",
        severity=Severity.CRITICAL,
        for_seconds=watch.for_seconds,
        summary=f"{_WHERE}: an NVLink had to be trained anew",
        description=f"{_WHICH}: a link recovered from an error in the last {window}; the next may not.",
        labels={"action": "reset"},
    )


def _nvlink_bandwidth(settings: RuleSettings) -> Alert:
    watch, limits = settings.windows.nvlink_bandwidth, settings.limits
    window = duration(watch.window_seconds)
    peers = ("Hostname", "namespace", "pod")
    mine = f"avg_over_time({NVLINK_THROUGHPUT}[{window}])"
    mean = f"(avg {gpu.by(*peers)} ({mine}) > {limits.nvlink_floor_mb_per_second})"
    return Alert(
        name="NvlinkBandwidthUneven",
        expr=f"{mine} / {gpu.on(*peers)} group_left () {mean} < {limits.nvlink_share}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary=f"{_WHERE}: NVLink carries {{{{ $value | humanizePercentage }}}} of its peers' mean",
        description=f"{_WHICH}, pod {{{{ $labels.namespace }}}}/{{{{ $labels.pod }}}}: over {window} "
        f"less than {limits.nvlink_share:.0%} of the mean of the pod's GPUs on this node.",
    )


def _violation(settings: RuleSettings, name: str, metric: str, cause: str) -> Alert:
    watch, most = settings.windows.violation, settings.limits.violation_share
    window = duration(watch.window_seconds)
    return Alert(
        name=name,
        expr=f"sum {_EACH} (rate({metric}[{window}])) / {gpu.VIOLATION_UNITS_PER_SECOND} > {most}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary=f"{_WHERE}: clocks held down by {cause} {{{{ $value | humanizePercentage }}}} of the time",
        description=f"{_WHICH}: throttled more than {most:.0%} of {window}; the job is as slow as this GPU.",
    )


def _ecc_uncorrectable(settings: RuleSettings) -> Alert:
    watch = settings.windows.ecc_uncorrectable
    window = duration(watch.window_seconds)
    return Alert(
        name="GpuEccUncorrectable",
        expr=f"{_rise(gpu.ECC_UNCORRECTABLE, window)} > 0",
        severity=Severity.CRITICAL,
        for_seconds=watch.for_seconds,
        summary=f"{_WHERE}: uncorrectable memory error",
        description=f"{_WHICH}: a double-bit error within {window}; the process that used it was ended or "
        "computed with wrong data.",
        labels={"action": "reset"},
    )


def _ecc_correctable(settings: RuleSettings) -> Alert:
    watch, most = settings.windows.ecc_correctable, settings.limits.ecc_correctable
    window = duration(watch.window_seconds)
    return Alert(
        name="GpuEccCorrectable",
        expr=f"{_rise(gpu.ECC_CORRECTABLE, window)} > {most}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary=f'{_WHERE}: {{{{ $value | printf "%.0f" }}}} corrected memory errors in {window}',
        description=f"{_WHICH}: corrected, so no data is lost; so many announce an uncorrectable one.",
    )


def _row_remapped(settings: RuleSettings) -> Alert:
    watch = settings.windows.row_remap
    window = duration(watch.window_seconds)
    return Alert(
        name="GpuRowRemapped",
        expr=f"{_rise(gpu.ROWS_REMAPPED, window)} > 0",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary=f"{_WHERE}: a memory row was remapped after an uncorrectable error",
        description=f"{_WHICH}: the spare row comes into use with the next reset of the GPU.",
        labels={"action": "reset"},
    )


def _row_remap_failed() -> Alert:
    return Alert(
        name="GpuRowRemapFailed",
        expr=f"max {_EACH} ({gpu.ROW_REMAP_FAILURE}) > 0",
        severity=Severity.CRITICAL,
        summary=f"{_WHERE}: no spare memory row is left",
        description=f"{_WHICH}: remapping failed; the GPU must be replaced.",
        labels={"action": "isolate"},
    )
