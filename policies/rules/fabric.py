"""fabric: pools of more than four nodes, and those for multi-node training, have InfiniBand or EFA."""

from collections.abc import Iterator, Mapping, Sequence

from policies.model import Facts, Finding, KubeObject, Planned, Rule, Severity, Unknown, Verdict, at
from policies.pools import FABRIC, MULTI_NODE, POOL, is_node, label

_FAST_KINDS = frozenset({"infiniband", "efa"})
# Above four nodes plain Ethernet starves collective communication; see the fabric's row in the catalogue.
MAX_NODES_WITHOUT = 4
_GPU_PREFIXES = ("nvidia.com/", "amd.com/")


def check(plan: Sequence[Planned], facts: Facts) -> Verdict:
    """Group planned nodes into pools by their labels and judge each pool."""
    nodes = [item for planned in plan for item in planned.objects if is_node(item)]
    pools: dict[str, list[KubeObject]] = {}
    findings: list[Finding] = []
    for node in nodes:
        pool = label(node, POOL)
        if isinstance(pool, Unknown):
            findings.append(node.unproven("pool", pool, f"label {POOL}"))
        elif pool:
            pools.setdefault(str(pool), []).append(node)
        elif _has_gpu(node):
            message = f"a node with GPUs lacks label {POOL}; accepted: the name of its pool"
            findings.append(node.fail("pool", message))
    if not pools and not findings:
        return None
    for name, members in sorted(pools.items()):
        findings.extend(_pool(name, members, facts.fabric_kinds))
    return tuple(findings)


def _pool(name: str, nodes: Sequence[KubeObject], kinds: Mapping[str, str]) -> Iterator[Finding]:
    head = nodes[0]
    known = ", ".join(sorted(key for key, kind in kinds.items() if kind in _FAST_KINDS))
    accepted = f"InfiniBand or EFA, label {FABRIC} one of: {known}"
    marks = [label(node, MULTI_NODE) for node in nodes]
    doubt = next((mark for mark in marks if isinstance(mark, Unknown)), None)
    large = len(nodes) > MAX_NODES_WITHOUT
    if not large and "true" not in marks:
        if doubt:
            yield head.unproven("multi-node", doubt, f"label {MULTI_NODE} known in the preview")
        return
    why = f"has {len(nodes)} nodes" if large else "is marked for multi-node training"
    values = {str(value): value for value in (label(node, FABRIC) for node in nodes)}
    for value in values.values():
        if isinstance(value, Unknown):
            yield head.unproven("fabric", value, accepted)
        elif not value:
            message = f"pool {name!r} {why} and a node's label {FABRIC} is absent; accepted: {accepted}"
            yield Finding(check="fabric", subject=head.subject, message=message, urn=head.urn, proven=False)
        elif kinds.get(value) not in _FAST_KINDS:
            kind = kinds.get(value, "not in the catalogue")
            yield head.fail("fabric", f"pool {name!r} {why} on {value} ({kind}); accepted: {accepted}")
    if len(values) > 1:
        yield head.fail("mixed", f"pool {name!r} mixes fabrics: {', '.join(sorted(values))}; accepted: one")


def _has_gpu(node: KubeObject) -> bool:
    labels, capacity = at(node.body, "metadata", "labels"), at(node.body, "status", "capacity")
    keys = [
        *(labels if isinstance(labels, Mapping) else ()),
        *(capacity if isinstance(capacity, Mapping) else ()),
    ]
    return any(key.startswith(_GPU_PREFIXES) for key in keys)


RULE = Rule(
    id="fabric",
    severity=Severity.HIGH,
    title="Pools of more than four nodes, and those for multi-node training, have InfiniBand or EFA",
    fix="Choose such a fabric in the settings, make the pool smaller, or drop multi_node_training.",
    source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/overview.html",
    check_stack=check,
)
