"""A stand-in's table behind the provider interface of the SDK."""
# ruff: noqa: ARG002  the interface names the arguments

import asyncio
from collections.abc import Mapping

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from lab.plugins.standin import ResourceType, StandIn, StandInError, State
from lab.plugins.values import UNKNOWN, Plain, plain_map, secret_names, wire_map

Properties = Mapping[str, PropertyValue]
Kind = sdk.PropertyDiffKind


class TableProvider(sdk.Provider):
    """Serves the resource types of one stand-in; its functions run in threads, several at once.

    Args:
        standin: The table.
    """

    def __init__(self, standin: StandIn) -> None:
        self._standin = standin

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:
        """Refused: the official SDK carries the schema."""
        raise StandInError(f"the LAB stand-in of provider {self._standin.package} has no schema")

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """Any configuration; `configure` decides."""
        return sdk.CheckResponse(inputs=request.new_inputs)

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        """A changed configuration never replaces resources."""
        changed = plain_map(request.old_state) != plain_map(request.new_inputs)
        return sdk.DiffResponse(changes=changed)

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        """Take secrets and previews; hand the configuration to the stand-in."""
        if self._standin.configure:
            self._standin.configure(plain_map(request.args))
        return sdk.ConfigureResponse(accept_secrets=True, supports_preview=True)

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        """One of the stand-in's functions."""
        function = self._standin.functions.get(request.tok)
        if function is None:
            raise StandInError(
                f"the LAB stand-in of provider {self._standin.package} has no function {request.tok}"
            )
        answer = await asyncio.to_thread(function, plain_map(request.args))
        return sdk.InvokeResponse(return_value=wire_map(answer, frozenset()))

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """Defaults filled in, every problem named."""
        kind = self._standin.type_of(request.type)
        inputs, problems = kind.checked(plain_map(request.new_inputs))
        return sdk.CheckResponse(
            inputs=wire_map(inputs, secret_names(request.new_inputs)),
            failures=[sdk.CheckFailure(property=name, reason=why) for name, why in problems.items()],
        )

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        """What changes, and what of it replaces the resource."""
        kind = self._standin.type_of(request.type)
        old, new = plain_map(request.old_state), plain_map(request.new_inputs)
        ignored = set(request.ignore_changes or ())
        changes = {name: why for name, why in kind.changes(old, new).items() if name not in ignored}
        replaces = [name for name, replaces in changes.items() if replaces]
        return sdk.DiffResponse(
            changes=bool(changes),
            replaces=replaces,
            stables=[] if replaces else list(kind.outputs),
            delete_before_replace=bool(replaces) and kind.replace_first,
            diffs=list(changes),
            detailed_diff={name: _change(old, new, name, replaces=why) for name, why in changes.items()},
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        """Make the resource; in a preview only say that its outputs are not known yet."""
        kind = self._standin.type_of(request.type)
        inputs = plain_map(request.properties)
        if request.preview:
            state = State(identity="", inputs=inputs, outputs=dict.fromkeys(kind.outputs, UNKNOWN))
        else:
            state = await asyncio.to_thread(kind.create, inputs)
        return sdk.CreateResponse(
            resource_id=state.identity, properties=_properties(kind, state, request.properties)
        )

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        """Apply the changed inputs; in a preview, keep the outputs."""
        kind = self._standin.type_of(request.type)
        state = kind.state(request.resource_id, plain_map(request.olds))
        new = plain_map(request.news)
        state = (
            State(identity=state.identity, inputs=new, outputs=state.outputs)
            if request.preview
            else await asyncio.to_thread(kind.update, state, new)
        )
        return sdk.UpdateResponse(properties=_properties(kind, state, request.news))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        """The resource as it is now; without known properties, the import of an id."""
        kind = self._standin.type_of(request.type)
        known = plain_map(request.properties)
        if known:
            found = await asyncio.to_thread(kind.read, kind.state(request.resource_id, known))
        else:
            found = await asyncio.to_thread(kind.adopt, request.resource_id)
        if found is None:
            return sdk.ReadResponse(resource_id="", properties={}, inputs={})
        return sdk.ReadResponse(
            resource_id=found.identity,
            properties=_properties(kind, found, request.properties),
            inputs=wire_map(found.inputs, secret_names(request.inputs)),
        )

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Remove the resource."""
        kind = self._standin.type_of(request.type)
        state = kind.state(request.resource_id, plain_map(request.properties))
        await asyncio.to_thread(kind.delete, state)


def _properties(kind: ResourceType, state: State, given: Properties) -> dict[str, PropertyValue]:
    return wire_map({**state.inputs, **state.outputs}, kind.secrets | secret_names(given))


def _change(old: Plain, new: Plain, name: str, *, replaces: bool) -> sdk.PropertyDiff:
    if old.get(name) is None:
        kind = Kind.ADD_REPLACE if replaces else Kind.ADD
    elif new.get(name) is None:
        kind = Kind.DELETE_REPLACE if replaces else Kind.DELETE
    else:
        kind = Kind.UPDATE_REPLACE if replaces else Kind.UPDATE
    return sdk.PropertyDiff(kind=kind, input_diff=False)
