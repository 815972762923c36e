"""What jobs over several pods need of their namespace."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, Service
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.core import Component, Ownership, check_dns_label, raise_problems
from components.kube import ownership_metadata
from components.scheduling.training._files import programs

SPACE = "distributed-jobs"
# The pods of every such job carry it; the Service and the policy select by it.
DISTRIBUTED_LABEL = "gpu-platform/distributed"
# Below are the ports of services; rendezvous and collectives listen above.
_FIRST_PORT, _LAST_PORT = 1024, 65535


@dataclass(frozen=True, kw_only=True)
class DistributedSpaceArgs:
    """Where such jobs may run.

    Args:
        namespace: Existing namespace, a DNS label.
        ownership: Who owns and pays.
        more_programs: File name → source of programs beside those for training and all-reduce.
    """

    namespace: str
    ownership: Ownership
    more_programs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        raise_problems("distributed jobs", check_dns_label("namespace", self.namespace))


class DistributedSpace(Component):
    """Names, traffic and programs of jobs over several pods, once for a namespace.

    Creates a headless Service, which gives every pod ``<job>-<index>.distributed-jobs`` as its name before it
    is ready; a NetworkPolicy that opens TCP from port 1024 between pods of such jobs (each connection of a
    collective takes a port of its own), whichever job of the namespace they belong to; a ConfigMap with the
    programs. Creates no job: ``distributed_job`` gives manifests.

    Args:
        name: Logical name.
        args: Where.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:DistributedSpace"

    namespace: pulumi.Output[str]

    def __init__(
        self, name: str, args: DistributedSpaceArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        metadata = ownership_metadata(args.ownership, name=SPACE, namespace=args.namespace)
        selector = {DISTRIBUTED_LABEL: "true"}
        Service(
            f"{name}-names",
            # There are no endpoints until a job runs, and none is waited for.
            metadata={**metadata, "annotations": {**metadata["annotations"], "pulumi.com/skipAwait": "true"}},
            spec={"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
            opts=self.child(),
        )
        NetworkPolicy(f"{name}-traffic", metadata=metadata, spec=_traffic(selector), opts=self.child())
        ConfigMap(
            f"{name}-programs",
            metadata=metadata,
            data={**programs(), **args.more_programs},
            opts=self.child(),
        )
        self.namespace = pulumi.Output.from_input(args.namespace)
        self.finish({"namespace": self.namespace})


def _traffic(selector: dict[str, str]) -> dict[str, Any]:
    peers = [{"podSelector": {"matchLabels": selector}}]
    ports = [{"protocol": "TCP", "port": _FIRST_PORT, "endPort": _LAST_PORT}]
    return {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers, "ports": ports}],
        "egress": [{"to": peers, "ports": ports}],
    }
