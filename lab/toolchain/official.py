"""Official releases already on this machine, used instead of a build when the version is exactly the pin."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.paths import Paths
from lab.pins import Tool
from lab.process import run
from lab.toolchain.cache import remembered

VERSION_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "pulumi": ("version",),
    "helm": ("version", "--template", "{{.Version}}"),
    "kubectl": ("version", "--client", "--output", "json"),
}
_SECONDS = 20
_VERSION = re.compile(r"v?\d+\.\d+\.\d+[-+.\w]*")


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where official programs may be.

    Args:
        path: Search path for programs.
        pulumi_home: The user's Pulumi home with its plug-ins.
    """

    path: str
    pulumi_home: Path


def surroundings() -> Surroundings:
    """The search path and Pulumi home of this process."""
    home = os.environ.get("PULUMI_HOME") or str(Path.home() / ".pulumi")
    return Surroundings(path=os.environ.get("PATH", os.defpath), pulumi_home=Path(home))


def find_official(paths: Paths, tool: Tool, around: Surroundings) -> Path | None:
    """An official program of exactly the pinned version, or None.

    What the lab itself put on a path (its own `bin` and plug-ins) is never taken for an official release.
    """
    if tool.name.startswith("pulumi-resource-"):
        return find_plugin(paths, tool.name.removeprefix("pulumi-resource-"), tool.version, around)
    if tool.name not in VERSION_ARGUMENTS:
        return None
    program = shutil.which(tool.name, path=_without_own(paths, around.path))
    if program is None or _reported(paths, tool.name, Path(program)) != tool.version.removeprefix("v"):
        return None
    return Path(program)


def find_plugin(paths: Paths, name: str, version: str, around: Surroundings) -> Path | None:
    """An installed resource plug-in of the user's Pulumi home; its directory name states the version."""
    if around.pulumi_home.resolve() == paths.pulumi_home.resolve():
        return None
    directory = around.pulumi_home / "plugins" / f"resource-{name}-v{version.removeprefix('v')}"
    program = directory / f"pulumi-resource-{name}"
    whole = program.is_file() and os.access(program, os.X_OK)
    return program if whole and not Path(f"{directory}.partial").exists() else None


def _without_own(paths: Paths, path: str) -> str:
    own = (paths.state.resolve(), paths.cache.resolve())
    kept = [
        entry
        for entry in path.split(os.pathsep)
        if entry and not any(Path(entry).resolve().is_relative_to(root) for root in own)
    ]
    return os.pathsep.join(kept)


def _reported(paths: Paths, name: str, program: Path) -> str:
    """Version a program reports, without the v; asked once per file, because some take a second."""
    status = program.resolve().stat()
    identity = f"{program} {status.st_mtime_ns} {status.st_size}"
    return remembered(paths.tools / "official.json", identity, lambda: _ask(name, program))


def _ask(name: str, program: Path) -> str:
    try:
        done = run([str(program), *VERSION_ARGUMENTS[name]], timeout_seconds=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = done.stdout
    if name == "kubectl":
        try:
            text = str(json.loads(text)["clientVersion"]["gitVersion"])
        except (ValueError, KeyError, TypeError):
            return ""
    found = _VERSION.search(text)
    return found.group().removeprefix("v") if found else ""
