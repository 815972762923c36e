"""Allowed traffic as data, and the NetworkPolicies that say it to the cluster.

Every namespace of ours denies all traffic first (``TenantNamespace``); what is here opens it again,
flow by flow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_port,
    raise_problems,
)
from components.kube.metadata import ownership_metadata

# The label the API server itself puts on every namespace since Kubernetes 1.22.
NAMESPACE_LABEL = "kubernetes.io/metadata.name"


class Direction(StrEnum):
    """Which way a flow crosses the pods it names."""

    INGRESS = "Ingress"
    EGRESS = "Egress"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """The other end of a flow.

    Args:
        namespace: Its namespace; None means the namespace of the policy.
        pod_labels: Its pods; empty means all of that namespace.
        cidr: An address range instead of pods.
    """

    namespace: str | None = None
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    cidr: str | None = None


# The API server reaches webhooks from the host's network, which no selector can name.
ANYWHERE = Peer(cidr="0.0.0.0/0")


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Traffic a namespace allows.

    Args:
        name: Names the policy, a DNS label.
        direction: Into or out of the pods.
        peers: Other ends; at least one.
        ports: TCP ports; at least one.
        pods: Labels of the pods in the policy's namespace; empty means all.
    """

    name: str
    direction: Direction
    peers: tuple[Peer, ...]
    ports: tuple[int, ...]
    pods: Mapping[str, str] = field(default_factory=dict)


def flow_problems(path: str, flow: Flow) -> list[Problem]:
    """What is wrong with one flow."""
    problems = [
        *check_dns_label(f"{path}.name", flow.name),
        *check_not_empty(f"{path}.peers", flow.peers, "one peer or more (ANYWHERE to mean it)"),
        *check_not_empty(f"{path}.ports", flow.ports, "one TCP port or more"),
    ]
    for port in flow.ports:
        problems += check_port(f"{path}.ports", port)
    for peer in flow.peers:
        if peer.cidr is not None and (peer.namespace is not None or peer.pod_labels):
            problems.append(
                Problem(
                    path=f"{path}.peers",
                    value=repr(peer),
                    accepted="either a cidr or a namespace with pod labels",
                    fix="split it into two peers",
                )
            )
    return problems


def flow_spec(flow: Flow) -> dict[str, Any]:
    """The NetworkPolicy spec of one flow."""
    side, rules = ("from", "ingress") if flow.direction is Direction.INGRESS else ("to", "egress")
    return {
        "podSelector": {"matchLabels": dict(flow.pods)} if flow.pods else {},
        "policyTypes": [flow.direction.value],
        rules: [
            {
                side: [_peer(peer) for peer in flow.peers],
                "ports": [{"protocol": "TCP", "port": port} for port in flow.ports],
            }
        ],
    }


def _peer(peer: Peer) -> dict[str, Any]:
    if peer.cidr is not None:
        return {"ipBlock": {"cidr": peer.cidr}}
    selector: dict[str, Any] = {
        "podSelector": {"matchLabels": dict(peer.pod_labels)} if peer.pod_labels else {}
    }
    if peer.namespace is not None:
        selector["namespaceSelector"] = {"matchLabels": {NAMESPACE_LABEL: peer.namespace}}
    return selector


@dataclass(frozen=True, kw_only=True)
class Pods:
    """Pods of one namespace.

    Args:
        namespace: Their namespace.
        labels: Their labels; empty means all pods of the namespace.
    """

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NetworkAllowArgs:
    """Who may call whom.

    Args:
        ownership: Who owns and pays.
        client: Pods that open connections.
        server: Pods that accept them.
        ports: TCP ports of the server's pods (not of its Service).
    """

    ownership: Ownership
    client: Pods
    server: Pods
    ports: tuple[int, ...]

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("client.namespace", self.client.namespace),
            *check_dns_label("server.namespace", self.server.namespace),
            *check_not_empty("ports", self.ports, "one TCP port or more"),
        ]
        for port in self.ports:
            problems += check_port("ports", port)
        raise_problems("network allow", problems)


class NetworkAllow(Component):
    """Lets one set of pods call another: egress on the client's side, ingress on the server's.

    Creates two NetworkPolicies. Does not open DNS or replies (connection tracking covers those).

    Args:
        name: Logical name and stem of both policies' names, a DNS label.
        args: Who may call whom.
        opts: Options, inherited by the policies.
    """

    TYPE: ClassVar[str] = "gpuplatform:kube:NetworkAllow"

    def __init__(self, name: str, args: NetworkAllowArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        client, server = args.client, args.server
        sides = (
            (client, Direction.EGRESS, Peer(namespace=server.namespace, pod_labels=server.labels)),
            (server, Direction.INGRESS, Peer(namespace=client.namespace, pod_labels=client.labels)),
        )
        for here, direction, there in sides:
            role = direction.value.lower()
            flow = Flow(name=role, direction=direction, peers=(there,), ports=args.ports, pods=here.labels)
            NetworkPolicy(
                f"{name}-{role}",
                metadata=ownership_metadata(args.ownership, name=f"{name}-{role}", namespace=here.namespace),
                spec=flow_spec(flow),
                opts=self.child(),
            )
        self.finish({})
