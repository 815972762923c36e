"""Exit codes and the one place that turns failures into them."""

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import NoReturn

from cli.failures import disk_full
from cli.support.redact import Redactor
from lab.errors import LabError
from lab.paths import current

DEBUG_VARIABLE = "GPU_PLATFORM_DEBUG"
_DEBUG_LOG = "cli-debug.log"


class Exit(IntEnum):
    """Exit codes; docs/operations.md has the same table."""

    OK = 0
    FAILED = 1
    SETTINGS = 2
    MACHINE = 3
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """What it tells a script."""
        return {
            Exit.OK: "done; for looking commands: all is well",
            Exit.FAILED: "failed, refused, or something isn't well",
            Exit.SETTINGS: "wrong settings or wrong use of the command; nothing was touched",
            Exit.MACHINE: "this machine can't; nothing was touched",
            Exit.INTERRUPTED: "interrupted; the same command goes on",
        }[self]


class Stop(Exception):
    """Ends the command with a code after its message was shown."""

    def __init__(self, code: Exit) -> None:
        self.code = code
        super().__init__(code.name)


@contextmanager
def told() -> Iterator[None]:
    """Turn every failure into its message and exit code; a traceback only with --debug."""
    try:
        yield
    except Stop as stop:
        sys.exit(stop.code)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(Exit.FAILED)
    except KeyboardInterrupt:
        print("\ninterrupted; run the same command again to go on", file=sys.stderr)
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        sys.exit(Exit.FAILED)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            _tell_defect(error)
        print(f"error: {disk_full(current())}", file=sys.stderr)
        sys.exit(Exit.FAILED)
    except Exception as error:
        _tell_defect(error)


def _tell_defect(error: Exception) -> NoReturn:
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    print(
        f"error: {type(error).__name__}: {Redactor().clean(str(error))}\n"
        f"  this is a defect of gpu-platform; report it with {_debug_log(error)}\n"
        "  (--debug before the command shows the same)",
        file=sys.stderr,
    )
    sys.exit(Exit.FAILED)


def debugged() -> None:
    """Show the traceback of a defect instead of only its message."""
    os.environ[DEBUG_VARIABLE] = "1"


def _debug_log(error: Exception) -> str:
    """Write the traceback where only this user reads it; where it lies, or that it couldn't be written."""
    text = Redactor().clean("".join(traceback.format_exception(error)))
    logs = current().logs
    for directory in (logs, Path(tempfile.gettempdir())):
        path = directory / (_DEBUG_LOG if directory == logs else f"gpu-platform-{os.getuid()}-{_DEBUG_LOG}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
        except OSError:
            continue
        return str(path)
    return "its traceback (no place to write it to)"
