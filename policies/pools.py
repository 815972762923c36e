"""GPU pools as planned nodes show them, by the labels that pools of every kind put on their nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policies.model import KubeObject, Planned, Unknown, Value, at

POOL = "gpu-platform/pool"
FABRIC = "gpu-platform/fabric"
MULTI_NODE = "gpu-platform/multi-node"
SERVER = "node.kubernetes.io/instance-type"
GPU_COUNT = "nvidia.com/gpu.count"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The planned nodes of one pool; at least one."""

    name: str
    nodes: tuple[KubeObject, ...]

    def kinds(self, *keys: str) -> tuple[KubeObject, ...]:
        """One node for each set of values of these labels or annotations; almost always one in all."""
        found: dict[tuple[str, ...], KubeObject] = {}
        for node in self.nodes:
            values = tuple(str(said(node, key)) for key in (*keys, SERVER, GPU_COUNT))
            found.setdefault(values, node)
        return tuple(found.values())


def pools_of(plan: Iterable[Planned]) -> tuple[Pool, ...]:
    """Pools of the plan, by name; nodes whose pool is unknown are the rule ``fabric``'s."""
    found: dict[str, list[KubeObject]] = {}
    for planned in plan:
        for item in planned.objects:
            name = label(item, POOL) if is_node(item) else None
            if isinstance(name, str) and name:
                found.setdefault(name, []).append(item)
    return tuple(
        Pool(name=name, nodes=tuple(sorted(nodes, key=lambda node: node.name)))
        for name, nodes in sorted(found.items())
    )


def objects_of(plan: Iterable[Planned], group: str, *kinds: str) -> tuple[KubeObject, ...]:
    """Objects of these kinds in the plan."""
    return tuple(
        item for planned in plan for item in planned.objects if item.group == group and item.kind in kinds
    )


def is_node(item: KubeObject) -> bool:
    """Whether it is a Node."""
    return item.kind == "Node" and not item.group


def label(item: KubeObject, key: str) -> Value:
    """A label's value."""
    return at(item.body, "metadata", "labels", key)


def annotation(item: KubeObject, key: str) -> Value:
    """An annotation's value."""
    return at(item.body, "metadata", "annotations", key)


def said(item: KubeObject, key: str) -> Value:
    """A label's value, else the annotation's of the same name."""
    value = label(item, key)
    return annotation(item, key) if value is None else value


def first_unknown(values: Sequence[Value]) -> Unknown | None:
    """The first value that is not known."""
    return next((value for value in values if isinstance(value, Unknown)), None)
