"""labels: the cost set on everything that is labelled."""

from collections.abc import Iterator

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Rule,
    Severity,
    Unknown,
    Value,
    Verdict,
    at,
    items,
    per_object,
)
from policies.objects import pods

REQUIRED = tuple(
    f"gpu-platform/{name}" for name in ("owner", "project", "environment", "cost-centre", "managed-by")
)
_ACCEPTED = "labels " + ", ".join(REQUIRED) + ", none of them empty"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """The object, its pod templates and its claim templates carry the cost set."""
    if item.patch:
        return None
    return tuple(
        finding
        for where, metadata in _places(item)
        for finding in _missing(item, where, at(metadata, "labels"))
    )


def _places(item: KubeObject) -> Iterator[tuple[str, Value]]:
    yield "metadata.labels", at(item.body, "metadata")
    for pod in pods(item):
        if pod.path and not pod.bare:
            yield f"{pod.path}metadata.labels", pod.metadata
    if item.kind == "CronJob":
        yield "spec.jobTemplate.metadata.labels", at(item.body, "spec", "jobTemplate", "metadata")
    if item.kind == "StatefulSet":
        for index, claim in enumerate(items(at(item.body, "spec", "volumeClaimTemplates"))):
            yield f"spec.volumeClaimTemplates[{index}].metadata.labels", at(claim, "metadata")


def _missing(item: KubeObject, where: str, labels: Value) -> Iterator[Finding]:
    if isinstance(labels, Unknown):
        yield item.unproven("ownership", labels, _ACCEPTED)
        return
    values = {key: at(labels, key) for key in REQUIRED}
    for value in values.values():
        if isinstance(value, Unknown):
            yield item.unproven("ownership", value, "a value known in the preview")
    missing = [key for key, value in values.items() if not value]
    if missing:
        yield item.fail("ownership", f"{where} lacks {', '.join(missing)}; accepted: {_ACCEPTED}")


RULE = Rule(
    id="labels",
    severity=Severity.MEDIUM,
    title="Everything labelled says who owns it and where its cost goes",
    fix="Pass the environment's Ownership and put its labels() on the object and its templates.",
    source="https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/",
    check_resource=per_object(check),
)
