"""How each GPU alert is tripped; thresholds and windows by hand from the issue and docs/monitoring.md."""

from .scenarios import (
    EXPORTER_UP,
    UTILISATION,
    WORKLOAD,
    Scenario,
    busy,
    count,
    gone,
    gpu_labels,
    hold,
    jump,
    named,
)

G0 = gpu_labels(0)
IDLE = named("DCGM_FI_DEV_GPU_UTIL", gpu_labels(2))
COPY = tuple(busy("DCGM_FI_DEV_MEM_COPY_UTIL", index) for index in (0, 1))
LINK = tuple(busy("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", index) for index in (0, 1))
FLIT = busy("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", 0)
DATA = busy("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", 0)
REPLAY = busy("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", 0)
NANOSECONDS_PER_MINUTE = 60_000_000_000

USAGE = (
    Scenario(
        alert="GpuUtilisationLow",
        series={
            UTILISATION[0]: hold((70, 90), (100, 90)),
            UTILISATION[1]: hold((98, 90), (100, 90)),
        },
        early=14,
        fires_at=15,
        resolved_at=100,
        labels={"pool": "a100", "severity": "warning"},
        under=(
            {UTILISATION[0]: hold((72, 90)), UTILISATION[1]: hold((98, 90)), IDLE: hold((0, 90))},
            {UTILISATION[0]: hold((95, 90)), IDLE: hold((0, 90))},
        ),
    ),
    Scenario(
        alert="GpuMemoryCopyBound",
        series={
            UTILISATION[0]: hold((80, 120)),
            COPY[0]: hold((81, 60), (20, 60)),
            COPY[1]: hold((99, 120)),
        },
        early=14,
        fires_at=15,
        resolved_at=70,
        labels={**G0, **WORKLOAD, "severity": "info"},
        under=({UTILISATION[0]: hold((80, 90)), COPY[0]: hold((80, 90))},),
    ),
)


def _once(alert: str, metric: str, resolved_at: int, **labels: str) -> Scenario:
    """A counter that must never rise; an old value is not news."""
    series = busy(metric, 0)
    return Scenario(
        alert=alert,
        series={series: jump(30, 1, 120)},
        early=29,
        fires_at=30,
        resolved_at=resolved_at,
        labels={**G0, **labels},
        under=({series: hold((5, 120))},),
    )


def _throttled(alert: str, metric: str) -> Scenario:
    series = busy(metric, 0)
    return Scenario(
        alert=alert,
        series={series: count((0.21 * NANOSECONDS_PER_MINUTE, 40), (0, 40))},
        early=14,
        fires_at=21,
        resolved_at=46,
        labels={**G0, "severity": "warning"},
        under=({series: count((0.2 * NANOSECONDS_PER_MINUTE, 60))},),
    )


