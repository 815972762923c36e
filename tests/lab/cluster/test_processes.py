"""Processes are told apart by pid, start time and boot."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from lab.cluster.processes import (
    Identity,
    alive,
    identify,
    read_identity,
    send,
    stat_fields,
    wait_gone,
    with_arguments,
)

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_a_process_is_recognised_and_a_stranger_with_its_pid_is_not() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert alive(me)
    assert not alive(replace(me, start_time=me.start_time - 1))
    assert not alive(replace(me, boot_id="another boot"))
    assert not alive(None)


def test_a_stale_record_kills_no_stranger() -> None:
    with subprocess.Popen(SLEEP) as process:
        identity = identify(process.pid)
        assert identity is not None
        send(replace(identity, start_time=identity.start_time + 1), signal.SIGKILL)
        time.sleep(0.1)
        assert process.poll() is None
        send(identity, signal.SIGKILL)
        # Not reaped yet: a zombie counts as gone.
        assert wait_gone(identity, 5)
        assert process.wait() == -signal.SIGKILL
        send(identity, signal.SIGKILL)


def test_names_with_blanks_and_parentheses(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/stat").write_text("7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 2\n")
    assert stat_fields(7, tmp_path)[0] == "S"
    assert stat_fields(7, tmp_path)[19] == "4242"
    assert stat_fields(8, tmp_path) == []


def test_cut_off_records_are_none(tmp_path: Path) -> None:
    path = tmp_path / "identity.json"
    assert read_identity(path) is None
    for text in ("", "{", "[]", '{"pid": 1}', '{"pid": "x", "start_time": 1, "boot_id": ""}'):
        path.write_text(text)
        assert read_identity(path) is None
    path.write_text(Identity(pid=1, start_time=2, boot_id="b").to_json())
    assert read_identity(path) == Identity(pid=1, start_time=2, boot_id="b")


def test_processes_are_found_by_whole_arguments_only() -> None:
    code = "import time; print(flush=True); time.sleep(60)"
    argv = [sys.executable, "-c", code, "mark-of-a-test", "second"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            # Its command line is only there some time after the start.
            process.stdout.readline()
            assert [one.pid for one in with_arguments("mark-of-a-test", "second")] == [process.pid]
            assert with_arguments("mark-of-a") == []
            assert with_arguments("mark-of-a-test", "third") == []
        finally:
            process.kill()
