"""Software that must fit together: driver branches, CUDA, cuDNN, GPU Operator, Kubernetes.

Data only; ``compatibility`` judges pairs of them.
"""

from dataclasses import dataclass
from enum import StrEnum

from components.catalog.table import Table


class BranchKind(StrEnum):
    """What NVIDIA promises for a driver branch."""

    LONG_TERM = "long-term"
    PRODUCTION = "production"
    NEW_FEATURE = "new-feature"


@dataclass(frozen=True, kw_only=True)
class DriverBranch:
    """One branch of NVIDIA's data-centre driver.

    Args:
        key: First part of its versions, e.g. ``580``.
        kind: What NVIDIA promises.
        cuda_major: Last CUDA major release it runs without a forward compatibility package.
        end_of_support: Last day with fixes, ISO 8601; of a named month its last day.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    kind: BranchKind
    cuda_major: int
    end_of_support: str
    source: str
    date: str


@dataclass(frozen=True, kw_only=True)
class CudaRelease:
    """One CUDA Toolkit.

    Args:
        key: Version, e.g. ``12.8``.
        driver: Driver that came with it; from this one on all its features work.
        minor_driver: Driver from which it runs by minor-version compatibility, with fewer features.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    driver: str
    minor_driver: str
    source: str
    date: str


@dataclass(frozen=True, kw_only=True)
class CudnnRelease:
    """One cuDNN package.

    Args:
        key: ``<version>-cuda<major>``.
        version: cuDNN.
        cuda: CUDA releases it supports.
        driver: Driver it needs at least.
        compute_capabilities: GPUs it supports.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    version: str
    cuda: tuple[str, ...]
    driver: str
    compute_capabilities: tuple[str, ...]
    source: str
    date: str


class OperatorSupport(StrEnum):
    """Support NVIDIA gives a GPU Operator release."""

    SUPPORTED = "supported"
    DEPRECATED = "deprecated"
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True)
class OperatorRelease:
    """One GPU Operator release line.

    Args:
        key: ``YY.MM``.
        support: Support on ``date``.
        driver_branches: Driver branches it was released with; empty where no source read names them.
        toolkit: Container toolkit it carries, or None where no source read names it.
        kubernetes_min: First Kubernetes minor release validated, or None likewise.
        kubernetes_max: Last one, or None likewise.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    support: OperatorSupport
    driver_branches: tuple[str, ...] = ()
    toolkit: str | None = None
    kubernetes_min: str | None = None
    kubernetes_max: str | None = None
    source: str
    date: str


