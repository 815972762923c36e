"""Alert rules in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    raise_problems,
)
from components.kube import CustomObject, ownership_metadata
from components.observability.operator_api import API_VERSION


@dataclass(frozen=True, kw_only=True)
class AlertRulesArgs:
    """Rule groups as Prometheus reads them.

    Args:
        ownership: Who owns and pays.
        namespace: Namespace of Prometheus.
        groups: Groups as a Prometheus rule file holds them: ``name`` and ``rules``, in its own spelling.
        gate: Hooks that hold back the first custom resources until the CRDs are served.
    """

    ownership: Ownership
    namespace: str
    groups: tuple[Mapping[str, Any], ...]
    gate: pulumi.ResourceHookBinding | None = None

    def __post_init__(self) -> None:
        problems = check_not_empty("groups", self.groups, "one group or more")
        for group in self.groups:
            name, rules = str(group.get("name", "")), group.get("rules", ())
            problems += check_dns_label("groups.name", name)
            problems += check_not_empty(f"groups.{name}", rules, "one rule or more")
            problems += [
                Problem(
                    path=f"groups.{name}",
                    value=f"a rule with {sorted(rule)}",
                    accepted="`expr` and one of `alert` and `record`",
                    fix="complete the rule",
                )
                for rule in rules
                if "expr" not in rule or ("alert" in rule) == ("record" in rule)
            ]
        raise_problems("alert rules", problems)


class AlertRules(Component):
    """One PrometheusRule per group, so that a change of one touches no other.

    Judges no expression: that is for tests with promtool, before anything is sent.

    Args:
        name: Logical name.
        args: The rules.
        opts: Options, inherited by the children; depend on the operator.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:AlertRules"

    def __init__(self, name: str, args: AlertRulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for group in args.groups:
            CustomObject(
                f"{name}-{group['name']}",
                {
                    "apiVersion": API_VERSION,
                    "kind": "PrometheusRule",
                    "metadata": ownership_metadata(
                        args.ownership, name=group["name"], namespace=args.namespace
                    ),
                    "spec": {"groups": [dict(group)]},
                },
                self.child(hooks=args.gate),
            )
        self.finish({})
