"""A provider plug-in as a table: one description per resource type.

Built on ``pulumi.provider.experimental``: of the SDK's two provider kits it alone has check, diff, create,
read, update, delete and configure with secret and unknown values; ``pulumi.provider`` serves components only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.plugins.values import UNKNOWN, Plain

KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "map": (dict,),
    "list": (list,),
}


class StandInError(Exception):
    """A failure the user sees as its message alone."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """An input of a resource type.

    Args:
        name: Name on the wire (camelCase).
        kind: A key of KINDS.
        required: Whether it must be given.
        default: Filled in at check when it is not given.
        replace: Whether a change replaces the resource; otherwise it updates it.
    """

    name: str
    kind: str
    required: bool = False
    default: Any = None
    replace: bool = False


@dataclass(frozen=True, kw_only=True)
class State:
    """A resource as the provider knows it.

    Args:
        identity: Its id in the clear: never a secret.
        inputs: Its inputs, with defaults.
        outputs: What the provider adds to them.
    """

    identity: str
    inputs: Plain
    outputs: Plain


def _keep(state: State, inputs: Plain) -> State:
    return State(identity=state.identity, inputs=inputs, outputs=state.outputs)


def _forget(state: State) -> None:
    del state


def _same(state: State) -> State | None:
    return state


def _no_problems(inputs: Plain) -> Mapping[str, str]:
    del inputs
    return {}


def _no_import(identity: str) -> State | None:
    del identity
    return None


@dataclass(frozen=True, kw_only=True)
class ResourceType:
    """What a stand-in knows about one type token.

    Args:
        token: The type token of the official SDK.
        inputs: Its inputs.
        outputs: Names of what `create` adds; unknown in a preview.
        secrets: Outputs that are secret; an output named like a secret input is secret too.
        create: Makes the resource from checked inputs.
        check: Problems by property, beyond presence and kind; never sees an unknown value.
        update: Applies changed inputs that do not replace.
        read: The resource as it is now; None when it is gone.
        adopt: The resource of an id that no state knows (import); None when there is none.
        delete: Removes it; must succeed when it is gone already.
        replace_first: Whether the old one must go before the new one comes.
    """

    token: str
    inputs: tuple[Property, ...]
    outputs: tuple[str, ...]
    create: Callable[[Plain], State]
    secrets: frozenset[str] = frozenset()
    check: Callable[[Plain], Mapping[str, str]] = _no_problems
    update: Callable[[State, Plain], State] = _keep
    read: Callable[[State], State | None] = _same
    adopt: Callable[[str], State | None] = _no_import
    delete: Callable[[State], None] = _forget
    replace_first: bool = False

    def checked(self, given: Plain) -> tuple[dict[str, Any], dict[str, str]]:
        """Inputs with defaults, and every problem by property."""
        known = {item.name for item in self.inputs}
        problems = {
            name: f"unknown property of {self.token}"
            for name in given
            if name not in known and not name.startswith("__")  # the engine's own
        }
        inputs: dict[str, Any] = {}
        for item in self.inputs:
            value = given.get(item.name)
            value = item.default if value is None else value
            if value is None:
                if item.required:
                    problems[item.name] = f"missing required {item.kind}"
                continue
            inputs[item.name] = value
            if not _is_kind(value, item.kind):
                problems[item.name] = f"expected {item.kind}, got {type(value).__name__}"
        if not problems and all(value is not UNKNOWN for value in inputs.values()):
            problems.update(self.check(inputs))
        return inputs, problems

    def changes(self, old: Plain, new: Plain) -> dict[str, bool]:
        """Each changed input and whether it replaces the resource."""
        return {item.name: item.replace for item in self.inputs if old.get(item.name) != new.get(item.name)}

    def state(self, identity: str, properties: Plain) -> State:
        """Split a resource's properties into inputs and outputs."""
        names = {item.name for item in self.inputs}
        return State(
            identity=identity,
            inputs={name: value for name, value in properties.items() if name in names},
            outputs={name: value for name, value in properties.items() if name not in names},
        )


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A whole provider.

    Args:
        package: Name of the official provider.
        version: Version of the official SDK it answers to.
        types: Its resource types.
        configure: Called once with the provider's configuration; raises StandInError to refuse it.
        functions: Invokable functions by token.
    """

    package: str
    version: str
    types: tuple[ResourceType, ...]
    configure: Callable[[Plain], None] | None = None
    functions: Mapping[str, Callable[[Plain], Plain]] = field(default_factory=dict)

    def type_of(self, token: str) -> ResourceType:
        """The description of a type.

        Args:
            token: Type token; the SDK hands over the types of its parents too, joined by ``$``.

        Raises:
            StandInError: The stand-in has no such type.
        """
        own = token.rsplit("$", 1)[-1]
        for item in self.types:
            if item.token == own:
                return item
        known = ", ".join(item.token.rsplit(":", 1)[1] for item in self.types)
        raise StandInError(f"the LAB stand-in of provider {self.package} has no {own}; it has: {known}")


def _is_kind(value: object, kind: str) -> bool:
    if value is UNKNOWN:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, KINDS[kind])
