"""Which lines of Pulumi's output are news."""

import pytest

from cli.narration import Narration


@pytest.mark.parametrize(
    ("line", "news"),
    [
        (" +  kubernetes:core/v1:Node pool-a100-b0 creating (0s) \n", False),
        (" -  kubernetes:core/v1:Namespace jobs deleting (5s) \n", False),
        ("@ updating.........\n", False),
        (" +  kubernetes:core/v1:Node pool-a100-b0 created (0.05s) \n", True),
        (" +  kubernetes:core/v1:Service s creating (0s) [1/3] Finding Pods to direct traffic to\n", True),
        (' +  kubernetes:core/v1:Node n creating (1s) error: nodes "n" is forbidden\n', True),
        ("    error: resource violates policy\n", True),
        ("Resources:\n", True),
        ("\n", True),
    ],
)
def test_starts_and_heartbeats_are_left_out(line: str, news: bool) -> None:
    assert Narration().worth_telling(line) is news


def test_a_planned_resource_is_told_once() -> None:
    narration = Narration()
    line = " +  kubernetes:core/v1:Node pool-a100-b0 create \n"
    assert [narration.worth_telling(line) for _ in range(3)] == [True, False, False]
