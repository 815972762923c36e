"""storage-split: datasets and checkpoints lie on different volumes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

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
from policies.objects import Pod, pods
from policies.rules.storage_backends import SCRATCH, remote_scratch, shared_backends

PURPOSE = "gpu-platform/purpose"
DATASETS, CHECKPOINTS = "datasets", "checkpoints"
_PAIR = (DATASETS, CHECKPOINTS)
_WORDS = {
    DATASETS: re.compile(r"(^|[^a-z])datasets?($|[^a-z])", re.IGNORECASE),
    CHECKPOINTS: re.compile(r"(^|[^a-z])checkpoints?($|[^a-z])", re.IGNORECASE),
}


def check(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """Claims come as a pair on different classes and backends, mounted for one purpose; scratch is local."""
    objects = [item for planned in plan for item in planned.objects]
    claims = [item for item in objects if item.kind == "PersistentVolumeClaim" and not item.group]
    unknown = [(item, purpose) for item in claims if isinstance(purpose := _label(item), Unknown)]
    by_purpose = {purpose: [item for item in claims if _label(item) == purpose] for purpose in _PAIR}
    mounting = [pod for item in objects for pod in pods(item) if _mounts(pod)]
    scratch = [item for item in claims if _label(item) == SCRATCH]
    if not unknown and not mounting and not scratch and not any(by_purpose.values()):
        return None
    names = {
        (str(item.namespace), item.name): purpose for purpose, found in by_purpose.items() for item in found
    }
    return (
        *(item.unproven("purpose", value, "a purpose known in the preview") for item, value in unknown),
        *(_lonely(by_purpose) if not unknown else ()),
        *(
            finding
            for left, right in product(by_purpose[DATASETS], by_purpose[CHECKPOINTS])
            for finding in _same_volume(left, right)
        ),
        *(finding for pod in mounting for finding in _pod(pod, names)),
        *shared_backends(by_purpose[DATASETS], by_purpose[CHECKPOINTS], objects),
        *(finding for item in scratch for finding in remote_scratch(item, objects)),
    )


def _label(item: KubeObject) -> Value:
    return at(item.body, "metadata", "labels", PURPOSE)


def _lonely(by_purpose: Mapping[str, Sequence[KubeObject]]) -> Iterator[Finding]:
    for purpose, other in (_PAIR, _PAIR[::-1]):
        if by_purpose[purpose] and not by_purpose[other]:
            message = f"the plan has no claim for {other}; accepted: one for each, told apart by {PURPOSE}"
            yield by_purpose[purpose][0].fail("pair", message)


def _same_volume(left: KubeObject, right: KubeObject) -> Iterator[Finding]:
    accepted = "a storage class each, named in spec.storageClassName"
    classes = [at(item.body, "spec", "storageClassName") for item in (left, right)]
    for item, value in zip((left, right), classes, strict=True):
        if isinstance(value, Unknown):
            yield item.unproven("class", value, accepted)
    if not any(isinstance(value, Unknown) for value in classes):
        if classes[0] == classes[1]:
            shown = classes[0] or "the default class"
            yield right.fail("class", f"it shares {shown} with {left.subject}; accepted: {accepted}")
        elif not all(classes):
            bare = (left, right)[0 if not classes[0] else 1]
            yield bare.fail("class", f"it leaves its class to the cluster; accepted: {accepted}")
    volumes = [at(item.body, "spec", "volumeName") for item in (left, right)]
    if volumes[0] and volumes[0] == volumes[1]:
        yield right.fail("volume", f"it shares volume {volumes[0]} with {left.subject}; accepted: one each")


def _mounts(pod: Pod) -> dict[str, set[str]]:
    """Claim → purposes the pod uses it for, by the words of volume names and mount paths."""
    claims = {
        at(volume, "name"): at(volume, "persistentVolumeClaim", "claimName")
        for volume in items(at(pod.spec, "volumes"))
        if isinstance(at(volume, "persistentVolumeClaim", "claimName"), str)
    }
    uses: dict[str, set[str]] = {}
    for container in pod.containers():
        for mount in items(at(container.body, "volumeMounts")):
            claim = claims.get(at(mount, "name"))
            text = " ".join(str(at(mount, key) or "") for key in ("name", "mountPath", "subPath"))
            if claim and (found := {purpose for purpose, word in _WORDS.items() if word.search(text)}):
                uses.setdefault(claim, set()).update(found)
    return uses


def _pod(pod: Pod, names: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    for claim, purposes in sorted(_mounts(pod).items()):
        if len(purposes) > 1:
            message = f"claim {claim!r} is mounted for datasets and checkpoints; accepted: a claim each"
            yield pod.owner.fail("mount", message)
        declared = names.get((str(pod.owner.namespace), claim))
        if declared and declared not in purposes:
            used = ", ".join(sorted(purposes))
            yield pod.owner.fail(
                "mount", f"claim {claim!r} is for {declared} but mounted for {used}; accepted: its own"
            )


RULE = Rule(
    id="storage-split",
    severity=Severity.HIGH,
    title="Datasets and checkpoints lie on different volumes with a throughput each; scratch is local",
    fix=f"Use storage.SharedVolumes, or label each claim with {PURPOSE} and give it a class of its own.",
    source="https://kubernetes.io/docs/concepts/storage/storage-classes/",
    check_stack=check,
)
