"""The command line as a shell sees it."""

import os
import subprocess
import sys

import pytest

from lab.paths import REPOSITORY

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
COMMANDS = (
    *("up", "down", "destroy", "preview", "smoke", "doctor", "shell", "validate", "schema", "status"),
    *("connect", "logs", "diagram", "report", "completion", "recover", "backup", "restore", "support-bundle"),
)


def _cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env=ENVIRONMENT,
    )


def test_every_command_is_there() -> None:
    shown = _cli("--help").stdout
    assert [name for name in COMMANDS if name not in shown] == []


def test_bash_completes_commands() -> None:
    script = _cli("completion", "bash").stdout
    asked = (
        'eval "$SCRIPT"; COMP_WORDS=(gpu-platform re); COMP_CWORD=1; '
        '_gpu_platform_completion gpu-platform; printf "%s\\n" "${COMPREPLY[@]}"; '
        "gpu-platform --help | head -3"
    )
    told = subprocess.run(
        ["bash", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env={**os.environ, "SCRIPT": script},
    ).stdout
    assert {"report", "recover", "restore"} <= set(told.split())
    assert "gpu-platform" in told


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_call_the_projects_interpreter(shell: str) -> None:
    told = _cli("completion", shell)
    assert told.returncode == 0
    assert told.stdout.count(f"{sys.executable} -m cli") >= 2


def test_wrong_use_and_unknown_things_have_their_codes() -> None:
    assert _cli("no-such-command").returncode == 2
    unknown = _cli("completion", "tcsh")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "bash, zsh, fish" in unknown.stderr
    assert "no environment 'nope'" in _cli("status", "--env", "nope").stderr
