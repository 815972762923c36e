"""scheduler: jobs end by themselves, queues promise what there is and share it, gangs start as a whole."""

from collections.abc import Iterator, Mapping, Sequence

from policies.gpu_jobs import GPU_RESOURCES, QUEUE_LABEL, Job, jobs_in, kueue_configurations
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
from policies.pools import first_unknown, is_node, label, objects_of
from policies.quantity import amount

_KUEUE = "kueue.x-k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
_DEADLINE = "activeDeadlineSeconds"
_NAMESPACE = "kubernetes.io/metadata.name"


def check(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """Judge GPU jobs, queues and the queue operator's configuration."""
    jobs = [job for planned in plan for item in planned.objects for job in jobs_in(item)]
    queues = objects_of(plan, _KUEUE, "ClusterQueue")
    local = objects_of(plan, _KUEUE, "LocalQueue")
    configurations = [found for planned in plan for found in kueue_configurations(planned)]
    if not (jobs or queues or local or configurations):
        return None
    return (
        *(finding for job in jobs for finding in _job(job)),
        *_queues_without_limit(local, plan),
        *(finding for queue in queues for finding in _fair_share(queue)),
        *_quotas(queues, plan),
        *(finding for item, settings in configurations for finding in _gangs(item, settings)),
    )


def _job(job: Job) -> Iterator[Finding]:
    if isinstance(job.deadline, Unknown):
        yield job.item.unproven("time-limit", job.deadline, "a limit known in the preview")
    elif job.deadline is None:
        message = f"{job.where} asks for GPUs without spec.{_DEADLINE}; accepted: a limit in seconds"
        yield job.item.fail("time-limit", message)
    if isinstance(job.queue, Unknown):
        yield job.item.unproven("gang", job.queue, f"label {QUEUE_LABEL} known in the preview")
    elif not job.queue and job.pods > 1:
        message = f"{job.where} starts its {job.pods:g} pods one by one; accepted: label {QUEUE_LABEL}"
        yield job.item.fail("gang", message)


def _queues_without_limit(local: Sequence[KubeObject], plan: Sequence[Planned]) -> Iterator[Finding]:
    """A namespace with a queue has an admission policy that asks its jobs for a limit."""
    policies = objects_of(plan, _ADMISSION, "ValidatingAdmissionPolicy")
    asking = [item for item in policies if _asks_for_limit(item)]
    selectors = [at(item.body, "spec", "matchConstraints", "namespaceSelector") for item in asking]
    covered = {at(selector, "matchLabels", _NAMESPACE) for selector in selectors if selector}
    accepted = f"a ValidatingAdmissionPolicy on its Jobs that asks for {_DEADLINE}"
    for queue in local:
        if isinstance(queue.namespace, Unknown):
            yield queue.unproven("queue-limit", queue.namespace, accepted)
        elif queue.namespace not in covered and not any(selector in (None, {}) for selector in selectors):
            doubt = first_unknown([*covered, *(at(item.body, "spec", "validations") for item in policies)])
            if doubt:
                yield queue.unproven("queue-limit", doubt, accepted)
            else:
                yield queue.fail("queue-limit", f"jobs of this queue need no end; accepted: {accepted}")


def _asks_for_limit(item: KubeObject) -> bool:
    return any(
        _DEADLINE in str(at(rule, "expression")) for rule in items(at(item.body, "spec", "validations"))
    )


def _fair_share(queue: KubeObject) -> Iterator[Finding]:
    weight, accepted = at(queue.body, "spec", "fairSharing", "weight"), "a weight above zero"
    if isinstance(weight, Unknown):
        yield queue.unproven("fair-share", weight, accepted)
    elif (amount(weight) or 0) <= 0:
        shown = "absent" if weight is None else repr(weight)
        yield queue.fail("fair-share", f"spec.fairSharing.weight is {shown}; accepted: {accepted}")


def _quotas(queues: Sequence[KubeObject], plan: Sequence[Planned]) -> Iterator[Finding]:
    """All queues together promise no more GPUs of a flavor than the planned nodes have."""
    promised: dict[str, float] = {}
    last: dict[str, KubeObject] = {}
    for queue in queues:
        for name, quota in _gpu_quotas(queue):
            doubt = first_unknown([name, quota])
            if doubt:
                yield queue.unproven("quota", doubt, "quotas known in the preview")
            else:
                promised[str(name)] = promised.get(str(name), 0.0) + (amount(quota) or 0.0)
                last[str(name)] = queue
    for flavor in objects_of(plan, _KUEUE, "ResourceFlavor"):
        available = _capacity(flavor, plan)
        if isinstance(available, Unknown):
            if flavor.name in promised:
                yield flavor.unproven("quota", available, "node labels and GPUs known in the preview")
        elif available is not None and promised.get(flavor.name, 0.0) > available:
            message = f"queues promise {promised[flavor.name]:g} GPUs of flavor {flavor.name!r}"
            yield last[flavor.name].fail("quota", f"{message}; accepted: its nodes' {available:g}")


def _gpu_quotas(queue: KubeObject) -> Iterator[tuple[Value, Value]]:
    groups = at(queue.body, "spec", "resourceGroups")
    if isinstance(groups, Unknown):
        yield groups, None
    for group in items(groups):
        flavors = at(group, "flavors")
        for flavor in (flavors,) if isinstance(flavors, Unknown) else items(flavors):
            resources = at(flavor, "resources")
            if isinstance(resources, Unknown):
                yield resources, None
            for resource in items(resources):
                if isinstance(resource, Unknown) or at(resource, "name") in GPU_RESOURCES:
                    yield at(flavor, "name"), at(resource, "nominalQuota")


def _capacity(flavor: KubeObject, plan: Sequence[Planned]) -> float | Unknown | None:
    """GPUs of the planned nodes a flavor chooses; None when the plan makes no nodes it chooses."""
    wanted = at(flavor.body, "spec", "nodeLabels")
    if isinstance(wanted, Unknown):
        return wanted
    if not isinstance(wanted, Mapping) or not wanted:
        return None
    nodes = [item for planned in plan for item in planned.objects if is_node(item)]
    chosen = [node for node in nodes if all(label(node, key) == value for key, value in wanted.items())]
    gpus = [
        value
        for node in chosen
        for key in GPU_RESOURCES
        if (value := at(node.body, "status", "capacity", key)) is not None
    ]
    return first_unknown(gpus) or (sum(amount(value) or 0.0 for value in gpus) if gpus else None)


def _gangs(item: KubeObject, settings: Mapping[str, Value]) -> Iterator[Finding]:
    # v1beta2 turns it on by naming it; v1beta1 had a switch beside it.
    named = at(settings, "waitForPodsReady", "timeout") is not None
    newer = str(at(settings, "apiVersion")).endswith("/v1beta2")
    if not (named if newer else at(settings, "waitForPodsReady", "enable") is True):
        message = "waitForPodsReady is off, so that half a gang may hold its GPUs"
        accepted = "waitForPodsReady with a timeout" if newer else "waitForPodsReady.enable true"
        yield item.fail("gang", f"{message}; accepted: {accepted}")


RULE = Rule(
    id="scheduler",
    severity=Severity.HIGH,
    title="Jobs end by themselves, queues promise what there is and share it, gangs start as a whole",
    fix="Use scheduling.GangQueue and JobRules; give job templates a limit and a queue.",
    source="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/",
    check_stack=check,
)
