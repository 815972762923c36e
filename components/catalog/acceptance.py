"""Acceptance thresholds: what a healthy pool reaches, by GPU, fabric, nodes and message size.

They are data with sources, for no single figure fits: bandwidth grows with the message until about 16 GiB,
and gates published for small messages (or copied from another size) fail healthy nodes. The 280 GB/s often
asked of eight A100 is above everything published. A pool without a row has no threshold, which is not the
same as passing.
"""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.table import Table

MIB, GIB = 2**20, 2**30


class Metric(StrEnum):
    """What is measured."""

    ALL_REDUCE = "all-reduce"
    """Bus bandwidth of nccl-tests' all_reduce, GB/s."""
    NCCL_LOOPBACK = "nccl-loopback"
    """Bus bandwidth of one GPU to itself through its NIC, GB/s."""
    RDMA_PORT = "rdma-port"
    """RDMA write through one port, Gbit/s."""


class Basis(StrEnum):
    """Where a figure comes from."""

    GATE = "gate"
    """A limit somebody accepts nodes by."""
    MEASURED = "measured"
    """A result on healthy nodes."""


# A gate derived from one measurement leaves this much for run-to-run variation, https://github.com/NVIDIA/aicr.
MEASURED_SLACK = 0.1


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One figure.

    Args:
        key: Catalogue key.
        metric: What is measured.
        gpu: Catalogue key of the GPU, or None where it does not matter.
        fabric: Catalogue key of the fabric, or None inside one node.
        nodes: Nodes taking part, at least.
        message_bytes: Message size, at least; 0 where it does not matter.
        value: The figure, in the metric's unit.
        basis: Where it comes from.
        source: Public address.
        date: Day it was published or read, ISO 8601.
    """

    key: str
    metric: Metric
    gpu: str | None
    fabric: str | None
    nodes: int
    message_bytes: int
    value: float
    basis: Basis
    source: str
    date: str

    @property
    def minimum(self) -> float:
        """What a run must reach: a gate as it is, a measurement less the slack."""
        return self.value if self.basis is Basis.GATE else round(self.value * (1 - MEASURED_SLACK), 1)


_AZURE_A100 = "https://github.com/Azure/azurehpc-health-checks/blob/main/conf/nd96asr_v4.conf"
_AZURE_H100 = "https://github.com/Azure/azurehpc-health-checks/blob/main/conf/nd96isr_h100_v5.conf"
_OCI = "https://github.com/oracle-quickstart/oci-hpc"
_NEBIUS = "https://github.com/nebius/soperator"
_PARALLELCLUSTER = (
    "https://github.com/aws/aws-parallelcluster/blob/develop/tests/integration-tests/tests/efa/test_efa.py"
)
_AWSOME = "https://github.com/aws-samples/awsome-distributed-training"
_AICR = "https://github.com/NVIDIA/aicr"
_READ_ON = "2026-08-01"


def _size(message_bytes: int) -> str:
    for unit, name in ((GIB, "gib"), (MIB, "mib")):
        if message_bytes >= unit:
            return f"{message_bytes // unit}{name}"
    return "any"


def _all_reduce(  # noqa: PLR0917 - rows read as a table
    gpu: str, fabric: str | None, nodes: int, message_bytes: int, value: float, basis: Basis, source: str
) -> Threshold:
    return Threshold(
        key=f"all-reduce/{gpu}/{fabric or 'node'}/{nodes}/{_size(message_bytes)}",
        metric=Metric.ALL_REDUCE,
        gpu=gpu,
        fabric=fabric,
        nodes=nodes,
        message_bytes=message_bytes,
        value=value,
        basis=basis,
        source=source,
        date=_READ_ON,
    )


def _port(metric: Metric, fabric: str, value: float, source: str) -> Threshold:
    return Threshold(
        key=f"{metric.value}/{fabric}",
        metric=metric,
        gpu=None,
        fabric=fabric,
        nodes=1,
        message_bytes=0,
        value=value,
        basis=Basis.GATE,
        source=source,
        date=_READ_ON,
    )


THRESHOLDS: Table[Threshold] = Table(
    "acceptance threshold",
    (
        # Inside a node, eight GPUs on NVSwitch.
        _all_reduce("a100-40", None, 1, 16 * GIB, 228, Basis.GATE, _AZURE_A100),
        _all_reduce("a100-80", None, 1, GIB, 185, Basis.GATE, _OCI),
        _all_reduce("h100-80", None, 1, GIB, 420, Basis.GATE, _NEBIUS),
        _all_reduce("h100-80", None, 1, 16 * GIB, 460, Basis.GATE, _AZURE_H100),
        _all_reduce("h200", None, 1, 16 * GIB, 440, Basis.GATE, _OCI),
        _all_reduce("b200", None, 1, 16 * GIB, 440, Basis.GATE, _OCI),
        _all_reduce("b300", None, 1, 16 * GIB, 800, Basis.GATE, _OCI),
        # Between nodes.
        _all_reduce("a100-40", "efa-v1", 2, GIB, 26, Basis.GATE, _PARALLELCLUSTER),
        _all_reduce("a100-80", "efa-v1", 2, 2 * GIB, 78, Basis.MEASURED, _AWSOME),
        _all_reduce("h100-80", "efa-v2", 2, 128 * MIB, 289, Basis.MEASURED, _AWSOME),
        _all_reduce("h100-80", "efa-v2", 2, 2 * GIB, 443, Basis.MEASURED, _AWSOME),
        _all_reduce("h100-80", "efa-v2", 2, 4 * GIB, 465, Basis.MEASURED, _AWSOME),
        _all_reduce("h100-80", "efa-v2", 2, 16 * GIB, 487, Basis.MEASURED, _AWSOME),
        # The next two gates name no number of nodes; with two on EFA the measurements above are sharper.
        _all_reduce("h100-80", "efa-v2", 3, GIB, 300, Basis.GATE, _AICR),
        _all_reduce("h100-80", "infiniband-ndr", 2, GIB, 100, Basis.GATE, _AICR),
        # Single ports.
        _port(Metric.RDMA_PORT, "infiniband-hdr", 185, _AZURE_A100),
        _port(Metric.RDMA_PORT, "infiniband-ndr", 375, _AZURE_H100),
        _port(Metric.NCCL_LOOPBACK, "infiniband-hdr", 18, _AZURE_A100),
        _port(Metric.NCCL_LOOPBACK, "infiniband-ndr", 40, _AZURE_H100),
    ),
)


def all_reduce_threshold(
    gpu: str, *, fabric: str | None = None, nodes: int = 1, message_bytes: int
) -> Threshold | None:
    """The threshold a run is judged by, or None where no figure is known.

    The figure for the most nodes and then the largest message that the run still covers: a run with larger
    messages must reach at least what smaller ones do, one with smaller messages is not judged by it.

    Args:
        gpu: Catalogue key of the GPU; eight of them in each node.
        fabric: Catalogue key of the fabric; None for a run inside one node.
        nodes: Nodes of the run.
        message_bytes: Largest message of the run.
    """
    fitting = [
        row
        for row in THRESHOLDS.values()
        if row.metric is Metric.ALL_REDUCE
        and row.gpu == gpu
        and row.fabric == (fabric if nodes > 1 else None)
        and row.nodes <= nodes
        and row.message_bytes <= message_bytes
    ]
    return max(fitting, key=lambda row: (row.nodes, row.message_bytes), default=None)


def port_threshold(metric: Metric, fabric: str) -> Threshold | None:
    """The threshold of one port, or None where no figure is known.

    Args:
        metric: RDMA_PORT or NCCL_LOOPBACK.
        fabric: Catalogue key of the fabric.
    """
    return THRESHOLDS.get(f"{metric.value}/{fabric}")
