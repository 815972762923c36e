"""Running the user's program."""

import json
import os
import signal
from pathlib import Path

from pulumi.runtime.proto import language_pb2

from lab.errors import LabError
from lab.toolchain.language import runner
from lab.toolchain.language.process import Children, OnCancel
from lab.toolchain.language.program import from_info, interpreter

RUNNER = Path(runner.__file__)


def environment(request: language_pb2.RunRequest) -> dict[str, str]:
    """The engine's environment with the stack's configuration and the names of its secrets."""
    return {
        **os.environ,
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
    }


def command(request: language_pb2.RunRequest, python: Path, engine: str) -> list[str]:
    """The runner's command line; configuration is not part of it."""
    program = from_info(request.info)
    return [
        *(str(python), "-u", str(RUNNER)),
        *("--monitor", request.monitor_address, "--engine", engine),
        *("--project", request.project, "--stack", request.stack, "--organization", request.organization),
        *("--root", str(program.root), "--pwd", request.pwd, "--parallel", str(request.parallel)),
        *(["--dry-run"] if request.dryRun else []),
        *(str(program.target), *request.args),
    ]


def run(
    request: language_pb2.RunRequest, engine: str, children: Children, on_cancel: OnCancel
) -> language_pb2.RunResponse:
    """Run the program to its end.

    Args:
        request: What to run and against which monitor.
        engine: Address of the engine.
        children: Holds the process, so that the host can end it.
        on_cancel: Registers what to do when the engine withdraws its request.

    Returns:
        ``bail`` when the user has been told what is wrong; ``error`` with the reason otherwise.
    """
    if request.attach_debugger:
        return language_pb2.RunResponse(
            error="this language host cannot attach a debugger; run again without --attach-debugger"
        )
    try:
        python = interpreter(from_info(request.info))
    except LabError as error:
        return language_pb2.RunResponse(error=str(error))
    process = children.start(
        command(request, python, engine),
        cwd=Path(request.pwd),
        environment=environment(request),
        piped=False,
        ends_by=signal.SIGINT,
    )
    on_cancel(lambda: children.interrupt(process))
    code = children.finished(process)
    if code in {0, runner.SHOWN}:
        return language_pb2.RunResponse(bail=code == runner.SHOWN)
    if code in {runner.INTERRUPTED, -signal.SIGINT}:
        return language_pb2.RunResponse(bail=True)
    return language_pb2.RunResponse(error=f"the program's interpreter ended with code {code}")
