"""The real engine with the pack: the good plan passes, each planted fault fails the preview by its words."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lab import paths
from lab.progress import Progress
from lab.toolchain.go import ensure_tools
from policies.adapters import ADVICE
from tests.engine import Workspace, make_bin, make_workspace
from tests.policies.catalog_tables import FLOORS, INSTANCES, MIG, SERVERS, VERSIONS
from tests.policies.fault import PASSWORD, Fault
from tests.policies.faults import FAULTS

pytestmark = pytest.mark.engine

PACK = Path(__file__).parents[2] / "policies"
VIRTUALENV = Path(__file__).parents[2] / ".venv"
NEEDED = ("helm", "pulumi-resource-kubernetes")
PROGRAM = Path(__file__).parent / "program"
NOWHERE = """\
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
current-context: none
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A stack whose cluster does not exist: a preview needs none."""
    root = tmp_path_factory.mktemp("policies")
    programs = make_bin(root / "bin")
    for name, built in ensure_tools(paths.current(), NEEDED, Progress()).items():
        (programs / name).symlink_to(built.resolve())
    workspace = make_workspace(root / "workspace", programs, name="policy-faults")
    workspace.write("kubeconfig", NOWHERE)
    workspace.program(f"import runpy\nrunpy.run_path({str(PROGRAM / '__main__.py')!r})\n")
    return workspace


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pack with the tests' own tables in its catalogue, so that no figure of a product decides a test."""
    root = tmp_path_factory.mktemp("pack")
    copy = root / PACK.name
    shutil.copytree(PACK, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (root / VIRTUALENV.name).symlink_to(VIRTUALENV)
    catalog = json.loads((copy / "catalog.json").read_text())
    servers = {**catalog["servers"], **SERVERS}
    tables = {"servers": servers, "instances": INSTANCES, "mig": MIG, "versions": VERSIONS}
    (copy / "catalog.json").write_text(json.dumps({**catalog, **tables, "security_floors": FLOORS}))
    return copy


def preview(project: Workspace, pack: Path, *faults: str, ok: bool, stack: str = "dev") -> str:
    """What a preview under the pack says."""
    return project.run(
        *("preview", "--stack", stack, "--policy-pack", str(pack), "--non-interactive"),
        *("--config", f"kubeconfig={project.directory / 'kubeconfig'}"),
        *("--config", f"faults={' '.join(faults)}"),
        ok=ok,
    ).output


@pytest.fixture(scope="module")
def violations(project: Workspace, pack: Path) -> dict[str, list[str]]:
    """Rule → the messages of one preview with every fault planted."""
    output = preview(project, pack, *(fault.name for fault in FAULTS), ok=False)
    assert PASSWORD not in output
    found: dict[str, list[str]] = {}
    rule = ""
    for line in output.splitlines():
        text = line.strip()
        if text.startswith(("- [mandatory]", "- [advisory]")):
            rule = text.split("]")[-1].split("(")[0].strip().removesuffix(ADVICE)
        elif text.startswith("["):
            found.setdefault(rule, []).append(text)
    return found


def test_the_good_plan_passes(project: Workspace, pack: Path) -> None:
    output = preview(project, pack, ok=True)
    assert "gpu-platform@v0.1.0" in output
    assert "[mandatory]" not in output
    assert "[advisory]" not in output


def test_advice_is_told_and_stops_nothing(project: Workspace, pack: Path) -> None:
    output = preview(project, pack, "untested-0", ok=True)
    assert "[advisory]" in output
    assert "[inter-node] Node/untested-0: pool 'untested' is for jobs over several nodes" in output


def test_what_is_advice_in_dev_stops_any_other_stack(project: Workspace, pack: Path) -> None:
    project.run("stack", "init", "staging")
    output = preview(project, pack, "untested-0", ok=False, stack="staging")
    assert re.search(r"\[mandatory\].* acceptance ", output), output


def test_an_exemption_that_expired_stops_the_preview(project: Workspace, pack: Path, tmp_path: Path) -> None:
    late = tmp_path / pack.name
    shutil.copytree(pack, late)
    (tmp_path / VIRTUALENV.name).symlink_to(VIRTUALENV)
    allow = late / "allow.json"
    allow.write_text(re.sub(r'"expires": "[0-9-]+"', '"expires": "2026-01-01"', allow.read_text()))
    output = preview(project, late, ok=False)
    assert "[expired] exemption/labels/chart:kueue/*: expired on 2026-01-01" in output


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_planted_fault_fails_the_preview(violations: dict[str, list[str]], fault: Fault) -> None:
    texts = violations.get(fault.rule, [])
    assert [text for text in texts if text.startswith(f"[{fault.check}]") and fault.says in text], texts


def test_data_must_be_protected_in_any_stack_but_dev(project: Workspace, pack: Path) -> None:
    project.run("stack", "init", "prod")
    output = preview(project, pack, stack="prod", ok=False)
    assert "[protect] PersistentVolumeClaim/team/datasets: it holds data and is not protected" in output
    assert "[protect] PersistentVolumeClaim/team/checkpoints" in output


def test_a_chart_that_can_not_be_rendered_stops_the_preview(project: Workspace) -> None:
    output = project.run(
        *("preview", "--stack", "dev", "--policy-pack", str(PACK), "--non-interactive"),
        *("--config", f"kubeconfig={project.directory / 'kubeconfig'}"),
        ok=False,
        GPU_PLATFORM_HELM="/nowhere/helm",
    ).output
    assert "[render] Release/sample: not proven: helm program /nowhere/helm does not start" in output
