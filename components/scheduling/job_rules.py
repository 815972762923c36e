"""Rules a job must meet before it may wait in a queue, held by the API server itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)

from components.core import (
    Component,
    Ownership,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.kube import ownership_metadata
from components.scheduling.kueue_api import GPU_RESOURCE, QUEUE_LABEL


@dataclass(frozen=True, kw_only=True)
class QueueRule:
    """Time limits of one queue.

    Args:
        queue: LocalQueue name.
        default_time_limit_seconds: Limit the messages recommend.
        max_time_limit_seconds: Longest limit.
    """

    queue: str
    default_time_limit_seconds: int
    max_time_limit_seconds: int


@dataclass(frozen=True, kw_only=True)
class JobRulesArgs:
    """The rules of one namespace.

    Args:
        ownership: Who owns and pays.
        namespace: Namespace of the jobs, a DNS label.
        queues: Every queue jobs of the namespace may name.
    """

    ownership: Ownership
    namespace: str
    queues: tuple[QueueRule, ...]

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("namespace", self.namespace),
            *check_not_empty("queues", self.queues, "one queue or more"),
        ]
        for rule in self.queues:
            problems += check_dns_label("queues.queue", rule.queue)
            problems += check_positive(
                f"queues.{rule.queue}.max_time_limit_seconds", rule.max_time_limit_seconds
            )
        raise_problems(f"job rules of {self.namespace!r}", problems)


class JobRules(Component):
    """Refuses jobs without a known queue or a time limit, and GPU pods that go around the queue.

    Creates two ValidatingAdmissionPolicies and their bindings, for one namespace. A Job there must name one
    of the queues and set ``activeDeadlineSeconds`` within that queue's limit; a pod that asks for GPUs must
    belong to a Job. Sets no default: a job says what it wants, our templates do. What exists already is left
    alone until one of those fields changes.

    Args:
        name: Logical name.
        args: The rules.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:JobRules"

    def __init__(self, name: str, args: JobRulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for role, spec in (("jobs", job_policy(args)), ("gpu-pods", pod_policy(args))):
            policy_name = f"{args.namespace}-{role}"
            policy = ValidatingAdmissionPolicy(
                f"{name}-{role}",
                metadata=ownership_metadata(args.ownership, name=policy_name),
                spec=spec,
                opts=self.child(),
            )
            ValidatingAdmissionPolicyBinding(
                f"{name}-{role}-binding",
                metadata=ownership_metadata(args.ownership, name=policy_name),
                spec={"policyName": policy_name, "validationActions": ["Deny"]},
                opts=self.child(depends_on=[policy]),
            )
        self.finish({})


def job_policy(args: JobRulesArgs) -> dict[str, Any]:
    """Policy on Jobs: a known queue, a deadline, a deadline within the queue's limit."""
    queues = sorted(args.queues, key=lambda rule: rule.queue)
    limits = {rule.queue: rule.max_time_limit_seconds for rule in queues}
    names = ", ".join(limits)
    advice = "; ".join(
        f"{rule.queue}: default {rule.default_time_limit_seconds} s, at most {rule.max_time_limit_seconds} s"
        for rule in queues
    )
    return {
        "failurePolicy": "Fail",
        "matchConstraints": _match(args.namespace, "batch", "jobs", ("CREATE", "UPDATE")),
        "matchConditions": [{"name": "queue-or-limit-changed", "expression": _QUEUE_OR_LIMIT_CHANGED}],
        "variables": [
            {"name": "limits", "expression": json.dumps(limits)},
            {"name": "queue", "expression": _queue_of("object")},
        ],
        "validations": [
            _validation(
                "variables.queue in variables.limits",
                f"a Job in {args.namespace} must name its queue: set label {QUEUE_LABEL} to one of: {names}",
            ),
            _validation(
                "has(object.spec.activeDeadlineSeconds)",
                f"a Job in {args.namespace} must end by itself: set spec.activeDeadlineSeconds ({advice})",
            ),
            _validation(
                "!has(object.spec.activeDeadlineSeconds) || !(variables.queue in variables.limits) || "
                "object.spec.activeDeadlineSeconds <= variables.limits[variables.queue]",
                f"spec.activeDeadlineSeconds is above the limit of the queue ({advice})",
            ),
        ],
    }


def pod_policy(args: JobRulesArgs) -> dict[str, Any]:
    """Policy on pods: GPUs only through a Job, and so through a queue."""
    asks = f"has(c.resources) && has(c.resources.limits) && '{GPU_RESOURCE}' in c.resources.limits"
    return {
        "failurePolicy": "Fail",
        "matchConstraints": _match(args.namespace, "", "pods", ("CREATE",)),
        "matchConditions": [
            {
                "name": "asks-for-gpus",
                "expression": f"object.spec.containers.exists(c, {asks}) || "
                f"(has(object.spec.initContainers) && object.spec.initContainers.exists(c, {asks}))",
            }
        ],
        "validations": [
            _validation(
                "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists("
                "o, o.kind == 'Job' && has(o.controller) && o.controller)",
                f"a pod in {args.namespace} gets GPUs only as part of a Job with the label {QUEUE_LABEL}",
            )
        ],
    }


def _validation(expression: str, message: str) -> dict[str, str]:
    return {"expression": expression, "message": message, "reason": "Invalid"}


def _queue_of(job: str) -> str:
    labels = f"{job}.metadata.labels"
    return f"has({labels}) && '{QUEUE_LABEL}' in {labels} ? {labels}['{QUEUE_LABEL}'] : ''"


def _deadline_of(job: str) -> str:
    return f"(has({job}.spec.activeDeadlineSeconds) ? {job}.spec.activeDeadlineSeconds : -1)"


# Controllers update Jobs all the time, also those made before the rule; they must not be stopped.
_QUEUE_OR_LIMIT_CHANGED = (
    f"request.operation == 'CREATE' || {_deadline_of('object')} != {_deadline_of('oldObject')} || "
    f"({_queue_of('object')}) != ({_queue_of('oldObject')})"
)


def _match(namespace: str, group: str, resource: str, operations: Sequence[str]) -> dict[str, Any]:
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "resourceRules": [
            {
                "apiGroups": [group],
                "apiVersions": ["v1"],
                "operations": list(operations),
                "resources": [resource],
            }
        ],
    }
