"""pydantic's findings in the one form users see, with the nearest valid name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from components.catalog import nearest
from stacks.config.fields import Form
from stacks.config.problems import NOTHING, Location, SettingProblem, shown

_KEY_MARK = "[key]"
_NO_FORM = Form(accepted="another form")
_MAPPING_FORM = Form(accepted="a mapping of keys")
_WRONG_CONTAINER = frozenset({"model_type", "model_attributes_type", "dict_type", "mapping_type"})
_OUT_OF_RANGE = frozenset({"greater_than_equal", "less_than_equal"})


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A place in the settings' type: its bare type and the words of its form, if any."""

    type: object
    form: Form | None = None


def problems_of(model: type[BaseModel], raw: Mapping[object, object]) -> tuple[SettingProblem, ...]:
    """Everything wrong with the shape of ``raw``: unknown and missing keys, types, ranges, names."""
    try:
        model.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        return tuple(_problem(model, one) for one in found)
    return ()


def _problem(model: type[BaseModel], error: ErrorDetails) -> SettingProblem:
    names_key = error["loc"][-1:] == (_KEY_MARK,)
    keys, node = _walk(model, error["loc"][:-1] if names_key else error["loc"])
    kind, received = error["type"], error["input"]
    if kind == "extra_forbidden":
        parent = _walk(model, error["loc"][:-1])[1]
        return _unknown_key(keys, _fields(parent.type))
    if names_key:
        node = _key_node(_walk(model, error["loc"][:-2])[1])
    form = node.form or (_MAPPING_FORM if _is_mapping(node.type) else _NO_FORM)
    if kind == "missing":
        return SettingProblem(
            location=keys, value=NOTHING, accepted=form.accepted, fix=f"add `{keys[-1]}:`{_hint(node)}"
        )
    if kind.startswith("union_tag"):
        keys, received = (*keys, "source"), received.get("source") if isinstance(received, dict) else None
    return SettingProblem(
        location=keys, value=shown(received, keys), accepted=form.accepted, fix=_fix(form, kind, received)
    )


def _fields(model: object) -> tuple[str, ...]:
    return tuple(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else ()


def _unknown_key(keys: Location, known: tuple[str, ...]) -> SettingProblem:
    suggestion = nearest(keys[-1], known)
    fix = f"did you mean {suggestion!r}? Else remove it" if suggestion else "remove it"
    return SettingProblem(
        location=keys,
        # Not its value: under a key nobody knows may stand a secret.
        value=f"the unknown key {str(keys[-1])!r}",
        accepted=", ".join(known),
        fix=fix,
    )


def _fix(form: Form, kind: str, received: object) -> str:
    if kind in _WRONG_CONTAINER:
        return form.fix or "indent its keys below it"
    if form.known:
        suggestion = nearest(received, form.known) if isinstance(received, str) else None
        return f"did you mean {suggestion!r}?" if suggestion else "take one of these names"
    if kind in _OUT_OF_RANGE:
        return form.fix or "choose a number in that range"
    if kind == "int_type" and isinstance(received, str) and re.fullmatch(r"\s*-?[0-9]+\s*", received):
        return "write the number without quotes"
    if kind == "string_type" and isinstance(received, int | float):
        return "put it in quotes"
    return form.fix or "write it in the accepted form"


def _hint(node: _Node) -> str:
    """What to write below a missing key, where that is not plain."""
    if not (isinstance(node.type, type) and issubclass(node.type, BaseModel)):
        return ""
    required = [name for name, info in node.type.model_fields.items() if info.is_required()]
    return f" with {', '.join(required)} below it" if required else ""


def _is_mapping(bare: object) -> bool:
    return get_origin(bare) is not None or (isinstance(bare, type) and issubclass(bare, BaseModel))


def _walk(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[Location, _Node]:
    """The keys of a pydantic location, without the tags of unions in it, and the type found there."""
    keys: list[str | int] = []
    node = _Node(type=model)
    parts = iter(location)
    for part in parts:
        members = _members(node.type)
        if members:
            member = members.get(str(part))
            node = _Node(type=member, form=node.form)
            key = next(parts, None)
            if key is None:
                break
        else:
            key = part
        keys.append(key)
        node = _step(node, key)
    return tuple(keys), node


def _step(node: _Node, key: int | str) -> _Node:
    bare = node.type
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        info = bare.model_fields.get(str(key))
        return _from_field(info) if info else _Node(type=object)
    arguments = get_args(bare)
    if get_origin(bare) is tuple:
        return _unwrap(arguments[0])
    return _unwrap(arguments[1]) if len(arguments) == 2 else _Node(type=object)


def _key_node(node: _Node) -> _Node:
    return _unwrap(get_args(node.type)[0])


def _members(bare: object) -> dict[str, type[BaseModel]]:
    """Tag to model, where the type is a union of models told apart by ``source``."""
    members = [one for one in get_args(bare) if isinstance(one, type) and issubclass(one, BaseModel)]
    if len(members) < 2:
        return {}
    return {get_args(one.model_fields["source"].annotation)[0]: one for one in members}


def _from_field(info: FieldInfo) -> _Node:
    inner = _unwrap(info.annotation)
    forms = [one for one in info.metadata if isinstance(one, Form)]
    return _Node(type=inner.type, form=forms[-1] if forms else inner.form)


def _unwrap(annotation: object) -> _Node:
    """The bare type under ``Annotated`` and ``| None``, with the outermost form on the way."""
    form: Form | None = None
    for layer, metadata in _layers(annotation):
        annotation = layer
        form = form or next((one for one in metadata if isinstance(one, Form)), None)
    return _Node(type=annotation, form=form)


def _layers(annotation: object) -> Iterator[tuple[object, tuple[object, ...]]]:
    while True:
        arguments = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation, metadata = arguments[0], arguments[1:]
        elif type(None) in arguments:
            annotation, metadata = next(one for one in arguments if one is not type(None)), ()
        else:
            yield annotation, ()
            return
        yield annotation, metadata
