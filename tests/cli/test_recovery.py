"""What a killed run left is mended; what a living run holds is respected."""

import json
import os
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from cli.context import Context
from cli.recovery import locks, recover
from lab.errors import LabError
from lab.paths import Paths
from lab.progress import Progress

DEAD_PID = 2**22 + 1  # above the kernel's largest process id


@dataclass
class Engine:
    """A context whose Pulumi answers from a script and notes what it was asked."""

    paths: Paths
    pending: list[dict[str, Any]] = field(default_factory=list)
    readable: bool = True
    env: str = "dev"
    on_lab: bool = True
    asked: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def state_file(self) -> Path:
        return self.paths.backend / "dev.json"

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.asked.append(arguments)
        if arguments[:2] == ("stack", "export"):
            state = {"deployment": {"pending_operations": self.pending}}
            code = 0 if self.readable else 255
            return subprocess.CompletedProcess(
                arguments, code, json.dumps(state), "failed to load checkpoint: EOF"
            )
        return subprocess.CompletedProcess(arguments, 0, "", "")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(paths=Paths(cache=tmp_path / "cache", state=tmp_path / "state"))


def _lock(engine: Engine, content: str) -> Path:
    directory = engine.paths.backend / ".pulumi" / "locks" / "organization" / "gpu-platform" / "dev"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "0b.json"
    path.write_text(content)
    return path


def _recover(engine: Engine) -> list[str]:
    lines: list[str] = []
    recover(cast("Context", engine), Progress(write=lines.append))
    return lines


def test_nothing_to_mend_asks_only_for_the_state(engine: Engine) -> None:
    assert _recover(engine) == []
    assert [arguments[0] for arguments in engine.asked] == ["stack"]


def test_the_lock_of_a_dead_process_of_this_host_goes(engine: Engine) -> None:
    path = _lock(engine, json.dumps({"pid": DEAD_PID, "hostname": socket.gethostname()}))
    assert any(str(DEAD_PID) in line for line in _recover(engine))
    assert not path.exists()


def test_a_reused_process_id_is_not_the_holder(engine: Engine) -> None:
    path = _lock(engine, json.dumps({"pid": os.getpid(), "hostname": socket.gethostname()}))
    _recover(engine)
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [json.dumps({"pid": DEAD_PID, "hostname": "another-host"}), "", "{", "[]", "7", '{"pid": "abc"}'],
    ids=["another host", "empty", "cut off", "a list", "a number", "a pid of letters"],
)
def test_a_lock_whose_owner_cannot_be_judged_stays(engine: Engine, content: str) -> None:
    path = _lock(engine, content)
    with pytest.raises(LabError, match="another Pulumi run holds the stack"):
        _recover(engine)
    assert path.exists()
    assert len(locks(cast("Context", engine))) == 1


def test_pending_operations_are_named_and_dropped(engine: Engine) -> None:
    urn = "urn:pulumi:dev::gpu-platform::kubernetes:core/v1:Node::pool-a100-b0-r0-n0"
    resource = {"urn": urn, "type": "kubernetes:core/v1:Node", "inputs": {}}
    engine.pending = [{"type": "creating", "resource": resource}]
    assert any("pool-a100-b0-r0-n0" in line for line in _recover(engine))
    assert any("--clear-pending-creates" in arguments for arguments in engine.asked)


def test_a_half_written_lock_is_cleared_once_nobody_writes_it(engine: Engine) -> None:
    draft = _lock(engine, "").rename(engine.paths.backend / "draft")
    place = _lock(engine, "").with_name("0b.json.18ec.tmp")
    _lock(engine, "").unlink()
    draft.rename(place)
    _recover(engine)
    assert place.exists(), "it may be written just now"
    os.utime(place, (time.time() - 60,) * 2)
    (line,) = _recover(engine)
    assert "half-written lock 0b.json.18ec.tmp" in line
    assert not place.exists()


def test_a_state_that_cannot_be_read_is_told_with_the_way_back(engine: Engine) -> None:
    engine.readable = False
    engine.paths.backend.mkdir(parents=True)
    (engine.paths.backend / "dev.json.bak").write_text('{"checkpoint": {"latest": {}}}')
    with pytest.raises(LabError, match=r"dev\.json\.bak"):
        _recover(engine)
