"""Exit codes and the one place that turns failures into them."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

from cli.failures import disk_full
from lab.errors import LabError
from lab.paths import current

DEBUG_VARIABLE = "GPU_PLATFORM_DEBUG"


class Exit(IntEnum):
    """Exit codes, documented in docs/operations.md."""

    OK = 0
    FAILED = 1
    SETTINGS = 2
    MACHINE = 3
    INTERRUPTED = 130


class Stop(Exception):
    """Ends the command with a code after its message was shown."""

    def __init__(self, code: Exit) -> None:
        self.code = code
        super().__init__(code.name)


@contextmanager
def told() -> Iterator[None]:
    """Turn every failure into its message and exit code; a traceback only with GPU_PLATFORM_DEBUG=1."""
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
        f"error: {type(error).__name__}: {error}\n  this is a defect of gpu-platform; "
        f"see where with {DEBUG_VARIABLE}=1 and report it",
        file=sys.stderr,
    )
    sys.exit(Exit.FAILED)
