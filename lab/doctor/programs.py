"""Programs of the host the lab calls, and how far its own programs are there."""

import importlib.util
import sys
from collections.abc import Mapping, Sequence

from lab.doctor.findings import Finding, error, ok, warning
from lab.doctor.machine import Machine
from lab.toolchain.gohost import go_directive, numbers
from lab.toolchain.modcache import MODULES

# Program → Debian package that holds it.
REQUIRED: Mapping[str, str] = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "openssl": "openssl",
    "dpkg": "dpkg",
    "apt-get": "apt",
    "git": "git",
}
OLDEST_PYTHON = (3, 11)
_SWITCHING_GO = (1, 21, 0)
_SECONDS = 60


def check_programs(machine: Machine) -> Finding:
    """Everything the lab calls by name, in one finding with one command."""
    missing = [name for name in REQUIRED if machine.which(name) is None]
    if not missing:
        return ok("programs", f"found {', '.join(REQUIRED)}")
    packages = sorted({REQUIRED[name] for name in missing})
    return error(
        "programs",
        f"not on PATH: {', '.join(missing)}",
        cause="the lab calls them to make namespaces, keys and packages",
        fix=f"apt-get install {' '.join(packages)}",
    )


def needed_go() -> str:
    """The highest Go version a module of the toolchain asks for."""
    modules = [file.parent.name for file in MODULES.glob("*/go.mod")]
    return max((go_directive(module) for module in modules), key=numbers)


def check_go(machine: Machine, needed: str) -> Finding:
    """A Go that builds every module, or one that may fetch such a Go itself."""
    if machine.which("go") is None:
        return error(
            "go",
            "Go is not installed",
            cause=f"the cluster's programs are built from Go modules that need Go {needed} or later",
            fix=f"install Go {needed} or later and put its bin directory on PATH",
        )
    answer = machine.ask(("go", "env", "GOVERSION", "GOTOOLCHAIN"), _SECONDS)
    version, switch = [*answer.output.splitlines(), "", ""][:2]
    if answer.code == 0 and numbers(version) >= numbers(needed):
        return ok("go", f"{version} (needed: {needed})")
    if answer.code == 0 and numbers(version) >= _SWITCHING_GO and switch.split("+")[0] in {"auto", "path"}:
        return warning(
            "go",
            f"{version} is older than {needed}",
            cause=f"GOTOOLCHAIN is {switch}, so Go will look for {needed} by itself",
            fix=f"install Go {needed} or later to do without that",
        )
    return error(
        "go",
        f"{version or 'Go'} is too old" if answer.code == 0 else "Go does not answer",
        cause=f"needed: {needed}" if answer.code == 0 else answer.output[-200:],
        fix=f"install Go {needed} or later, or `export GOTOOLCHAIN=auto` with Go 1.21 or later",
    )


def check_python(version: Sequence[int] = sys.version_info[:3], *, venv: bool | None = None) -> Finding:
    """The Python that makes the virtualenv, with its venv module."""
    found = ".".join(str(part) for part in version[:3])
    whole = (
        venv if venv is not None else all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))
    )
    if tuple(version[:2]) >= OLDEST_PYTHON and whole:
        return ok("python", f"Python {found} with venv")
    return error(
        "python",
        f"Python {found}{'' if whole else ' without venv'}",
        cause="the project runs in a virtualenv of Python 3.11 or later",
        fix="apt-get install python3 python3-venv",
    )


def check_tools(missing: Sequence[str] | None, total: int) -> Finding:
    """How many of the lab's programs are there; missing ones are built by the next start.

    Args:
        missing: Tools still to be built; None when that can't be told, for want of Go.
        total: Number of tools.
    """
    if missing is None or len(missing) == total:
        return ok("tools", f"none of {total} programs is built yet; `make up` builds them")
    if missing:
        return ok(
            "tools", f"{total - len(missing)} of {total} programs are there; to build: {', '.join(missing)}"
        )
    return ok("tools", f"all {total} programs are there")
