"""Running policy packs and provider plug-ins that are written in Python."""

from collections.abc import Iterator
from pathlib import Path

from pulumi.runtime.proto import language_pb2

from lab.errors import LabError
from lab.toolchain.language.process import Children, OnCancel, lines
from lab.toolchain.language.program import from_info, interpreter


def run_plugin(
    request: language_pb2.RunPluginRequest, children: Children, on_cancel: OnCancel
) -> Iterator[language_pb2.RunPluginResponse]:
    """Run a plug-in and stream its output; the last message is its exit code.

    Args:
        request: What to run, with which arguments and environment.
        children: Holds the process, so that the host can end it.
        on_cancel: Registers what to do when the engine withdraws its request.

    Raises:
        LabError: No interpreter, or a debugger was asked for.
    """
    if request.attach_debugger:
        raise LabError(
            f"cannot attach a debugger to plug-in {request.name or request.info.program_directory}",
            where="Python language host",
            why="this host runs plug-ins without a debugger",
            fix="run again without --attach-debugger",
        )
    program = from_info(request.info)
    process = children.start(
        [str(interpreter(program)), "-u", str(program.target), *request.args],
        cwd=Path(request.pwd),
        environment=dict(entry.split("=", 1) for entry in request.env if "=" in entry),
    )
    on_cancel(lambda: children.interrupt(process))
    for name, line in lines(process):
        yield (
            language_pb2.RunPluginResponse(stdout=line)
            if name == "stdout"
            else language_pb2.RunPluginResponse(stderr=line)
        )
    yield language_pb2.RunPluginResponse(exitcode=children.finished(process))
