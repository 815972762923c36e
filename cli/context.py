"""What every command knows: the environment's name, the paths, and how Pulumi is called."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.narration import Narration
from lab import api as lab_api
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths, current
from lab.process import ends_with_parent

PROJECT = "gpu-platform"
GUARDRAILS_VARIABLE = "PULUMI_OPTION_POLICY_PACK"
INTERRUPT_GRACE_SECONDS = 60.0


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

    def environment(self) -> dict[str, str]:
        """Environment of every Pulumi call: the lab's toolchain, backend and the policy pack."""
        lab = lab_api.pulumi_environment(self.paths)
        return {**os.environ, **lab, GUARDRAILS_VARIABLE: str(REPOSITORY / "policies")}

    def pulumi(self, *args: str, show: bool = False) -> subprocess.CompletedProcess[str]:
        """Run Pulumi on this environment's stack and wait, also through Ctrl-C.

        Args:
            args: Command and flags.
            show: Let what is news through, all of it goes to a log; else it is only captured.

        Raises:
            LabError: The toolchain has no Pulumi yet.
        """
        env = self.environment()
        program = self.paths.state / "bin" / "pulumi"
        if not program.exists():
            raise LabError(
                "Pulumi isn't built yet",
                where=str(program),
                why="the toolchain stage hasn't run",
                fix="make up",
            )
        log = self.paths.logs / f"pulumi-{args[0]}.log" if show else None
        return _run_patiently([str(program), *args, "--non-interactive"], env, log)

    def outputs(self) -> Mapping[str, Any]:
        """The stack's outputs without secrets; empty when the stack was never brought up."""
        result = self.pulumi("stack", "output", "--json", "--stack", self.env)
        if result.returncode != 0:
            return {}
        outputs: Mapping[str, Any] = json.loads(result.stdout or "{}")
        return outputs


def context(env: str) -> Context:
    """The context of an environment; refuses one without a settings file."""
    found = Context(env=env, paths=current())
    if not found.settings_file.exists():
        names = sorted(path.name.split(".")[1] for path in REPOSITORY.glob("Pulumi.*.yaml"))
        raise LabError(
            f"no environment {env!r}",
            where=found.settings_file.name,
            why="the settings file doesn't exist",
            fix=f"use one of: {', '.join(names)} (make <target> ENV=<name>)",
        )
    return found


def _run_patiently(
    argv: list[str], env: Mapping[str, str], log: Path | None
) -> subprocess.CompletedProcess[str]:
    """Run to the end; on Ctrl-C let Pulumi, which got it too, finish what it does now.

    Args:
        argv: Program and arguments.
        env: Whole environment.
        log: Show the output as it comes, and keep all of it here; None captures it.
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
                out, err = _narrate(process, log), ""
        except KeyboardInterrupt:
            try:
                process.communicate(timeout=INTERRUPT_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            raise
        process.wait()
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def _narrate(process: subprocess.Popen[str], log: Path) -> str:
    narration = Narration()
    log.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    with log.open("w") as kept:
        for line in process.stdout or ():
            kept.write(line)
            kept.flush()
            lines.append(line)
            if narration.worth_telling(line):
                print(line, end="", flush=True)
    return "".join(lines)
