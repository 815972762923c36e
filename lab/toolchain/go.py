"""Programs of ``versions.toml``: an official release where one is found, else built once into the cache."""

import time
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.pins import Tool
from lab.progress import Progress
from lab.toolchain.build import BUILD_FLAGS, compile_tools
from lab.toolchain.cache import key_of, locked, make_directory, partial_directory
from lab.toolchain.gohost import go_version
from lab.toolchain.modcache import BUILD_TAGS, GO_SETTINGS, MODULES
from lab.toolchain.official import Surroundings, find_official, surroundings


def ensure_tools(
    paths: Paths, names: Iterable[str], progress: Progress, around: Surroundings | None = None
) -> dict[str, Path]:
    """Find or build programs; those already there cost a few milliseconds.

    Two runs at once share the work: the second waits for a module the first is building. An interrupted
    build leaves nothing that could be taken for a program.

    Args:
        paths: The lab's directories.
        names: Names of tools in ``versions.toml``.
        progress: One line per build.
        around: Where official programs may be; this process's surroundings by default.

    Returns:
        Tool name → executable.

    Raises:
        LabError: A name is not pinned, Go is missing or too old, or a build failed.
    """
    pinned = pins.load().tools
    make_directory(paths.go)
    make_directory(paths.tools)
    found: dict[str, Path] = {}
    missing: dict[tuple[str, str], list[Tool]] = {}
    for name in names:
        tool = pinned.get(name)
        if tool is None:
            raise _unknown(name, pinned)
        program = find_official(paths, tool, around or surroundings()) or _built(paths, tool)
        if program is None:
            missing.setdefault((tool.module, tool.ldflags), []).append(tool)
        else:
            found[name] = program
    for tools in missing.values():
        found |= _build(paths, tools, progress)
    return found


def missing_tools(paths: Paths, around: Surroundings | None = None) -> list[str]:
    """Names of pinned tools that ``ensure_tools`` would have to build."""
    tools = pins.load().tools.values()
    here = around or surroundings()
    return [tool.name for tool in tools if not (find_official(paths, tool, here) or _built(paths, tool))]


def tool_key(tool: Tool, version: str) -> str:
    """Key of a build: the module's files and tags, the pin, the version of Go and how Go is told to build."""
    directory = MODULES / tool.module
    sources = [directory / name for name in ("go.mod", "go.sum", BUILD_TAGS)]
    sources += sorted(directory.glob("*.go"))
    files = [part for file in sources if file.exists() for part in (file.name, file.read_bytes())]
    return key_of([repr(astuple(tool)), version, *BUILD_FLAGS, *GO_SETTINGS.values(), *files])


def _place(paths: Paths, tool: Tool) -> Path:
    return paths.tools / f"{tool.name}-{tool_key(tool, go_version(paths, tool.module))}" / tool.name


def _built(paths: Paths, tool: Tool) -> Path | None:
    place = _place(paths, tool)
    return place if place.is_file() else None


def _build(paths: Paths, tools: list[Tool], progress: Progress) -> dict[str, Path]:
    """Build the tools of one module that nobody built while this run waited for the module's lock."""
    module = tools[0].module

    def waiting() -> None:
        progress.step(f"{module}: another run builds it; waiting")

    with locked(paths.tools / f".{module}.lock", waiting):
        found = {tool.name: place for tool in tools if (place := _built(paths, tool))}
        rest = [tool for tool in tools if tool.name not in found]
        if not rest:
            return found
        names = ", ".join(tool.name for tool in rest)
        progress.step(f"{names} {rest[0].version}: building (minutes the first time)")
        started = time.monotonic()
        with partial_directory(paths.tools, f"build-{module}") as work:
            built = compile_tools(paths, rest, work, progress)
            for tool in rest:
                found[tool.name] = _keep(_place(paths, tool), built[tool.name])
        progress.step(f"{names}: built in {time.monotonic() - started:.0f} s")
    return found


def _keep(place: Path, program: Path) -> Path:
    """Give a finished program its place in one step."""
    program.chmod(0o755)
    make_directory(place.parent)
    program.replace(place)
    return place


def _unknown(name: str, pinned: Iterable[str]) -> LabError:
    return LabError(
        f"tool {name!r} is not pinned",
        where="versions.toml, [tools]",
        why=f"known tools: {', '.join(sorted(pinned))}",
        fix="correct the name, or add the tool and its module below lab/toolchain/modules",
    )
