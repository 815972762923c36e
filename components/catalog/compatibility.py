"""Whether driver, CUDA, cuDNN, GPU, GPU Operator and Kubernetes fit together and are supported.

Today's date is always an argument, so that the same question has the same answer in every run of a test.
"""

import datetime
from dataclasses import dataclass
from enum import StrEnum

from components.catalog.gpus import Gpu
from components.catalog.version_numbers import parse_version, within
from components.catalog.versions import (
    CUDA_RELEASES,
    CUDNN_RELEASES,
    DRIVER_BRANCHES,
    KUBERNETES_RELEASES,
    MINOR_DRIVERS,
    OPERATOR_RELEASES,
    OperatorSupport,
)


class Compatibility(StrEnum):
    """How a CUDA release runs on a driver; all but the last two are legal."""

    FULL = "full"
    """The driver is the release's own or newer."""
    MINOR_VERSION = "minor-version"
    """Older driver of the same major release: runs, with fewer features and without compiling PTX."""
    UNSUPPORTED = "unsupported"
    """Too old; only a forward compatibility package could help."""
    UNKNOWN = "unknown"
    """The catalogue does not know the release, so nothing is proven."""

    @property
    def legal(self) -> bool:
        """Whether it runs."""
        return self in {Compatibility.FULL, Compatibility.MINOR_VERSION}


class Grade(StrEnum):
    """Weight of a finding."""

    REFUSE = "refuse"
    WARN = "warn"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class VersionFinding:
    """Something about versions that does not fit, ends, or is not known.

    Args:
        grade: Its weight.
        subject: What it is about, e.g. ``driver 535.309.01``.
        message: What is wrong and what is accepted.
    """

    grade: Grade
    subject: str
    message: str


def cuda_compatibility(driver: str, cuda: str) -> Compatibility:
    """How a CUDA release runs on a driver.

    Args:
        driver: Full driver version, e.g. ``580.173.02``.
        cuda: CUDA release, e.g. ``12.8``; a patch level is ignored.

    Raises:
        ValueError: One of them is no version.
    """
    major, minor = (*parse_version(cuda), 0)[:2]
    release = CUDA_RELEASES.get(f"{major}.{minor}")
    minor_driver = MINOR_DRIVERS.get(str(major))
    if minor_driver is None:
        return Compatibility.UNKNOWN
    if not within(driver, since=minor_driver):
        return Compatibility.UNSUPPORTED
    if release is None:
        # Of a minor release without a row it is proven only that it runs, not that all features do.
        return Compatibility.MINOR_VERSION
    return Compatibility.FULL if within(driver, since=release.driver) else Compatibility.MINOR_VERSION


def version_findings(
    *,
    today: datetime.date,
    driver: str | None = None,
    cuda: str | None = None,
    cudnn: str | None = None,
    gpu: Gpu | None = None,
    operator: str | None = None,
    kubernetes: str | None = None,
) -> tuple[VersionFinding, ...]:
    """Everything known against a set of versions; what is left out is not judged.

    Args:
        today: The day the answer is for.
        driver: Full driver version.
        cuda: CUDA release inside the job's image.
        cudnn: cuDNN version inside the job's image; needs ``cuda``.
        gpu: GPU of the pool.
        operator: GPU Operator version, e.g. ``26.7.0``.
        kubernetes: Kubernetes version, e.g. ``1.35.4``.

    Raises:
        ValueError: One of them is no version.
    """
    found: list[VersionFinding] = []
    if driver:
        found += _driver(driver, today)
    if driver and cuda:
        found += _cuda(driver, cuda)
    if cuda and gpu:
        found += _gpu(cuda, gpu)
    if cuda and cudnn:
        found += _cudnn(cudnn, cuda, driver, gpu)
    if operator:
        found += _operator(operator, driver, kubernetes)
    if kubernetes:
        found += _kubernetes(kubernetes, today)
    return tuple(found)


def _minor(version: str) -> str:
    """The first two parts, ``1.34`` of ``v1.34.4``."""
    major, minor = (*parse_version(version), 0)[:2]
    return f"{major}.{minor}"


def _unknown(subject: str, known: tuple[str, ...]) -> VersionFinding:
    return VersionFinding(
        grade=Grade.UNKNOWN,
        subject=subject,
        message=f"not in the catalogue, so nothing is proven; known: {', '.join(known)}",
    )


def _ended(subject: str, end: str, today: datetime.date, supported: list[str]) -> list[VersionFinding]:
    if today <= datetime.date.fromisoformat(end):
        return []
    message = f"support ended on {end}; supported on {today}: {', '.join(supported) or 'none'}"
    return [VersionFinding(grade=Grade.WARN, subject=subject, message=message)]


