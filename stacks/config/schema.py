"""JSON Schema of a whole ``Pulumi.<env>.yaml``, so that editors complete and check it."""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from stacks.config.files import SETTINGS
from stacks.config.models import KINDS

SCHEMA_FILE = Path(__file__).with_name("schema.json")
_SECRET = {
    "type": "object",
    "description": "A value in encrypted form, as `pulumi config set --secret` writes it.",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}
# What Pulumi writes beside `config`; its values are Pulumi's own.
_PULUMI_PROPERTIES: dict[str, Any] = {
    "encryptionsalt": {"type": "string", "description": "Salt of the passphrase that encrypts secrets."},
    "encryptedkey": {"type": "string", "description": "Data key, encrypted by the secrets provider."},
    "secretsprovider": {"type": "string", "description": "Address of the key that encrypts secrets."},
    "environment": {"description": "Pulumi ESC environments to import."},
}


def build() -> dict[str, Any]:
    """The schema; the same input gives the same bytes."""
    definitions: dict[str, Any] = {}
    kinds = []
    for name, model in KINDS.items():
        one = TypeAdapter(model).json_schema(ref_template="#/$defs/{model}")
        definitions.update(one.pop("$defs", {}))
        definitions[model.__name__] = one
        kinds.append(
            {"if": {"properties": {"kind": {"const": name}}}, "then": {"$ref": f"#/$defs/{model.__name__}"}}
        )
    settings = {
        "type": "object",
        "description": "The environment, from which the whole stack is built.",
        "properties": {"kind": {"enum": list(KINDS), "description": "Kind of environment."}},
        "required": ["kind"],
        "allOf": kinds,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pulumi.<env>.yaml of gpu-platform",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {
            "config": {
                "type": "object",
                "description": "Configuration of the stack.",
                "required": [SETTINGS],
                "properties": {SETTINGS: settings},
                "patternProperties": {"^gpu-platform:(?!settings$)": _SECRET},
            },
            **_PULUMI_PROPERTIES,
        },
        "$defs": {name: _without_titles(definitions[name]) for name in sorted(definitions)},
    }


def render() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(build(), indent=2, ensure_ascii=False) + "\n"


def _without_titles(node: object) -> object:
    """The generated titles only repeat the keys."""
    if isinstance(node, dict):
        return {
            key: _without_titles(value)
            for key, value in node.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_without_titles(one) for one in node] if isinstance(node, list) else node
