"""What one GPU measures, from who holds it and which faults it has; pure.

Names, types and help texts as dcgm-exporter's default and optional counters have them:
https://github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv and dcp-metrics-included.csv (read 2026-11).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .faults import UTILISATION, XID, XID_MESSAGES, Fault

XID_WINDOW_SECONDS = 300
DRIVER_VERSION = "580.95.05"
# A job that keeps its GPUs busy; the target of the low-utilisation alert is 85 %.
BUSY_PERCENT = 95
_NANOSECONDS = 10**9
_IDLE_WATTS, _DEFAULT_WATTS = 60, 300
# Board power by family, W; figures of the catalogue's first rows.
_WATTS: Mapping[str, int] = {"ampere": 400, "hopper": 700, "blackwell": 1000}
_RESERVED_MIB = 500
_HOT_CELSIUS, _WARM_CELSIUS, _COOL_CELSIUS = 92, 62, 34

GAUGE, COUNTER = "gauge", "counter"
METRICS: Mapping[str, tuple[str, str]] = {
    "DCGM_FI_DEV_SM_CLOCK": (GAUGE, "SM clock frequency (in MHz)."),
    "DCGM_FI_DEV_MEM_CLOCK": (GAUGE, "Memory clock frequency (in MHz)."),
    "DCGM_FI_DEV_MEMORY_TEMP": (GAUGE, "Memory temperature (in C)."),
    "DCGM_FI_DEV_GPU_TEMP": (GAUGE, "GPU temperature (in C)."),
    "DCGM_FI_DEV_POWER_USAGE": (GAUGE, "Power draw (in W)."),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": (COUNTER, "Total energy consumption since boot (in mJ)."),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (COUNTER, "Total number of PCIe retries."),
    "DCGM_FI_DEV_GPU_UTIL": (GAUGE, "GPU utilization (in %)."),
    "DCGM_FI_DEV_MEM_COPY_UTIL": (GAUGE, "Memory utilization (in %)."),
    "DCGM_FI_DEV_ENC_UTIL": (GAUGE, "Encoder utilization (in %)."),
    "DCGM_FI_DEV_DEC_UTIL": (GAUGE, "Decoder utilization (in %)."),
    "DCGM_FI_DEV_XID_ERRORS": (GAUGE, "Value of the last XID error encountered."),
    "DCGM_FI_DEV_POWER_VIOLATION": (COUNTER, "Throttling duration due to power constraints (in ns)."),
    "DCGM_FI_DEV_THERMAL_VIOLATION": (COUNTER, "Throttling duration due to thermal constraints (in ns)."),
    "DCGM_FI_DEV_FB_FREE": (GAUGE, "Framebuffer memory free (in MiB)."),
    "DCGM_FI_DEV_FB_USED": (GAUGE, "Framebuffer memory used (in MiB)."),
    "DCGM_FI_DEV_FB_RESERVED": (GAUGE, "Framebuffer memory reserved (in MiB)."),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": (COUNTER, "Total number of single-bit volatile ECC errors."),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": (COUNTER, "Total number of double-bit volatile ECC errors."),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": (COUNTER, "Total number of single-bit persistent ECC errors."),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": (COUNTER, "Total number of double-bit persistent ECC errors."),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": (
        COUNTER,
        "Number of remapped rows for uncorrectable errors",
    ),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": (COUNTER, "Number of remapped rows for correctable errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": (GAUGE, "Whether remapping of rows has failed"),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": (GAUGE, "Whether remapping of rows is pending"),
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": (
        COUNTER,
        "Total number of NVLink flow-control CRC errors.",
    ),
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": (COUNTER, "Total number of NVLink data CRC errors."),
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": (COUNTER, "Total number of NVLink retries."),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": (COUNTER, "Total number of NVLink recovery errors."),
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": (
        COUNTER,
        "Total number of NVLink bandwidth counters for all lanes.",
    ),
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS": (GAUGE, "vGPU License status"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": (GAUGE, "Ratio of time the graphics engine is active."),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": (GAUGE, "Ratio of cycles the tensor (HMMA) pipe is active."),
    "DCGM_FI_PROF_DRAM_ACTIVE": (
        GAUGE,
        "Ratio of cycles the device memory interface is active sending or receiving data.",
    ),
    "DCGM_FI_PROF_PCIE_TX_BYTES": (
        GAUGE,
        "The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads "
        "- in bytes per second.",
    ),
    "DCGM_FI_PROF_PCIE_RX_BYTES": (
        GAUGE,
        "The rate of data received over the PCIe bus - including both protocol headers and data payloads "
        "- in bytes per second.",
    ),
    "DCGM_EXP_XID_ERRORS_COUNT": (GAUGE, "Count of XID Errors within user-specified time window."),
}


@dataclass
class Totals:
    """What a GPU has counted since the exporter began; rates of it are what alerts look at."""

    energy_millijoules: float = 0
    power_violation: float = 0
    thermal_violation: float = 0
    single_bit: float = 0
    crc: float = 0
    replay: float = 0
    recovery: float = 0


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One line of a scrape: metric, value, and labels beyond the GPU's own."""

    metric: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


def watts(family: str, utilisation: float) -> float:
    """Power draw at a utilisation in per cent, W."""
    most = _WATTS.get(family, _DEFAULT_WATTS)
    return _IDLE_WATTS + (most * 0.92 - _IDLE_WATTS) * utilisation / 100


