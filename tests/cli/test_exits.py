"""Every failure ends with its message and its documented code; a defect tells where its traceback lies."""

import os
import re
import stat
from pathlib import Path

import pytest

from cli.exits import DEBUG_VARIABLE, Exit, Stop, debugged, told
from lab.errors import LabError
from lab.paths import REPOSITORY, STATE_VARIABLE


def _table() -> dict[int, str]:
    text = (REPOSITORY / "docs" / "operations.md").read_text()
    section = text.split("## Exit codes")[1].split("\n## ")[0]
    return {
        int(code): meaning for code, meaning in re.findall(r"^\| (\d+) \| (.*?) \|$", section, re.MULTILINE)
    }


def test_the_documented_codes_are_those_of_the_code() -> None:
    assert _table() == {code.value: code.meaning for code in Exit}


@pytest.mark.parametrize(
    ("failure", "code", "text"),
    [
        (Stop(Exit.SETTINGS), 2, ""),
        (Stop(Exit.MACHINE), 3, ""),
        (LabError("it broke", where="here", why="so", fix="mend it"), 1, "error: it broke"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again"),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_each_failure_has_its_code(
    failure: BaseException, code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, told():
        raise failure
    assert ended.value.code == code
    assert text in capsys.readouterr().err


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    monkeypatch.delenv(DEBUG_VARIABLE, raising=False)
    return tmp_path


def _defect() -> None:
    raise ValueError("no good: password=hunter2-hunter2")


def test_a_defect_shows_no_traceback_and_tells_where_it_lies(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "logs").mkdir()
    with pytest.raises(SystemExit) as ended, told():
        _defect()
    shown = capsys.readouterr().err
    log = state / "logs" / "cli-debug.log"
    assert ended.value.code == 1
    assert "Traceback" not in shown
    assert str(log) in shown
    assert "_defect" in log.read_text()
    assert "hunter2" not in shown + log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_without_a_place_of_the_lab_the_log_lies_among_temporary_files(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del state
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(place))
    with pytest.raises(SystemExit), told():
        _defect()
    log = place / f"gpu-platform-{os.getuid()}-cli-debug.log"
    assert str(log) in capsys.readouterr().err
    assert log.exists()


def test_with_debug_the_traceback_comes(state: Path) -> None:
    del state
    debugged()
    with pytest.raises(ValueError, match="no good"), told():
        _defect()
