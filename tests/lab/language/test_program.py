"""The language host running programs on the real engine."""

import json

import pytest

from lab.toolchain.language import runner
from tests.engine import Workspace

pytestmark = pytest.mark.engine


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


def test_about_names_interpreter_packages_and_plugins(workspace: Workspace) -> None:
    about = json.loads(workspace.run("about", "--json").output)
    assert about["runtime"]["executable"].endswith("/bin/python")
    assert about["runtime"]["version"].count(".") == 2
    plugins = {plugin["name"]: plugin["version"] for plugin in about["plugins"]}
    assert plugins["random"] == "4.21.4"
    assert "pulumi-random" in {item["name"].replace("_", "-") for item in about["dependencies"]}


def test_the_exit_code_for_shown_errors_is_the_engines() -> None:
    assert runner.SHOWN == 32
