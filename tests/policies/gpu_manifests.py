"""Parts of a plan that GPU pools, queues and jobs are made of; each keeps every rule."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.policies.manifests import NAMESPACE, POD_TEMPLATE, Resource, changed, metadata


def nodes(
    pool: str, count: int, annotations: Mapping[str, str] | None = None, **labels: Any
) -> list[Resource]:
    """Nodes of a pool that keep every rule; labels as in ``metadata``, dots written as ``~``."""
    own = {key.replace("~", "."): value for key, value in {**_NODE_LABELS, **labels}.items()}
    return [
        Resource(
            name=f"{pool}-{index}",
            type="kubernetes:core/v1:Node",
            props={
                "metadata": {
                    **metadata(f"{pool}-{index}", namespace=None, gpu_platform__pool=pool, **own),
                    **({"annotations": dict(annotations)} if annotations else {}),
                },
                "status": {"capacity": {"nvidia.com/gpu": "8", "memory": "2048Gi"}},
            },
        )
        for index in range(count)
    ]


_NODE_LABELS = {
    "node.kubernetes.io__instance_type": "dgx-a100-80",
    "nvidia.com__gpu.count": "8",
    "nvidia.com__mig.strategy": "single",
    "nvidia.com__gpu.sharing_strategy": "none",
    "gpu_platform__topology_policy": "single-numa-node",
    "gpu_platform__cpu_policy": "static",
}


DRIVER: dict[str, Any] = {
    "nvidia.com__cuda.driver_version.full": "580.95.05",
    "nvidia.com__cuda.runtime_version.full": "13.0",
}


def acceptance(pool: str, tests: Any = "nccl-intra,nccl-inter") -> Resource:
    """The acceptance of a pool."""
    own = metadata(f"acceptance-{pool}", gpu_platform__acceptance=pool)
    return Resource(
        name=f"acceptance-{pool}",
        type="kubernetes:core/v1:ConfigMap",
        props={"metadata": {**own, "annotations": {"gpu-platform/acceptance-tests": tests}}, "data": {}},
    )


def gpu_job(name: str, *, pods: Any = 4, limit: Any = 3600, queue: Any = "research") -> Resource:
    """A Job on GPUs."""
    pod = changed(POD_TEMPLATE, "spec.containers.0.resources.limits.nvidia~com/gpu", "8")
    labels = {} if queue is None else {"kueue.x_k8s.io__queue_name": queue}
    spec = {
        "parallelism": pods,
        "template": pod,
        **({} if limit is None else {"activeDeadlineSeconds": limit}),
    }
    return Resource(
        name=name, type="kubernetes:batch/v1:Job", props={"metadata": metadata(name, **labels), "spec": spec}
    )


def kueue(name: str, kind: str, spec: Mapping[str, Any], *, namespace: str | None = None) -> Resource:
    """An object of Kueue."""
    return Resource(
        name=name,
        type=f"kubernetes:kueue.x-k8s.io/v1beta2:{kind}",
        props={"metadata": metadata(name, namespace=namespace), "spec": dict(spec)},
    )


def flavor(pool: str) -> Resource:
    """The flavor of a pool, of the pool's name."""
    spec = {"nodeLabels": {"gpu-platform/pool": pool}}
    return replace(kueue(pool, "ResourceFlavor", spec), name=f"flavor-{pool}")


def cluster_queue(name: str, pool: str = "a100", gpus: Any = "40", weight: Any = "1") -> Resource:
    """A queue with a quota of one pool."""
    resources = [{"name": "cpu", "nominalQuota": "100"}, {"name": "nvidia.com/gpu", "nominalQuota": gpus}]
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": pool, "resources": resources}]}]
    return kueue(name, "ClusterQueue", {"fairSharing": {"weight": weight}, "resourceGroups": groups})


def local_queue(name: str, namespace: str = NAMESPACE) -> Resource:
    """The way into a queue from a namespace."""
    queue = kueue(name, "LocalQueue", {"clusterQueue": name}, namespace=namespace)
    return replace(queue, name=f"local-{name}")


def job_rules(namespace: str = NAMESPACE) -> Resource:
    """What makes jobs of a namespace say when they end."""
    constraints = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    return Resource(
        name=f"{namespace}-job-rules",
        type="kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy",
        props={
            "metadata": metadata(f"{namespace}-job-rules", namespace=None),
            "spec": {
                "matchConstraints": constraints,
                "validations": [{"expression": "has(object.spec.activeDeadlineSeconds)"}],
            },
        },
    )
