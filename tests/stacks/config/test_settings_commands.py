"""`validate` and `schema` as users meet them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cli.settings_commands as commands
from cli.exits import Exit, Stop

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the dev settings that a test may spoil."""
    shutil.copy(REPOSITORY / "Pulumi.dev.yaml", tmp_path)
    monkeypatch.setattr(commands, "REPOSITORY", tmp_path)
    return tmp_path


def _spoil(checkout: Path) -> None:
    path = checkout / "Pulumi.dev.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("server: dgx-h100", "server: dgx-h10", 1), encoding="utf-8")


def test_good_settings_are_summed_up(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands.validate("dev")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "OK: Pulumi.dev.yaml"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "environment",
        "owner",
        "pools",
        "queues",
        "storage",
        "tracking",
        "samples",
    ]
    assert "h100 (4 x dgx-h100, 32 GPUs, infiniband-ndr)" in lines[3]
    assert sorted(path.name for path in checkout.iterdir()) == ["Pulumi.dev.yaml"]


def test_bad_settings_end_with_their_exit_code(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _spoil(checkout)
    with pytest.raises(Stop) as caught:
        commands.validate("dev")
    assert int(caught.value.code) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Pulumi.dev.yaml: 1 problem in the settings\n  - line ")
    assert "pools.h100.server: got 'dgx-h10'; accepted: a server of the catalogue" in shown.err


def test_bad_settings_as_json(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _spoil(checkout)
    with pytest.raises(Stop):
        commands.validate("dev", json_output=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["file"], len(told["problems"])) == (False, "Pulumi.dev.yaml", 1)
    problem = told["problems"][0]
    assert set(problem) == {"path", "line", "value", "accepted", "fix"}
    assert (problem["path"], problem["value"], problem["fix"]) == (
        "pools.h100.server",
        "'dgx-h10'",
        "did you mean 'dgx-h100'?",
    )


def test_an_unknown_environment(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Stop) as caught:
        commands.validate("prod")
    assert caught.value.code == Exit.SETTINGS
    assert "no file Pulumi.prod.yaml" in capsys.readouterr().err
    assert sorted(path.name for path in checkout.iterdir()) == ["Pulumi.dev.yaml"]


def test_a_stale_schema_is_told_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "schema.json"
    stale.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(commands, "REPOSITORY", tmp_path)
    monkeypatch.setattr(commands, "SCHEMA_FILE", stale)
    with pytest.raises(Stop) as caught:
        commands.schema(check=True)
    assert caught.value.code == Exit.FAILED
    assert stale.read_text(encoding="utf-8") == "{}"
    commands.schema()
    commands.schema(check=True)
    shown = capsys.readouterr()
    assert shown.out.splitlines() == ["schema.json written", "schema.json is up to date"]
    assert "make schema" in shown.err


def test_validating_imports_no_provider_and_no_engine() -> None:
    code = (
        "import sys; from cli.settings_commands import validate; validate('dev'); "
        "heavy = {'pulumi', 'pulumi_kubernetes', 'kubernetes'}; "
        "print([one for one in sys.modules if one.partition('.')[0] in heavy])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY, timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"
