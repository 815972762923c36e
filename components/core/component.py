"""The thin base of every component resource."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pulumi


class Component(pulumi.ComponentResource):
    """A component resource with one way to build options for its children.

    Creates nothing itself. Subclasses set ``TYPE`` to their type token
    (``gpuplatform:<area>:<Noun>``) and call ``register_outputs`` last.
    """

    TYPE: ClassVar[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.TYPE, name, None, opts)
        self._waits_for = _resources(opts)

    def child(
        self,
        *,
        depends_on: Sequence[pulumi.Resource] = (),
        protect: bool | None = None,
        retain_on_delete: bool | None = None,
        ignore_changes: Sequence[str] = (),
        replace_on_changes: Sequence[str] = (),
        delete_before_replace: bool | None = None,
        additional_secret_outputs: Sequence[str] = (),
        hooks: pulumi.ResourceHookBinding | None = None,
        old_names: Sequence[str] = (),
        custom_timeouts: pulumi.CustomTimeouts | None = None,
    ) -> pulumi.ResourceOptions:
        """Options for one child: parent set, the caller's options inherited by the engine.

        What the component itself waits for, its children wait for too: the engine inherits provider and
        protection, but not that.

        Args:
            depends_on: Resources that must be ready first.
            protect: Refuse deletion until unprotected; None inherits.
            retain_on_delete: Leave the object in place when the resource leaves the program.
            ignore_changes: Input paths another owner writes.
            replace_on_changes: Input paths the service can't change in place.
            delete_before_replace: Needed where a fixed physical name forbids two at once.
            additional_secret_outputs: Outputs to encrypt in state.
            hooks: Resource hooks, such as a readiness gate.
            old_names: Former logical names of the child (renames keep the object).
            custom_timeouts: Bounds of create, update and delete.
        """
        return pulumi.ResourceOptions(
            parent=self,
            depends_on=[*self._waits_for, *depends_on] or None,
            protect=protect,
            retain_on_delete=retain_on_delete,
            ignore_changes=list(ignore_changes) or None,
            replace_on_changes=list(replace_on_changes) or None,
            delete_before_replace=delete_before_replace,
            additional_secret_outputs=list(additional_secret_outputs) or None,
            hooks=hooks,
            aliases=[pulumi.Alias(name=old) for old in old_names] or None,
            custom_timeouts=custom_timeouts,
        )

    def finish(self, outputs: Mapping[str, Any]) -> None:
        """Register the outputs; the last line of every constructor."""
        self.register_outputs(dict(outputs))


def _resources(opts: pulumi.ResourceOptions | None) -> tuple[pulumi.Resource, ...]:
    """The resources of ``depends_on``; only plain resources, which decide the order before anything flows."""
    waits_for = opts.depends_on if opts is not None else None
    if waits_for is None:
        return ()
    if isinstance(waits_for, pulumi.Resource):
        return (waits_for,)
    if isinstance(waits_for, Sequence) and all(isinstance(one, pulumi.Resource) for one in waits_for):
        return tuple(one for one in waits_for if isinstance(one, pulumi.Resource))
    raise TypeError("depends_on of a component takes resources, not outputs of resources")
