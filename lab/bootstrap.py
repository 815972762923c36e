"""The project's virtualenv, made and kept up to date by the system's Python alone.

    python3 lab/bootstrap.py          make or update .venv; silent when it is up to date
    python3 lab/bootstrap.py --lock   resolve the requirements afresh and rewrite constraints.txt

It runs before anything is installed, possibly under a Python that is too old, so it uses the standard
library only and syntax that an old Python still reads. Runs at the same time wait for each other; an
interrupted one is noticed by the next, which starts the virtualenv over.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIREMENTS = "requirements-dev.txt"
CONSTRAINTS = "constraints.txt"
INPUTS = ("requirements.txt", REQUIREMENTS, CONSTRAINTS)
OLDEST_PYTHON = (3, 11)
STAMP = ".gpu-platform-stamp"
UNFINISHED = ".gpu-platform-unfinished"
INSTALLERS = frozenset({"pip", "setuptools", "wheel"})
HEARTBEAT_SECONDS = 15
HEADER = "# Every version of the virtualenv, direct and transitive; written by `make lock`.\n"


class BootstrapError(Exception):
    """A failure with everything the user needs to go on; printed in the form of the lab's own errors."""

    def __init__(self, what: str, where: str, why: str, fix: str) -> None:
        super().__init__(f"{what}\n  where: {where}\n  why:   {why}\n  next:  {fix}")


def main(arguments: list[str]) -> int:
    """Make or update the virtualenv, or with ``--lock`` rewrite the constraints.

    Returns:
        0, or 1 after a told failure, or 130 after Ctrl-C.
    """
    try:
        check_python(sys.version_info[:3])
        rewrite_constraints() if arguments == ["--lock"] else ensure_virtualenv()
    except BootstrapError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("interrupted; run the same command again")
        return 130
    return 0


def check_python(version: tuple[int, ...]) -> None:
    """Refuse a Python the project does not support."""
    if tuple(version[:2]) < OLDEST_PYTHON:
        found = ".".join(str(part) for part in version[:3])
        raise BootstrapError(
            f"Python {found} is too old",
            sys.executable,
            "the project needs Python 3.11 or later",
            "install it (Debian 12: `apt-get install python3 python3-venv`), first on PATH as python3",
        )


def ensure_virtualenv() -> None:
    """Make `.venv` what the requirements and constraints say; nothing to do takes a few milliseconds."""
    venv = os.path.join(REPOSITORY, ".venv")
    key = virtualenv_key()
    if read(os.path.join(venv, STAMP)) == key:
        return
    with locked():
        if read(os.path.join(venv, STAMP)) == key:
            return
        if os.path.islink(venv):  # what it points to may be in use elsewhere
            raise BootstrapError("`.venv` is a link to another one", venv, os.path.realpath(venv), "rm .venv")
        started = time.monotonic()
        remove(os.path.join(venv, STAMP))
        python = make_virtualenv(venv)
        write(os.path.join(venv, UNFINISHED), "")
        install_requirements(python)
        remove_strangers(python)
        remove(os.path.join(venv, UNFINISHED))
        write(os.path.join(venv, STAMP), key)
        say(f"virtualenv ready after {time.monotonic() - started:.0f} s")


def virtualenv_key() -> str:
    """Hash of the requirements, the constraints and the version of Python."""
    digest = hashlib.sha256(sys.version.encode())
    for name in INPUTS:
        path = os.path.join(REPOSITORY, name)
        text = read(path)
        if text is None:
            raise BootstrapError(
                f"{name} is missing", REPOSITORY, "the checkout is incomplete", f"git checkout -- {name}"
            )
        digest.update(f"{name}:{len(text)}:{text}".encode())
    return digest.hexdigest()


def make_virtualenv(venv: str) -> str:
    """A virtualenv of this Python: kept when whole, started over when not.

    Returns:
        Its interpreter.
    """
    python = os.path.join(venv, "bin", "python")
    if os.path.exists(os.path.join(venv, UNFINISHED)):
        say(".venv: an earlier run was interrupted; starting over")
    elif os.path.exists(python) and run([python, "-c", PRINT_VERSION])[1] == sys.version:
        return python
    try:
        import ensurepip  # noqa: F401, PLC0415 - Debian ships it apart, so its absence is told
        import venv as virtualenv  # noqa: PLC0415
    except ImportError as error:
        raise BootstrapError(
            "Python's venv module is missing",
            sys.executable,
            str(error),
            "apt-get install python3-venv, then run the command again",
        ) from error
    say(f"making .venv with Python {sys.version.split()[0]}")
    try:
        os.makedirs(venv, exist_ok=True)
        write(os.path.join(venv, UNFINISHED), "")
        virtualenv.EnvBuilder(with_pip=True, clear=True, symlinks=True).create(venv)
    except Exception as error:
        raise BootstrapError(
            "the virtualenv cannot be made",
            venv,
            str(error),
            "check free space and permissions, then run again",
        ) from error
    return python


