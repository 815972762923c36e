"""One run of ``go build``: progress while it works, a told failure when it does not."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lab.errors import LabError
from lab.paths import Paths
from lab.pins import Tool
from lab.process import ends_with_parent
from lab.progress import Progress
from lab.toolchain.cache import make_directory
from lab.toolchain.modcache import BUILD_TAGS, MODULES, go_environment, module_directory

# The linker drops debug information anyway: a tenth less time and a sixth less cache without it.
BUILD_FLAGS = ("-gcflags=all=-dwarf=false",)
_HEARTBEAT_SECONDS = 30
_TAIL_LINES = 15
_ROOMY_BYTES_PER_CORE = 2 * 2**30
_UPSTREAM_FILES = Path("cmd") / "pulumi-resource-kubernetes"
_CAUSES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no space left on device",), "free space on the disk of the cache"),
    (("signal: killed", "cannot allocate memory"), "free memory (a build needs about 4 GiB)"),
    (
        ("dial tcp", "no such host", "i/o timeout", "TLS handshake", "connection refused", "Bad Gateway"),
        "make the Go module proxy reachable (`go env GOPROXY`)",
    ),
    (("checksum mismatch", "SECURITY ERROR"), "a module differs from its pinned hash: find out why"),
)


def compile_tools(paths: Paths, tools: Sequence[Tool], work: Path, progress: Progress) -> dict[str, Path]:
    """Build tools of one module with one run of Go.

    Args:
        paths: The lab's directories.
        tools: Tools that share module and linker flags.
        work: Empty directory of this run; programs and Go's temporary files land there.
        progress: Told every half minute that the build still runs.

    Returns:
        Tool name → the finished program inside ``work``.
    """
    module = tools[0].module
    source = MODULES / module
    if tools[0].upstream:
        source = _with_upstream_files(paths, tools[0], work / "source")
    output = make_directory(work / "bin")
    scratch = make_directory(work / "tmp")
    single = output / tools[0].name if len(tools) == 1 else output
    argv = [
        "go",
        "build",
        *BUILD_FLAGS,
        "-ldflags",
        f"-s -w {tools[0].ldflags}".strip(),
        *_tags(module),
        "-o",
        f"{single}{os.sep if len(tools) > 1 else ''}",
        *(tool.package for tool in tools),
    ]
    environment = go_environment(paths) | {"GOTMPDIR": str(scratch)} | _memory_for_time()
    log = make_directory(paths.logs) / f"toolchain-{module}.log"
    label = tools[0].name if len(tools) == 1 else f"{module} ({len(tools)} programs)"
    code = _run(argv, environment, source, log, lambda s: progress.step(f"{label}: still building, {s} s"))
    if code:
        raise _failure(module, log, code)
    built = {tool.name: single if len(tools) == 1 else output / Path(tool.package).name for tool in tools}
    absent = [name for name, program in built.items() if not program.is_file()]
    if absent:
        raise LabError(
            f"Go built no program named {', '.join(absent)}",
            where=f"versions.toml, module {module}",
            why="a program is named after the last element of its package",
            fix="correct `package` in versions.toml",
        )
    return built


def _tags(module: str) -> tuple[str, ...]:
    file = MODULES / module / BUILD_TAGS
    return ("-tags", file.read_text().strip()) if file.exists() else ()


def _memory_for_time() -> dict[str, str]:
    """Let compilers collect garbage rarely where memory allows: a tenth less time, up to 0.6 GiB per core."""
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    roomy = memory_bytes / (os.cpu_count() or 1) >= _ROOMY_BYTES_PER_CORE
    return {"GOGC": "400"} if roomy and "GOGC" not in os.environ else {}


def _run(
    argv: Sequence[str], environment: Mapping[str, str], cwd: Path, log: Path, beat: Callable[[int], object]
) -> int:
    """Run the build with its output in the log; an interruption ends it before it is passed on."""
    started = time.monotonic()
    with log.open("w") as output:
        child = subprocess.Popen(
            list(argv),
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=ends_with_parent(),  # noqa: PLW1509 - it only calls prctl
        )
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    return child.wait(_HEARTBEAT_SECONDS)
                beat(int(time.monotonic() - started))
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                child.wait()


def _failure(module: str, log: Path, code: int) -> LabError:
    lines = log.read_text(errors="replace").splitlines()
    tail = "\n         ".join(lines[-_TAIL_LINES:]) or f"go build ended with {code} and said nothing"
    text = "\n".join(lines)
    fixes = [fix for signs, fix in _CAUSES if any(sign in text for sign in signs)]
    fix = fixes[0] if fixes else f"read {log}"
    return LabError(
        f"the programs of module {module} could not be built",
        where=f"lab/toolchain/modules/{module}; whole log in {log}",
        why=tail,
        fix=f"{fix}; then run the command again, finished parts are kept",
    )


def _with_upstream_files(paths: Paths, tool: Tool, source: Path) -> Path:
    """A copy of the module with the two generated files its main package embeds."""
    shutil.copytree(MODULES / tool.module, source)
    upstream, _ = module_directory(paths, tool.module, tool.upstream)
    schema = json.loads((upstream / _UPSTREAM_FILES / "schema.json").read_text())
    schema["version"] = tool.version.removeprefix("v")
    (source / "schema.json").write_text(json.dumps(schema, separators=(",", ":")))
    shutil.copyfile(upstream / _UPSTREAM_FILES / "terraform-mapping.json", source / "terraform-mapping.json")
    return source
