"""What kinds of GPU nodes the queues may promise, and how urgent work can be."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

import pulumi

from components.contracts import GpuPool
from components.core import Component, Ownership, Problem, check_dns_label, check_not_empty, raise_problems
from components.kube import CustomObject, ownership_metadata
from components.scheduling.kueue_api import API_VERSION


class Priority(StrEnum):
    """Workload priority; a higher one may evict a lower one of its own queue."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


PRIORITY_VALUES: Mapping[Priority, int] = MappingProxyType(
    {Priority.LOW: 100, Priority.NORMAL: 1000, Priority.HIGH: 10000}
)


@dataclass(frozen=True, kw_only=True)
class GpuFlavorsArgs:
    """Pools the queues of a cluster may draw on.

    Args:
        ownership: Who owns and pays.
        pools: The pools; at least one.
        gate: Hooks that hold back the first custom resources until Kueue answers.
    """

    ownership: Ownership
    pools: tuple[GpuPool, ...]
    gate: pulumi.ResourceHookBinding | None = None

    def __post_init__(self) -> None:
        problems = check_not_empty("pools", self.pools, "one pool or more")
        names = [pool.name for pool in self.pools]
        for name in names:
            problems += check_dns_label("pools.name", name)
        problems += [
            Problem(path=f"pools.{name}", value="named twice", accepted="one pool per name", fix="rename one")
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
        raise_problems("gpu flavors", problems)


class GpuFlavors(Component):
    """One Topology per set of levels, one ResourceFlavor per pool, and the priority classes.

    Made once per cluster, because queues share them. Creates no quota. Kueue keeps levels and node labels
    unchangeable, so a change replaces the object, and with it the queues that use it.

    Args:
        name: Logical name.
        args: The pools.
        opts: Options, inherited by the children; depend on the operator.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:GpuFlavors"

    flavors: Mapping[str, pulumi.Output[str]]

    def __init__(self, name: str, args: GpuFlavorsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        fixed = self.child(replace_on_changes=("spec",), delete_before_replace=True, hooks=args.gate)
        topologies = {
            levels: CustomObject(f"{name}-topology-{key}", _topology(args, key, levels), fixed)
            for levels, key in _topology_keys(args.pools).items()
        }
        flavors = {
            pool.name: CustomObject(
                f"{name}-flavor-{pool.name}",
                _flavor(args, pool, topologies[pool.topology_levels].object_name),
                fixed,
            )
            for pool in args.pools
        }
        for priority, value in PRIORITY_VALUES.items():
            CustomObject(
                f"{name}-priority-{priority}",
                _priority(args, priority, value),
                self.child(replace_on_changes=("value",), delete_before_replace=True, hooks=args.gate),
            )
        self.flavors = {pool: flavor.object_name for pool, flavor in flavors.items()}
        self.finish({"flavors": dict(self.flavors)})


def _topology_keys(pools: tuple[GpuPool, ...]) -> dict[tuple[str, ...], str]:
    """Levels → the name of their Topology: the first pool that has them."""
    keys: dict[tuple[str, ...], str] = {}
    for pool in pools:
        keys.setdefault(pool.topology_levels, pool.name)
    return keys


def _topology(args: GpuFlavorsArgs, key: str, levels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Topology",
        "metadata": ownership_metadata(args.ownership, name=key),
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def _flavor(args: GpuFlavorsArgs, pool: GpuPool, topology: pulumi.Output[str]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceFlavor",
        "metadata": ownership_metadata(args.ownership, name=pool.name),
        "spec": {
            "nodeLabels": dict(pool.labels),
            "tolerations": [
                {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
                for taint in pool.taints
            ],
            "topologyName": topology,
        },
    }


def _priority(args: GpuFlavorsArgs, priority: Priority, value: int) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "WorkloadPriorityClass",
        "metadata": ownership_metadata(args.ownership, name=priority.value),
        "value": value,
        "description": f"{priority.value} priority",
    }
