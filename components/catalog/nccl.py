"""NCCL environment of each GPU, fabric and software version; one source for Slurm and Kubernetes.

The choice among Ring, Tree and NVLS stays with NCCL, whose documentation keeps ``NCCL_ALGO`` for debugging.
Set here is whether NVLS may join the choice, which needs an NVSwitch that can reduce.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from components.catalog.fabrics import Fabric, FabricKind
from components.catalog.gpus import Gpu
from components.catalog.table import Table
from components.catalog.version_numbers import within

_NCCL_GUIDE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_EFA_CHEATSHEET = (
    "https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"
)
# Interfaces that exist on every host or in every pod and lead to no other node.
_NO_LOCAL_INTERFACES = "^docker,lo,veth"


@dataclass(frozen=True, kw_only=True)
class NcclSoftware:
    """Versions inside a job's image; the defaults are those of EFA installer 1.51.0 (2026-10-22).

    Args:
        nccl: NCCL.
        ofi_nccl: AWS's NCCL plug-in for libfabric; matters on EFA only.
        efa_installer: AWS's EFA installer; matters on EFA only.
    """

    nccl: str = "2.31.2"
    ofi_nccl: str = "1.22.0"
    efa_installer: str = "1.51.0"


@dataclass(frozen=True, kw_only=True)
class VersionRange:
    """``since <= version < below`` of one piece of software; None does not limit."""

    software: str
    since: str | None = None
    below: str | None = None


@dataclass(frozen=True, kw_only=True)
class NcclRow:
    """Variables of one kind of fabric under some conditions; every row that applies adds its own.

    Args:
        key: Catalogue key.
        kind: The fabric kind.
        variables: What it sets.
        versions: Software it is for, field names of ``NcclSoftware``; all must hold.
        gpus: Keys of the GPUs it is for; empty means every one.
        site_variables: Names the site must give, as no default is right everywhere.
        source: Public address they come from.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    kind: FabricKind
    variables: Mapping[str, str]
    versions: tuple[VersionRange, ...] = ()
    gpus: tuple[str, ...] = ()
    site_variables: tuple[str, ...] = ()
    source: str
    date: str

    def applies(self, gpu: Gpu, fabric: Fabric, software: NcclSoftware) -> bool:
        """Whether a job on this GPU and fabric with this software sets the row's variables."""
        return (
            self.kind is fabric.kind
            and (not self.gpus or gpu.key in self.gpus)
            and all(within(getattr(software, one.software), one.since, one.below) for one in self.versions)
        )


