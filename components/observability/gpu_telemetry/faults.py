"""Faults that can be injected into simulated GPUs, and how they are written down.

They live in one ConfigMap: key ``<node>.<gpu>`` → JSON object, fault → the second it began (Unix time).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

# https://docs.nvidia.com/deploy/xid-errors/ (read 2026-11); the text is what ``err_msg`` says.
XID_MESSAGES: Mapping[int, str] = {
    13: "Graphics Engine Exception",
    31: "GPU memory page fault",
    43: "GPU stopped processing",
    45: "Preemptive cleanup, due to previous errors",
    48: "Double Bit ECC Error",
    63: "ECC page retirement or row remapping recording event",
    64: "ECC page retirement or row remapper recording failure",
    74: "NVLINK Error",
    79: "GPU has fallen off the bus",
    92: "High single-bit ECC error rate",
    94: "Contained ECC error",
    95: "Uncontained ECC error",
    119: "GSP RPC timeout",
    120: "GSP error",
}
MAX_XID = 200
# Fault without argument → what it does to the GPU's telemetry while it lasts.
PLAIN_FAULTS: Mapping[str, str] = {
    "ecc:dbe": "one double-bit ECC error",
    "ecc:sbe": "single-bit ECC errors, one a second",
    "row-remap:rows": "one row remapped after an uncorrectable error",
    "row-remap:pending": "a row remap waits for a reset",
    "row-remap:failure": "a row could not be remapped",
    "nvlink:crc": "NVLink CRC errors, one a second",
    "nvlink:replay": "NVLink replays, one a second",
    "nvlink:recovery": "NVLink recoveries, one a second",
    "nvlink:bandwidth": "no NVLink traffic although the GPU works",
    "thermal": "92 degrees and slowed down all the time",
    "power": "slowed down by the power limit all the time",
    "missing": "the GPU is not there at all",
}
UTILISATION = "utilisation"
XID = "xid"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault of one GPU.

    Args:
        name: As it is written, e.g. ``xid:79``, ``ecc:dbe``, ``utilisation:10``.
        since: When it began, Unix time.
    """

    name: str
    since: float

    @property
    def number(self) -> int:
        """The number after the colon, of faults that have one."""
        return int(self.name.partition(":")[2])


def accepted() -> str:
    """Every form a fault may have, for messages."""
    return f"{XID}:<1 to {MAX_XID}>, {UTILISATION}:<0 to 100>, {', '.join(PLAIN_FAULTS)}"


def is_fault(name: str) -> bool:
    """Whether the name is that of a fault."""
    if name in PLAIN_FAULTS:
        return True
    kind, _, number = name.partition(":")
    if not (number.isascii() and number.isdigit()):
        return False
    return (kind == XID and 1 <= int(number) <= MAX_XID) or (kind == UTILISATION and int(number) <= 100)


def key(node: str, gpu: int) -> str:
    """Key of a GPU in the ConfigMap."""
    return f"{node}.{gpu}"


def write(faults: Mapping[str, float]) -> str:
    """The value of one GPU in the ConfigMap."""
    return json.dumps(dict(sorted(faults.items())))


def read(value: str) -> dict[str, float]:
    """Fault → since; anything that is no fault is left out: a typing error must not end the exporter."""
    try:
        found = json.loads(value)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: float(since)
        for name, since in found.items()
        if is_fault(name) and isinstance(since, int | float)
    }


def faults_of(data: Mapping[str, str], node: str, gpu: int) -> tuple[Fault, ...]:
    """Faults of one GPU."""
    found = read(data.get(key(node, gpu), "{}"))
    return tuple(Fault(name=name, since=since) for name, since in sorted(found.items()))
