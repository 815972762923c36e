"""The only reader of Pulumi's configuration."""

import json
from pathlib import Path

import pulumi

from stacks.config.problems import SettingsError
from stacks.config.resolve import Settings, load
from stacks.config.versions import read

SETTINGS_KEY = "settings"


def load_current(lab_state: Path) -> Settings:
    """The settings of the stack this program runs for.

    Args:
        lab_state: Directory of this machine's lab.

    Raises:
        RunError: Everything that is wrong, at once; shown as it is, without a traceback.
    """
    try:
        return load(pulumi.get_stack(), _raw(pulumi.Config().get(SETTINGS_KEY)), read(lab_state))
    except SettingsError as error:
        raise pulumi.RunError(str(error)) from None


def _raw(text: str | None) -> object:
    """The engine hands objects over as JSON; anything else is judged as the text it is."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        # Not JSON, a number of thousands of digits, or nested without end: `load` says what it got.
        return text


__all__ = ["load", "load_current"]
