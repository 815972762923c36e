"""Names of GPU telemetry as dcgm-exporter 4.6.0-4.8.3 writes them, and what else the rules ask of the scrape.

Source: https://raw.githubusercontent.com/NVIDIA/dcgm-exporter/4.6.0-4.8.3/etc/default-counters.csv and
https://github.com/NVIDIA/dcgm-exporter/pull/239, read 2026-11-30. Release 4.9.0 renames 23 fields and changes
units (https://newreleases.io/project/github/NVIDIA/dcgm-exporter/release/4.9.0): an exporter of that age
needs the old names kept in its collector file until these rules move.

The scrape must

* honour the exporter's labels ``namespace``, ``pod`` and ``container`` and drop the target's own labels of
  these
  names: otherwise an idle GPU looks as if the exporter's pod held it;
* carry ``pool``, the node's label ``gpu-platform/pool``, e.g. by attached node metadata.
"""

from collections.abc import Mapping

GPU = ("pool", "Hostname", "gpu", "UUID", "device", "modelName")
"""Labels that name one GPU, whoever uses it."""
WORKLOAD = ("namespace", "pod", "container")
"""Labels dcgm-exporter adds to a GPU that Kubernetes gave to a container."""
ALLOCATED = '{pod!=""}'
"""Selector of GPUs in use."""

UTILISATION = "DCGM_FI_DEV_GPU_UTIL"
MEMORY_COPY = "DCGM_FI_DEV_MEM_COPY_UTIL"
MEMORY_USED = "DCGM_FI_DEV_FB_USED"
MEMORY_FREE = "DCGM_FI_DEV_FB_FREE"
TEMPERATURE = "DCGM_FI_DEV_GPU_TEMP"
MEMORY_TEMPERATURE = "DCGM_FI_DEV_MEMORY_TEMP"
POWER = "DCGM_FI_DEV_POWER_USAGE"
CLOCK = "DCGM_FI_DEV_SM_CLOCK"
XID_LAST = "DCGM_FI_DEV_XID_ERRORS"
XID_COUNT = "DCGM_EXP_XID_ERRORS_COUNT"
POWER_VIOLATION = "DCGM_FI_DEV_POWER_VIOLATION"
THERMAL_VIOLATION = "DCGM_FI_DEV_THERMAL_VIOLATION"
ECC_CORRECTABLE = "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"
ECC_UNCORRECTABLE = "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"
ROWS_REMAPPED = "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"
ROW_REMAP_FAILURE = "DCGM_FI_DEV_ROW_REMAP_FAILURE"
NVLINK_CRC_FLIT = "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"
NVLINK_CRC_DATA = "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"
NVLINK_REPLAY = "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"
NVLINK_RECOVERY = "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL"
NVLINK_BANDWIDTH = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"

VIOLATION_UNITS_PER_SECOND = 1_000_000_000
"""Violation counters are nanoseconds in these releases; files of 2023 and before say microseconds."""

COLLECTED: Mapping[str, tuple[str, str]] = {
    CLOCK: ("gauge", "SM clock frequency (in MHz)."),
    TEMPERATURE: ("gauge", "GPU temperature (in C)."),
    MEMORY_TEMPERATURE: ("gauge", "Memory temperature (in C)."),
    POWER: ("gauge", "Power draw (in W)."),
    UTILISATION: ("gauge", "GPU utilization (in %)."),
    MEMORY_COPY: ("gauge", "Memory utilization (in %)."),
    MEMORY_USED: ("gauge", "Framebuffer memory used (in MiB)."),
    MEMORY_FREE: ("gauge", "Framebuffer memory free (in MiB)."),
    XID_LAST: ("gauge", "Value of the last XID error encountered."),
    XID_COUNT: ("gauge", "Count of XID errors within the exporter's time window."),
    POWER_VIOLATION: ("counter", "Throttling duration due to power constraints (in ns)."),
    THERMAL_VIOLATION: ("counter", "Throttling duration due to thermal constraints (in ns)."),
    ECC_CORRECTABLE: ("counter", "Total number of single-bit volatile ECC errors."),
    ECC_UNCORRECTABLE: ("counter", "Total number of double-bit volatile ECC errors."),
    ROWS_REMAPPED: ("counter", "Number of remapped rows for uncorrectable errors."),
    ROW_REMAP_FAILURE: ("gauge", "Whether remapping of rows has failed."),
    NVLINK_CRC_FLIT: ("counter", "Total number of NVLink flow-control CRC errors."),
    NVLINK_CRC_DATA: ("counter", "Total number of NVLink data CRC errors."),
    NVLINK_REPLAY: ("counter", "Total number of NVLink retries."),
    NVLINK_RECOVERY: ("counter", "Total number of NVLink recovery errors."),
    NVLINK_BANDWIDTH: ("gauge", "NVLink throughput of all lanes (in MB/s)."),
}
"""Every field the rules and dashboards read: Prometheus type and help text.

``NVLINK_BANDWIDTH`` is a rate of the moment although shipped files call it a counter
(https://github.com/NVIDIA/dcgm-exporter/pull/658).
"""


def collectors_csv() -> str:
    """A collector file with exactly these fields; the shipped one has no violations, ECC, NVLink errors.

    For the GPU Operator's ``dcgmExporter.config``: a ConfigMap with this text under ``dcgm-metrics.csv``.
    """
    rows = (f"{name}, {kind}, {text.replace(',', ';')}" for name, (kind, text) in COLLECTED.items())
    return "\n".join(("# DCGM field, Prometheus type, help", *rows, ""))


def by(*labels: str) -> str:
    """A ``by (...)`` clause."""
    return f"by ({', '.join(labels)})"


def on(*labels: str) -> str:
    """An ``on (...)`` clause."""
    return f"on ({', '.join(labels)})"
