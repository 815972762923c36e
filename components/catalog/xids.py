"""XIDs: errors the NVIDIA driver writes to the kernel log, and what each asks for.

Numbers, meanings and resolutions are NVIDIA's catalogue for Ampere and newer; numbers it calls unused are
left out. An XID is evidence, not proof: 13, 31 and their like come from a wrong program far more often than
from hardware.
"""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.table import Table
from components.catalog.xid_figures import FIGURES


class XidClass(StrEnum):
    """What an XID asks for first."""

    APPLICATION = "application"
    INFORMATION = "information"
    MONITOR = "monitor"
    RESET = "reset"
    REBOOT = "reboot"
    ISOLATE = "isolate"
    SUPPORT = "support"


ACTIONS = {
    XidClass.APPLICATION: "Restart the job. If other programs fail on the same GPU: drain, dcgmi diag -r 3.",
    XidClass.INFORMATION: "Nothing by itself; read what stands beside it in the kernel log.",
    XidClass.MONITOR: "Keep the node, watch the link; if it returns or a job failed: drain, reset the GPUs.",
    XidClass.RESET: "Drain the node, reset the GPU, run dcgmi diag -r 2; if it returns, repair.",
    XidClass.REBOOT: "Drain the node and restart it, run dcgmi diag -r 3; if it returns, repair.",
    XidClass.ISOLATE: "Take the node out at once and check power cables, seating and cooling.",
    XidClass.SUPPORT: "Drain the node, collect nvidia-bug-report.sh and ask the vendor.",
}

_DRAINING = frozenset({XidClass.RESET, XidClass.REBOOT, XidClass.ISOLATE, XidClass.SUPPORT})
# These ask for a restart on an A100 without MIG, as it cannot contain the error.
_REBOOT_ON_A100 = frozenset({64, 95})
_A100 = frozenset({"a100-40", "a100-80"})


@dataclass(frozen=True, kw_only=True)
class Xid:
    """One XID.

    Args:
        key: ``xid-<number>``.
        number: Its number.
        meaning: What happened.
        xid_class: What it asks for first.
        source: Public address.
        date: Day it was published or read, ISO 8601.
    """

    key: str
    number: int
    meaning: str
    xid_class: XidClass
    source: str
    date: str

    @property
    def action(self) -> str:
        """What to do, in one sentence or two."""
        return ACTIONS[self.xid_class]

    @property
    def drains(self) -> bool:
        """Whether new jobs must keep off the node until it is dealt with."""
        return self.xid_class in _DRAINING


XIDS: Table[Xid] = Table(
    "XID",
    tuple(
        Xid(
            key=f"xid-{number}",
            number=number,
            meaning=meaning,
            xid_class=XidClass(name),
            source="https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html",
            date="2025-10-29",
        )
        for number, name, meaning in FIGURES
    ),
)


def xid_class(number: int, *, gpu: str, mig: bool = False) -> XidClass:
    """What an XID asks for on one GPU.

    Args:
        number: The XID.
        gpu: Catalogue key of the GPU.
        mig: Whether the GPU is partitioned.

    Raises:
        UnknownKeyError: NVIDIA's catalogue has no such XID, or calls it unused.
    """
    row = XIDS[f"xid-{number}"]
    if number in _REBOOT_ON_A100 and gpu in _A100 and not mig:
        return XidClass.REBOOT
    return row.xid_class
