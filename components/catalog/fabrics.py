"""Networks between GPU nodes."""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.table import Table


class FabricKind(StrEnum):
    """How nodes exchange gradients; kinds stay distinct, as each is built and tuned in its own way."""

    INFINIBAND = "infiniband"
    EFA = "efa"
    ROCE = "roce"
    ETHERNET = "ethernet"


# Kinds proven for training over many nodes; plain Ethernet serves 2 to 4 nodes or inference, and RoCE
# joins once a site's lossless settings can be described and checked.
_MULTI_NODE_KINDS = frozenset({FabricKind.INFINIBAND, FabricKind.EFA})


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """One network a pool can be on.

    Args:
        key: Catalogue key.
        kind: Technology.
        port_gbit_per_second: Rate of one port, one way, Gbit/s.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    kind: FabricKind
    port_gbit_per_second: int
    source: str
    date: str

    @property
    def carries_multi_node_training(self) -> bool:
        """Whether a pool marked for multi-node training, or one above four nodes, may use it."""
        return self.kind in _MULTI_NODE_KINDS


FABRICS: Table[Fabric] = Table(
    "fabric",
    (
        Fabric(
            key="infiniband-hdr",
            kind=FabricKind.INFINIBAND,
            port_gbit_per_second=200,
            source="https://www.infinibandta.org/infiniband-roadmap/",
            date="2026-11-30",
        ),
        Fabric(
            key="infiniband-ndr",
            kind=FabricKind.INFINIBAND,
            port_gbit_per_second=400,
            source="https://www.infinibandta.org/infiniband-roadmap/",
            date="2026-11-30",
        ),
        Fabric(
            key="ethernet-100",
            kind=FabricKind.ETHERNET,
            port_gbit_per_second=100,
            source="https://standards.ieee.org/ieee/802.3ba/4486/",
            date="2026-11-30",
        ),
    ),
)
