"""Objects the provider's SDK has no fitting class for."""

from collections.abc import Mapping
from typing import Any

import pulumi


class CustomObject(pulumi.CustomResource):
    """One Kubernetes object written as its manifest.

    The SDK's ``CustomResource`` knows only ``spec``, and some kinds, such as Kueue's WorkloadPriorityClass,
    have other fields at the top; its ``Node`` leaves out ``status``, which is where a simulated node says
    what it has.

    Args:
        name: Logical name.
        manifest: ``apiVersion``, ``kind``, ``metadata`` and the rest, in the API's spelling.
        opts: Options, as of any resource.
    """

    metadata: pulumi.Output[Any]

    def __init__(
        self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(
            type_token(str(manifest["apiVersion"]), str(manifest["kind"])), name, dict(manifest), opts
        )

    @property
    def object_name(self) -> pulumi.Output[str]:
        """The object's physical name; readers wait for the object."""
        return pulumi.Output.from_input(self.metadata).apply(_name)


def type_token(api_version: str, kind: str) -> str:
    """Type token the provider knows a kind by; the nameless core group is called ``core`` there."""
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group}:{kind}"


def _name(metadata: Mapping[str, Any]) -> str:
    return str(metadata["name"])
