"""A stack knows its cluster: another one is healed in the lab and refused elsewhere."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from cli import identity, stack, up
from cli.context import Context
from components.contracts import ClusterAccess
from lab import api as lab_api
from lab.errors import LabError
from lab.paths import Paths
from lab.progress import Progress

ACCESS = ClusterAccess(kubeconfig="/x/kubeconfig", context="mine", identity="mine")


@dataclass
class Engine:
    """A context whose Pulumi does everything and notes what."""

    paths: Paths
    on_lab: bool = True
    env: str = "dev"
    asked: list[str] = field(default_factory=list)

    @property
    def state_file(self) -> Path:
        return self.paths.state / "dev.json"

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.asked.append(" ".join(arguments[:2]))
        return subprocess.CompletedProcess(arguments, 0, "{}", "")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(paths=Paths(cache=tmp_path / "cache", state=tmp_path / "state"))


@pytest.fixture
def uids(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """UIDs of the cluster, as it is asked for them one after the other; the last one stays."""
    answers: list[str | None] = ["old"]
    monkeypatch.setattr(identity, "uid_of", lambda *_: answers.pop(0) if len(answers) > 1 else answers[0])
    return answers


def _settle(engine: Engine) -> list[str]:
    lines: list[str] = []
    stack.settle_cluster(cast("Context", engine), Progress(write=lines.append), ACCESS)
    return lines


def _recorded(engine: Engine) -> str:
    return identity.record_file(cast("Context", engine)).read_text().strip()


@pytest.mark.usefixtures("uids")
def test_the_first_up_remembers_the_cluster(engine: Engine) -> None:
    assert _settle(engine) == []
    assert (_recorded(engine), engine.asked) == ("old", [])


def test_a_new_lab_is_noticed_and_healed(engine: Engine, uids: list[str | None]) -> None:
    _settle(engine)
    uids[:] = ["new"]
    (line,) = _settle(engine)
    assert "dropping from the state" in line
    assert (_recorded(engine), engine.asked) == ("new", ["refresh --yes"])


def test_a_cluster_that_does_not_answer_is_not_another_one(engine: Engine, uids: list[str | None]) -> None:
    _settle(engine)
    uids[:] = [None]
    assert _settle(engine) == []
    assert (_recorded(engine), engine.asked) == ("old", [])


def test_another_cluster_of_the_users_own_is_refused(engine: Engine, uids: list[str | None]) -> None:
    engine.on_lab = False
    _settle(engine)
    uids[:] = ["new"]
    with pytest.raises(LabError, match="built on another cluster"):
        _settle(engine)
    assert (_recorded(engine), engine.asked) == ("old", [])


def test_a_preview_on_another_cluster_is_refused(engine: Engine, uids: list[str | None]) -> None:
    _settle(engine)
    uids[:] = ["new"]
    with pytest.raises(LabError, match="another one than the stack was built on"):
        stack.prepare_for_reading(cast("Context", engine))


# Whether its data is there, what it answers, whether it is started, whether it holds the stack.
LABS = {
    "running": (True, ["old"], False, True),
    "stopped": (True, [None, "old"], True, True),
    "another": (True, ["new"], False, False),
    "another, stopped": (True, [None, "new"], True, False),
    "its directory deleted": (False, ["old"], False, False),
}


@pytest.mark.parametrize("lab", LABS.values(), ids=LABS)
def test_down_destroys_in_order_only_where_the_objects_are(
    engine: Engine,
    uids: list[str | None],
    monkeypatch: pytest.MonkeyPatch,
    lab: tuple[bool, list[str | None], bool, bool],
) -> None:
    data, answers, started, holds = lab
    _settle(engine)
    uids[:] = answers
    starts: list[str] = []
    monkeypatch.setattr(lab_api, "has_data", lambda _: data)
    monkeypatch.setattr(lab_api, "start", lambda *_: starts.append("start"))
    assert up._lab_holds_the_stack(cast("Context", engine), Progress(write=lambda _: None)) is holds
    assert bool(starts) is started


@pytest.mark.usefixtures("uids")
def test_a_stack_whose_cluster_is_gone_is_forgotten(engine: Engine) -> None:
    _settle(engine)
    stack.forget(cast("Context", engine), Progress(write=lambda _: None))
    assert engine.asked == ["stack rm"]
    assert not identity.record_file(cast("Context", engine)).parent.exists()


def test_no_cluster_has_no_identity(tmp_path: Path) -> None:
    assert identity.uid_of(str(tmp_path / "none"), "mine") is None
    (tmp_path / "broken").write_text("[")
    assert identity.uid_of(str(tmp_path / "broken"), "mine") is None
