"""`acceptance`: what it lists and how it judges, on the committed settings."""

import json
from pathlib import Path

import pytest

from cli.acceptance import acceptance
from cli.exits import Exit, Stop
from cli.judge import step_losses
from lab.errors import LabError

TABLE = Path(__file__).parents[1] / "components/scheduling/acceptance/data/dcgm3-table.txt"


def test_it_lists_tests_nodes_and_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    acceptance("dev", "a100", test=None, output=None, as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert (listed["pool"], listed["simulated"], len(listed["tests"])) == ("a100", True, 9)
    first = listed["tests"][0]
    assert (first["test"], first["nodes"], first["threshold"]) == ("nccl-intra", 4, 185)
    assert first["start"].startswith("kubectl get configmap acceptance-a100 -n gpu-platform-jobs")
    acceptance("dev", "a100", test=None, output=None, as_json=False)
    text = capsys.readouterr().out
    assert "simulated: placement only, nothing is ever accepted" in text
    assert "no threshold: never accepted" in text


@pytest.mark.parametrize("as_json", [False, True])
def test_a_good_output_of_a_simulated_pool_is_not_accepted(
    capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    with pytest.raises(Stop) as caught:
        acceptance("dev", "a100", test="dcgm-2", output=TABLE, as_json=as_json)
    assert caught.value.code is Exit.FAILED
    out = capsys.readouterr().out
    assert (json.loads(out)["verdict"] if as_json else out.splitlines()[0].split(": ")[1]) == "placement only"


@pytest.mark.parametrize(
    ("pool", "test", "output", "words"),
    [
        ("a10", None, None, "did you mean 'a100'?"),
        ("a100", None, TABLE, "which test the output is of isn't said"),
        ("a100", "nccl", TABLE, "no test 'nccl' of pool 'a100'"),
        ("a100", "dcgm-2", Path("/nonexistent/log"), "the output can't be read"),
    ],
)
def test_a_wrong_call_says_what_is_right(
    pool: str, test: str | None, output: Path | None, words: str
) -> None:
    with pytest.raises(LabError) as caught:
        acceptance("dev", pool, test=test, output=output, as_json=False)
    assert words in str(caught.value)


def test_losses_are_read_from_the_steps_alone() -> None:
    log = (
        '{"event": "start"}\n{"event": "step", "step": 1, "loss": 4.5}\nnoise\n{"event": "step", "loss": 1}\n'
    )
    assert step_losses(log) == [4.5, 1.0]
