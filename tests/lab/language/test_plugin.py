"""Running a plug-in, without an engine."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import language_pb2

from lab.errors import LabError
from lab.toolchain.language.plugin import run_plugin
from lab.toolchain.language.process import Children


def request(
    directory: Path, *, virtualenv: str = "", attach_debugger: bool = False
) -> language_pb2.RunPluginRequest:
    """What the engine sends for a plug-in in a directory."""
    options = struct_pb2.Struct()
    options.update({"virtualenv": virtualenv} if virtualenv else {})
    info = language_pb2.ProgramInfo(
        root_directory=str(directory), program_directory=str(directory), entry_point=".", options=options
    )
    environment = [f"PATH={os.environ['PATH']}", "GIVEN=x=y"]
    return language_pb2.RunPluginRequest(
        info=info,
        pwd=str(directory.parent),
        args=["127.0.0.1:1"],
        env=environment,
        attach_debugger=attach_debugger,
    )


def test_output_is_streamed_and_the_exit_code_comes_last(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "__main__.py").write_text(
        "import os, sys\n"
        "print(sys.argv[1:], os.getcwd(), os.environ['GIVEN'], 'HOME' in os.environ)\n"
        "print('trouble', file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    told = list(run_plugin(request(plugin), Children(), lambda _: None))
    assert b"".join(item.stdout for item in told) == f"['127.0.0.1:1'] {tmp_path} x=y False\n".encode()
    assert b"".join(item.stderr for item in told) == b"trouble\n"
    assert [item.exitcode for item in told if item.WhichOneof("output") == "exitcode"] == [3]
    assert told[-1].WhichOneof("output") == "exitcode"


def test_a_withdrawn_request_ends_the_plug_in(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    withdraw: list[Callable[[], None]] = []
    told = run_plugin(request(tmp_path), Children(), withdraw.append)
    assert next(told).stdout == b"up\n"
    withdraw[0]()
    assert [item.exitcode for item in told] == [-15]


def test_a_debugger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot attach a debugger"):
        list(run_plugin(request(tmp_path, attach_debugger=True), Children(), lambda _: None))


def test_a_missing_virtualenv_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="gone/bin/python"):
        list(run_plugin(request(tmp_path, virtualenv="gone"), Children(), lambda _: None))
