"""Objects of kinds the provider's SDK has no class for."""

from collections.abc import Mapping
from typing import Any

import pulumi


class CustomObject(pulumi.CustomResource):
    """One Kubernetes object written as its manifest.

    The SDK's own ``CustomResource`` knows only ``spec``; some kinds, such as Kueue's
    WorkloadPriorityClass, have other fields at the top.

    Args:
        name: Logical name.
        manifest: ``apiVersion``, ``kind``, ``metadata`` and the rest, in the API's spelling.
        opts: Options, as of any resource.
    """

    metadata: pulumi.Output[Any]

    def __init__(
        self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}", name, dict(manifest), opts)

    @property
    def object_name(self) -> pulumi.Output[str]:
        """The object's physical name; readers wait for the object."""
        return pulumi.Output.from_input(self.metadata).apply(_name)


def _name(metadata: Mapping[str, Any]) -> str:
    return str(metadata["name"])
