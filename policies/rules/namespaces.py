"""namespaces: each has pod-security labels, a quota, a default-deny policy; pods live in such ones only."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policies.model import Facts, Finding, KubeObject, Planned, Rule, Severity, Unknown, Verdict, at, items
from policies.objects import RELEASE, pods

ENFORCE = "pod-security.kubernetes.io/enforce"
_DIRECTIONS = frozenset({"Ingress", "Egress"})


def check(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """Judge every planned namespace, and where pods go."""
    objects = [item for planned in plan for item in planned.objects]
    spaces = [item for item in objects if item.kind == "Namespace" and not item.group]
    made = [item for item in objects if pods(item) and not item.patch]
    findings = [
        *(finding for item in spaces for finding in _namespace(item, objects)),
        *_homeless({item.name for item in spaces}, made),
        *(finding for planned in plan for finding in _made_by_release(planned)),
    ]
    return tuple(findings) if spaces or made or findings else None


def _namespace(space: KubeObject, objects: Sequence[KubeObject]) -> Iterator[Finding]:
    level = at(space.body, "metadata", "labels", ENFORCE)
    if isinstance(level, Unknown):
        yield space.unproven("pod-security", level, "restricted")
    elif level != "restricted":
        yield space.fail("pod-security", f"label {ENFORCE} is {level or 'absent'}; accepted: restricted")
    quotas = [item for item in objects if item.kind == "ResourceQuota" and not item.group]
    yield from _covered(
        space, quotas, "quota", _limits_something, "a ResourceQuota with spec.hard in the namespace"
    )
    policies = [
        item for item in objects if item.kind == "NetworkPolicy" and item.group == "networking.k8s.io"
    ]
    yield from _covered(
        space, policies, "default-deny", _denies_all, "a NetworkPolicy on all pods, both directions, no rule"
    )


def _covered(
    space: KubeObject,
    candidates: Sequence[KubeObject],
    check: str,
    holds: Callable[[Mapping[str, Any]], bool | Unknown],
    accepted: str,
) -> Iterator[Finding]:
    """One of the candidates lies in the namespace and holds; doubt counts only when none surely does."""
    doubt: Unknown | None = None
    for item in candidates:
        if isinstance(item.namespace, Unknown):
            doubt = doubt or item.namespace
        elif item.namespace == space.name:
            answer = holds(item.body)
            if answer is True:
                return
            if isinstance(answer, Unknown):
                doubt = doubt or answer
    if doubt:
        yield space.unproven(check, doubt, accepted)
    else:
        yield space.fail(check, f"the plan has none for it; accepted: {accepted}")


def _limits_something(body: Mapping[str, Any]) -> bool | Unknown:
    hard = at(body, "spec", "hard")
    return hard if isinstance(hard, Unknown) else bool(hard)


def _denies_all(body: Mapping[str, Any]) -> bool | Unknown:
    spec = at(body, "spec")
    parts = [at(spec, key) for key in ("podSelector", "policyTypes", "ingress", "egress")]
    for part in (*parts, *items(parts[1])):
        if isinstance(part, Unknown):
            return part
    selector, directions, ingress, egress = parts
    everything = isinstance(selector, Mapping) and not any(selector.values())
    return everything and set(items(directions)) >= _DIRECTIONS and not ingress and not egress


def _homeless(spaces: set[str], made: Sequence[KubeObject]) -> Iterator[Finding]:
    for item in made:
        if isinstance(item.namespace, Unknown):
            yield item.unproven("own-namespace", item.namespace, "a namespace of the same plan")
        elif item.namespace not in spaces:
            name = item.namespace or "default"
            yield item.fail(
                "own-namespace",
                f"its pods go to namespace {name!r}, which is not of this plan; accepted: one that is",
            )


def _made_by_release(planned: Planned) -> Iterator[Finding]:
    if planned.type == RELEASE and planned.props.get("createNamespace"):
        message = "createNamespace makes a namespace without guardrails; accepted: a Namespace of the plan"
        yield Finding(
            check="create-namespace", subject=f"Release/{planned.name}", message=message, urn=planned.urn
        )


RULE = Rule(
    id="namespaces",
    severity=Severity.HIGH,
    title="Pods live in namespaces with pod-security labels, a quota and a default-deny NetworkPolicy",
    fix="Make namespaces with the namespace component of components/kube.",
    source="https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-policies",
    check_stack=check,
)
