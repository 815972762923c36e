"""What a plan says about versions: pools' drivers, operators' charts, clusters, images."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.model import Finding, Planned, Unknown, Value, at
from policies.objects import RELEASE, pods
from policies.pools import pools_of, said

# Labels of GPU Feature Discovery, https://github.com/NVIDIA/k8s-device-plugin (read 2026-11)
DRIVER, CUDA = "nvidia.com/cuda.driver-version.full", "nvidia.com/cuda.runtime-version.full"
OPERATOR_CHART = "gpu-operator"
# Last part of an image's repository → product of the security floors.
_PRODUCTS = {
    "container-toolkit": "nvidia-container-toolkit",
    "gpu-operator": "gpu-operator",
    "mlflow": "mlflow",
    "munge": "munge",
    "redis": "redis",
    "tritonserver": "triton",
}
_CLUSTERS = frozenset({"aws:eks/cluster:Cluster"})


@dataclass(frozen=True, kw_only=True)
class Said:
    """A version the plan says.

    Args:
        product: ``driver``, ``cuda``, ``gpu-operator``, ``kubernetes``, or a product of the security floors.
        version: The version, may be ``Unknown``.
        subject: Where it is said.
        urn: The planned resource.
        beside: Other versions of the same place, by product: what it has to fit.
    """

    product: str
    version: Value
    subject: str
    urn: str
    beside: Mapping[str, Value]

    def finding(self, check: str, message: str, *, advice: bool) -> Finding:
        """A finding about it."""
        return Finding(check=check, subject=self.subject, message=message, urn=self.urn, advice=advice)

    def unproven(self, check: str, value: Unknown, *, advice: bool) -> Finding:
        """A finding that an unknown value decides."""
        message = f"{value.path} is not known during preview; accepted: a version known in the preview"
        return Finding(
            check=check, subject=self.subject, message=message, urn=self.urn, proven=False, advice=advice
        )


def versions_in(plan: Iterable[Planned]) -> tuple[Said, ...]:
    """Every version the plan says."""
    resources = tuple(plan)
    return (
        *_of_pools(resources),
        *(said for planned in resources for said in _of_resource(planned)),
        *(said for planned in resources for said in _of_images(planned)),
    )


def _of_pools(plan: tuple[Planned, ...]) -> Iterator[Said]:
    for pool in pools_of(plan):
        for node in pool.kinds(DRIVER, CUDA):
            own: dict[str, Any] = {"driver": said(node, DRIVER), "cuda": said(node, CUDA)}
            for product, value in own.items():
                if value is not None:
                    yield Said(product=product, version=value, subject=node.subject, urn=node.urn, beside=own)


def _of_resource(planned: Planned) -> Iterator[Said]:
    if planned.type in _CLUSTERS and planned.props.get("version") is not None:
        yield Said(
            product="kubernetes",
            version=planned.props["version"],
            subject=f"{planned.type}/{planned.name}",
            urn=planned.urn,
            beside={},
        )
    chart = planned.props.get("chart")
    if planned.type != RELEASE or not isinstance(chart, str):
        return
    if chart.rstrip("/").rpartition("/")[2] != OPERATOR_CHART:
        return
    values = planned.props.get("values")
    found = {
        OPERATOR_CHART: planned.props.get("version"),
        "driver": at(values, "driver", "version"),
        "nvidia-container-toolkit": at(values, "toolkit", "version"),
    }
    for product, value in found.items():
        if value is not None:
            subject = f"Release/{planned.name}"
            yield Said(product=product, version=value, subject=subject, urn=planned.urn, beside=found)


def _of_images(planned: Planned) -> Iterator[Said]:
    for item in planned.objects:
        for pod in pods(item):
            for container in pod.containers():
                image = at(container.body, "image")
                # An unknown image is the rule `images`' affair.
                name, _, tag = _split(image) if isinstance(image, str) else ("", "", "")
                product = _PRODUCTS.get(name)
                if product and tag:
                    yield Said(product=product, version=tag, subject=item.subject, urn=item.urn, beside={})


def _split(image: str) -> tuple[str, str, str]:
    """Last part of the repository, ``:`` and the tag."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")
