"""The plan of ``tests.policies.good_plan``, with the faults named in the configuration."""

import sys
from pathlib import Path

import pulumi

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.policies.faults import FAULTS
from tests.policies.good_plan import baseline
from tests.policies.manifests import Later, Marked, Resource

config = pulumi.Config()
chosen = set((config.get("faults") or "").split())
provider = pulumi.ProviderResource(
    "kubernetes", "cluster", {"kubeconfig": config.require("kubeconfig")}, pulumi.ResourceOptions()
)


def resolved(value: object, later: pulumi.Output[str]) -> object:
    """Plain data with its marks turned into what they stand for."""
    if isinstance(value, Marked):
        return pulumi.Output.secret(value.value)
    if isinstance(value, Later):
        return later
    if isinstance(value, dict):
        return {key: resolved(below, later) for key, below in value.items()}
    return [resolved(below, later) for below in value] if isinstance(value, list) else value


def declare(resource: Resource, later: pulumi.Output[str]) -> pulumi.CustomResource:
    """Declare one resource by its token, without the generated SDK's long import."""
    options = pulumi.ResourceOptions(provider=provider, protect=resource.protect)
    props = {key: resolved(value, later) for key, value in resource.props.items()}
    return pulumi.CustomResource(resource.type, resource.name, props, options)


for resource in [*baseline(), *(added for fault in FAULTS if fault.name in chosen for added in fault.added)]:
    # The provider's id is unknown until it is created.
    declare(resource, provider.id)
