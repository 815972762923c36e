"""Least all-reduce bus bandwidth by GPU, fabric, nodes and message size.

Only published figures stand here. For a set-up without one the settings carry what the site was promised.
"""

from dataclasses import dataclass

from components.catalog.table import Table

MESSAGE_BYTES = 8 << 30


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One published floor.

    Args:
        key: Unique key.
        gpu: Catalogue key of the GPU.
        fabric: Catalogue key of the fabric; None for GPUs of one node, joined by NVLink.
        nodes: Nodes taking part.
        gpus_per_node: GPUs of each.
        message_bytes: Message size it holds for.
        bus_gb_per_second: Least bus bandwidth, GB/s.
        source: Public address of the figure.
        date: Day it was read, ISO 8601.
    """

    key: str
    gpu: str
    fabric: str | None
    nodes: int
    gpus_per_node: int
    message_bytes: int
    bus_gb_per_second: float
    source: str
    date: str


THRESHOLDS: Table[Threshold] = Table(
    "acceptance threshold",
    (
        Threshold(
            key="a100-80-8-intra",
            gpu="a100-80",
            fabric=None,
            nodes=1,
            gpus_per_node=8,
            message_bytes=MESSAGE_BYTES,
            bus_gb_per_second=228,
            source="https://github.com/Azure/azurehpc-health-checks/blob/main/conf/nd96asr_v4.conf",
            date="2026-11-30",
        ),
        Threshold(
            key="h100-80-8-intra",
            gpu="h100-80",
            fabric=None,
            nodes=1,
            gpus_per_node=8,
            message_bytes=MESSAGE_BYTES,
            bus_gb_per_second=460,
            source="https://github.com/Azure/azurehpc-health-checks/blob/main/conf/nd96isr_h100_v5.conf",
            date="2026-11-30",
        ),
    ),
)


def threshold_for(gpu: str, fabric: str | None, nodes: int, gpus_per_node: int) -> Threshold | None:
    """The published floor of a set-up, or None."""
    wanted = (gpu, fabric, nodes, gpus_per_node)
    rows = THRESHOLDS.values()
    return next((row for row in rows if (row.gpu, row.fabric, row.nodes, row.gpus_per_node) == wanted), None)
