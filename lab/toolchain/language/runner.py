"""Run by the program's own interpreter: joins one Pulumi program to the engine and runs it to its end.

It stands alone: the program's virtualenv need not hold this package. Configuration comes through the
environment, so that no secret is ever an argument. Ends with 0, or with 32 when the user knows what is wrong.
"""

import argparse
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHOWN = 32
INTERRUPTED = 130
CALLS_PER_RESOURCE = 4  # threads per resource in flight: registration, invokes, log and hook calls
ENGINE_GONE = "Resource monitor has terminated"
HIDDEN_FILES = ("<frozen runpy>", "<frozen importlib", __file__)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("monitor", "engine", "project", "stack", "organization", "root", "pwd"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("program")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _hidden_directories() -> tuple[str, ...]:
    import asyncio  # noqa: PLC0415  imports wait until SIGINT is handled
    import concurrent.futures  # noqa: PLC0415

    import grpc  # noqa: PLC0415
    import pulumi  # noqa: PLC0415

    modules = (asyncio, concurrent.futures, grpc, pulumi)
    site = Path(pulumi.__file__).parent.parent
    return (*(f"{Path(str(item.__file__)).parent}{os.sep}" for item in modules), f"{site}{os.sep}pulumi_")


def _users_frames(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    hidden = (*HIDDEN_FILES, *_hidden_directories())
    return [frame for frame in stack if not frame.filename.startswith(hidden)]


def users_trace(error: BaseException) -> str:
    """The error as Python shows it, with the user's frames only.

    Args:
        error: The error; causes and contexts are treated alike.
    """
    seen: set[int] = set()

    def strip(part: traceback.TracebackException | None) -> None:
        if part is None or id(part) in seen:
            return
        seen.add(id(part))
        kept = _users_frames(part.stack)
        # without a single frame of the user's, the header alone would promise one
        part.stack = traceback.StackSummary.from_list(kept) if kept else None  # type: ignore[assignment]
        for linked in (part.__cause__, part.__context__, *(part.exceptions or ())):
            strip(linked)

    told = traceback.TracebackException.from_exception(error)
    strip(told)
    return "".join(told.format()).rstrip()


def _original(error: BaseException) -> BaseException:
    """The error as the user's code raised it.

    The runtime raises an error again from itself, and a future awaited twice drops its traceback; then the
    runtime's own record of the first failed call still has it.
    """
    from pulumi.runtime.settings import SETTINGS  # noqa: PLC0415

    while error.__cause__ is not None and str(error.__cause__) == str(error):
        error = error.__cause__
    calls = SETTINGS.rpc_manager
    if calls.unhandled_exception is error and not _users_frames(traceback.extract_tb(error.__traceback__)):
        error.__traceback__ = calls.exception_traceback
    return error


def _tell(error: BaseException) -> int:
    import grpc  # noqa: PLC0415
    import pulumi  # noqa: PLC0415

    gone = isinstance(error, grpc.RpcError) and error.code() == grpc.StatusCode.UNAVAILABLE
    if gone or str(error).startswith(ENGINE_GONE):
        return SHOWN  # the engine is ending the deployment and has said why
    if isinstance(error, pulumi.RunError):
        pulumi.log.error(str(error))
        return SHOWN
    if isinstance(error, SystemExit):
        return _tell_exit(error)
    pulumi.log.error(f"the program failed:\n{users_trace(_original(error))}")
    return SHOWN


def _tell_exit(error: SystemExit) -> int:
    import pulumi  # noqa: PLC0415

    if error.code in {None, 0}:
        return 0
    pulumi.log.error(
        error.code if isinstance(error.code, str) else f"the program ended with exit code {error.code}"
    )
    return SHOWN


def _configure(arguments: argparse.Namespace) -> None:
    import pulumi  # noqa: PLC0415

    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            monitor=arguments.monitor,
            engine=arguments.engine,
            project=arguments.project,
            stack=arguments.stack,
            organization=arguments.organization,
            parallel=arguments.parallel,
            dry_run=arguments.dry_run,
            root_directory=arguments.root,
        )
    )
    # the SDK reads values from the environment by itself, but not which of them are secret
    pulumi.runtime.set_all_config(
        json.loads(os.environ["PULUMI_CONFIG"]), json.loads(os.environ["PULUMI_CONFIG_SECRET_KEYS"])
    )


def _program(arguments: argparse.Namespace) -> Callable[[], Any]:
    import runpy  # noqa: PLC0415

    target = Path(arguments.pwd, arguments.program).resolve()
    directory = target if target.is_dir() else target.parent
    # the first entry is this file's directory, which is none of the program's business
    sys.path[0] = str(directory)
    sys.argv = [str(target), *arguments.rest]
    return lambda: runpy.run_path(str(target), run_name="__main__") and None


def _run(arguments: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415
    import logging  # noqa: PLC0415
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    import pulumi  # noqa: PLC0415

    os.chdir(arguments.pwd)
    _configure(arguments)
    # every failure is told once, below; the loop would tell it again for each task that met it
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_default_executor(ThreadPoolExecutor(max_workers=max(arguments.parallel, 1) * CALLS_PER_RESOURCE))
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(_program(arguments)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the program raised is told to the user
        return _tell(error)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
    return 0


def main() -> None:
    """Run the program; end quietly when interrupted."""
    try:
        # the host blocks SIGINT so that it cannot strike before this line
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        code = _run(_arguments())
        sys.stdout.flush()
        sys.stderr.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)  # threads may still wait for the engine


if __name__ == "__main__":
    main()
