"""The components of a stack and how they depend on each other, from its resources."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cli.diagram.contracts import Contracts

OURS = "gpuplatform:"


@dataclass(frozen=True, kw_only=True)
class Box:
    """One component of the stack.

    Args:
        urn: Its URN.
        name: Its logical name.
        kind: Noun of its type, e.g. ``Postgres``.
        area: Area of its type, e.g. ``storage``.
        resources: What it is made of, kind → number.
        gives: Contracts it hands on.
        changes: What a preview does to those resources, operation → number.
        goes: The component itself is deleted.
    """

    urn: str
    name: str
    kind: str
    area: str
    resources: Mapping[str, int]
    gives: tuple[str, ...] = ()
    changes: Mapping[str, int] = field(default_factory=dict)
    goes: bool = False

    @property
    def mark(self) -> str:
        """The one word its colour stands for; a part that goes is a change of the whole."""
        if self.goes:
            return "delete"
        if "replace" in self.changes or not self.changes:
            return "replace" if self.changes else ""
        return "create" if set(self.changes) <= {"create", "import"} else "update"


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """From a component to one that depends on it.

    Args:
        source: URN of the one that comes first.
        target: URN of the one that needs it.
        contracts: What the target takes of it; empty where only the order counts.
    """

    source: str
    target: str
    contracts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Components in the order of their names, arrows likewise."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def build(
    resources: Iterable[Mapping[str, Any]],
    contracts: Mapping[str, Contracts],
    operations: Mapping[str, str] | None = None,
) -> Graph:
    """The graph of a state's or a preview's resources.

    Args:
        resources: States as the engine writes them: ``urn``, ``type``, ``parent``, ``dependencies``.
        contracts: Type token → what such a component gives and takes.
        operations: URN → what a preview does with the resource.
    """
    known = {str(item["urn"]): item for item in resources if isinstance(item.get("urn"), str)}
    tops = {urn: top for urn in known if (top := _top(urn, known))}
    members: dict[str, list[str]] = {}
    for urn, top in tops.items():
        members.setdefault(top, []).append(urn)
    boxes = {
        top: _box(top, [known[urn] for urn in urns], contracts, operations or {})
        for top, urns in members.items()
    }
    return Graph(
        boxes=tuple(sorted(boxes.values(), key=lambda box: (box.area, box.kind, box.name, box.urn))),
        arrows=_arrows(known, tops, contracts),
    )


def _top(urn: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    """The outermost component of ours around a resource; empty outside of any."""
    found, seen = "", set()
    while urn in known and urn not in seen:
        seen.add(urn)
        if str(known[urn].get("type", "")).startswith(OURS):
            found = urn
        urn = str(known[urn].get("parent") or "")
    return found


def _box(
    top: str,
    members: Sequence[Mapping[str, Any]],
    contracts: Mapping[str, Contracts],
    operations: Mapping[str, str],
) -> Box:
    token = next(str(item["type"]) for item in members if item["urn"] == top)
    _, area, kind = (*token.split(":", 2), "", "")[:3]
    leaves = Counter(
        str(item["type"]).rsplit(":", 1)[-1] for item in members if not str(item["type"]).startswith(OURS)
    )
    changes = Counter(operations[str(item["urn"])] for item in members if str(item["urn"]) in operations)
    return Box(
        urn=top,
        name=top.rsplit("::", 1)[-1],
        kind=kind,
        area=area,
        resources=dict(sorted(leaves.items())),
        gives=contracts[token].gives if token in contracts else (),
        changes=dict(sorted(changes.items())),
        goes=operations.get(top) == "delete",
    )


def _arrows(
    known: Mapping[str, Mapping[str, Any]], tops: Mapping[str, str], contracts: Mapping[str, Contracts]
) -> tuple[Arrow, ...]:
    pairs: set[tuple[str, str]] = set()
    for urn, top in tops.items():
        for needed in known[urn].get("dependencies") or ():
            source = tops.get(str(needed), "")
            if source and source != top:
                pairs.add((source, top))
    flows = {pair: _flow(*pair, known, contracts) for pair in pairs}
    after: dict[str, set[str]] = {}
    for source, target in pairs:
        after.setdefault(source, set()).add(target)
    kept = [pair for pair in sorted(pairs) if flows[pair] or not _detour(*pair, after)]
    return tuple(Arrow(source=pair[0], target=pair[1], contracts=flows[pair]) for pair in kept)


def _flow(
    source: str, target: str, known: Mapping[str, Mapping[str, Any]], contracts: Mapping[str, Contracts]
) -> tuple[str, ...]:
    gives = contracts.get(str(known[source]["type"]))
    takes = contracts.get(str(known[target]["type"]))
    return tuple(name for name in gives.gives if name in takes.takes) if gives and takes else ()


def _detour(source: str, target: str, after: Mapping[str, set[str]]) -> bool:
    """Whether the target is also reached through others, so that the direct arrow says nothing new."""
    waiting, seen = [one for one in after.get(source, ()) if one != target], set[str]()
    while waiting:
        urn = waiting.pop()
        if urn == target:
            return True
        if urn not in seen:
            seen.add(urn)
            waiting += after.get(urn, ())
    return False
