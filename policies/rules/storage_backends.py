"""What lies behind claims: whether two share a file system, and whether scratch leaves its node.

Part of the rule ``storage-split``. Classes and volumes that the plan does not make can't be looked at.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from policies.model import Finding, KubeObject, Unknown, Value, at, items

SCRATCH = "scratch"
# Drivers that take space of the node a pod runs on.
LOCAL_PROVISIONERS = frozenset(
    {
        "kubernetes.io/no-provisioner",
        "local.csi.openebs.io",
        "openebs.io/local",
        "rancher.io/local-path",
        "topolvm.io",
    }
)
_SHARED_MODES = frozenset({"ReadWriteMany", "ReadOnlyMany"})


def shared_backends(
    datasets: Sequence[KubeObject], checkpoints: Sequence[KubeObject], objects: Sequence[KubeObject]
) -> Iterator[Finding]:
    """Different classes or volumes that lead to one file system, and so to one throughput."""
    for left, right in product(datasets, checkpoints):
        yield from _classes(left, right, objects)
        yield from _volumes(left, right, objects)


def _classes(left: KubeObject, right: KubeObject, objects: Sequence[KubeObject]) -> Iterator[Finding]:
    accepted = "a file system each, so that each has its own throughput"
    pair = [_class_of(item, objects) for item in (left, right)]
    if not pair[0] or not pair[1] or pair[0].name == pair[1].name:
        return
    sides = [_backend(item) for item in pair if item]
    for side in sides:
        if isinstance(side, Unknown):
            yield right.unproven("throughput", side, accepted)
    if not any(isinstance(side, Unknown) for side in sides) and sides[0] == sides[1]:
        message = f"classes {pair[0].name} and {pair[1].name} lead to the same place as {left.subject}"
        yield right.fail("throughput", f"{message}; accepted: {accepted}")


def _class_of(claim: KubeObject, objects: Sequence[KubeObject]) -> KubeObject | None:
    wanted = at(claim.body, "spec", "storageClassName")
    classes = (item for item in objects if item.kind == "StorageClass" and item.group == "storage.k8s.io")
    return next((item for item in classes if item.name == wanted), None)


def _backend(item: KubeObject) -> Value:
    """What a class makes volumes of: its driver and everything it tells it."""
    parameters = at(item.body, "parameters")
    parts = [at(item.body, "provisioner"), parameters]
    values = parameters.values() if isinstance(parameters, dict) else ()
    doubt = next((part for part in (*parts, *values) if isinstance(part, Unknown)), None)
    return doubt or (parts[0], sorted((parameters or {}).items()))


def _volumes(left: KubeObject, right: KubeObject, objects: Sequence[KubeObject]) -> Iterator[Finding]:
    handles = [_handle(item, objects) for item in (left, right)]
    if handles[0] is not None and handles[0] == handles[1] and not isinstance(handles[0], Unknown):
        message = f"its volume has the file system of {left.subject}"
        yield right.fail("throughput", f"{message}; accepted: one each")


def _handle(claim: KubeObject, objects: Sequence[KubeObject]) -> Value:
    wanted = at(claim.body, "spec", "volumeName")
    volumes = (item for item in objects if item.kind == "PersistentVolume" and not item.group)
    volume = next((item for item in volumes if wanted and item.name == wanted), None)
    if volume is None:
        return None
    spec = at(volume.body, "spec")
    return at(spec, "csi", "volumeHandle") or at(spec, "nfs", "server")


def remote_scratch(claim: KubeObject, objects: Sequence[KubeObject]) -> Iterator[Finding]:
    """Scratch that several nodes share, or that a known class keeps off the node."""
    accepted = "emptyDir, a generic ephemeral volume, or a claim of one node on a local class"
    modes = at(claim.body, "spec", "accessModes")
    for mode in (modes, *items(modes)):
        if isinstance(mode, Unknown):
            yield claim.unproven("scratch", mode, accepted)
    shared = sorted(_SHARED_MODES & {mode for mode in items(modes) if isinstance(mode, str)})
    if shared:
        yield claim.fail("scratch", f"scratch is {', '.join(shared)}; accepted: {accepted}")
    found = _class_of(claim, objects)
    driver = at(found.body, "provisioner") if found else None
    if isinstance(driver, Unknown):
        yield claim.unproven("scratch", driver, accepted)
    elif driver is not None and driver not in LOCAL_PROVISIONERS:
        yield claim.fail("scratch", f"scratch is made by {driver}, off the node; accepted: {accepted}")
