"""The language host running programs on the real engine."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.toolchain.language import runner
from tests.engine import Workspace

pytestmark = pytest.mark.engine


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something another process does."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "waited a minute in vain"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children_of(pid: int) -> set[int]:
    """The direct children of a process, whichever of its threads started them."""
    lists = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return {int(child) for line in lists for child in line.split()}


def test_a_program_goes_up_previews_and_is_destroyed(workspace: Workspace) -> None:
    workspace.program(
        """
        import pulumi
        import pulumi.runtime
        pulumi.export("stack", pulumi.get_stack())
        pulumi.export("project", pulumi.get_project())
        pulumi.export("organization", pulumi.get_organization())
        pulumi.export("root", pulumi.runtime.get_root_directory())
        print("dry run:", pulumi.runtime.is_dry_run())
        """
    )
    assert "dry run: True" in workspace.run("preview").output
    assert "dry run: False" in workspace.up().output
    assert workspace.outputs() == {
        "stack": "dev",
        "project": "tiny",
        "organization": "organization",
        "root": str(workspace.directory),
    }
    workspace.run("destroy", "--yes")
    assert workspace.resources() == []


def test_configuration_and_the_names_of_its_secrets_arrive(workspace: Workspace) -> None:
    workspace.run("config", "set", "plain", "seen")
    workspace.run("config", "set", "--path", "table.rows[0]", "7")
    workspace.run("config", "set", "--secret", "token", "hush-hush")
    workspace.program(
        """
        import pulumi
        import sys
        from pulumi.runtime.config import is_config_secret
        config = pulumi.Config()
        pulumi.export("plain", config.require("plain"))
        pulumi.export("table", config.require_object("table"))
        pulumi.export("token", config.require_secret("token"))
        pulumi.export("argv", sys.argv[1:])
        names = ("plain", "table", "token")
        pulumi.export("secret", [name for name in names if is_config_secret(f"tiny:{name}")])
        """
    )
    output = workspace.up().output
    assert workspace.outputs() == {
        "plain": "seen",
        "table": {"rows": [7]},
        "token": "hush-hush",
        "argv": [],
        "secret": ["token"],
    }
    assert "hush-hush" not in output
    assert "hush-hush" not in workspace.exported()


def test_no_secret_is_an_argument_of_the_program(workspace: Workspace) -> None:
    workspace.run("config", "set", "--secret", "token", "hush-hush")
    workspace.program(
        """
        import pathlib
        print("ARGUMENTS", pathlib.Path("/proc/self/cmdline").read_text().replace(chr(0), " "))
        """
    )
    output = workspace.up().output
    assert "ARGUMENTS" in output
    assert "runner.py" in output
    assert "hush-hush" not in output


def test_an_error_shows_the_users_frames_and_no_others(workspace: Workspace) -> None:
    workspace.write("helpers/__init__.py", "def deep(number):\n    return 1 // number\n")
    workspace.program(
        """
        import pulumi
        from helpers import deep
        def build():
            deep(0)
        build()
        """
    )
    output = workspace.up(ok=False).output
    told = [line.strip() for line in output.splitlines() if line.strip().startswith('File "')]
    project = workspace.directory
    assert told == [
        f'File "{project}/__main__.py", line 6, in <module>',
        f'File "{project}/__main__.py", line 5, in build',
        f'File "{project}/helpers/__init__.py", line 2, in deep',
    ]
    assert "ZeroDivisionError: integer division or modulo by zero" in output
    assert output.count("Traceback") == 1


@pytest.mark.parametrize(
    "use", ["pulumi.export('value', failed)", "random.RandomPet('two', prefix=failed)", "del failed"]
)
def test_an_error_in_an_apply_shows_where(workspace: Workspace, use: str) -> None:
    workspace.program(
        f"""
        import pulumi
        import pulumi_random as random
        def refuse(value):
            raise KeyError("no such key")
        failed = random.RandomPet("one").id.apply(refuse)
        {use}
        """
    )
    output = workspace.up(ok=False).output
    told = [line.strip() for line in output.splitlines() if line.strip().startswith('File "')]
    assert told == [f'File "{workspace.directory}/__main__.py", line 5, in refuse']
    assert "KeyError: 'no such key'" in output


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("raise pulumi.RunError('set the region')", "error: set the region"),
        ("pulumi.Config().require('region')", "Missing required configuration variable 'tiny:region'"),
        ("raise SystemExit('stopped on purpose')", "error: stopped on purpose"),
        ("raise SystemExit(3)", "error: the program ended with exit code 3"),
    ],
)
def test_errors_meant_for_the_user_are_messages_alone(
    workspace: Workspace, statement: str, message: str
) -> None:
    workspace.program(f"import pulumi\n{statement}\n")
    output = workspace.up(ok=False).output
    assert message in output
    assert "Traceback" not in output
    assert "File " not in output


def test_a_refused_resource_is_told_once_and_by_the_engine(workspace: Workspace) -> None:
    workspace.program(
        "import pulumi_random as random\nrandom.RandomPassword('short', length=2, min_upper=3)\n"
    )
    output = workspace.up(ok=False).output
    assert "expected at least 3" in output
    assert "Traceback" not in output
    assert "Resource monitor" not in output


@pytest.mark.parametrize("wait", ["time.sleep(600)", "pulumi.run(lambda: asyncio.sleep(600))"])
def test_ctrl_c_ends_a_waiting_program_quietly(workspace: Workspace, wait: str) -> None:
    workspace.program(
        f"""
        import asyncio, os, pathlib, pulumi, time
        pathlib.Path("pid").write_text(str(os.getpid()))
        try:
            {wait}
        finally:
            pathlib.Path("cleaned").write_text(str(pathlib.Path("pid").is_file()))
        """
    )
    process = workspace.start("up", "--yes", "--skip-preview")
    pid_file = workspace.directory / "pid"
    wait_until(lambda: pid_file.is_file() and pid_file.read_text() != "")
    time.sleep(0.5)
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert time.monotonic() - began < 10
    assert (workspace.directory / "cleaned").is_file()
    assert "update canceled" in output
    for noise in ("Traceback", "KeyboardInterrupt", "never retrieved", "was destroyed"):
        assert noise not in output
    assert not alive(int(pid_file.read_text()))


def test_nothing_outlives_a_killed_engine(workspace: Workspace) -> None:
    workspace.program(
        """
        import os, pathlib, time
        import pulumi_random as random

        def wait(_):
            pathlib.Path("pids").write_text(f"{os.getpid()} {os.getppid()}")
            time.sleep(600)

        random.RandomPet("one").id.apply(wait)
        """
    )
    process = workspace.start("up", "--yes", "--skip-preview")
    pids_file = workspace.directory / "pids"
    wait_until(lambda: pids_file.is_file() and pids_file.read_text() != "")
    children = {int(pid) for pid in pids_file.read_text().split()} | children_of(process.pid)
    assert len(children) == 3, "program, language host, stand-in plug-in"
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not any(alive(pid) for pid in children))


def test_a_hook_runs_and_dependents_wait_for_it(workspace: Workspace) -> None:
    workspace.program(
        """
        import pathlib, pulumi, time
        import pulumi_random as random

        def ready(args):
            time.sleep(1.5)
            pathlib.Path("ready").write_text(args.id)

        def second(args):
            pathlib.Path("second").write_text(str(pathlib.Path("ready").is_file()))

        after = pulumi.ResourceHookBinding(after_create=[pulumi.ResourceHook("ready", ready)])
        before = pulumi.ResourceHookBinding(before_create=[pulumi.ResourceHook("second", second)])
        one = random.RandomPet("one", opts=pulumi.ResourceOptions(hooks=after))
        random.RandomPet("two", opts=pulumi.ResourceOptions(hooks=before, depends_on=[one]))
        pulumi.export("one", one.id)
        """
    )
    workspace.up()
    assert (workspace.directory / "ready").read_text() == workspace.outputs()["one"]
    assert (workspace.directory / "second").read_text() == "True"


def test_a_failed_hook_fails_the_update_with_its_message(workspace: Workspace) -> None:
    workspace.program(
        """
        import pulumi
        import pulumi_random as random

        def ready(args):
            raise RuntimeError("the webhook did not answer")

        hooks = pulumi.ResourceHookBinding(after_create=[pulumi.ResourceHook("ready", ready)])
        random.RandomPet("one", opts=pulumi.ResourceOptions(hooks=hooks))
        """
    )
    output = workspace.up(ok=False).output
    assert "the webhook did not answer" in output
    assert "Traceback" not in output


def test_transforms_run(workspace: Workspace) -> None:
    workspace.program(
        """
        import pulumi
        import pulumi_random as random

        def prefixed(args):
            return pulumi.ResourceTransformResult(props={**args.props, "prefix": "seen"}, opts=args.opts)

        pulumi.runtime.register_resource_transform(prefixed)
        pulumi.export("name", random.RandomPet("one").id)
        """
    )
    workspace.up()
    assert workspace.outputs()["name"].startswith("seen-")


def test_a_missing_virtualenv_is_named_with_the_command_that_makes_it(workspace: Workspace) -> None:
    workspace.write(
        "Pulumi.yaml",
        'name: tiny\nruntime:\n  name: python\n  options: {"virtualenv": "gone"}\n',
    )
    output = workspace.up(ok=False).output
    assert f"{workspace.directory}/gone/bin/python" in output
    assert "make venv" in output
    assert "pulumi install" in output
    assert "Traceback" not in output


def test_a_debugger_is_refused(workspace: Workspace) -> None:
    output = workspace.up("--attach-debugger=program", ok=False).output
    assert "cannot attach a debugger" in output


def test_about_names_interpreter_packages_and_plugins(workspace: Workspace) -> None:
    about = json.loads(workspace.run("about", "--json").output)
    assert about["runtime"]["executable"].endswith("/bin/python")
    assert about["runtime"]["version"].count(".") == 2
    plugins = {plugin["name"]: plugin["version"] for plugin in about["plugins"]}
    assert plugins["random"] == "4.21.4"
    assert "pulumi-random" in {item["name"].replace("_", "-") for item in about["dependencies"]}


def test_the_exit_code_for_shown_errors_is_the_engines() -> None:
    assert runner.SHOWN == 32
