"""Pinned Go modules in the lab's own module cache, found without running Go."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.errors import LabError
from lab.paths import REPOSITORY, Paths
from lab.process import run

MODULES = REPOSITORY / "lab" / "toolchain" / "modules"
# File beside a module's go.mod with its build tags, by commas; most modules have none.
BUILD_TAGS = "build-tags"
# Static programs, the same whatever compilers the machine has, that run in images without a C library.
GO_SETTINGS: Mapping[str, str] = {
    "GOFLAGS": "-buildvcs=false -modcacherw -trimpath",
    "GOWORK": "off",
    "CGO_ENABLED": "0",
}
_DOWNLOAD_SECONDS = 900
_FOREIGN = ("GOOS", "GOARCH", "GOEXPERIMENT", "GOTMPDIR")


def go_environment(paths: Paths) -> dict[str, str]:
    """This process's environment with the lab's Go settings laid over it.

    One module cache and one build cache for all modules, and none of the user's cross-compiling settings.
    ``GOTOOLCHAIN`` and the proxy settings stay.
    """
    own = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return own | {
        "GOMODCACHE": str(paths.go / "mod"),
        "GOCACHE": str(paths.go / "build"),
        **GO_SETTINGS,
    }


def required_version(go_mod: str, upstream: str) -> str:
    """Version of ``upstream`` that the text of a ``go.mod`` asks for.

    Raises:
        LabError: The module is not required there.
    """
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(upstream)}\s+(v\S+)", go_mod, re.MULTILINE)
    if found is None:
        raise LabError(
            f"module {upstream} is not pinned",
            where="lab/toolchain/modules",
            why="its go.mod has no requirement for it",
            fix="add the requirement, or correct `upstream` in versions.toml",
        )
    return found.group(1)


def escaped(path: str) -> str:
    """A module path as the module cache writes it: capitals as ``!`` and the small letter."""
    return re.sub(r"[A-Z]", lambda letter: f"!{letter.group().lower()}", path)


def module_directory(paths: Paths, module: str, upstream: str) -> tuple[Path, str]:
    """Directory of a pinned upstream module and its version; downloaded when absent.

    Args:
        paths: The lab's directories.
        module: Directory below ``lab/toolchain/modules`` that pins it.
        upstream: Path of the module.
    """
    version = required_version((MODULES / module / "go.mod").read_text(), upstream)
    directory = paths.go / "mod" / f"{escaped(upstream)}@{version}"
    if not directory.is_dir():
        _download(go_environment(paths), module, upstream)
    return directory, version


def _download(environment: Mapping[str, str], module: str, upstream: str) -> None:
    """Have Go fetch one module at the version its pinning module selects."""
    try:
        done = run(
            ["go", "mod", "download", upstream],
            env=environment,
            cwd=MODULES / module,
            timeout_seconds=_DOWNLOAD_SECONDS,
        )
        problem = done.stderr.strip() if done.returncode else ""
    except FileNotFoundError:
        problem = "no `go` on PATH"
    except subprocess.TimeoutExpired:
        problem = f"no answer within {_DOWNLOAD_SECONDS} s"
    if problem:
        raise LabError(
            f"module {upstream} could not be downloaded",
            where=f"lab/toolchain/modules/{module}",
            why=problem[-600:],
            fix="make the Go module proxy reachable (`go env GOPROXY`), then run the command again",
        )
