"""Checks a custom resource against the schema of its definition, in outline as the API server would.

Covers types, required and unknown fields, enumerations, patterns and list sizes; leaves CEL rules and
defaults to the server.
"""

import re
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
# Checked by the server as part of every object, not described in CRDs.
_COMMON = frozenset({"apiVersion", "kind", "metadata"})


def crd_problems(crd: Mapping[str, Any], resource: Mapping[str, Any]) -> list[str]:
    """What the schema of the resource's version objects to; empty when nothing."""
    group, _, version = str(resource["apiVersion"]).partition("/")
    spec = crd["spec"]
    if (spec["group"], spec["names"]["kind"]) != (group, resource["kind"]):
        return [f"the definition is of {spec['group']} {spec['names']['kind']}"]
    for served in spec["versions"]:
        if served["name"] == version and served["served"]:
            schema = served["schema"]["openAPIV3Schema"]
            body = {key: value for key, value in resource.items() if key not in _COMMON}
            return _problems(schema, body, "")
    return [f"version {version} is not served"]


def _problems(schema: Mapping[str, Any], value: Any, path: str) -> list[str]:
    if schema.get("x-kubernetes-int-or-string"):
        fits = isinstance(value, int | str) and re.match(schema.get("pattern", ""), str(value))
        return [] if fits else [f"{path}: {value!r} is no quantity"]
    wanted = _TYPES.get(schema.get("type", ""), object)
    if not isinstance(value, wanted):
        return [f"{path}: {value!r} is not of type {schema['type']}"]
    if isinstance(value, dict):
        return _object_problems(schema, value, path)
    if isinstance(value, list):
        problems = [f"{path}: more than {schema['maxItems']} items"] if _too_long(schema, value) else []
        return problems + [
            problem
            for index, item in enumerate(value)
            for problem in _problems(schema.get("items", {}), item, f"{path}[{index}]")
        ]
    return _scalar_problems(schema, value, path)


def _object_problems(schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> list[str]:
    problems = [f"{path}.{key}: missing" for key in schema.get("required", ()) if key not in value]
    properties = schema.get("properties", {})
    more = schema.get("additionalProperties")
    for key, inner in value.items():
        if key in properties:
            problems += _problems(properties[key], inner, f"{path}.{key}")
        elif isinstance(more, Mapping):
            problems += _problems(more, inner, f"{path}.{key}")
        elif not more and not schema.get("x-kubernetes-preserve-unknown-fields") and key not in _COMMON:
            problems.append(f"{path}.{key}: unknown field")
    return problems


def _too_long(schema: Mapping[str, Any], value: list[Any]) -> bool:
    return len(value) > int(schema.get("maxItems", len(value)))


def _scalar_problems(schema: Mapping[str, Any], value: Any, path: str) -> list[str]:
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is not one of {schema['enum']}"]
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        return [f"{path}: {value!r} does not match {schema['pattern']}"]
    return []
