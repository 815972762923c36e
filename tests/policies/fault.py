"""What a planted fault is, and the ways to plant one."""

from dataclasses import dataclass, replace
from typing import Any

from tests.policies.manifests import POD_TEMPLATE, Resource, changed, deployment

PASSWORD = "correct-horse"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault and the finding it must cause.

    Args:
        rule: The rule that must speak.
        check: Its check.
        says: Part of the message.
        added: Resources added to the good plan.
        also: Other rules that rightly speak too.
    """

    rule: str
    check: str
    says: str
    added: tuple[Resource, ...]
    also: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Name of the fault: that of its first resource."""
        return self.added[0].name


def altered(resource: Resource, path: str, value: Any) -> Resource:
    return replace(resource, props=changed(resource.props, path, value))


def pod_fault(check: str, path: str, value: Any, says: str, *, rule: str = "pods", suffix: str = "") -> Fault:
    name = f"{rule}-{check}{suffix}"
    return Fault(
        rule=rule, check=check, says=says, added=(deployment(name, changed(POD_TEMPLATE, path, value)),)
    )
