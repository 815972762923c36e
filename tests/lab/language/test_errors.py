"""What the user sees when a program fails on the real engine."""

import pytest

from tests.engine import Workspace

pytestmark = pytest.mark.engine


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