HEALTH = (
    Scenario(
        alert="NvlinkErrors",
        series={FLIT: jump(30, 60, 90), DATA: jump(30, 30, 90), REPLAY: jump(30, 11, 90)},
        early=29,
        fires_at=30,
        resolved_at=46,
        labels={**G0, "severity": "warning"},
        under=({FLIT: jump(30, 60, 90), DATA: jump(30, 30, 90), REPLAY: jump(30, 10, 90)},),
    ),
    Scenario(
        alert="NvlinkErrors",
        series={FLIT: jump(30, 101, 90)},
        early=29,
        fires_at=30,
        resolved_at=46,
        labels={**G0, "severity": "warning"},
        under=({FLIT: jump(30, 100, 90)},),
    ),
    _once(
        "NvlinkRecovery",
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        46,
        severity="critical",
        action="reset",
    ),
    Scenario(
        alert="NvlinkBandwidthUneven",
        series={LINK[0]: hold((1000, 60), (3000, 60)), LINK[1]: hold((3010, 120))},
        early=14,
        fires_at=15,
        resolved_at=75,
        labels={**G0, **WORKLOAD, "severity": "warning"},
        under=(
            {LINK[0]: hold((1000, 60)), LINK[1]: hold((3000, 60))},
            {LINK[0]: hold((0, 60)), LINK[1]: hold((2000, 60))},
        ),
    ),
    _throttled("GpuPowerViolation", "DCGM_FI_DEV_POWER_VIOLATION"),
    _throttled("GpuThermalViolation", "DCGM_FI_DEV_THERMAL_VIOLATION"),
    _once("GpuEccUncorrectable", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 46, severity="critical", action="reset"),
    Scenario(
        alert="GpuEccCorrectable",
        series={busy("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 0): jump(30, 1001, 120)},
        early=29,
        fires_at=30,
        resolved_at=91,
        labels={**G0, "severity": "warning"},
        under=({busy("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 0): jump(30, 1000, 120)},),
    ),
    _once(
        "GpuRowRemapped",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        91,
        severity="warning",
        action="reset",
    ),
    Scenario(
        alert="GpuRowRemapFailed",
        series={busy("DCGM_FI_DEV_ROW_REMAP_FAILURE", 0): hold((0, 30), (1, 30), (0, 30))},
        early=29,
        fires_at=30,
        resolved_at=60,
        labels={**G0, "severity": "critical", "action": "isolate"},
        under=({busy("DCGM_FI_DEV_ROW_REMAP_FAILURE", 0): hold((0, 90))},),
    ),
)

XID = busy("DCGM_FI_DEV_XID_ERRORS", 0)


def _xid(alert: str, code: int, action: str, severity: str) -> Scenario:
    """The gauge takes the code and keeps it for ever; a code that was there all along is not news."""
    return Scenario(
        alert=alert,
        series={XID: hold((0, 30), (code, 90))},
        early=29,
        fires_at=30,
        resolved_at=40,
        labels={**G0, "xid": str(code), "action": action, "severity": severity},
        under=({XID: hold((code, 120))}, {XID: hold((0, 20), (63, 100))}),
    )


def counted(code: str) -> str:
    """The exporter's own count of a code; it has no series for a code that did not happen."""
    return named("DCGM_EXP_XID_ERRORS_COUNT", {**G0, **WORKLOAD, "window_size_in_ms": "300000", "xid": code})


XIDS = (
    _xid("GpuXidIsolate", 54, "isolate", "critical"),
    _xid("GpuXidReboot", 79, "reboot", "critical"),
    _xid("GpuXidReset", 95, "reset", "critical"),
    _xid("GpuXidInspect", 154, "inspect", "warning"),
    _xid("GpuXidInspect", 999, "inspect", "warning"),
    _xid("GpuXidMonitor", 145, "monitor", "warning"),
    _xid("GpuXidApplication", 31, "application", "info"),
    Scenario(
        alert="GpuXidReboot",
        series={counted("79"): [*["_"] * 30, *hold((2, 5)), "stale"]},
        early=29,
        fires_at=34,
        resolved_at=35,
        labels={**G0, "xid": "79", "action": "reboot", "severity": "critical"},
        under=(
            {counted("0"): hold((3, 60))},
            {named("DCGM_EXP_XID_ERRORS_COUNT", G0): hold((0, 60))},
        ),
    ),
)

PRESENCE = (
    Scenario(
        alert="GpuMissing",
        series={UTILISATION[1]: gone(95, 30, 60, 90)},
        early=34,
        fires_at=35,
        resolved_at=60,
        labels={"pool": "a100", "Hostname": "a100-0", "severity": "critical", "action": "reboot"},
        under=({IDLE: hold((0, 90))},),
    ),
    Scenario(
        alert="GpuPoolIncomplete",
        series={series: gone(95, 30, 60, 90) for series in UTILISATION},
        early=44,
        fires_at=45,
        resolved_at=60,
        labels={"pool": "a100", "severity": "critical"},
        under=({series: gone(95, 30, 44, 90) for series in UTILISATION},),
    ),
    Scenario(
        alert="GpuExporterDown",
        series={EXPORTER_UP: hold((1, 30), (0, 30), (1, 30))},
        early=34,
        fires_at=35,
        resolved_at=60,
        labels={"job": "dcgm-exporter", "instance": "a100-0:9400", "severity": "critical"},
        under=({EXPORTER_UP: hold((1, 30), (0, 4), (1, 60))},),
    ),
    Scenario(
        alert="GpuExporterDown",
        series={EXPORTER_UP: [*["_"] * 30, *hold((1, 30))]},
        early=4,
        fires_at=5,
        resolved_at=30,
        labels={"severity": "critical"},
        under=(
            {
                EXPORTER_UP: [],
                named("up", {"job": "nvidia-dcgm-exporter", "instance": "x"}): hold((1, 60)),
            },
        ),
    ),
    Scenario(
        alert="ScrapeTargetDown",
        series={named("up", {"job": "kueue", "instance": "k:8443"}): hold((1, 30), (0, 30), (1, 30))},
        early=34,
        fires_at=35,
        resolved_at=60,
        labels={"job": "kueue", "instance": "k:8443", "severity": "warning"},
        under=({named("up", {"job": "kueue", "instance": "k:8443"}): hold((0, 4), (1, 60))},),
    ),
)
