"""The namespaces of an environment and what each is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.kube import ContainerDefaults, TenantNamespace, TenantNamespaceArgs
from stacks.site import Site

DATA = "gpu-platform-data"
JOBS = "gpu-platform-jobs"
MLOPS = "gpu-platform-mlops"
MONITORING = "gpu-platform-monitoring"
WORKBENCH = "gpu-platform-workbench"

_SERVICE_QUOTA = {
    "requests.cpu": "4",
    "requests.memory": "8Gi",
    "limits.cpu": "16",
    "limits.memory": "16Gi",
    "pods": "20",
    # GPUs are handed out by queues, and queues lead to the jobs namespace only.
    "requests.nvidia.com/gpu": "0",
}
# Queues hold the GPUs; this only keeps a mistake in one job from filling the API server.
_JOBS_QUOTA = {"pods": "2000", "count/jobs.batch": "500"}
_DEFAULTS = ContainerDefaults(
    requests={"cpu": "100m", "memory": "128Mi"}, limits={"cpu": "1", "memory": "512Mi"}
)


def service_quota() -> Mapping[str, str]:
    """Quota of a namespace that holds services."""
    return _SERVICE_QUOTA


def defaults() -> ContainerDefaults:
    """Requests and limits of containers that name none."""
    return _DEFAULTS


@dataclass(frozen=True, kw_only=True)
class Namespaces:
    """The namespaces, in the order in which they depend on nothing.

    Args:
        data: Databases and object stores.
        jobs: Jobs that wait in queues.
        mlops: Experiment tracking.
        workbench: Small jobs of people on real nodes, no GPU, no queue.
    """

    data: TenantNamespace
    jobs: TenantNamespace
    mlops: TenantNamespace
    workbench: TenantNamespace


def make_namespaces(site: Site, *, jobs_after: Sequence[pulumi.Resource]) -> Namespaces:
    """All four, each with pod security, quota and default deny.

    Args:
        site: Where.
        jobs_after: What must outlive the jobs: the queue controller, which alone can let go of a queued job.
    """

    def make(name: str, quota: Mapping[str, str], *after: pulumi.Resource) -> TenantNamespace:
        return TenantNamespace(
            name.removeprefix("gpu-platform-"),
            TenantNamespaceArgs(
                namespace=name, ownership=site.ownership, quota=quota, container_defaults=_DEFAULTS
            ),
            opts=site.after(*after),
        )

    return Namespaces(
        data=make(DATA, _SERVICE_QUOTA),
        jobs=make(JOBS, _JOBS_QUOTA, *jobs_after),
        mlops=make(MLOPS, _SERVICE_QUOTA),
        workbench=make(WORKBENCH, _SERVICE_QUOTA),
    )
