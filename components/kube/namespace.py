"""A namespace with its guards on: pod security, quota, limits, default deny."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.core.v1 import LimitRange, Namespace, ResourceQuota
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.core import Component, Ownership, check_dns_label, check_not_empty, raise_problems
from components.kube.metadata import ownership_metadata
from components.kube.network import NAMESPACE_LABEL, Flow, flow_problems, flow_spec

# https://kubernetes.io/docs/concepts/security/pod-security-admission/ (read 2026-11)
_POD_SECURITY = "pod-security.kubernetes.io"
DEFAULT_POD_SECURITY_VERSION = "v1.34"


class PodSecurity(StrEnum):
    """Pod Security Standard a namespace enforces; anything but RESTRICTED is a named exception."""

    RESTRICTED = "restricted"
    BASELINE = "baseline"
    PRIVILEGED = "privileged"


@dataclass(frozen=True, kw_only=True)
class ContainerDefaults:
    """Requests and limits of containers that name none.

    Args:
        requests: Resource → quantity.
        limits: Resource → quantity.
    """

    requests: Mapping[str, str]
    limits: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class TenantNamespaceArgs:
    """How a namespace is guarded.

    Args:
        namespace: Physical name, a DNS label.
        ownership: Who owns and pays.
        quota: ``ResourceQuota`` hard limits, e.g. ``{"requests.cpu": "8", "pods": "40"}``.
        container_defaults: Requests and limits for containers without; None makes the quota
            refuse such pods.
        pod_security: Level enforced; audit and warnings are always at RESTRICTED.
        pod_security_version: Kubernetes version whose rules apply, so that an upgrade of the cluster changes
            nothing by itself.
        flows: Traffic allowed besides DNS.
    """

    namespace: str
    ownership: Ownership
    quota: Mapping[str, str]
    container_defaults: ContainerDefaults | None = None
    pod_security: PodSecurity = PodSecurity.RESTRICTED
    pod_security_version: str = DEFAULT_POD_SECURITY_VERSION
    flows: tuple[Flow, ...] = field(default=())

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("namespace", self.namespace),
            *check_not_empty("quota", self.quota, "hard limits such as {'pods': '40'}"),
        ]
        for flow in self.flows:
            problems += flow_problems(f"flows.{flow.name}", flow)
        raise_problems(f"namespace {self.namespace!r}", problems)


class TenantNamespace(Component):
    """A namespace nothing enters or leaves unasked.

    Creates the Namespace with pod-security labels, a ResourceQuota, a LimitRange when defaults are given,
    a policy that denies all traffic, one that allows DNS, and one per flow. Creates no workload and no
    RBAC. Whether the policies are enforced depends on the cluster's network plug-in.

    Args:
        name: Logical name.
        args: How it is guarded.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:kube:Namespace"

    namespace: pulumi.Output[str]

    def __init__(
        self, name: str, args: TenantNamespaceArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        created = Namespace(
            f"{name}-namespace",
            metadata=ownership_metadata(
                args.ownership, name=args.namespace, labels=_pod_security_labels(args)
            ),
            opts=self.child(),
        )
        self.namespace = created.metadata.apply(_name)
        ResourceQuota(
            f"{name}-quota",
            metadata=ownership_metadata(args.ownership, name="quota", namespace=self.namespace),
            spec={"hard": dict(args.quota)},
            opts=self.child(),
        )
        if args.container_defaults is not None:
            LimitRange(
                f"{name}-limits",
                metadata=ownership_metadata(args.ownership, name="limits", namespace=self.namespace),
                spec={"limits": [_limits(args.container_defaults)]},
                opts=self.child(),
            )
        self._create_policies(name, args)
        self.finish({"namespace": self.namespace})

    def _create_policies(self, name: str, args: TenantNamespaceArgs) -> None:
        specs = {"default-deny": _DENY, "allow-dns": _DNS}
        specs |= {f"allow-{flow.name}": flow_spec(flow) for flow in args.flows}
        for role, spec in specs.items():
            NetworkPolicy(
                f"{name}-{role}",
                metadata=ownership_metadata(args.ownership, name=role, namespace=self.namespace),
                spec=spec,
                opts=self.child(),
            )


_DENY: Mapping[str, Any] = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
# Labels of the cluster DNS as kubeadm, EKS, GKE and our lab set them. No ports: policies look at the pod's
# port, which is 53 in some clusters and an unprivileged one in others.
_DNS: Mapping[str, Any] = {
    "podSelector": {},
    "policyTypes": ["Egress"],
    "egress": [
        {
            "to": [
                {
                    "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: "kube-system"}},
                    "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
                }
            ],
        }
    ],
}


def _pod_security_labels(args: TenantNamespaceArgs) -> dict[str, str]:
    levels = {"enforce": args.pod_security, "audit": PodSecurity.RESTRICTED, "warn": PodSecurity.RESTRICTED}
    labels: dict[str, str] = {}
    for mode, level in levels.items():
        labels[f"{_POD_SECURITY}/{mode}"] = level.value
        labels[f"{_POD_SECURITY}/{mode}-version"] = args.pod_security_version
    return labels


def _limits(defaults: ContainerDefaults) -> dict[str, Any]:
    return {
        "type": "Container",
        "default": dict(defaults.limits),
        "defaultRequest": dict(defaults.requests),
    }


def _name(metadata: Any) -> str:  # noqa: ANN401 - typed record with the SDK, plain mapping under mocks
    return str(metadata["name"] if isinstance(metadata, Mapping) else metadata.name)
