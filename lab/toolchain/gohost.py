"""The Go toolchain of this machine: which version builds a module, asked once and remembered."""

import os
import re
import shutil
from pathlib import Path

from lab.errors import LabError
from lab.paths import Paths
from lab.process import run
from lab.toolchain.cache import remembered
from lab.toolchain.modcache import MODULES, go_environment

_SECONDS = 300


def go_directive(module: str) -> str:
    """Lowest Go version a module of ``lab/toolchain/modules`` accepts, as its ``go.mod`` says."""
    found = re.search(r"^go (\S+)$", (MODULES / module / "go.mod").read_text(), re.MULTILINE)
    return found.group(1) if found else "1.26"


def numbers(version: str) -> tuple[int, ...]:
    """``go1.26.8`` or ``1.26`` as numbers for comparing; a release candidate counts as its release."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)


def go_version(paths: Paths, module: str) -> str:
    """Version of Go that will build a module, with ``GOTOOLCHAIN`` switching respected.

    The answer is kept beside the caches for as long as the `go` program is the same file, because asking
    costs more than a warm start may take.

    Raises:
        LabError: Go is missing, does not answer, or is too old.
    """
    directive = go_directive(module)
    program = shutil.which("go")
    if program is None:
        raise _failure("Go is not installed", f"no `go` on PATH; {module} needs Go {directive} or later")
    status = Path(program).resolve().stat()
    switch = os.environ.get("GOTOOLCHAIN", "")
    identity = f"{program} {status.st_mtime_ns} {status.st_size} {switch} {directive}"

    def ask() -> str:
        version = _ask(paths, module)
        if numbers(version) < numbers(directive):
            why = f"found {version} at {program}; {module} needs {directive} or later"
            raise _failure("Go is too old", why)
        return version

    return remembered(paths.go / "versions.json", identity, ask)


def _failure(what: str, why: str) -> LabError:
    fix = "install that Go and put its bin directory on PATH"
    if "too old" in what:
        fix += ", or `export GOTOOLCHAIN=auto` to let Go 1.21 or later fetch it"
    return LabError(what, where="toolchain", why=why, fix=fix)


def _ask(paths: Paths, module: str) -> str:
    done = run(
        ["go", "env", "GOVERSION"],
        env=go_environment(paths),
        cwd=MODULES / module,
        timeout_seconds=_SECONDS,
    )
    if done.returncode or not done.stdout.strip():
        raise _failure("Go does not answer", (done.stderr.strip() or "`go env GOVERSION` was empty")[-400:])
    return done.stdout.strip()
