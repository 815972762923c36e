"""Property values as the wire has them, and as the descriptions of a stand-in see them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc


class _Unknown:
    """A value that only the update will know; on the wire a fixed string, not the SDK's own class."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
Plain = Mapping[str, Any]


def plain(value: PropertyValue) -> Any:  # noqa: ANN401  the values of a program
    """A wire value as Python's own types; whole numbers as int, what is not known yet as UNKNOWN."""
    held = value.value
    if held == rpc.UNKNOWN:
        return UNKNOWN
    if isinstance(held, float):
        return int(held) if held.is_integer() else held
    if isinstance(held, Mapping):
        return {key: plain(item) for key, item in held.items()}
    if isinstance(held, Sequence) and not isinstance(held, str):
        return [plain(item) for item in held]
    return held


def wire(value: object, *, secret: bool = False) -> PropertyValue:
    """A Python value as a wire value.

    Args:
        value: None, bool, number, string, list, mapping or UNKNOWN, nested at will.
        secret: Whether the engine must keep it encrypted.
    """
    if value is UNKNOWN:
        return PropertyValue(rpc.UNKNOWN, is_secret=secret)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return PropertyValue(value, is_secret=secret)
    if isinstance(value, int | float):
        return PropertyValue(float(value), is_secret=secret)
    if isinstance(value, Mapping):
        return PropertyValue({str(key): wire(item) for key, item in value.items()}, is_secret=secret)
    if isinstance(value, list | tuple):
        return PropertyValue([wire(item) for item in value], is_secret=secret)
    raise TypeError(f"a property cannot hold {type(value).__name__}")


def plain_map(values: Mapping[str, PropertyValue]) -> dict[str, Any]:
    """Every property of a message as Python values."""
    return {name: plain(value) for name, value in values.items()}


def secret_names(values: Mapping[str, PropertyValue]) -> frozenset[str]:
    """The properties that are secret or hold one."""
    return frozenset(name for name, value in values.items() if value.contains_secret())


def wire_map(values: Plain, secrets: frozenset[str]) -> dict[str, PropertyValue]:
    """Python values as properties of a message; those named in ``secrets`` secret as a whole."""
    return {name: wire(value, secret=name in secrets) for name, value in values.items() if value is not None}
