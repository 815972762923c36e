"""host-storage: no PersistentVolume hands a node's own file system to pods."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from policies.model import Facts, Finding, KubeObject, Rule, Severity, Unknown, Verdict, at, per_object

PURPOSE, SCRATCH = "gpu-platform/purpose", "scratch"
# Where sites mount NVMe for scratch; anything else of a node belongs to the node.
SCRATCH_ROOTS = ("/mnt/", "/scratch/")
_ACCEPTED = (
    f"a CSI driver's volume, or local with label {PURPOSE}={SCRATCH} below {' or '.join(SCRATCH_ROOTS)}"
)


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """A volume is no hostPath, and local for scratch on a disk of its own only."""
    if item.kind != "PersistentVolume" or item.group:
        return None
    spec = at(item.body, "spec")
    if isinstance(spec, Unknown):
        return (item.unproven("source", spec, _ACCEPTED),)
    return (*_host_path(item), *_local(item))


def _host_path(item: KubeObject) -> Iterator[Finding]:
    value = at(item.body, "spec", "hostPath")
    if isinstance(value, Unknown):
        yield item.unproven("host-path", value, "absent")
    elif value is not None:
        yield item.fail("host-path", f"spec.hostPath opens a node's file system; accepted: {_ACCEPTED}")


def _local(item: KubeObject) -> Iterator[Finding]:
    if at(item.body, "spec", "local") is None:
        return
    path, purpose = at(item.body, "spec", "local", "path"), at(item.body, "metadata", "labels", PURPOSE)
    doubt = next((value for value in (path, purpose) if isinstance(value, Unknown)), None)
    if doubt:
        yield item.unproven("local", doubt, _ACCEPTED)
    elif purpose != SCRATCH or not _on_scratch_disk(str(path)):
        message = f"spec.local.path is {path!r} for purpose {purpose or 'absent'}; accepted: {_ACCEPTED}"
        yield item.fail("local", message)


def _on_scratch_disk(path: str) -> bool:
    return path.startswith(SCRATCH_ROOTS) and ".." not in PurePosixPath(path).parts


RULE = Rule(
    id="host-storage",
    severity=Severity.HIGH,
    title="No PersistentVolume opens a node's own file system",
    fix="Use a storage class with a CSI driver; local volumes are for scratch disks.",
    source="https://kubernetes.io/docs/concepts/storage/volumes/#hostpath",
    check_resource=per_object(check),
)
