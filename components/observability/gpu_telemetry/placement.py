"""Which pod holds which GPU: the scheduler decides the node, this the index, as the device plugin would."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

GPU_RESOURCE = "nvidia.com/gpu"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A simulated GPU node.

    Args:
        name: Node name.
        gpus: GPUs it has.
        model: ``modelName`` as DCGM writes it.
        family: Value of ``nvidia.com/gpu.family``.
        memory_mib: Memory of one GPU, MiB.
        pool: Pool it belongs to, the node's label; real scrapes add it from attached node metadata.
    """

    name: str
    gpus: int
    model: str
    family: str
    memory_mib: int
    pool: str


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The container that holds a GPU, as dcgm-exporter's pod labels name it."""

    namespace: str
    pod: str
    container: str


def node_of(manifest: Mapping[str, Any]) -> Node | None:
    """A node from its manifest; None where it says too little of its GPUs."""
    labels = manifest["metadata"].get("labels", {})
    try:
        return Node(
            name=manifest["metadata"]["name"],
            gpus=int(labels["nvidia.com/gpu.count"]),
            model=model_name(labels["nvidia.com/gpu.product"]),
            family=labels.get("nvidia.com/gpu.family", ""),
            memory_mib=int(labels["nvidia.com/gpu.memory"]),
            pool=labels.get("gpu-platform/pool", ""),
        )
    except (KeyError, ValueError):
        return None


def model_name(product: str) -> str:
    """The driver's name of a GPU from its node label, in which blanks have become dashes.

    Names with a socket keep their own dashes: ``NVIDIA A100-SXM4-80GB``, but ``NVIDIA H100 80GB HBM3``.
    """
    return product.replace("-", " ", 1) if "-SXM" in product else product.replace("-", " ")


def uuid_of(node: str, gpu: int) -> str:
    """A UUID that stays the same for the same place."""
    digest = hashlib.sha256(f"{node}/{gpu}".encode()).hexdigest()
    return f"GPU-{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


@dataclass
class Placement:
    """Remembers who holds what, so that a pod keeps its GPUs while it runs."""

    _held: dict[str, tuple[str, tuple[int, ...], Holder]] = field(default_factory=dict)

    def update(self, nodes: Mapping[str, Node], pods: Iterable[Mapping[str, Any]]) -> None:
        """Forget containers that ended, and give new ones the lowest free GPUs of their node."""
        asking = {
            f"{pod['metadata']['uid']}/{holder.container}": (pod["spec"]["nodeName"], holder, count)
            for pod in pods
            if pod["spec"].get("nodeName") in nodes and pod.get("status", {}).get("phase") == "Running"
            for holder, count in _asks(pod)
        }
        self._held = {name: held for name, held in self._held.items() if name in asking}
        for name, (node, holder, count) in asking.items():
            if name not in self._held:
                taken = {
                    index for place, indexes, _ in self._held.values() if place == node for index in indexes
                }
                free = [index for index in range(nodes[node].gpus) if index not in taken]
                self._held[name] = (node, tuple(free[:count]), holder)

    def holders(self) -> dict[tuple[str, int], Holder]:
        """Node and GPU index → who holds it."""
        return {(node, index): holder for node, indexes, holder in self._held.values() for index in indexes}


def _asks(pod: Mapping[str, Any]) -> Iterable[tuple[Holder, int]]:
    metadata = pod["metadata"]
    for container in pod["spec"].get("containers", ()):
        wanted = container.get("resources", {}).get("limits", {}).get(GPU_RESOURCE)
        if wanted and str(wanted).isdigit():
            holder = Holder(
                namespace=metadata["namespace"], pod=metadata["name"], container=container["name"]
            )
            yield holder, int(wanted)
