"""The harness itself: what it must catch."""

import asyncio

import pulumi
import pytest

from components.kube import CustomObject
from tests.harness import UNKNOWN, Recording, run

SECRET = "kubernetes:core/v1:Secret"


def _program(value: pulumi.Input[str] = "plain") -> dict[str, object]:
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": value}}
    secret = CustomObject("secret", manifest)
    return {"name": secret.object_name, "id": secret.id}


def test_inputs_and_outputs_are_recorded() -> None:
    recording = run(_program)
    recording.assert_resource(
        SECRET,
        "secret",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "plain"}},
    )
    recording.assert_counts({SECRET: 1})
    assert recording.outputs == {"name": "s", "id": "secret-id"}


def test_under_preview_ids_are_unknown_and_given_names_are_known() -> None:
    assert run(_program, preview=True).outputs == {"name": "s", "id": UNKNOWN}


def test_a_missing_or_additional_resource_breaks_the_seal() -> None:
    with pytest.raises(AssertionError):
        run(_program).assert_counts({})
    with pytest.raises(AssertionError, match="0 resources"):
        run(_program).one(SECRET, "other")


def test_secrets_are_found_by_path_and_missed_ones_are_told() -> None:
    marked = run(lambda: _program(pulumi.Output.secret("hunter2")))
    marked.assert_secrets(("secret", "stringData.key"))
    marked.assert_no_clear("hunter2")
    clear = run(lambda: _program("hunter2"))
    clear.assert_secrets()
    with pytest.raises(AssertionError, match="in the clear"):
        clear.assert_no_clear("hunter2")


def test_an_error_of_the_program_comes_out() -> None:
    def broken() -> None:
        raise LookupError("no such pool")

    with pytest.raises(LookupError, match="no such pool"):
        run(broken)


def test_runs_do_not_see_each_other_and_leave_no_loop() -> None:
    recordings: list[Recording] = [run(_program) for _ in range(3)]
    assert [len(recording.resources) for recording in recordings] == [1, 1, 1]
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
