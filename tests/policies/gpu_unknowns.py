"""Values of pools, queues and jobs that decide a rule and are not known in the preview."""

from dataclasses import dataclass

from tests.policies.gpu_manifests import (
    DRIVER,
    acceptance,
    cluster_queue,
    flavor,
    gpu_job,
    local_queue,
    nodes,
)
from tests.policies.manifests import Resource, claim


@dataclass(frozen=True, kw_only=True)
class Case:
    """A rule, the resource in which a path is unknown, the path as the message names it."""

    rule: str
    resource: Resource
    path: str
    says: str = ""


def _label(rule: str, node: Resource, key: str) -> Case:
    return Case(rule=rule, resource=node, path=f"metadata.labels.{key}")


_NODE = nodes("whole", 1)[0]
_CUT = nodes("cut", 1, annotations={"gpu-platform/mig-layout": "1g.10gb=7"})[0]
_WITH_DRIVER = nodes("driven", 1, **DRIVER)[0]
_POOL = nodes("a100", 5, gpu_platform__fabric="infiniband-hdr", gpu_platform__multi_node="true", **DRIVER)[0]
GPU_CASES = (
    *(_label("numa", _NODE, f"gpu-platform/{key}") for key in ("topology-policy", "cpu-policy")),
    _label("numa", _NODE, "nvidia~com/gpu~count"),
    _label("sizing", _NODE, "node~kubernetes~io/instance-type"),
    Case(rule="sizing", resource=_NODE, path="status.capacity.memory"),
    _label("mig", _CUT, "nvidia~com/mig~strategy"),
    Case(rule="mig", resource=_CUT, path="metadata.annotations.gpu-platform/mig-layout"),
    Case(rule="acceptance", resource=acceptance("a100"), path="metadata.labels"),
    Case(
        rule="acceptance",
        resource=acceptance("a100"),
        path="metadata.annotations.gpu-platform/acceptance-tests",
    ),
    Case(rule="scheduler", resource=gpu_job("train"), path="spec.activeDeadlineSeconds"),
    Case(rule="scheduler", resource=gpu_job("train"), path="metadata.labels"),
    Case(rule="scheduler", resource=cluster_queue("research"), path="spec.fairSharing.weight"),
    Case(rule="scheduler", resource=cluster_queue("research"), path="spec.resourceGroups"),
    Case(
        rule="scheduler",
        resource=cluster_queue("research"),
        path="spec.resourceGroups.0.flavors.0.resources.1.nominalQuota",
    ),
    Case(rule="scheduler", resource=flavor("a100"), path="spec.nodeLabels"),
    Case(rule="scheduler", resource=local_queue("research"), path="metadata.namespace"),
    Case(rule="scheduler", resource=_POOL, path="status.capacity.nvidia~com/gpu"),
    _label("versions", _WITH_DRIVER, "nvidia~com/cuda~driver-version~full"),
    _label("versions", _WITH_DRIVER, "nvidia~com/cuda~runtime-version~full"),
    Case(rule="storage-split", resource=claim("scratch"), path="spec.accessModes"),
)
