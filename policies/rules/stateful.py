"""stateful: what holds data can't be deleted by accident outside development.

The policy protocol carries neither the plan's operation (create, replace, delete) nor ``retainOnDelete``,
so a planned replacement or deletion is not visible here. ``protect`` is, and the engine refuses to delete or
replace what is protected. A resource that left the program is not shown to policies either: the protection it
was created with stays in the state and still stops its deletion.
"""

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Level,
    Planned,
    Rule,
    Severity,
    Unknown,
    Verdict,
    at,
    items,
)

_PURPOSE = "gpu-platform/purpose"
_SCRATCH = "scratch"
CLOUD_TYPES = frozenset(
    {
        "aws:docdb/cluster:Cluster",
        "aws:dynamodb/table:Table",
        "aws:ebs/volume:Volume",
        "aws:efs/fileSystem:FileSystem",
        "aws:elasticache/replicationGroup:ReplicationGroup",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:fsx/ontapFileSystem:OntapFileSystem",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
        "aws:rds/cluster:Cluster",
        "aws:rds/instance:Instance",
        "aws:s3/bucket:Bucket",
        "aws:s3/bucketV2:BucketV2",
    }
)
KUBE_KINDS = frozenset(
    {
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        ("postgresql.cnpg.io", "Cluster"),
    }
)


def check(planned: Planned, _facts: Facts) -> Verdict:
    """Databases, volumes and buckets are protected."""
    holders = [item for item in planned.objects if _holds_data(item)]
    if planned.type not in CLOUD_TYPES and not holders:
        return None
    findings = [finding for item in holders for finding in _retention(item)]
    if not planned.protect:
        subject = holders[0].subject if holders else f"{planned.type}/{planned.name}"
        message = (
            "it holds data and is not protected; accepted: protect=True, unprotected in a commit of its own"
        )
        findings.append(Finding(check="protect", subject=subject, message=message, urn=planned.urn))
    return tuple(findings)


def _holds_data(item: KubeObject) -> bool:
    if item.patch or at(item.body, "metadata", "labels", _PURPOSE) == _SCRATCH:
        return False
    if (item.group, item.kind) in KUBE_KINDS:
        return True
    return (item.group, item.kind) == ("apps", "StatefulSet") and bool(
        items(at(item.body, "spec", "volumeClaimTemplates"))
    )


def _retention(item: KubeObject) -> tuple[Finding, ...]:
    """A StatefulSet must not take its claims with it."""
    accepted = "absent or Retain"
    value = at(item.body, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
    if isinstance(value, Unknown):
        return (item.unproven("retention", value, accepted),)
    if value not in (None, "Retain"):
        where = "spec.persistentVolumeClaimRetentionPolicy.whenDeleted"
        return (item.fail("retention", f"{where} is {value}; accepted: {accepted}"),)
    return ()


RULE = Rule(
    id="stateful",
    severity=Severity.CRITICAL,
    title="Databases, volumes and buckets are protected outside development",
    fix="Pass protect=True to the resource; the storage components do it for every environment but dev.",
    source="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
    check_resource=check,
    in_development=Level.OFF,
)
