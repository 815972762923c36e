"""mig: GPUs are cut as they can be cut, and not shared between tenants by turns."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Planned,
    Rule,
    Severity,
    Unknown,
    Value,
    Verdict,
    at,
    items,
)
from policies.pools import POOL, SERVER, Pool, annotation, first_unknown, label, objects_of, pools_of

# Labels of the GPU Operator's MIG manager and of GPU Feature Discovery.
# https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html (read 2026-11)
STRATEGY, CONFIG = "nvidia.com/mig.strategy", "nvidia.com/mig.config"
SHARING, REPLICAS = "nvidia.com/gpu.sharing-strategy", "nvidia.com/gpu.replicas"
# Profiles of each GPU, as `1g.10gb=7`, joined by commas.
LAYOUT = "gpu-platform/mig-layout"
_KUEUE = "kueue.x-k8s.io"
_PROFILE = re.compile(r"(?P<name>[0-9]+g\.[0-9]+gb(\+[a-z.]+)?)=(?P<count>[1-9][0-9]*)", re.ASCII)
_ACCEPTED = f"annotation {LAYOUT} like 1g.10gb=7, a layout of the catalogue"


def check(plan: Sequence[Planned], facts: Facts) -> Verdict:
    """Judge the layout and the sharing of each pool that has one."""
    verdicts = []
    for pool in pools_of(plan):
        for node in pool.kinds(LAYOUT, STRATEGY, SHARING, REPLICAS):
            if annotation(node, LAYOUT) is not None:
                verdicts.append(tuple(_layout(pool, node, facts)))
            if _may_be_shared(node):
                verdicts.append(tuple(_sharing(pool, node, plan)))
    if not verdicts:
        return None
    return tuple(finding for verdict in verdicts for finding in verdict)


def _layout(pool: Pool, node: KubeObject, facts: Facts) -> Iterator[Finding]:
    written, strategy, server = annotation(node, LAYOUT), label(node, STRATEGY), label(node, SERVER)
    doubt = first_unknown([written, strategy, server])
    if doubt:
        yield node.unproven("layout", doubt, _ACCEPTED)
        return
    layout = _parsed(written)
    if layout is None:
        yield node.fail("layout", f"pool {pool.name!r} is cut as {written!r}; accepted: {_ACCEPTED}")
        return
    if strategy not in ("single", "mixed"):
        message = (
            f"pool {pool.name!r} has a layout and strategy {strategy or 'absent'}; accepted: single or mixed"
        )
        yield node.fail("strategy", message)
    elif strategy == "single" and len(layout) > 1:
        message = (
            f"pool {pool.name!r} mixes {', '.join(layout)} under strategy single; accepted: strategy mixed"
        )
        yield node.fail("strategy", message)
    gpu = (facts.catalog.servers.get(server) or facts.catalog.instances.get(server) or {}).get("gpu")
    yield from _possible(pool, node, layout, str(gpu), facts.catalog.mig.get(str(gpu)))


def _possible(
    pool: Pool, node: KubeObject, layout: Counter[str], gpu: str, row: Mapping[str, Any] | None
) -> Iterator[Finding]:
    if row is None:
        yield node.fail(
            "gpu", f"pool {pool.name!r} cuts {gpu}, which has no MIG; accepted: a GPU that has it"
        )
        return
    most = row["max_counts"]
    unknown = sorted(set(layout) - set(most))
    if unknown:
        message = f"pool {pool.name!r} asks {gpu} for {', '.join(unknown)}; accepted: {', '.join(most)}"
        yield node.fail("profile", message)
        return
    above = [
        f"{count} of {name} (most: {most[name]})" for name, count in layout.items() if count > most[name]
    ]
    if above:
        yield node.fail("count", f"pool {pool.name!r} asks one {gpu} for {', '.join(above)}; accepted: fewer")
    elif not any(layout <= Counter(full) for full in row["full_layouts"]):
        shown = ", ".join(f"{name}={count}" for name, count in layout.items())
        message = f"pool {pool.name!r} asks one {gpu} for {shown}, which do not fit together"
        yield node.fail("layout", f"{message}; accepted: {_ACCEPTED}")


def _parsed(written: Value) -> Counter[str] | None:
    matches = [_PROFILE.fullmatch(part.strip()) for part in str(written).split(",")]
    found: Counter[str] = Counter()
    for match in matches:
        if match is None or match["name"] in found:
            return None
        found[match["name"]] = int(match["count"])
    return found


def _may_be_shared(node: KubeObject) -> bool:
    return label(node, SHARING) not in (None, "none") or str(label(node, REPLICAS) or "1") not in ("0", "1")


def _sharing(pool: Pool, node: KubeObject, plan: Sequence[Planned]) -> Iterator[Finding]:
    """GPUs shared by turns have no wall between their users, so they stay with one queue."""
    accepted = "one queue for a shared pool, or MIG"
    doubt = first_unknown([label(node, SHARING), label(node, REPLICAS)])
    tenants, hidden = _tenants(pool, plan)
    if len(tenants) > 1:
        shown = ", ".join(sorted(tenants))
        if doubt:
            yield node.unproven("tenants", doubt, f"sharing-strategy none, or {accepted}")
        else:
            how = label(node, SHARING) or "replicas"
            message = f"pool {pool.name!r} is shared by {how} between {shown}; accepted: {accepted}"
            yield node.fail("tenants", message)
    elif hidden:
        yield node.unproven("tenants", hidden, accepted)


def _tenants(pool: Pool, plan: Sequence[Planned]) -> tuple[set[str], Unknown | None]:
    flavors = {
        item.name
        for item in objects_of(plan, _KUEUE, "ResourceFlavor")
        if at(item.body, "spec", "nodeLabels", POOL) == pool.name
    }
    tenants, hidden = set(), None
    for queue in objects_of(plan, _KUEUE, "ClusterQueue"):
        groups = at(queue.body, "spec", "resourceGroups")
        names = [at(flavor, "name") for group in items(groups) for flavor in items(at(group, "flavors"))]
        if flavors & {name for name in names if isinstance(name, str)}:
            tenants.add(queue.name)
        hidden = hidden or first_unknown([groups, *names])
    return tenants, hidden


RULE = Rule(
    id="mig",
    severity=Severity.HIGH,
    title="GPUs are cut as they can be cut, and not shared between tenants by turns",
    fix="Choose a layout of the catalogue, strategy mixed for several profiles, one queue per shared pool.",
    source="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
    check_stack=check,
)
