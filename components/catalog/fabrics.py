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
        port_gbit_per_second: Rate of one port (EFA: one interface), one way, Gbit/s.
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

    @property
    def cloud_only(self) -> bool:
        """Whether no server of one's own can be on it."""
        return self.kind is FabricKind.EFA

    @property
    def needs_site_values(self) -> bool:
        """Whether NCCL needs values only the site knows, see ``nccl_environment``."""
        return self.kind is FabricKind.ROCE


_READ_ON = "2026-11-30"
_IBTA = "https://www.infinibandta.org/infiniband-roadmap/"
_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types"
_ROCE = "https://docs.nvidia.com/networking/display/mlnxofedv24100700/rdma+over+converged+ethernet+(roce)"
_IEEE = "https://standards.ieee.org/ieee"


def _fabric(kind: FabricKind, name: str | int, port_gbit_per_second: int, source: str) -> Fabric:
    return Fabric(
        key=f"{kind.value}-{name}",
        kind=kind,
        port_gbit_per_second=port_gbit_per_second,
        source=source,
        date=_READ_ON,
    )


FABRICS: Table[Fabric] = Table(
    "fabric",
    (
        _fabric(FabricKind.INFINIBAND, "hdr", 200, _IBTA),
        _fabric(FabricKind.INFINIBAND, "ndr", 400, _IBTA),
        # Generations go with the Nitro card: v3, v4, v5 and v6. An interface's rate is the instance's
        # network rate over its EFA maximum: p4d 400/4, p5 3200/32, p5en 3200/16, p6-b200 3200/8.
        _fabric(FabricKind.EFA, "v1", 100, _EFA),
        _fabric(FabricKind.EFA, "v2", 100, _EFA),
        _fabric(FabricKind.EFA, "v3", 200, _EFA),
        _fabric(FabricKind.EFA, "v4", 400, _EFA),
        _fabric(FabricKind.ROCE, 100, 100, _ROCE),
        _fabric(FabricKind.ROCE, 200, 200, _ROCE),
        _fabric(FabricKind.ROCE, 400, 400, _ROCE),
        _fabric(FabricKind.ETHERNET, 10, 10, f"{_IEEE}/802.3ae/1087/"),
        _fabric(FabricKind.ETHERNET, 25, 25, f"{_IEEE}/802.3by/6066/"),
        _fabric(FabricKind.ETHERNET, 40, 40, f"{_IEEE}/802.3ba/4486/"),
        _fabric(FabricKind.ETHERNET, 50, 50, f"{_IEEE}/802.3cd/6716/"),
        _fabric(FabricKind.ETHERNET, 100, 100, f"{_IEEE}/802.3ba/4486/"),
        _fabric(FabricKind.ETHERNET, 200, 200, f"{_IEEE}/802.3bs/6748/"),
        _fabric(FabricKind.ETHERNET, 400, 400, f"{_IEEE}/802.3bs/6748/"),
    ),
)
