"""Which contracts a component hands on and takes, read from its own annotations."""

import dataclasses
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import components
from components import contracts
from components.core import Component


@dataclass(frozen=True, kw_only=True)
class Contracts:
    """Names of contracts of one component type."""

    gives: tuple[str, ...]
    takes: tuple[str, ...]


def by_type() -> Mapping[str, Contracts]:
    """Type token → contracts, for every component of this program."""
    found = {}
    for module in pkgutil.walk_packages(components.__path__, "components."):
        # Programs for pods live beside the components and import what only their image holds.
        if ".files" in module.name or module.name.rsplit(".", 1)[-1].startswith("_"):
            continue
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Component) and kind is not Component and kind.__module__ == module.name:
                found[kind.TYPE] = _of(kind)
    return found


def _of(kind: type[Component]) -> Contracts:
    # Their own annotations, unevaluated: those of the SDK's bases name what only the SDK imports.
    gives = set(_named(tuple(inspect.get_annotations(kind).values()), ()))
    takes = set(_named((inspect.get_annotations(kind.__init__).get("args"),), ()))
    return Contracts(gives=tuple(sorted(gives)), takes=tuple(sorted(takes)))


def _named(hints: tuple[object, ...], seen: tuple[object, ...]) -> Iterator[str]:
    """Contracts anywhere inside annotations, also inside the records they name."""
    for hint in hints:
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            if hint.__module__ == contracts.__name__:
                yield hint.__name__
            elif hint not in seen:
                yield from _named(tuple(inspect.get_annotations(hint).values()), (*seen, hint))
        else:
            yield from _named(typing.get_args(hint), seen)
