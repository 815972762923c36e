"""The loader hands Pulumi's configuration over as the engine gives it."""

import json
from typing import Any

import pulumi
import pytest

from stacks.config.loader import load_current
from stacks.machine import DEFAULT_STATE


@pytest.fixture(autouse=True)
def _stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")


def _configured(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    def get(self: pulumi.Config, key: str) -> str | None:
        assert (self.name, key) == ("gpu-platform", "settings")
        return value

    monkeypatch.setattr(pulumi.Config, "__init__", lambda self: setattr(self, "name", "gpu-platform"))
    monkeypatch.setattr(pulumi.Config, "get", get)


def test_settings_of_the_current_stack(monkeypatch: pytest.MonkeyPatch, good: dict[str, Any]) -> None:
    _configured(monkeypatch, json.dumps(good))
    settings = load_current(DEFAULT_STATE)
    assert (settings.environment, settings.pools["a100"].nodes) == ("dev", 4)


@pytest.mark.parametrize(("value", "shown"), [(None, "nothing"), ("text", "'text'"), ("3", "3")])
def test_settings_that_are_none(monkeypatch: pytest.MonkeyPatch, value: str | None, shown: str) -> None:
    _configured(monkeypatch, value)
    with pytest.raises(
        pulumi.RunError, match=rf"settings of stack dev: 1 problem in the settings\n  .*got {shown};"
    ):
        load_current(DEFAULT_STATE)