@dataclass(frozen=True, kw_only=True)
class KubernetesRelease:
    """One Kubernetes minor release.

    Args:
        key: e.g. ``1.34``.
        end_of_support: Last day with patches, ISO 8601.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    end_of_support: str
    source: str
    date: str


_DRIVER_DOCS = "https://docs.nvidia.com/datacenter/tesla/drivers"
_DRIVERS_615 = f"{_DRIVER_DOCS}/615/supported-drivers-and-cuda-toolkit-versions.html"
_DRIVERS_620 = f"{_DRIVER_DOCS}/620/supported-drivers-and-cuda-toolkit-versions.html"
_READ_ON = "2026-11-30"


def _branch(key: str, kind: BranchKind, cuda_major: int, end_of_support: str, source: str) -> DriverBranch:
    return DriverBranch(
        key=key,
        kind=kind,
        cuda_major=cuda_major,
        end_of_support=end_of_support,
        source=source,
        date=_READ_ON,
    )


DRIVER_BRANCHES: Table[DriverBranch] = Table(
    "driver branch",
    (
        _branch("535", BranchKind.LONG_TERM, 12, "2026-06-30", _DRIVERS_615),
        _branch("580", BranchKind.LONG_TERM, 13, "2028-06-30", _DRIVERS_620),
        _branch("595", BranchKind.PRODUCTION, 13, "2027-03-31", _DRIVERS_620),
        _branch("610", BranchKind.NEW_FEATURE, 13, "2026-08-31", _DRIVERS_615),
        _branch("620", BranchKind.LONG_TERM, 13, "2029-09-30", _DRIVERS_620),
    ),
)

# First drivers of minor-version compatibility, by CUDA major release, as exact as cuDNN's support matrix.
MINOR_DRIVERS = {"11": "450.80.02", "12": "525.60.13", "13": "580.65.06"}
_MINOR_SOURCE = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"
_CUDA_NOTES = "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html"

CUDA_RELEASES: Table[CudaRelease] = Table(
    "CUDA release",
    tuple(
        CudaRelease(
            key=key,
            driver=driver,
            minor_driver=MINOR_DRIVERS[key.partition(".")[0]],
            source=f"{_CUDA_NOTES}; {_MINOR_SOURCE}",
            date=_READ_ON,
        )
        for key, driver in (
            ("11.8", "520.61.05"),
            ("12.0", "525.60.13"),
            ("12.1", "530.30.02"),
            ("12.2", "535.54.03"),
            ("12.3", "545.23.06"),
            ("12.4", "550.54.14"),
            ("12.5", "555.42.02"),
            ("12.6", "560.28.03"),
            ("12.8", "570.26"),
            ("12.9", "575.51.03"),
            ("13.0", "580.65.06"),
            ("13.1", "590.44.01"),
        )
    ),
)

_CUDNN_DOCS = "https://docs.nvidia.com/deeplearning/cudnn"
_TO_HOPPER = ("7.0", "7.5", "8.0", "8.6", "8.9", "9.0")
_FROM_TURING = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")


def _cudnn(
    version: str, cuda: tuple[str, ...], driver: str, compute_capabilities: tuple[str, ...], page: str
) -> CudnnRelease:
    return CudnnRelease(
        key=f"{version}-cuda{cuda[0].partition('.')[0]}",
        version=version,
        cuda=cuda,
        driver=driver,
        compute_capabilities=compute_capabilities,
        source=f"{_CUDNN_DOCS}/{page}",
        date=_READ_ON,
    )


_CUDA_12_TO_6 = ("12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6")

CUDNN_RELEASES: Table[CudnnRelease] = Table(
    "cuDNN release",
    (
        _cudnn("9.5.1", ("11.8",), "450.80.02", _TO_HOPPER, "backend/v9.5.1/reference/support-matrix.html"),
        _cudnn(
            "9.5.1", _CUDA_12_TO_6, "525.60.13", _TO_HOPPER, "backend/v9.5.1/reference/support-matrix.html"
        ),
        _cudnn("9.10.2", ("11.8",), "450.80.02", _TO_HOPPER, "latest/support-matrix/index.html"),
        # With CUDA below 12.8 it leaves out Blackwell, as that toolkit does.
        _cudnn(
            "9.10.2",
            (*_CUDA_12_TO_6, "12.8", "12.9"),
            "525.60.13",
            ("7.0", *_FROM_TURING),
            "latest/support-matrix/index.html",
        ),
        _cudnn(
            "9.17.0",
            (*_CUDA_12_TO_6, "12.8", "12.9"),
            "525.60.13",
            _FROM_TURING,
            "sdk/cudnn-support-matrix/index.html",
        ),
        _cudnn("9.17.0", ("13.0", "13.1"), "580.65.06", _FROM_TURING, "sdk/cudnn-support-matrix/index.html"),
    ),
)

_OPERATOR = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html"

OPERATOR_RELEASES: Table[OperatorRelease] = Table(
    "GPU Operator release",
    (
        OperatorRelease(key="25.10", support=OperatorSupport.ENDED, source=_OPERATOR, date="2026-08-21"),
        OperatorRelease(key="26.3", support=OperatorSupport.DEPRECATED, source=_OPERATOR, date="2026-08-21"),
        OperatorRelease(
            key="26.7",
            support=OperatorSupport.SUPPORTED,
            driver_branches=("535", "580", "595", "610"),
            toolkit="1.20.0",
            kubernetes_min="1.32",
            kubernetes_max="1.36",
            source=_OPERATOR,
            date="2026-08-21",
        ),
    ),
)

KUBERNETES_RELEASES: Table[KubernetesRelease] = Table(
    "Kubernetes release",
    tuple(
        KubernetesRelease(
            key=key,
            end_of_support=end,
            source=f"https://kubernetes.io/releases/{key}/",
            date=_READ_ON,
        )
        for key, end in (
            ("1.34", "2026-10-27"),
            ("1.35", "2027-02-28"),
            ("1.36", "2027-06-28"),
            ("1.37", "2027-10-28"),
        )
    ),
)