@dataclass(frozen=True, kw_only=True)
class NcclSite:
    """Values a known site gives for its fabric.

    Args:
        key: Catalogue key.
        kind: The fabric kind.
        variables: What ``nccl_environment`` takes as ``site``.
        source: Public address they come from.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    kind: FabricKind
    variables: Mapping[str, str]
    source: str
    date: str


def _variables(**variables: str) -> Mapping[str, str]:
    return MappingProxyType(variables)


NCCL_ROWS: Table[NcclRow] = Table(
    "NCCL row",
    (
        # In-network reduction (CollNet) needs SHARP in the subnet manager, which no row promises.
        NcclRow(
            key="infiniband",
            kind=FabricKind.INFINIBAND,
            variables=_variables(
                NCCL_COLLNET_ENABLE="0", NCCL_IB_HCA="mlx5", NCCL_SOCKET_IFNAME=_NO_LOCAL_INTERFACES
            ),
            source=_NCCL_GUIDE,
            date="2026-11-30",
        ),
        # Current libfabric and its NCCL plug-in need no tuning; huge pages break data loaders that fork.
        NcclRow(
            key="efa",
            kind=FabricKind.EFA,
            variables=_variables(FI_EFA_USE_HUGE_PAGE="0", NCCL_SOCKET_IFNAME=_NO_LOCAL_INTERFACES),
            source=_EFA_CHEATSHEET,
            date="2026-08-01",
        ),
        NcclRow(
            key="efa-ofi-nccl-below-1.7",
            kind=FabricKind.EFA,
            variables=_variables(FI_EFA_USE_DEVICE_RDMA="1"),
            versions=(VersionRange(software="ofi_nccl", below="1.7"),),
            source=_EFA_CHEATSHEET,
            date="2026-08-01",
        ),
        NcclRow(
            key="efa-ofi-nccl-below-1.6",
            kind=FabricKind.EFA,
            variables=_variables(FI_PROVIDER="efa", NCCL_PROTO="simple"),
            versions=(VersionRange(software="ofi_nccl", below="1.6"),),
            source=_EFA_CHEATSHEET,
            date="2026-08-01",
        ),
        NcclRow(
            key="efa-installer-below-1.29.1",
            kind=FabricKind.EFA,
            variables=_variables(FI_EFA_SET_CUDA_SYNC_MEMOPS="0"),
            versions=(
                VersionRange(software="efa_installer", below="1.29.1"),
                VersionRange(software="nccl", since="2.19"),
            ),
            source=_EFA_CHEATSHEET,
            date="2026-08-01",
        ),
        NcclRow(
            key="efa-without-nvlink",
            kind=FabricKind.EFA,
            variables=_variables(NCCL_SHM_USE_CUDA_MEMCPY="1"),
            gpus=("a10g", "l4"),
            source=_EFA_CHEATSHEET,
            date="2026-08-01",
        ),
        NcclRow(
            key="roce",
            kind=FabricKind.ROCE,
            variables=_variables(
                NCCL_COLLNET_ENABLE="0", NCCL_IB_HCA="mlx5", NCCL_SOCKET_IFNAME=_NO_LOCAL_INTERFACES
            ),
            site_variables=("NCCL_IB_GID_INDEX", "NCCL_IB_TC"),
            source=_NCCL_GUIDE,
            date="2026-11-30",
        ),
        NcclRow(
            key="ethernet",
            kind=FabricKind.ETHERNET,
            variables=_variables(NCCL_IB_DISABLE="1", NCCL_SOCKET_IFNAME=_NO_LOCAL_INTERFACES),
            source=_NCCL_GUIDE,
            date="2026-11-30",
        ),
    ),
)

NCCL_SITES: Table[NcclSite] = Table(
    "NCCL site",
    (
        NcclSite(
            key="oci",
            kind=FabricKind.ROCE,
            variables=_variables(
                NCCL_CUMEM_ENABLE="0",
                NCCL_IB_GID_INDEX="3",
                NCCL_IB_QPS_PER_CONNECTION="1",
                NCCL_IB_SL="0",
                NCCL_IB_SPLIT_DATA_ON_QPS="0",
                NCCL_IB_TC="41",
                NCCL_IB_TIMEOUT="22",
                NCCL_IGNORE_CPU_AFFINITY="1",
            ),
            source="https://github.com/oracle-quickstart/oci-hpc",
            date="2026-08-01",
        ),
    ),
)

CURRENT_SOFTWARE = NcclSoftware()


def nccl_environment(
    gpu: Gpu,
    fabric: Fabric,
    software: NcclSoftware = CURRENT_SOFTWARE,
    site: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """The variables a job on this GPU and fabric sets, sorted by name.

    Args:
        gpu: GPU of the pool.
        fabric: Fabric of the pool.
        software: Versions in the job's image.
        site: Values of the site; they win over the catalogue's.

    Raises:
        LookupError: The fabric needs values only the site knows (RoCE: traffic class and GID index), and
            ``site`` lacks them.
        ValueError: A version of ``software`` is none.
    """
    rows = [row for row in NCCL_ROWS.values() if row.applies(gpu, fabric, software)]
    missing = sorted({name for row in rows for name in row.site_variables} - set(site))
    if missing:
        raise LookupError(
            f"fabric {fabric.key!r} needs the site's own {', '.join(missing)}; "
            f"known sites: {', '.join(NCCL_SITES)}"
        )
    merged = {name: value for row in rows for name, value in row.variables.items()}
    return dict(sorted({**merged, "NCCL_NVLS_ENABLE": "1" if gpu.nvls else "0", **site}.items()))
