"""A Secret with the same content in every namespace that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi
from pulumi_kubernetes.core.v1 import Secret

from components.contracts import SecretRef
from components.core import Component, Ownership, check_dns_label, check_not_empty, raise_problems
from components.kube.metadata import ownership_metadata


@dataclass(frozen=True, kw_only=True)
class DeliveredSecretArgs:
    """What is delivered where.

    Args:
        secret: Physical name in each namespace, a DNS label.
        namespaces: Where it is needed; existing namespaces, repeats count once.
        ownership: Who owns and pays.
        values: Key → value; every value is treated as secret.
        roles: Role readers ask for → key.
    """

    secret: str
    namespaces: tuple[str, ...]
    ownership: Ownership
    values: Mapping[str, pulumi.Input[str]]
    roles: Mapping[str, str]

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("secret", self.secret),
            *check_not_empty("namespaces", self.namespaces, "one namespace or more"),
            *check_not_empty("values", self.values, "one key or more"),
        ]
        for namespace in self.namespaces:
            problems += check_dns_label("namespaces", namespace)
        raise_problems(f"delivered secret {self.secret!r}", problems)


class DeliveredSecret(Component):
    """One Kubernetes Secret per namespace, equal in name and content.

    Kubernetes lets a pod read Secrets of its own namespace only, so a credential that crosses namespaces
    must be copied; this keeps the copies together. Generates nothing and reads nothing back.

    Args:
        name: Logical name.
        args: What is delivered where.
        opts: Options, inherited by the Secrets.
    """

    TYPE: ClassVar[str] = "gpuplatform:kube:DeliveredSecret"

    ref: SecretRef

    def __init__(
        self, name: str, args: DeliveredSecretArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        secrets = [
            Secret(
                f"{name}-{namespace}",
                metadata=ownership_metadata(args.ownership, name=args.secret, namespace=namespace),
                type="Opaque",
                string_data={key: pulumi.Output.secret(value) for key, value in args.values.items()},
                opts=self.child(),
            )
            for namespace in sorted(set(args.namespaces))
        ]
        # The name waits for every copy, so a reader in any namespace finds its own.
        ready = pulumi.Output.all(*(secret.metadata.name for secret in secrets))
        self.ref = SecretRef(name=ready.apply(lambda names: str(names[0])), keys=dict(args.roles))
        self.finish({"secret": self.ref.name})
