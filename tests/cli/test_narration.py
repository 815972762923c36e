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
        (" +  kubernetes:core/v1:Service s creating (0s) [1/3] Finding Pods to direct traffic to\n", False),
        (" ~  kubernetes:core/v1:Service s updating (0s) [diff: ~spec]; \n", False),
        ("Loading policy packs...: done\n", False),
        (" +  kubernetes:core/v1:Node pool-a100-b0 create \n", False),
        (' +  kubernetes:core/v1:Node n creating (1s) error: nodes "n" is forbidden\n', True),
        ("    error: resource violates policy\n", True),
        ("Resources:\n", True),
        ("\n", True),
    ],
)
def test_starts_and_heartbeats_are_left_out(line: str, news: bool) -> None:
    assert Narration(plans=False).worth_telling(line) is news


def test_a_preview_tells_each_planned_resource_once() -> None:
    narration = Narration(plans=True)
    line = " +  kubernetes:core/v1:Node pool-a100-b0 create \n"
    assert [narration.worth_telling(line) for _ in range(3)] == [True, False, False]


def test_a_long_silence_can_name_what_is_under_way() -> None:
    narration = Narration(plans=False)
    narration.worth_telling(" -  kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue q deleting (3s) \n")
    narration.worth_telling(" +  kubernetes:core/v1:Node n created (0.05s) \n")
    assert "ClusterQueue q deleting" in narration.latest


def test_the_stand_in_says_lab_once() -> None:
    narration = Narration(plans=False)
    line = "    LAB: provider random is this lab's stand-in\n"
    assert [narration.worth_telling(line) for _ in range(2)] == [True, False]
