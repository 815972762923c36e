"""NCCL environment of each GPU and kind of fabric; one source for Slurm and Kubernetes.

The choice among Ring, Tree and NVLS stays with NCCL, whose documentation keeps ``NCCL_ALGO`` for debugging.
Set here is whether NVLS may join the choice, which needs an NVSwitch that can reduce.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from components.catalog.fabrics import Fabric, FabricKind
from components.catalog.gpus import Gpu

_NCCL_GUIDE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
# Interfaces that exist on every host or in every pod and lead to no other node.
_NO_LOCAL_INTERFACES = "^docker,lo,veth"


@dataclass(frozen=True, kw_only=True)
class NcclRow:
    """Variables of one kind of fabric.

    Args:
        key: The fabric kind.
        variables: Variables every GPU on it sets.
        source: Public address they come from.
        date: Day they were published or read, ISO 8601.
    """

    key: FabricKind
    variables: Mapping[str, str]
    source: str
    date: str


NCCL_ROWS: Mapping[FabricKind, NcclRow] = MappingProxyType(
    {
        row.key: row
        for row in (
            # In-network reduction (CollNet) needs SHARP in the subnet manager, which no row promises.
            NcclRow(
                key=FabricKind.INFINIBAND,
                variables=MappingProxyType(
                    {
                        "NCCL_COLLNET_ENABLE": "0",
                        "NCCL_IB_HCA": "mlx5",
                        "NCCL_SOCKET_IFNAME": _NO_LOCAL_INTERFACES,
                    }
                ),
                source=_NCCL_GUIDE,
                date="2026-11-30",
            ),
            # Current libfabric and its NCCL plug-in need no tuning; huge pages break data loaders that fork.
            NcclRow(
                key=FabricKind.EFA,
                variables=MappingProxyType(
                    {"FI_EFA_USE_HUGE_PAGE": "0", "NCCL_SOCKET_IFNAME": _NO_LOCAL_INTERFACES}
                ),
                source="https://github.com/aws/aws-ofi-nccl",
                date="2026-08-01",
            ),
            NcclRow(
                key=FabricKind.ETHERNET,
                variables=MappingProxyType(
                    {"NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": _NO_LOCAL_INTERFACES}
                ),
                source=_NCCL_GUIDE,
                date="2026-11-30",
            ),
        )
    }
)


def nccl_environment(gpu: Gpu, fabric: Fabric) -> dict[str, str]:
    """The variables a job on this GPU and fabric sets, sorted by name.

    Args:
        gpu: GPU of the pool.
        fabric: Fabric of the pool.

    Raises:
        LookupError: The catalogue has no proven values for this kind of fabric. RoCE is such a kind: its
            traffic class and GID index are the site's own.
    """
    row = NCCL_ROWS.get(fabric.kind)
    if row is None:
        known = ", ".join(NCCL_ROWS)
        raise LookupError(f"no NCCL values for fabric kind {fabric.kind.value!r}; known: {known}")
    return dict(sorted({**row.variables, "NCCL_NVLS_ENABLE": "1" if gpu.nvls else "0"}.items()))
