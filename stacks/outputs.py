"""What a stack tells the outside; names here are an API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.contracts import GpuPool, QueueRef, SecretRef, ServiceEndpoint, StorageMount


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service of the environment and where its login lies.

    Args:
        endpoint: Where it answers inside the cluster.
        credentials: Secret with the login; the value itself is never an output.
    """

    endpoint: ServiceEndpoint
    credentials: SecretRef


@dataclass(frozen=True, kw_only=True)
class StackOutputs:
    """The outputs of one environment.

    Args:
        environment: Name of the stack.
        kubeconfig: Path of the kubeconfig the environment uses.
        context: Context inside it.
        pools: GPU pools by name.
        queues: Queues by name.
        services: Services by name.
        mounts: Shared volumes of the jobs namespace.
        samples: Namespace and ConfigMap of the sample jobs; empty without samples.
        acceptance: Pool → namespace, ConfigMap and tests of its acceptance.
    """

    environment: str
    kubeconfig: str
    context: str
    pools: Mapping[str, GpuPool]
    queues: Mapping[str, QueueRef]
    services: Mapping[str, Service]
    mounts: tuple[StorageMount, ...]
    samples: Mapping[str, Any]
    acceptance: Mapping[str, Any]

    def exports(self) -> dict[str, Any]:
        """The outputs in the form Pulumi exports; plain JSON values and outputs."""
        return {
            "environment": self.environment,
            "cluster": {"kubeconfig": self.kubeconfig, "context": self.context},
            "pools": {name: _pool(pool) for name, pool in sorted(self.pools.items())},
            "queues": {name: _queue(queue) for name, queue in sorted(self.queues.items())},
            "services": {name: _service(service) for name, service in sorted(self.services.items())},
            "storage": {mount.name: _mount(mount) for mount in self.mounts},
            "samples": dict(self.samples),
            "acceptance": dict(self.acceptance),
        }


def _pool(pool: GpuPool) -> dict[str, Any]:
    return {
        "place": pool.place,
        "gpu": pool.gpu_model,
        "product": pool.gpu_product,
        "nodes": pool.max_nodes,
        "gpus": pool.max_gpus,
        "fabric": pool.fabric,
        "simulated": pool.simulated,
    }


def _queue(queue: QueueRef) -> dict[str, Any]:
    return {
        "name": queue.name,
        "namespace": queue.namespace,
        "gpuQuota": dict(queue.gpu_quota),
        "defaultTimeLimitSeconds": queue.default_time_limit_seconds,
        "maxTimeLimitSeconds": queue.max_time_limit_seconds,
    }


def _service(service: Service) -> dict[str, Any]:
    endpoint = service.endpoint
    return {
        "namespace": endpoint.namespace,
        "service": endpoint.service,
        "port": endpoint.port,
        "healthPath": endpoint.health_path,
        "auth": endpoint.auth,
        "credentials": {"secret": service.credentials.name, "keys": dict(service.credentials.keys)},
    }


def _mount(mount: StorageMount) -> dict[str, Any]:
    return {
        "purpose": mount.purpose.value,
        "namespace": mount.namespace,
        "claim": mount.claim,
        "storageClass": mount.storage_class,
        "sizeGib": mount.size_gib,
    }
