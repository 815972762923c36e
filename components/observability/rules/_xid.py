"""XID codes by what the operator does about them; to be replaced by the catalogue's table.

Source: NVIDIA, GPU Deployment and Management, XID catalogue of driver branch 590
(https://docs.nvidia.com/deploy/xid-errors/), read 2026-11-30. 74 is placed with the resets, as NVIDIA's table
leaves its action to the kind of NVLink fault. 154 carries its action in its text, so that somebody must
read it; so does every code that is not listed here.
"""

from collections.abc import Mapping
from enum import StrEnum


class XidAction(StrEnum):
    """What an XID asks of the operator, gravest first."""

    ISOLATE = "isolate"
    REBOOT = "reboot"
    RESET = "reset"
    INSPECT = "inspect"
    MONITOR = "monitor"
    APPLICATION = "application"
    INFORMATION = "information"


XID_ACTIONS: Mapping[XidAction, tuple[int, ...]] = {
    XidAction.ISOLATE: (54,),
    XidAction.REBOOT: (79, 151, 168),
    XidAction.RESET: (48, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158),
    XidAction.MONITOR: (144, 145, 146, 147, 148, 149, 150),
    XidAction.APPLICATION: (13, 31, 94, 126),
    XidAction.INFORMATION: (43, 63, 92, 121, 162, 163, 164),
}
