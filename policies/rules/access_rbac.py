"""Roles and bindings that give too much; part of the rule ``access``."""

from collections.abc import Iterator

from policies.model import Finding, KubeObject, Unknown, Value, at, items, unknowns

GROUP = "rbac.authorization.k8s.io"
ROLES = frozenset({"Role", "ClusterRole"})
BINDINGS = frozenset({"RoleBinding", "ClusterRoleBinding"})
# https://kubernetes.io/docs/concepts/security/rbac-good-practices/#privilege-escalation-risks (read 2026-11)
_ESCALATING_VERBS = frozenset({"escalate", "bind", "impersonate"})
_INTO_PODS = frozenset({"pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers"})
_INTO_NODES = frozenset({"nodes/proxy"})
_READING = frozenset({"get", "list", "watch"})
_WILDCARD = "*"
# User-facing roles of Kubernetes that reach into every namespace when bound for the whole cluster.
_BROAD_ROLES = frozenset({"admin", "edit"})
_EVERYONE = frozenset(
    {
        "system:authenticated",
        "system:unauthenticated",
        "system:anonymous",
        "system:serviceaccounts",
        "system:masters",
    }
)


def role(item: KubeObject) -> Iterator[Finding]:
    """What is wrong with the rules of a Role or ClusterRole."""
    rules = at(item.body, "rules")
    accepted = "rules known in the preview"
    for doubt in unknowns(rules):
        yield item.unproven("wildcard", doubt, accepted)
    for index, rule in enumerate(items(rules)):
        if isinstance(rule, Unknown):
            continue
        for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
            values = at(rule, field)
            for doubt in unknowns(values):
                yield item.unproven("wildcard", doubt, accepted)
            if any(_is_wildcard(value) for value in items(values)):
                yield item.fail("wildcard", f"rules[{index}].{field} has *; accepted: names")
        yield from _powers(item, index, rule)


def _is_wildcard(value: Value) -> bool:
    return isinstance(value, str) and (value == _WILDCARD or value.startswith("*/") or value.endswith("/*"))


def _powers(item: KubeObject, index: int, rule: Value) -> Iterator[Finding]:
    verbs = {str(verb) for verb in items(at(rule, "verbs")) if not isinstance(verb, Unknown)}
    resources = {str(name) for name in items(at(rule, "resources")) if not isinstance(name, Unknown)}
    if escalating := sorted(verbs & _ESCALATING_VERBS):
        message = f"rules[{index}].verbs has {', '.join(escalating)}; accepted: verbs that give no other role"
        yield item.fail("escalation", message)
    if verbs and (reached := sorted(resources & (_INTO_PODS | _INTO_NODES))):
        message = f"rules[{index}].resources has {', '.join(reached)}; accepted: no way into pods or nodes"
        yield item.fail("exec", message)
    named = at(rule, "resourceNames")
    if item.kind == "ClusterRole" and "secrets" in resources and verbs & _READING and not named:
        message = f"rules[{index}] reads Secrets of every namespace; accepted: a Role, or resourceNames"
        yield item.fail("secrets", message)


def binding(item: KubeObject) -> Iterator[Finding]:
    """What is wrong with whom a binding gives what."""
    name = at(item.body, "roleRef", "name")
    accepted = "a narrow role of your own"
    if isinstance(name, Unknown):
        yield item.unproven("cluster-admin", name, accepted)
    elif name == "cluster-admin":
        yield item.fail("cluster-admin", f"it gives cluster-admin to {_whom(item)}; accepted: {accepted}")
    elif item.kind == "ClusterRoleBinding" and name in _BROAD_ROLES:
        yield item.fail(
            "broad", f"it gives {name} in every namespace; accepted: a RoleBinding, or {accepted}"
        )
    subjects = at(item.body, "subjects")
    for doubt in unknowns(subjects):
        yield item.unproven("everyone", doubt, "subjects known in the preview")
    for index, subject in enumerate(items(subjects)):
        who = at(subject, "name")
        if isinstance(who, Unknown):
            if who is not subject and at(subject, "kind") != "ServiceAccount":
                yield item.unproven("everyone", who, "users and groups known in the preview")
        elif who in _EVERYONE or str(who).startswith("system:serviceaccounts:"):
            yield item.fail("everyone", f"subjects[{index}] is {who}; accepted: named users and accounts")


def _whom(item: KubeObject) -> str:
    names = [at(subject, "name") for subject in items(at(item.body, "subjects"))]
    return ", ".join(name for name in names if isinstance(name, str)) or "nobody known"
