"""ValidatingAdmissionPolicies in the few words the rules here need."""

from collections.abc import Sequence
from typing import Any

from pulumi_kubernetes.admissionregistration.v1 import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)

from components.core import Component, Ownership
from components.kube import ownership_metadata

_NAME_LABEL = "kubernetes.io/metadata.name"


def policy_with_binding(
    parent: Component, logical_name: str, name: str, ownership: Ownership, spec: dict[str, Any]
) -> None:
    """A policy and the binding that makes it deny."""
    policy = ValidatingAdmissionPolicy(
        logical_name, metadata=ownership_metadata(ownership, name=name), spec=spec, opts=parent.child()
    )
    ValidatingAdmissionPolicyBinding(
        f"{logical_name}-binding",
        metadata=ownership_metadata(ownership, name=name),
        spec={"policyName": name, "validationActions": ["Deny"]},
        opts=parent.child(depends_on=[policy]),
    )


def match(
    group: str,
    resource: str,
    operations: Sequence[str],
    *,
    namespace: str | None = None,
    excluded: Sequence[str] = (),
) -> dict[str, Any]:
    """What a policy judges: one kind, in one namespace, or in all but some.

    Args:
        group: API group, empty for the core.
        resource: Plural.
        operations: ``CREATE``, ``UPDATE``.
        namespace: The only namespace; left out: every one.
        excluded: Namespaces left out where there is no only one.
    """
    selector: dict[str, Any] = {}
    if namespace is not None:
        selector = {"matchLabels": {_NAME_LABEL: namespace}}
    elif excluded:
        row = {"key": _NAME_LABEL, "operator": "NotIn", "values": sorted(excluded)}
        selector = {"matchExpressions": [row]}
    rule = {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": list(operations),
        "resources": [resource],
    }
    return {"namespaceSelector": selector, "resourceRules": [rule]}


def validation(expression: str, message: str) -> dict[str, str]:
    """One thing that must hold, and what is said where it does not."""
    return {"expression": expression, "message": message, "reason": "Invalid"}


def in_list(names: Sequence[str]) -> str:
    """A CEL list of texts."""
    return "[" + ", ".join(f"'{name}'" for name in names) + "]"
