"""The language host running policy packs on the real engine."""

from pathlib import Path

import pytest

from tests.engine import Workspace

pytestmark = pytest.mark.engine

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def no_pets(args, report):
    if args.resource_type == "random:index/randomPet:RandomPet":
        report(f"no pets here, but found length {args.props.get('length')}")

PolicyPack(
    name="rules",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[ResourceValidationPolicy(name="no-pets", description="No pets.", validate=no_pets)],
)
"""
PET = "import pulumi_random as random\nrandom.RandomPet('one', length=3)\n"


@pytest.fixture
def pack(workspace: Workspace) -> Path:
    """A pack with one mandatory rule, run by the project's own virtualenv."""
    described = workspace.directory.joinpath("Pulumi.yaml").read_text().split("\n", 1)[1]
    workspace.write("pack/PulumiPolicy.yaml", described)
    return workspace.write("pack/__main__.py", PACK).parent


def test_a_mandatory_violation_fails_with_its_message(workspace: Workspace, pack: Path) -> None:
    workspace.program(PET)
    for command in (("preview",), ("up", "--yes", "--skip-preview")):
        output = workspace.run(*command, "--policy-pack", str(pack), ok=False).output
        assert "no pets here, but found length 3" in output
        assert "no-pets" in output
        assert "Traceback" not in output
    assert not [item for item in workspace.resources() if "RandomPet" in item["type"]]


def test_a_program_within_the_rules_passes(workspace: Workspace, pack: Path) -> None:
    workspace.program("import pulumi_random as random\nrandom.RandomId('one', byte_length=3)\n")
    output = workspace.up("--policy-pack", str(pack)).output
    assert "rules" in output
    for noise in ("Traceback", "KeyboardInterrupt"):
        assert noise not in output


def test_a_pack_that_cannot_start_says_why(workspace: Workspace, pack: Path) -> None:
    workspace.program(PET)
    (pack / "__main__.py").write_text("raise SystemExit('the rules file is unreadable')\n")
    output = workspace.up("--policy-pack", str(pack), ok=False).output
    assert "the rules file is unreadable" in output
