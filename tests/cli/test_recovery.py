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

from cli import pending as pending_operations
from cli.context import Context
from cli.locks import locks
from cli.pending import Fate, Pending, settle
from cli.recovery import hint, recover, survey, with_adopted
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
        return self.paths.backend / ".pulumi" / "stacks" / "gpu-platform" / "dev.json"

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
    engine.state_file.parent.mkdir(parents=True)
    engine.state_file.with_suffix(".json.bak").write_text('{"checkpoint": {"latest": {}}}')
    with pytest.raises(LabError, match=r"dev\.json\.bak"):
        _recover(engine)


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "samples", "namespace": "jobs"}}
URN = "urn:pulumi:dev::gpu-platform::kubernetes:core/v1:ConfigMap::samples"


def _creating(of: str = "kubernetes:core/v1:ConfigMap", kind: str = "creating") -> dict[str, Any]:
    return {"type": kind, "resource": {"urn": URN, "type": of, "inputs": CONFIG_MAP}}


@pytest.mark.parametrize(
    ("metadata", "fate", "why"),
    [
        ({"labels": {"gpu-platform/managed-by": "pulumi"}}, Fate.ADOPT, "jobs/samples exists"),
        ({"labels": {"gpu-platform/managed-by": "helm"}}, Fate.FORGET, "exists and is not ours"),
        ({}, Fate.FORGET, "exists and is not ours"),
        (None, Fate.FORGET, "never came to be"),
    ],
    ids=["ours", "of another", "without labels", "missing"],
)
def test_a_pending_create_is_looked_up_by_its_fixed_name(
    metadata: dict[str, Any] | None, fate: Fate, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def look_up(api: Any, inputs: Any, name: str, namespace: str) -> Any:
        del api
        asked.append((inputs["kind"], name, namespace))
        return metadata

    monkeypatch.setattr(pending_operations, "_look_up", look_up)
    (found,) = settle([_creating()], cast("Any", object()))
    assert asked == [("ConfigMap", "samples", "jobs")]
    assert found.fate is fate
    assert why in found.why


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (_creating(kind="updating"), "the refresh reads how it is now"),
        (_creating(kind="deleting"), "the refresh reads how it is now"),
        (_creating("kubernetes:helm.sh/v3:Release"), "uninstalled"),
        (_creating("random:index/randomPassword:RandomPassword"), "nothing of it exists outside"),
        (_creating(), "can't be looked up now"),
    ],
)
def test_what_is_not_looked_up_is_forgotten_with_the_reason(operation: dict[str, Any], why: str) -> None:
    (found,) = settle([operation], None)
    assert found.fate is Fate.FORGET
    assert why in found.why


def test_what_exists_is_written_into_the_state_under_its_id() -> None:
    adopted = Pending(
        urn=URN,
        operation="creating",
        fate=Fate.ADOPT,
        why="",
        identity="jobs/samples",
        outputs={"__fieldManager": "pulumi-kubernetes-ab"},
    )
    other = _creating()
    other["resource"] = {**other["resource"], "urn": f"{URN}-2"}
    before = {
        "version": 3,
        "deployment": {"resources": [{"urn": "x"}], "pending_operations": [_creating(), other]},
    }
    after = with_adopted(before, {URN: adopted})["deployment"]
    assert after["resources"] == [
        {"urn": "x"},
        {
            **_creating()["resource"],
            "id": "jobs/samples",
            "outputs": {"__fieldManager": "pulumi-kubernetes-ab"},
        },
    ]
    assert after["pending_operations"] == [other]


def _state(engine: Engine, pending: list[dict[str, Any]]) -> None:
    path = engine.paths.backend / ".pulumi" / "stacks" / "gpu-platform" / "dev.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"checkpoint": {"latest": {"pending_operations": pending}}}))


def test_commands_that_mend_nothing_point_to_recover(engine: Engine) -> None:
    ctx = cast("Context", engine)
    assert hint(ctx) == ""
    _state(engine, [_creating()])
    assert "1 pending operation(s)" in hint(ctx)
    assert "python -m cli recover --env dev --dry-run" in hint(ctx)
    path = _lock(engine, json.dumps({"pid": DEAD_PID, "hostname": socket.gethostname()}))
    assert "1 lock(s) of dead processes and 1 pending" in hint(ctx)
    # Somebody else may be at work: then the pending operation is theirs.
    path.write_text(json.dumps({"pid": DEAD_PID, "hostname": "another-host"}))
    assert hint(ctx) == ""
    assert engine.asked == []


def test_a_survey_touches_nothing(engine: Engine) -> None:
    path = _lock(engine, json.dumps({"pid": DEAD_PID, "hostname": socket.gethostname()}))
    engine.pending = [_creating()]
    told = survey(cast("Context", engine)).told()
    assert told[0] == f"lock of dead process {DEAD_PID}: cleared"
    assert told[1].startswith("creating samples: forget")
    assert path.exists()
    assert [arguments[0] for arguments in engine.asked] == ["stack"]
