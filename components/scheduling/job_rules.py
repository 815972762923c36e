"""Rules a job must meet before it may wait in a queue, held by the API server itself."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from components.core import (
    Component,
    Ownership,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.scheduling._admission import in_list, match, policy_with_binding, validation
from components.scheduling.gpu_flavors import Priority
from components.scheduling.kueue_api import PRIORITY_LABEL, QUEUE_LABEL

# The value the field has for the cluster's own controller, https://kubernetes.io/docs/concepts/workloads/
# controllers/job/#delegation-of-managing-a-job-object-to-external-controller
_JOB_CONTROLLER = "kubernetes.io/job-controller"


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
        priorities: WorkloadPriorityClasses jobs may name by label.
        pod_priority_classes: PriorityClasses their pods may name; by default none, so that no job can evict
            what it shares a node with.
    """

    ownership: Ownership
    namespace: str
    queues: tuple[QueueRule, ...]
    priorities: tuple[str, ...] = tuple(Priority)
    pod_priority_classes: tuple[str, ...] = ()

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
    """Refuses jobs without a known queue, a time limit or a known priority, or of another controller.

    Creates two ValidatingAdmissionPolicies and their bindings, for one namespace. A Job there must name one
    of the queues, set ``activeDeadlineSeconds`` within that queue's limit, leave ``managedBy`` alone and name
    no priority but the known ones; a pod must name none. Sets no default: a job says what it wants, our
    templates do. What exists already is left alone until one of those fields changes. That GPUs come through
    queues only is ``GpuAdmission``'s.

    Args:
        name: Logical name.
        args: The rules.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:JobRules"

    def __init__(self, name: str, args: JobRulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for role, spec in (("jobs", job_policy(args)), ("pods", pod_policy(args))):
            policy_with_binding(self, f"{name}-{role}", f"{args.namespace}-{role}", args.ownership, spec)
        self.finish({})


def job_policy(args: JobRulesArgs) -> dict[str, Any]:
    """Policy on Jobs: a known queue, a deadline within its limit, known priority, usual controller."""
    queues = sorted(args.queues, key=lambda rule: rule.queue)
    limits = {rule.queue: rule.max_time_limit_seconds for rule in queues}
    names = ", ".join(limits)
    advice = "; ".join(
        f"{rule.queue}: default {rule.default_time_limit_seconds} s, at most {rule.max_time_limit_seconds} s"
        for rule in queues
    )
    return {
        "failurePolicy": "Fail",
        "matchConstraints": match("batch", "jobs", ("CREATE", "UPDATE"), namespace=args.namespace),
        "matchConditions": [{"name": "what-is-judged-changed", "expression": _SOMETHING_JUDGED_CHANGED}],
        "variables": [
            {"name": "limits", "expression": json.dumps(limits)},
            {"name": "queue", "expression": _label_of("object", QUEUE_LABEL)},
            {"name": "priority", "expression": _label_of("object", PRIORITY_LABEL)},
        ],
        "validations": [
            validation(
                "variables.queue in variables.limits",
                f"a Job in {args.namespace} must name its queue: set label {QUEUE_LABEL} to one of: {names}",
            ),
            validation(
                "has(object.spec.activeDeadlineSeconds)",
                f"a Job in {args.namespace} must end by itself: set spec.activeDeadlineSeconds ({advice})",
            ),
            validation(
                "!has(object.spec.activeDeadlineSeconds) || !(variables.queue in variables.limits) || "
                "object.spec.activeDeadlineSeconds <= variables.limits[variables.queue]",
                f"spec.activeDeadlineSeconds is above the limit of the queue ({advice})",
            ),
            validation(
                f"!has(object.spec.managedBy) || object.spec.managedBy == '{_JOB_CONTROLLER}'",
                f"a Job in {args.namespace} is run by the cluster's own controller: remove spec.managedBy. "
                "Another one would hold the quota and may start nothing",
            ),
            validation(
                f"variables.priority == '' || variables.priority in {in_list(args.priorities)}",
                f"label {PRIORITY_LABEL} names no priority there is; accepted: {', '.join(args.priorities)}",
            ),
            _class_rule("object.spec.template.spec", args, "a Job"),
        ],
    }


def pod_policy(args: JobRulesArgs) -> dict[str, Any]:
    """Policy on pods, also those of no Job: no priority but the allowed ones."""
    return {
        "failurePolicy": "Fail",
        "matchConstraints": match("", "pods", ("CREATE",), namespace=args.namespace),
        "validations": [_class_rule("object.spec", args, "a pod")],
    }


def _class_rule(pod_spec: str, args: JobRulesArgs, what: str) -> dict[str, str]:
    """PriorityClasses make the scheduler evict other pods, ``system-*-critical`` any."""
    field = f"{pod_spec}.priorityClassName"
    known = ", ".join(args.pod_priority_classes) or "none"
    return validation(
        f"!has({field}) || {field} == '' || {field} in {in_list(args.pod_priority_classes)}",
        f"{what} in {args.namespace} must not set priorityClassName (accepted: {known}): how urgent it is "
        f"says its Job's label {PRIORITY_LABEL}",
    )


def _label_of(job: str, label: str) -> str:
    labels = f"{job}.metadata.labels"
    return f"(has({labels}) && '{label}' in {labels} ? {labels}['{label}'] : '')"


def _deadline_of(job: str) -> str:
    return f"(has({job}.spec.activeDeadlineSeconds) ? {job}.spec.activeDeadlineSeconds : -1)"


# Controllers update Jobs all the time, also those made before the rule; they must not be stopped.
_SOMETHING_JUDGED_CHANGED = " || ".join(
    (
        "request.operation == 'CREATE'",
        f"{_deadline_of('object')} != {_deadline_of('oldObject')}",
        f"{_label_of('object', QUEUE_LABEL)} != {_label_of('oldObject', QUEUE_LABEL)}",
        f"{_label_of('object', PRIORITY_LABEL)} != {_label_of('oldObject', PRIORITY_LABEL)}",
    )
)
