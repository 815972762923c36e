"""A private place for tests on the real engine: own PULUMI_HOME, own file backend, own bin directory."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab import paths
from lab.plugins import install
from lab.plugins.guard import LAB_VARIABLE
from lab.toolchain.language import launcher

PASSPHRASE = "for-tests-only"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a command ended and all it wrote."""

    code: int
    output: str


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """One Pulumi project with a stack on a backend of its own.

    Args:
        directory: The project.
        environment: What every command in it gets.
    """

    directory: Path
    environment: Mapping[str, str]

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project, its text dedented."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def program(self, text: str) -> None:
        """Write the program."""
        self.write("__main__.py", text)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start `pulumi` and return at once; in a process group of its own."""
        return subprocess.Popen(
            ["pulumi", *arguments],
            cwd=self.directory,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def run(self, *arguments: str, ok: bool = True, **environment: str) -> Result:
        """Run `pulumi` to its end.

        Args:
            arguments: Its command line.
            ok: Whether it must succeed; False for must fail.
            environment: Added to the workspace's.
        """
        process = self.start(*arguments, **environment)
        try:
            output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        assert (process.returncode == 0) is ok, output
        return Result(code=process.returncode, output=output)

    def up(self, *arguments: str, ok: bool = True) -> Result:
        """`pulumi up` without a preview before it."""
        return self.run("up", "--yes", "--skip-preview", *arguments, ok=ok)

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs, secrets in the clear."""
        shown = self.run("stack", "output", "--json", "--show-secrets").output
        decoded: dict[str, Any] = json.loads(shown)
        return decoded

    def exported(self) -> str:
        """The stack's state as anyone may export it."""
        return self.run("stack", "export").output

    def resources(self) -> list[dict[str, Any]]:
        """The resources of the exported state."""
        found: list[dict[str, Any]] = json.loads(self.exported())["deployment"].get("resources", [])
        return found


def make_bin(directory: Path) -> Path:
    """A bin directory with the toolchain's `pulumi` and the language host beside it.

    Args:
        directory: Where to make it; a hard link needs no space when it is on the toolchain's file system.
    """
    built = paths.current().state / "bin" / "pulumi"
    if not built.is_file():
        pytest.fail(f"no Pulumi engine at {built}: run `make up`, or `python -m lab prepare`, once")
    directory.mkdir(parents=True, exist_ok=True)
    # not a symbolic link: the engine looks for its language host beside the file it was started from
    try:
        os.link(built.resolve(), directory / "pulumi")
    except OSError:
        shutil.copy2(built.resolve(), directory / "pulumi")
    launcher.write(directory / launcher.NAME, launcher.MODULE)
    return directory


def make_workspace(
    root: Path, programs: Path, *, name: str = "tiny", virtualenv: str = sys.prefix
) -> Workspace:
    """A project `name` with the stack `dev`, stand-in plug-ins and nothing of the user's Pulumi.

    Args:
        root: An empty directory.
        programs: What `make_bin` returned.
        name: Project name.
        virtualenv: The project's virtualenv; the one of the tests by default.
    """
    root.mkdir(parents=True, exist_ok=True)
    home, backend, directory = root / "home", root / "backend", root / "project"
    for made in (home, backend, directory):
        made.mkdir()
    install.install(home)
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "AWS_", "KUBE"))
    }
    environment = {
        **kept,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        LAB_VARIABLE: "1",
    }
    workspace = Workspace(directory=directory, environment=environment)
    options = json.dumps({"virtualenv": virtualenv})
    workspace.write("Pulumi.yaml", f"name: {name}\nruntime:\n  name: python\n  options: {options}\n")
    workspace.program("import pulumi\n")
    workspace.run("stack", "init", "dev")
    return workspace
