"""Who is told of alerts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from components.core import Component, Ownership, Problem, check_dns_label, check_not_empty, raise_problems
from components.kube import CustomObject, DeliveredSecret, DeliveredSecretArgs, ownership_metadata
from components.observability.operator_api import CONFIG_API_VERSION

_URL = "url"


@dataclass(frozen=True, kw_only=True)
class ReceiversArgs:
    """Webhooks that alerts are sent to.

    Args:
        ownership: Who owns and pays.
        namespace: Namespace of Alertmanager.
        webhooks: Name, a DNS label → address; treated as a secret, as many carry a token.
        group_wait_seconds: Wait for more alerts of the same kind before the first message, seconds.
        group_interval_seconds: Wait before a message about a change of a group, seconds.
        repeat_hours: Wait before an alert that still fires is told again, hours.
        gate: Hooks that hold back the first custom resources until the CRDs are served.
    """

    ownership: Ownership
    namespace: str
    webhooks: Mapping[str, pulumi.Input[str]]
    group_wait_seconds: int = 30
    group_interval_seconds: int = 300
    repeat_hours: int = 4
    gate: pulumi.ResourceHookBinding | None = None

    def __post_init__(self) -> None:
        problems = check_not_empty("webhooks", self.webhooks, "one webhook or more")
        for name in self.webhooks:
            problems += check_dns_label(f"webhooks.{name}", name)
        for path in ("group_wait_seconds", "group_interval_seconds", "repeat_hours"):
            value = getattr(self, path)
            if value < 1:
                problems.append(
                    Problem(path=path, value=str(value), accepted="1 or more", fix="set a positive number")
                )
        raise_problems("receivers", problems)


class Receivers(Component):
    """One AlertmanagerConfig per webhook; each gets every alert, also when it resolves.

    Creates the Secret with each address beside it. Deliberately not: mail, chat and paging services.

    Args:
        name: Logical name.
        args: The webhooks.
        opts: Options, inherited by the children; depend on the operator.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:Receivers"

    def __init__(self, name: str, args: ReceiversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        for webhook, url in args.webhooks.items():
            secret = DeliveredSecret(
                f"{name}-{webhook}-url",
                DeliveredSecretArgs(
                    secret=f"receiver-{webhook}",
                    namespaces=(args.namespace,),
                    ownership=args.ownership,
                    values={_URL: url},
                    roles={_URL: _URL},
                ),
                self.child(),
            )
            CustomObject(
                f"{name}-{webhook}",
                receiver_config(args, webhook, secret.ref.name),
                self.child(hooks=args.gate),
            )
        self.finish({})


def receiver_config(args: ReceiversArgs, webhook: str, secret: pulumi.Input[str]) -> dict[str, Any]:
    """The AlertmanagerConfig of one webhook."""
    return {
        "apiVersion": CONFIG_API_VERSION,
        "kind": "AlertmanagerConfig",
        "metadata": ownership_metadata(args.ownership, name=webhook, namespace=args.namespace),
        "spec": {
            "route": {
                "receiver": webhook,
                "groupBy": ["alertname"],
                "groupWait": f"{args.group_wait_seconds}s",
                "groupInterval": f"{args.group_interval_seconds}s",
                "repeatInterval": f"{args.repeat_hours}h",
            },
            "receivers": [
                {
                    "name": webhook,
                    "webhookConfigs": [{"urlSecret": {"name": secret, "key": _URL}, "sendResolved": True}],
                }
            ],
        },
    }