def utilisation(*, held: bool, faults: Sequence[Fault]) -> float:
    """Per cent: that of the fault, else busy where a pod holds the GPU."""
    for fault in faults:
        if fault.name.startswith(f"{UTILISATION}:"):
            return fault.number if held else 0
    return BUSY_PERCENT if held else 0


def count(totals: Totals, *, seconds: float, load: float, family: str, names: frozenset[str]) -> None:
    """Move the totals on by the time since the last scrape."""
    totals.energy_millijoules += watts(family, load) * seconds * 1000
    totals.power_violation += seconds * _NANOSECONDS if "power" in names else 0
    totals.thermal_violation += seconds * _NANOSECONDS if "thermal" in names else 0
    totals.single_bit += seconds if "ecc:sbe" in names else 0
    totals.crc += seconds if "nvlink:crc" in names else 0
    totals.replay += seconds if "nvlink:replay" in names else 0
    totals.recovery += seconds if "nvlink:recovery" in names else 0


def samples(
    *, family: str, memory_mib: int, held: bool, faults: Sequence[Fault], totals: Totals, now: float
) -> list[Sample]:
    """Everything one GPU says; nothing when it is missing.

    Args:
        family: GPU family of the node.
        memory_mib: Memory of the GPU, MiB.
        held: A pod holds it.
        faults: Its faults.
        totals: What it has counted.
        now: Unix time.
    """
    names = frozenset(fault.name for fault in faults)
    if "missing" in names:
        return []
    load = utilisation(held=held, faults=faults)
    slow = bool(names & {"thermal", "power"})
    used = round(memory_mib * 0.85) if held else 0
    double_bit = float("ecc:dbe" in names)
    values: dict[str, float] = {
        "DCGM_FI_DEV_SM_CLOCK": (900 if slow else 1410) if held else 210,
        "DCGM_FI_DEV_MEM_CLOCK": 1593,
        "DCGM_FI_DEV_MEMORY_TEMP": _temperature(held=held, hot="thermal" in names) + 4,
        "DCGM_FI_DEV_GPU_TEMP": _temperature(held=held, hot="thermal" in names),
        "DCGM_FI_DEV_POWER_USAGE": watts(family, load),
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": totals.energy_millijoules,
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
        "DCGM_FI_DEV_GPU_UTIL": load,
        "DCGM_FI_DEV_MEM_COPY_UTIL": load * 0.6,
        "DCGM_FI_DEV_ENC_UTIL": 0,
        "DCGM_FI_DEV_DEC_UTIL": 0,
        "DCGM_FI_DEV_POWER_VIOLATION": totals.power_violation,
        "DCGM_FI_DEV_THERMAL_VIOLATION": totals.thermal_violation,
        "DCGM_FI_DEV_FB_FREE": memory_mib - _RESERVED_MIB - used,
        "DCGM_FI_DEV_FB_USED": used,
        "DCGM_FI_DEV_FB_RESERVED": _RESERVED_MIB,
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": totals.single_bit,
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": double_bit,
        "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": totals.single_bit,
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": double_bit,
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": float("row-remap:rows" in names),
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 0,
        "DCGM_FI_DEV_ROW_REMAP_FAILURE": float("row-remap:failure" in names),
        "DCGM_FI_DEV_ROW_REMAP_PENDING": float("row-remap:pending" in names),
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": totals.crc,
        "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": totals.crc,
        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": totals.replay,
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": totals.recovery,
        # A rate of the moment in MB/s, although the exporter calls it a counter
        # (https://github.com/NVIDIA/dcgm-exporter/pull/658).
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": 0 if "nvlink:bandwidth" in names else load * 2000,
        "DCGM_FI_DEV_VGPU_LICENSE_STATUS": 0,
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": load / 100,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": load * 0.5 / 100,
        "DCGM_FI_PROF_DRAM_ACTIVE": load * 0.6 / 100,
        "DCGM_FI_PROF_PCIE_TX_BYTES": load * 10**7,
        "DCGM_FI_PROF_PCIE_RX_BYTES": load * 10**7,
    }
    plain = [Sample(metric=metric, value=value) for metric, value in values.items()]
    return plain + xids(faults, now)


def xids(faults: Sequence[Fault], now: float) -> list[Sample]:
    """The last XID with its text, and the counts by code within the exporter's window.

    A GPU without XID in the window has one count of 0 without the ``xid`` label, as the real exporter does.
    """
    found = sorted((f for f in faults if f.name.startswith(f"{XID}:")), key=lambda fault: fault.since)
    last = found[-1].number if found else 0
    message = XID_MESSAGES.get(last, "Unknown Error") if last else "No Error"
    window = ("window_size_in_ms", str(XID_WINDOW_SECONDS * 1000))
    counts = [
        Sample(metric="DCGM_EXP_XID_ERRORS_COUNT", value=1, labels=(window, ("xid", str(fault.number))))
        for fault in found
        if now - fault.since <= XID_WINDOW_SECONDS
    ]
    none = Sample(metric="DCGM_EXP_XID_ERRORS_COUNT", value=0, labels=(window,))
    text = (("err_code", str(last)), ("err_msg", message))
    return [Sample(metric="DCGM_FI_DEV_XID_ERRORS", value=last, labels=text), *(counts or [none])]


def _temperature(*, held: bool, hot: bool) -> int:
    if hot:
        return _HOT_CELSIUS
    return _WARM_CELSIUS if held else _COOL_CELSIUS