def _driver(driver: str, today: datetime.date) -> list[VersionFinding]:
    branch = DRIVER_BRANCHES.get(str(parse_version(driver)[0]))
    subject = f"driver {driver}"
    if branch is None:
        return [_unknown(subject, tuple(DRIVER_BRANCHES))]
    alive = [row.key for row in DRIVER_BRANCHES.values() if row.end_of_support >= today.isoformat()]
    return _ended(subject, branch.end_of_support, today, alive)


def _cuda(driver: str, cuda: str) -> list[VersionFinding]:
    how = cuda_compatibility(driver, cuda)
    subject = f"CUDA {cuda} on driver {driver}"
    if how is Compatibility.UNKNOWN:
        return [_unknown(subject, tuple(CUDA_RELEASES))]
    if how.legal:
        return []
    needs = MINOR_DRIVERS[str(parse_version(cuda)[0])]
    message = f"the driver is too old; accepted: {needs} or newer"
    return [VersionFinding(grade=Grade.REFUSE, subject=subject, message=message)]


def _gpu(cuda: str, gpu: Gpu) -> list[VersionFinding]:
    last = gpu.cuda_max_major
    if within(cuda, since=gpu.cuda_min) and (last is None or parse_version(cuda)[0] <= last):
        return []
    accepted = f"{gpu.cuda_min} or newer" + (f", up to {last}.x" if last else "")
    message = f"this CUDA does not support the GPU; accepted: {accepted}"
    return [VersionFinding(grade=Grade.REFUSE, subject=f"CUDA {cuda} on {gpu.key}", message=message)]


def _cudnn(cudnn: str, cuda: str, driver: str | None, gpu: Gpu | None) -> list[VersionFinding]:
    version, subject = cudnn.removeprefix("v"), f"cuDNN {cudnn} with CUDA {cuda}"
    rows = [row for row in CUDNN_RELEASES.values() if row.version == version]
    if not rows:
        return [_unknown(subject, tuple(dict.fromkeys(row.version for row in CUDNN_RELEASES.values())))]
    row = next((one for one in rows if _minor(cuda) in one.cuda), None)
    if row is None:
        accepted = ", ".join(release for one in rows for release in one.cuda)
        message = f"not a supported pair; accepted: CUDA {accepted}"
        return [VersionFinding(grade=Grade.WARN, subject=subject, message=message)]
    found = []
    if driver and not within(driver, since=row.driver):
        message = f"driver {driver} is too old; accepted: {row.driver} or newer"
        found.append(VersionFinding(grade=Grade.REFUSE, subject=subject, message=message))
    if gpu and gpu.compute_capability not in row.compute_capabilities:
        message = (
            f"not listed for {gpu.key} (compute capability {gpu.compute_capability}); "
            f"listed: {', '.join(row.compute_capabilities)}"
        )
        found.append(VersionFinding(grade=Grade.WARN, subject=subject, message=message))
    return found


def _operator(operator: str, driver: str | None, kubernetes: str | None) -> list[VersionFinding]:
    subject, row = f"GPU Operator {operator}", OPERATOR_RELEASES.get(_minor(operator))
    if row is None:
        return [_unknown(subject, tuple(OPERATOR_RELEASES))]
    found = []
    if row.support is not OperatorSupport.SUPPORTED:
        alive = [key for key, one in OPERATOR_RELEASES.items() if one.support is OperatorSupport.SUPPORTED]
        message = (
            f"support is {row.support.value} since {row.date} at the latest; supported: {', '.join(alive)}"
        )
        found.append(VersionFinding(grade=Grade.WARN, subject=subject, message=message))
    if driver and row.driver_branches and str(parse_version(driver)[0]) not in row.driver_branches:
        message = f"not released with driver {driver}; accepted branches: {', '.join(row.driver_branches)}"
        found.append(VersionFinding(grade=Grade.WARN, subject=subject, message=message))
    first, last = row.kubernetes_min, row.kubernetes_max
    if kubernetes and first and last and not _between(_minor(kubernetes), first, last):
        message = f"not validated with Kubernetes {kubernetes}; accepted: {first} to {last}"
        found.append(VersionFinding(grade=Grade.WARN, subject=subject, message=message))
    return found


def _between(version: str, first: str, last: str) -> bool:
    return parse_version(first) <= parse_version(version) <= parse_version(last)


def _kubernetes(kubernetes: str, today: datetime.date) -> list[VersionFinding]:
    row, subject = KUBERNETES_RELEASES.get(_minor(kubernetes)), f"Kubernetes {kubernetes}"
    if row is None:
        return [_unknown(subject, tuple(KUBERNETES_RELEASES))]
    alive = [one.key for one in KUBERNETES_RELEASES.values() if one.end_of_support >= today.isoformat()]
    return _ended(subject, row.end_of_support, today, alive)
