"""Acceptance in the settings: defaults, and every refusal at its path."""

from collections.abc import Callable
from typing import Any

import pytest

from stacks.config import AcceptanceSettings, SettingProblem, load, wanted_tests
from stacks.config.versions import Versions

Found = Callable[..., tuple[SettingProblem, ...]]
TESTS = [
    "nccl-intra",
    "nccl-inter",
    "dcgm-1",
    "dcgm-2",
    "dcgm-3",
    "storage-datasets",
    "storage-checkpoints",
    "gpt2",
    "bert",
]


@pytest.fixture
def whole(good: dict[str, Any]) -> dict[str, Any]:
    """Good settings in which the queue research holds all of pool a100, and a100 is to be accepted."""
    good["queues"]["research"]["pools"]["a100"]["gpus"] = 32
    del good["queues"]["prod"]
    good["pools"]["a100"]["acceptance"] = {"queue": "research"}
    return good


def test_left_out_there_is_none(good: dict[str, Any], versions: Versions) -> None:
    assert load("dev", good, versions).pools["a100"].acceptance is None


def test_the_defaults_are_all_tests_of_the_whole_pool(whole: dict[str, Any], versions: Versions) -> None:
    acceptance = load("dev", whole, versions).pools["a100"].acceptance
    assert acceptance is not None
    assert list(acceptance.tests) == TESTS
    assert acceptance.nodes is None
    assert dict(acceptance.thresholds) == {}


def test_tests_come_in_one_order_once_and_fit_the_pool() -> None:
    chosen = AcceptanceSettings(queue="q", tests=("bert", "nccl-inter", "dcgm-1", "bert"))
    assert wanted_tests(chosen, 2) == ("nccl-inter", "dcgm-1", "bert")
    assert wanted_tests(chosen, 1) == ("dcgm-1", "bert")


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"queue": "reserch"}, "queue", "got the unknown queue 'reserch'; accepted: a known queue: research"),
    ({"tests": []}, "tests", "a list with at least one test"),
    ({"tests": ["nccl"]}, "tests.0", "fix: did you mean 'nccl-intra'?"),
    ({"tests": "dcgm-1"}, "tests", "a list with at least one test"),
    ({"nodes": 5}, "nodes", "at most the 4 nodes of one topology block of pools.a100"),
    ({"nodes": 1}, "nodes", "2 nodes or more for nccl-inter"),
    ({"nodes": 0}, "nodes", "a whole number of nodes"),
    ({"thresholds": {"nccl-inter": "190"}}, "thresholds.nccl-inter", "a number above 0"),
    ({"thresholds": {"nccl-inter": 0}}, "thresholds.nccl-inter", "a number above 0"),
    ({"thresholds": {"nccl-inter": float("nan")}}, "thresholds.nccl-inter", "a number above 0"),
    ({"thresholds": {"dcgm-2": 1.0}}, "thresholds.dcgm-2", "no threshold for a diagnostic"),
    ({"thresholds": {"nccl": 1.0}}, "thresholds.nccl", "an acceptance test: nccl-intra"),
    ({"test": ["bert"]}, "test", "did you mean 'tests'?"),
]


@pytest.mark.parametrize(("change", "path", "words"), BAD, ids=[f"{row[0]}" for row in BAD])
def test_a_bad_value_is_told_at_its_path(
    whole: dict[str, Any], problems: Found, change: dict[str, Any], path: str, words: str
) -> None:
    whole["pools"]["a100"]["acceptance"] |= change
    found = problems(whole)
    assert [problem.path for problem in found] == [f"pools.a100.acceptance.{path}"]
    assert words in str(found[0])


def test_the_queue_must_hold_the_whole_pool(whole: dict[str, Any], problems: Found) -> None:
    whole["queues"]["research"]["pools"]["a100"]["gpus"] = 24
    (found,) = problems(whole)
    assert found.path == "pools.a100.acceptance.queue"
    assert found.value == "'research' with 24"
    assert "all 32 GPUs of pools.a100" in found.accepted


def test_one_node_has_no_test_between_nodes(whole: dict[str, Any], problems: Found) -> None:
    whole["pools"]["small"] |= {"nodes": 1, "acceptance": {"queue": "research", "tests": ["nccl-inter"]}}
    whole["queues"]["research"]["pools"]["small"]["gpus"] = 2
    (found,) = problems(whole)
    assert found.path == "pools.small.acceptance.tests"


def test_thresholds_may_be_whole_numbers(whole: dict[str, Any], versions: Versions) -> None:
    whole["pools"]["a100"]["acceptance"]["thresholds"] = {"nccl-inter": 190, "gpt2": 8.5e4}
    acceptance = load("dev", whole, versions).pools["a100"].acceptance
    assert acceptance is not None
    assert dict(acceptance.thresholds) == {"nccl-inter": 190.0, "gpt2": 85000.0}
