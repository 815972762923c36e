"""Pulumi's words of failure become what, where, why and the next command."""

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from cli import exits
from cli.context import Context
from cli.exits import Exit, told
from cli.failures import failure, known_failure, newest_backup
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths

# As Pulumi 3.274 prints them.
STATE = "error: failed to load checkpoint: place 1: unexpected end of JSON input\n"
PASSPHRASE = "error: getting stack configuration: get stack secrets manager: incorrect passphrase\n"
DISK = "error: writing /x/dev.json: write /x/dev.json: no space left on device\n"
WHOLE = json.dumps({"version": 3, "checkpoint": {"latest": {"resources": []}}})


@dataclass
class Place:
    """A context of a directory of the test's."""

    paths: Paths
    on_lab: bool = True
    env: str = "dev"

    @property
    def settings_file(self) -> Path:
        return REPOSITORY / "Pulumi.dev.yaml"

    @property
    def state_file(self) -> Path:
        return self.paths.backend / ".pulumi" / "stacks" / "gpu-platform" / "dev.json"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(paths=Paths(cache=tmp_path / "cache", state=tmp_path / "state"))
    found.state_file.parent.mkdir(parents=True)
    found.paths.cache.mkdir()
    return found


def _told(place: Place, output: str) -> LabError:
    return failure(cast("Context", place), "it failed", output)


def _backup(place: Place, name: str, text: str, age_seconds: int) -> Path:
    path = place.paths.backend / ".pulumi" / "backups" / "gpu-platform" / "dev" / name
    if name.endswith(".bak"):
        path = place.state_file.with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (10_000 - age_seconds,) * 2)
    return path


def test_a_broken_state_leads_to_the_newest_whole_copy(place: Place) -> None:
    place.state_file.write_text("{")
    _backup(place, "dev.json.bak", WHOLE, 30)
    newest = _backup(place, "dev.2.json", WHOLE, 20)
    _backup(place, "dev.3.json", WHOLE[:9], 10)
    _backup(place, "dev.4.json", '{"checkpoint": []}', 5)
    error = _told(place, STATE)
    assert error.where == str(place.state_file)
    assert "not whole (1 bytes): failed to load checkpoint" in error.why
    assert error.fix.startswith(f"cp {newest} {place.state_file} ")
    assert newest_backup(cast("Context", place)) == newest


@pytest.mark.parametrize(
    ("on_lab", "fix"), [(True, "down --force --env dev"), (False, "a backup of your own")]
)
def test_a_broken_state_without_a_copy(place: Place, on_lab: bool, fix: str) -> None:
    place.on_lab = on_lab
    assert fix in _told(place, STATE).fix


@pytest.mark.parametrize(
    ("on_lab", "fix"), [(True, "git checkout -- Pulumi.dev.yaml"), (False, "PULUMI_CONFIG_PASSPHRASE_FILE")]
)
def test_a_wrong_passphrase(place: Place, on_lab: bool, fix: str) -> None:
    place.on_lab = on_lab
    error = _told(place, PASSPHRASE)
    assert error.why == "the passphrase is not the one of this stack"
    assert fix in error.fix


def test_a_full_disk(place: Place) -> None:
    error = _told(place, DISK)
    assert error.where == str(place.paths.state)
    assert "MiB are free" in error.why
    assert str(place.paths.logs) in error.fix


def test_anything_else_is_told_in_pulumis_words(place: Place) -> None:
    error = _told(place, "error: something new")
    assert (error.why, error.fix) == ("error: something new", "make doctor")
    assert known_failure(cast("Context", place), "it failed", "error: something new") is None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_met_by_the_command_itself(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, told():
        raise OSError(number, os.strerror(number), "/x")
    assert ended.value.code == Exit.FAILED
    assert capsys.readouterr().err.startswith("error: the disk is full\n  where: ")


def test_another_failure_of_the_system_is_a_defect(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(exits.DEBUG_VARIABLE, raising=False)
    with pytest.raises(SystemExit), told():
        raise OSError(errno.EIO, "bad disk")
    assert "this is a defect of gpu-platform" in capsys.readouterr().err
