"""A plan that keeps every rule, and parts to plant faults with: plain data, with or without engine."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

CHART = str(Path(__file__).parent / "sample")
IMAGE = "registry.k8s.io/kueue/kueue:v0.17.0"
NAMESPACE = "team"
COST = {
    "gpu-platform/owner": "ml-platform",
    "gpu-platform/project": "gpu-platform",
    "gpu-platform/environment": "dev",
    "gpu-platform/cost-centre": "research",
    "gpu-platform/managed-by": "pulumi",
}


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource of a plan: logical name, type token, properties, options."""

    name: str
    type: str
    props: Mapping[str, Any]
    protect: bool = False


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy of ``value`` with ``path`` (``a.b.0.c``) set to ``new``; None removes."""
    copy = deepcopy(value)
    *steps, last = [int(step) if step.isdigit() else step.replace("~", ".") for step in path.split(".")]
    spot = copy
    for step in steps:
        spot = spot[step] if isinstance(step, int) else spot.setdefault(step, {})
    if new is None:
        del spot[last]
    else:
        spot[last] = new
    return copy


def metadata(name: str, *, namespace: str | None = NAMESPACE, **labels: str) -> dict[str, Any]:
    """Metadata with the cost set; label names are written with ``__`` for ``/`` and ``_`` for ``-``."""
    own = {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}
    where = {"namespace": namespace} if namespace else {}
    return {"name": name, **where, "labels": {**COST, **own}}


CONTAINER: dict[str, Any] = {
    "name": "main",
    "image": IMAGE,
    "env": [
        {"name": "MODE", "value": "fast"},
        {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        {"name": "DB_URL", "value": "postgresql://user:$(DB_PASSWORD)@db/mlflow"},
        {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
        {"name": "SECRET_KEY_FILE", "value": "/run/secret/key"},
    ],
    "ports": [{"containerPort": 8080}],
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}},
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    "resources": {
        "requests": {"cpu": "10m", "memory": "16Mi"},
        "limits": {"cpu": "20m", "memory": "32Mi"},
    },
}
POD_SPEC: dict[str, Any] = {
    "automountServiceAccountToken": False,
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 65532.0,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "initContainers": [{**deepcopy(CONTAINER), "name": "init"}],
    "containers": [CONTAINER],
    "volumes": [
        {"name": "datasets", "persistentVolumeClaim": {"claimName": "datasets"}},
        {"name": "scratch", "emptyDir": {}},
    ],
}
POD_TEMPLATE: dict[str, Any] = {"metadata": {"labels": COST}, "spec": POD_SPEC}


def deployment(name: str = "web", pod: Mapping[str, Any] = POD_TEMPLATE) -> Resource:
    """A Deployment whose pod keeps every rule."""
    spec = {"selector": {"matchLabels": {"app": name}}, "template": pod}
    return Resource(
        name=name, type="kubernetes:apps/v1:Deployment", props={"metadata": metadata(name), "spec": spec}
    )


def service(name: str = "web") -> Resource:
    """A ClusterIP Service."""
    return Resource(
        name=name,
        type="kubernetes:core/v1:Service",
        props={"metadata": metadata(name), "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}},
    )


def namespace(name: str = NAMESPACE) -> Resource:
    """A namespace with the restricted pod-security label."""
    labels = {"pod_security.kubernetes.io__enforce": "restricted"}
    return Resource(
        name=name,
        type="kubernetes:core/v1:Namespace",
        props={"metadata": metadata(name, namespace=None, **labels)},
    )


def quota(name: str = NAMESPACE) -> Resource:
    """A quota of a namespace."""
    return Resource(
        name=f"{name}-quota",
        type="kubernetes:core/v1:ResourceQuota",
        props={"metadata": metadata("quota", namespace=name), "spec": {"hard": {"pods": "10"}}},
    )


def default_deny(name: str = NAMESPACE) -> Resource:
    """The default-deny policy of a namespace."""
    return Resource(
        name=f"{name}-default-deny",
        type="kubernetes:networking.k8s.io/v1:NetworkPolicy",
        props={
            "metadata": metadata("default-deny", namespace=name),
            "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
        },
    )


def claim(purpose: str, storage_class: str | None = None) -> Resource:
    """A claim for one purpose, on a class of its own unless told otherwise."""
    return Resource(
        name=purpose,
        type="kubernetes:core/v1:PersistentVolumeClaim",
        props={
            "metadata": metadata(purpose, gpu_platform__purpose=purpose),
            "spec": {
                "storageClassName": storage_class or f"{purpose}-class",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )


def nodes(
    pool: str, count: int, *, annotations: Mapping[str, str] | None = None, **labels: Any
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


DRIVER = {
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


def scratch_volume(name: str = "scratch") -> Resource:
    """A local volume on a disk for scratch."""
    return Resource(
        name=name,
        type="kubernetes:core/v1:PersistentVolume",
        props={
            "metadata": metadata(name, namespace=None, gpu_platform__purpose="scratch"),
            "spec": {"local": {"path": "/mnt/scratch"}},
        },
    )


def network_policy(name: str, **spec: Any) -> Resource:
    """A policy on the pods labelled ``app=web``."""
    return Resource(
        name=name,
        type="kubernetes:networking.k8s.io/v1:NetworkPolicy",
        props={
            "metadata": metadata(name),
            "spec": {"podSelector": {"matchLabels": {"app": "web"}}, **spec},
        },
    )


def role(name: str = "reader", *, kind: str = "ClusterRole", **rule: list[str]) -> Resource:
    """A role with one rule, reading Jobs unless told otherwise."""
    names = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list"], **rule}
    return Resource(
        name=name,
        type=f"kubernetes:rbac.authorization.k8s.io/v1:{kind}",
        props={"metadata": metadata(name, namespace=None), "rules": [names]},
    )


def binding(name: str, role: str, *, kind: str = "ClusterRoleBinding", group: str = "ops") -> Resource:
    """A binding of a cluster role to one group."""
    return Resource(
        name=name,
        type=f"kubernetes:rbac.authorization.k8s.io/v1:{kind}",
        props={
            "metadata": metadata(name, namespace=None),
            "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"},
            "subjects": [{"kind": "Group", "name": group, "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )


def api_service(name: str, service: Any = None) -> Resource:
    """An APIService; without a service the API server itself answers."""
    spec = {"group": "example.org", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 1}
    return Resource(
        name=name,
        type="kubernetes:apiregistration.k8s.io/v1:APIService",
        props={
            "metadata": metadata(f"v1.{name}.example.org", namespace=None),
            "spec": {**spec, **({} if service is None else {"service": service})},
        },
    )


def webhook(name: str, kind: str, **client: Any) -> Resource:
    """A webhook configuration with one webhook."""
    hook = {"name": f"{name}.example.org", "clientConfig": client or {"service": {"name": name}}}
    return Resource(
        name=name,
        type=f"kubernetes:admissionregistration.k8s.io/v1:{kind}",
        props={"metadata": metadata(name, namespace=None), "webhooks": [hook]},
    )


def release(name: str = "sample", **values: Any) -> Resource:
    """A Release of the test chart."""
    return Resource(
        name=name,
        type="kubernetes:helm.sh/v3:Release",
        props={"chart": CHART, "name": name, "namespace": NAMESPACE, "values": values},
    )


def baseline() -> list[Resource]:
    """A plan in which every rule applies somewhere (stateful: only outside development) and holds."""
    return [
        namespace(),
        quota(),
        default_deny(),
        deployment(),
        service(),
        network_policy("web", ingress=[{"from": [{"podSelector": {}}]}], policyTypes=["Ingress"]),
        role(),
        binding("readers", "reader"),
        api_service("local"),
        scratch_volume(),
        claim("datasets"),
        claim("checkpoints"),
        *nodes("a100", 5, gpu_platform__fabric="infiniband-hdr", gpu_platform__multi_node="true", **DRIVER),
        acceptance("a100"),
        *nodes("cut", 1, annotations={"gpu-platform/mig-layout": "1g.10gb=7"}),
        flavor("a100"),
        cluster_queue("research"),
        local_queue("research"),
        job_rules(),
        gpu_job("train"),
        release(contact="Ünïcode 🚀"),
    ]


@dataclass(frozen=True)
class Marked:
    """A value the program holds as a Pulumi secret."""

    value: str


@dataclass(frozen=True)
class Later:
    """A value only known after the update."""
