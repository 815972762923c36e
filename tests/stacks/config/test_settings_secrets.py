"""Secrets never stand in the settings, and no message repeats one."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from stacks.config import SettingProblem, Versions, load
from stacks.config.problems import names_a_secret

VALUE = "hunter2-do-not-print"
KEYS = [
    *(
        "password",
        "admin_password",
        "adminPassword",
        "PASSWORD",
        "db-passwd",
        "passphrase",
        "secret",
        "secrets",
    ),
    *("client_secret", "token", "api_token", "access_key", "secretKey", "api_key", "apikey", "private_key"),
    "credentials",
]
PLACES = [(), ("ownership",), ("storage", "database"), ("tracking",), ("pools", "a100"), ("cluster",)]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", PLACES, ids=".".join)
@pytest.mark.parametrize("value", [VALUE, {"secure": VALUE}, [VALUE], 4711])
def test_a_secret_is_refused_once_and_hidden(
    good: dict[str, Any],
    problems: Callable[..., tuple[SettingProblem, ...]],
    key: str,
    place: tuple[str, ...],
    value: object,
) -> None:
    raw = copy.deepcopy(good)
    node = raw
    for part in place:
        node = node[part]
    node[key] = value
    found = problems(raw)
    assert [problem.path for problem in found] == [".".join((*place, key))]
    assert found[0].value == "(hidden)"
    assert "pulumi config set --secret" in found[0].fix
    assert VALUE not in str(found[0])
    assert "4711" not in str(found[0])


@pytest.mark.parametrize("value", ["-----BEGIN PRIVATE KEY-----\nabc", "https://user:hunter2@example.com"])
def test_a_secret_under_an_innocent_key_is_refused_too(
    good: dict[str, Any], problems: Callable[..., tuple[SettingProblem, ...]], value: str
) -> None:
    good["ownership"]["contact"] = value
    found = problems(good)
    assert [(problem.path, problem.value) for problem in found] == [("ownership.contact", "(hidden)")]


@pytest.mark.parametrize(
    "name", ["owner", "cost_centre", "kind", "keyboard", "monkey", "tokens-per-second-x", "a100"]
)
def test_other_names_are_no_secrets(name: str) -> None:
    assert names_a_secret(name) is name.startswith("tokens")


def test_a_pool_and_a_queue_may_be_called_what_they_like(good: dict[str, Any], versions: Versions) -> None:
    good["pools"]["secret-lab"] = good["pools"].pop("small")
    good["queues"]["research"]["pools"] = {"a100": {"gpus": 24}, "secret-lab": {"gpus": 2}}
    good["queues"]["token"] = {"pools": {"secret-lab": {"gpus": 2}}}
    assert sorted(load("dev", good, versions).pools) == ["a100", "secret-lab"]
