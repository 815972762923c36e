"""What holds data is protected outside development."""

from dataclasses import replace

import pytest

from tests.policies.manifests import POD_TEMPLATE, Later, Resource, changed, claim, metadata
from tests.policies.plans import BY_ID, judge

RULE = BY_ID["stateful"]


def _stateful_set() -> Resource:
    return Resource(
        name="postgres",
        type="kubernetes:apps/v1:StatefulSet",
        props={
            "metadata": metadata("postgres"),
            "spec": {"template": POD_TEMPLATE, "volumeClaimTemplates": [{"metadata": metadata("data")}]},
        },
    )


HOLDERS = [
    claim("datasets"),
    _stateful_set(),
    Resource(name="pv", type="kubernetes:core/v1:PersistentVolume", props={"metadata": metadata("pv")}),
    Resource(name="pg", type="kubernetes:postgresql.cnpg.io/v1:Cluster", props={"metadata": metadata("pg")}),
    Resource(name="db", type="aws:rds/instance:Instance", props={}),
    Resource(name="bucket", type="aws:s3/bucketV2:BucketV2", props={}),
    Resource(name="fsx", type="aws:fsx/lustreFileSystem:LustreFileSystem", props={}),
]


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda item: item.name)
def test_unprotected_data_fails_outside_development(holder: Resource) -> None:
    found = judge(RULE, [holder], "prod")
    assert [finding.check for finding in found or ()] == ["protect"]
    assert judge(RULE, [replace(holder, protect=True)], "prod") == ()
    assert judge(RULE, [holder], "dev") is None


def test_scratch_is_no_data() -> None:
    assert judge(RULE, [claim("scratch")], "prod") is None


@pytest.mark.parametrize(("policy", "proven"), [("Delete", True), (Later(), False)])
def test_a_stateful_set_must_not_take_its_claims_along(policy: object, proven: bool) -> None:
    base = replace(_stateful_set(), protect=True)
    path = "spec.persistentVolumeClaimRetentionPolicy.whenDeleted"
    found = judge(RULE, [replace(base, props=changed(base.props, path, policy))], "prod")
    assert [(finding.check, finding.proven) for finding in found or ()] == [("retention", proven)]