PRINT_VERSION = "import sys; sys.stdout.write(sys.version)"


def install_requirements(python: str) -> None:
    """Install what is missing or differs, every version held by the constraints."""
    constraints = os.path.join(REPOSITORY, CONSTRAINTS)
    requirements = os.path.join(REPOSITORY, REQUIREMENTS)
    say(f"installing {REQUIREMENTS} under {CONSTRAINTS}")
    argv = [python, "-m", "pip", "install", "--retries", "2", "-r", requirements, "-c", constraints]
    code, output = run(argv, heartbeat="installing")
    if code:
        raise pip_failure(output)


def remove_strangers(python: str) -> None:
    """Uninstall packages that are in the virtualenv but not in the constraints."""
    code, output = run([python, "-m", "pip", "freeze"])
    if code:
        raise pip_failure(output)
    allowed = {pinned_name(line) for line in (read(os.path.join(REPOSITORY, CONSTRAINTS)) or "").splitlines()}
    present = {pinned_name(line) for line in output.splitlines() if "==" in line}
    strangers = sorted(present - allowed - INSTALLERS)
    if strangers:
        say(f"removing {len(strangers)} packages that are not in {CONSTRAINTS}")
        code, output = run([python, "-m", "pip", "uninstall", "--yes", *strangers])
        if code:
            raise pip_failure(output)


def rewrite_constraints() -> None:
    """Resolve the requirements in a fresh virtualenv, free of the old constraints, and write the result."""
    import json  # noqa: PLC0415 - the common run has no use for these
    import tempfile  # noqa: PLC0415

    with locked(), tempfile.TemporaryDirectory(prefix="gpu-platform-lock-") as directory:
        python = make_virtualenv(os.path.join(directory, "venv"))
        report = os.path.join(directory, "report.json")
        say(f"resolving {REQUIREMENTS}")
        argv = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--retries", "2"]
        requirements = os.path.join(REPOSITORY, REQUIREMENTS)
        code, output = run([*argv, "--report", report, "-r", requirements], heartbeat="resolving")
        if code:
            raise pip_failure(output)
        rows = [row["metadata"] for row in json.loads(read(report) or "{}")["install"]]
    rows.sort(key=lambda row: row["name"].casefold())
    pins = [f"{row['name']}=={row['version']}" for row in rows]
    write(os.path.join(REPOSITORY, CONSTRAINTS), HEADER + "".join(f"{pin}\n" for pin in pins))
    say(f"{CONSTRAINTS}: {len(pins)} versions written")


def pinned_name(line: str) -> str:
    """Normalised package name of a `name==version` line."""
    import re  # noqa: PLC0415

    return re.sub(r"[-_.]+", "-", line.split("==", maxsplit=1)[0].strip().lower())


def pip_failure(output: str) -> BootstrapError:
    """What pip's output means and what to do about it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines[-3:]
    text = output.lower()
    fix = "read the message above; `make lock` resolves the requirements afresh"
    if "no space left" in text:
        fix = "free space on the disk, then run the command again"
    elif any(sign in text for sign in ("retrying (", "name resolution", "connection", "timed out", "ssl")):
        fix = "make the Python package index reachable (`pip config list` shows which), then run again"
    return BootstrapError(
        "the Python packages cannot be installed",
        f"{REQUIREMENTS}, {CONSTRAINTS}",
        "\n         ".join(errors)[-1500:] or "pip said nothing",
        fix,
    )


def run(argv: list[str], heartbeat: str = "") -> tuple[int, str]:
    """Run a program to its end and keep its output; say now and then that it still runs."""
    import subprocess  # noqa: PLC0415

    started = time.monotonic()
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=REPOSITORY,
    ) as child:
        while True:
            try:
                output, _ = child.communicate(timeout=HEARTBEAT_SECONDS)
            except subprocess.TimeoutExpired:
                if heartbeat:
                    say(f"still {heartbeat}, {time.monotonic() - started:.0f} s")
            except BaseException:
                child.terminate()
                raise
            else:
                return child.returncode, output


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Hold this checkout's lock, which lies in the cache; the kernel frees it when this process ends."""
    import fcntl  # noqa: PLC0415

    cache = os.environ.get("GPU_PLATFORM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gpu-platform"
    )
    checkout = hashlib.sha256(REPOSITORY.encode()).hexdigest()[:16]
    path = os.path.join(cache, "locks", f"venv-{checkout}.lock")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        fix = "set GPU_PLATFORM_CACHE to a writable directory"
        raise BootstrapError("the cache is not writable", path, str(error), fix) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run prepares this checkout's .venv; waiting")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def say(text: str) -> None:
    """One line of progress."""
    print(f"bootstrap: {text}", file=sys.stderr, flush=True)


def read(path: str) -> str | None:
    """Content of a file, or None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def write(path: str, text: str) -> None:
    """Write a file in one step."""
    with open(f"{path}.draft", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.draft", path)


def remove(path: str) -> None:
    """Remove a file that may be absent."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
