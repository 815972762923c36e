"""Where an environment is built and for whom; what every part of a stack is handed."""

from dataclasses import dataclass

import pulumi

from components.contracts import ClusterAccess
from components.core import Ownership
from stacks.config import Settings


@dataclass(frozen=True, kw_only=True)
class Site:
    """One environment under construction.

    Args:
        settings: Its checked settings.
        ownership: Who owns and pays.
        access: The Kubernetes cluster.
        provider: Provider of that cluster.
    """

    settings: Settings
    ownership: Ownership
    access: ClusterAccess
    provider: pulumi.ProviderResource

    def after(self, *components: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a component on this site that waits for others."""
        return pulumi.ResourceOptions(providers=[self.provider], depends_on=list(components))
