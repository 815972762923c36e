"""Lab tags in ``versions.toml``: each ends in the hash of its recipe."""

import re
from collections.abc import Mapping
from pathlib import Path

from lab import pins as pins_module
from lab.errors import LabError
from lab.images import recipe as recipe_module

LOCK_COMMAND = "python -m lab images lock"


def computed(pins: pins_module.Pins, recipes: Path = recipe_module.RECIPES) -> dict[str, str]:
    """Image name → the reference its recipe has now."""
    names = recipe_module.names(recipes)
    return {name: recipe_module.load(name, pins, recipes).reference for name in names}


def rewrite(text: str, references: Mapping[str, str]) -> str:
    """The text of ``versions.toml`` with the given lab references; every other character stays.

    Args:
        text: Present text.
        references: Image name → reference.

    Raises:
        LabError: An image has no ``lab`` line in its table.
    """
    for name, reference in references.items():
        table = re.compile(rf'(?m)^(\[images\.{re.escape(name)}\]\n(?:(?!\[).*\n)*?lab = )"[^"\n]*"')
        text, count = table.subn(rf'\g<1>"{reference}"', text)
        if count != 1:
            raise LabError(
                f"image {name!r} has no lab tag",
                where=str(pins_module.VERSIONS_FILE),
                why=f'no line lab = "…" below [images.{name}]',
                fix=f'add [images.{name}] with supported = "…" and lab = "", then run: {LOCK_COMMAND}',
            )
    return text


def lock(versions: Path = pins_module.VERSIONS_FILE) -> dict[str, str]:
    """Rewrite the lab tags of ``versions.toml`` to the hashes of the recipes.

    Args:
        versions: The file.

    Returns:
        Image name → reference, of the images whose tag changed.
    """
    pins = pins_module.load()
    references = computed(pins)
    text = versions.read_text()
    new = rewrite(text, references)
    if new != text:
        partial = versions.with_suffix(".partial")
        partial.write_text(new)
        partial.replace(versions)
        pins_module.load.cache_clear()
    return {name: new for name, new in references.items() if pins.images.get(name) != new}
