"""What every command knows: the environment's name, the paths, and how Pulumi is called."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from cli.failures import failure
from cli.narration import Narration
from cli.scratch import run_directory
from lab import api as lab_api
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths, current
from lab.process import ends_with_parent
from stacks.config import cluster_source

PROJECT = "gpu-platform"
GUARDRAILS_VARIABLE = "PULUMI_OPTION_POLICY_PACK"
# A field of ours that was changed by hand is put back instead of stopping `up` as a conflict of owners.
FORCE_VARIABLE = "PULUMI_K8S_ENABLE_PATCH_FORCE"
INTERRUPT_GRACE_SECONDS = 60.0
SILENCE_SECONDS = 20.0
_NO_STACK = re.compile(r"no stack named|stack '.*' not found|no current stack")
_ENV = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True)
class Context:
    """One environment on this machine.

    Args:
        env: Environment, which is the stack's name.
        paths: Where the lab keeps its things.
    """

    env: str
    paths: Paths

    @property
    def settings_file(self) -> Path:
        """The environment's settings."""
        return REPOSITORY / f"Pulumi.{self.env}.yaml"

    @property
    def state_file(self) -> Path:
        """The stack's state in the lab's backend."""
        return self.paths.backend / ".pulumi" / "stacks" / PROJECT / f"{self.env}.json"

    @property
    def on_lab(self) -> bool:
        """Whether its settings put it on this machine's lab; if they can't be read, yes."""
        return cluster_source(self.settings_file) in ("lab", None)

    def variables(self) -> dict[str, str]:
        """What is laid over a process's environment for Pulumi: toolchain, backend and the policy pack.

        The published throw-away passphrase and the lab's backend serve the lab only; a cluster of the user's
        own keeps the user's passphrase, and the user's backend where one is set.

        Raises:
            LabError: A cluster of the user's own, and no passphrase.
        """
        found = lab_api.pulumi_environment(self.paths)
        if not self.on_lab:
            del found["PULUMI_CONFIG_PASSPHRASE"]
            if "PULUMI_BACKEND_URL" in os.environ:
                del found["PULUMI_BACKEND_URL"]
            if not os.environ.keys() & {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"}:
                raise LabError(
                    f"environment {self.env} has no passphrase",
                    where=self.settings_file.name,
                    why="its cluster is your own, so its secrets need a passphrase that isn't published",
                    fix="export PULUMI_CONFIG_PASSPHRASE_FILE=<a file only you can read>",
                )
        return {**found, GUARDRAILS_VARIABLE: str(REPOSITORY / "policies"), FORCE_VARIABLE: "true"}

    def environment(self) -> dict[str, str]:
        """Environment of every Pulumi call."""
        return {**os.environ, **self.variables()}

    def pulumi(
        self, *args: str, show: bool = False, extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Pulumi on this environment's stack and wait, also through Ctrl-C.

        Args:
            args: Command and flags.
            show: Let what is news through, all of it goes to a log; else it is only captured.
            extra: Laid over the environment of this one call.

        Raises:
            LabError: The toolchain has no Pulumi yet.
        """
        program = self.paths.state / "bin" / "pulumi"
        if not program.exists():
            raise LabError(
                "Pulumi isn't built yet",
                where=str(program),
                why="the toolchain stage hasn't run",
                fix="make up",
            )
        log = self.paths.logs / f"pulumi-{args[0]}.log" if show else None
        narration = Narration(plans=args[0] == "preview")
        with run_directory(self.paths) as scratch:
            env = {**self.environment(), "TMPDIR": str(scratch), **(extra or {})}
            return _run_patiently([str(program), *args, "--non-interactive"], env, log, narration)

    def outputs(self) -> Mapping[str, Any]:
        """The stack's outputs without secrets; empty when the stack was never brought up.

        Raises:
            LabError: There is a stack, and it can't be read.
        """
        result = self.pulumi("stack", "output", "--json", "--stack", self.env)
        if result.returncode != 0:
            if _NO_STACK.search(result.stderr):
                return {}
            raise failure(self, "the stack's outputs can't be read", result.stderr)
        outputs: Mapping[str, Any] = json.loads(result.stdout or "{}")
        return outputs


def context(env: str) -> Context:
    """The context of an environment; refuses one without a settings file."""
    found = Context(env=env, paths=current())
    if not _ENV.fullmatch(env) or not found.settings_file.exists():
        names = sorted(path.name.split(".")[1] for path in REPOSITORY.glob("Pulumi.*.yaml"))
        raise LabError(
            f"no environment {env!r}",
            where=f"Pulumi.{env}.yaml",
            why="there is no such settings file",
            fix=f"use one of: {', '.join(names)} (make <target> ENV=<name>)",
        )
    return found


def _run_patiently(
    argv: list[str], env: Mapping[str, str], log: Path | None, narration: Narration
) -> subprocess.CompletedProcess[str]:
    """Run to the end; on Ctrl-C let Pulumi, which got it too, finish what it does now.

    Args:
        argv: Program and arguments.
        env: Whole environment.
        log: Show the output as it comes, and keep all of it here; None captures it.
        narration: What of it is worth showing.
    """
    with subprocess.Popen(
        argv,
        env=dict(env),
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if log is None else subprocess.STDOUT,
        text=True,
        preexec_fn=ends_with_parent(signal.SIGINT),  # noqa: PLW1509 - it only calls prctl
    ) as process:
        try:
            if log is None:
                out, err = process.communicate()
            else:
                out, err = _narrate(process, log, narration), ""
        except KeyboardInterrupt:
            print("\nfinishing what is under way; Ctrl-C again to stop it too", flush=True)
            try:
                process.communicate(timeout=INTERRUPT_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            raise
        process.wait()
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


class _Log:
    """A log that is given up where it can't be written: a full disk must not end the run it tells of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> "_Log":
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w")
        return self

    def write(self, line: str) -> None:
        try:
            if self._file is not None:
                self._file.write(line)
                self._file.flush()
        except OSError:
            self._file = None

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            if self._file is not None:
                self._file.close()


def _narrate(process: subprocess.Popen[str], log: Path, narration: Narration) -> str:
    """Show what is news, keep everything in the log, and break long silences with what is waited for."""
    lines: list[str] = []
    ended = threading.Event()
    told_at = [time.monotonic()]

    def break_silence() -> None:
        while not ended.wait(1.0):
            if time.monotonic() - told_at[0] >= SILENCE_SECONDS:
                told_at[0] = time.monotonic()
                print(f"    still waiting: {narration.latest or 'pulumi is starting'}", flush=True)

    watcher = threading.Thread(target=break_silence, daemon=True)
    watcher.start()
    try:
        with _Log(log) as kept:
            for line in process.stdout or ():
                kept.write(line)
                lines.append(line)
                if narration.worth_telling(line):
                    told_at[0] = time.monotonic()
                    print(line, end="", flush=True)
    finally:
        ended.set()
        watcher.join()
    return "".join(lines)
