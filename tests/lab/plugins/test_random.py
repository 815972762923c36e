"""The random stand-in on the real engine."""

import base64
import os
import re
import shutil
import string
import subprocess
from pathlib import Path

import pytest

from lab.plugins.guard import LAB_VARIABLE
from tests.engine import Workspace

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi
import pulumi_random as random

keepers = {"generation": pulumi.Config().get("generation") or "1"}
password = random.RandomPassword("password", length=24, min_special=3, override_special="-_", keepers=keepers)
noise = random.RandomBytes("noise", length=16, keepers=keepers)
number = random.RandomId("number", byte_length=4, prefix="n-", keepers=keepers)
pet = random.RandomPet("pet", length=3, separator=".", prefix="lab", keepers=keepers)
pulumi.export("password", password.result)
pulumi.export("bcrypt", password.bcrypt_hash)
pulumi.export("base64", noise.base64)
pulumi.export("hex", noise.hex)
pulumi.export("number", {"hex": number.hex, "dec": number.dec, "std": number.b64_std, "url": number.b64_url})
pulumi.export("ids", {"password": password.id, "noise": noise.id, "number": number.id, "pet": pet.id})
"""
SECRETS = ("password", "bcrypt", "base64", "hex")


def test_every_type_is_made_kept_replaced_and_destroyed(workspace: Workspace) -> None:
    workspace.program(PROGRAM)
    preview = workspace.run("preview").output
    assert "5 to create" in preview

    first = workspace.up().output
    made = workspace.outputs()
    password, noise = made["password"], base64.b64decode(made["base64"])
    assert len(password) == 24
    assert set(password) <= set(string.ascii_letters + string.digits + "-_")
    assert sum(character in "-_" for character in password) >= 3
    assert re.fullmatch(r"\$2b\$10\$[./A-Za-z0-9]{53}", made["bcrypt"])
    assert len(noise) == 16
    assert noise.hex() == made["hex"]
    number = bytes.fromhex(made["number"]["hex"].removeprefix("n-"))
    assert made["number"] == {
        "hex": f"n-{number.hex()}",
        "dec": f"n-{int.from_bytes(number)}",
        "std": f"n-{base64.b64encode(number).decode()}",
        "url": f"n-{base64.urlsafe_b64encode(number).decode().rstrip('=')}",
    }
    assert made["ids"]["password"] == made["ids"]["noise"] == "none"
    assert made["ids"]["number"] == made["number"]["url"].removeprefix("n-")
    assert made["ids"]["pet"].split(".")[0] == "lab"
    assert len(made["ids"]["pet"].split(".")) == 4
    state = workspace.exported()
    assert "LAB: provider random is this lab's stand-in for version 4.21.4" in first

    again = workspace.up("--expect-no-changes").output
    workspace.run("refresh", "--yes", "--expect-no-changes")
    assert workspace.outputs() == made

    workspace.run("config", "set", "generation", "2")
    assert "4 to replace" in workspace.run("preview").output
    replaced = workspace.up().output
    new = workspace.outputs()
    for name in made:
        assert new[name] != made[name] or name == "ids"
    assert new["ids"]["pet"] != made["ids"]["pet"]

    gone = workspace.run("destroy", "--yes").output
    assert workspace.resources() == []
    for text in (preview, first, state, again, replaced, gone):
        for secret in (made[name] for name in SECRETS):
            assert secret not in text


def test_a_password_is_imported_by_its_value_and_stays_secret(workspace: Workspace) -> None:
    known = "aB3-known-Value"
    workspace.program("import pulumi\n")
    workspace.up()
    token = "random:index/randomPassword:RandomPassword"
    silent = ("--yes", "--generate-code=false", "--protect=false")
    output = workspace.run("import", token, "kept", known, *silent).output
    assert "1 imported" in output
    workspace.program(
        f"""
        import pulumi
        import pulumi_random as random
        kept = random.RandomPassword("kept", length={len(known)})
        pulumi.export("value", kept.result)
        """
    )
    assert "1 to" not in workspace.run("preview").output
    workspace.up()
    assert workspace.outputs()["value"] == known
    assert known not in workspace.exported()


def test_a_secret_input_makes_what_holds_it_secret(workspace: Workspace) -> None:
    workspace.program(
        """
        import pulumi
        import pulumi_random as random
        keepers = {"token": pulumi.Output.secret("hush-hush")}
        random.RandomPet("pet", keepers=keepers)
        """
    )
    workspace.up("--expect-no-changes", ok=False)
    assert "hush-hush" not in workspace.exported()
    assert "hush-hush" not in workspace.run("preview", "--diff").output


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("random.RandomPassword('it', length=3, min_upper=4)", "expected at least 4"),
        ("random.RandomUuid('it')", "has no random:index/randomUuid:RandomUuid"),
    ],
)
def test_what_cannot_be_is_refused_in_the_preview(workspace: Workspace, statement: str, message: str) -> None:
    workspace.program(f"import pulumi_random as random\n{statement}\n")
    output = workspace.run("preview", ok=False).output
    assert message in output
    assert "Traceback" not in output
    assert 'File "' not in output


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({LAB_VARIABLE: "0"}, f"{LAB_VARIABLE} is not 1"),
        ({"PULUMI_HOME": "elsewhere"}, "PULUMI_HOME is not the lab's"),
        ({"PULUMI_BACKEND_URL": "s3://bucket"}, "not a file:// backend"),
    ],
)
def test_it_refuses_to_serve_outside_the_lab(workspace: Workspace, changed: dict[str, str], why: str) -> None:
    home = Path(workspace.environment["PULUMI_HOME"])
    launcher = next(home.glob("plugins/*/pulumi-resource-random"))
    ended = subprocess.run(
        [str(launcher), "127.0.0.1:1"],
        env={**workspace.environment, **changed},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert why in ended.stderr
    assert "LAB" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_copy_on_the_path_is_refused_with_the_reason(workspace: Workspace, tmp_path: Path) -> None:
    home = Path(workspace.environment["PULUMI_HOME"])
    launcher = next(home.glob("plugins/*/pulumi-resource-random"))
    shutil.copy2(launcher, tmp_path / launcher.name)
    workspace.program("import pulumi_random as random\nrandom.RandomPet('one')\n")
    path = f"{tmp_path}{os.pathsep}{workspace.environment['PATH']}"
    output = workspace.run("preview", ok=False, PATH=path).output
    assert "was not started from" in output
