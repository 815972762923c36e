"""What holds for every component: its type token, its outputs, and that importing it does nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from lab.paths import REPOSITORY

TOKENS = {
    "gpuplatform:compute:SimulatedGpuPool",
    "gpuplatform:kube:ChartRelease",
    "gpuplatform:kube:DeliveredSecret",
    "gpuplatform:kube:Namespace",
    "gpuplatform:kube:NetworkAllow",
    "gpuplatform:kube:Workload",
    "gpuplatform:mlops:ExperimentTracking",
    "gpuplatform:observability:AlertRules",
    "gpuplatform:observability:Grafana",
    "gpuplatform:observability:Login",
    "gpuplatform:observability:Monitoring",
    "gpuplatform:observability:PrometheusOperator",
    "gpuplatform:observability:Receivers",
    "gpuplatform:observability:Scrapes",
    "gpuplatform:observability:SimulatedGpuTelemetry",
    "gpuplatform:scheduling:Acceptance",
    "gpuplatform:scheduling:DistributedSpace",
    "gpuplatform:scheduling:GangQueue",
    "gpuplatform:scheduling:GpuAdmission",
    "gpuplatform:scheduling:GpuFlavors",
    "gpuplatform:scheduling:JobRules",
    "gpuplatform:scheduling:KueueOperator",
    "gpuplatform:scheduling:SampleJobs",
    "gpuplatform:storage:ObjectStore",
    "gpuplatform:storage:Postgres",
    "gpuplatform:storage:SharedVolumes",
}
MAX_LINES = 300
MAX_CONSTRUCTOR_LINES = 40


def _sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((REPOSITORY / folder).rglob("*.py"))]


def _components() -> list[tuple[Path, ast.ClassDef]]:
    return [
        (path, node)
        for path in _sources("components")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Component" for base in node.bases)
    ]


def _token(node: ast.ClassDef) -> str:
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == "TYPE"
            and isinstance(statement.value, ast.Constant)
        ):
            return str(statement.value.value)
    return ""


def test_the_type_tokens_are_the_known_ones() -> None:
    assert {_token(node) for _, node in _components()} == TOKENS


def test_the_area_of_a_token_is_its_folder() -> None:
    for path, node in _components():
        assert _token(node).split(":")[1] == path.relative_to(REPOSITORY / "components").parts[0], path


def test_constructors_take_name_args_opts_and_end_in_finish() -> None:
    for path, node in _components():
        init = next(
            item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
        )
        assert [argument.arg for argument in init.args.args] == ["self", "name", "args", "opts"], path
        assert ast.unparse(init.body[-1]).startswith("self.finish("), path
        assert (init.end_lineno or 0) - init.lineno < MAX_CONSTRUCTOR_LINES, path


def test_no_file_is_longer_than_one_subject_needs() -> None:
    folders = ("components", "stacks", "policies", "cli", "lab", "tests")
    long = {
        str(path.relative_to(REPOSITORY)): lines
        for path in _sources(*folders)
        if (lines := len(path.read_text().splitlines())) > MAX_LINES
    }
    assert long == {}


@pytest.mark.parametrize("package", ["components.mlops", "components.scheduling", "stacks.kinds"])
def test_importing_needs_no_engine_no_network_and_no_credentials(package: str) -> None:
    program = (
        "import socket\n"
        "def refuse(*_: object) -> None:\n    raise AssertionError('network at import')\n"
        "socket.socket.connect = refuse\n"
        f"import {package}\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        timeout=120,
    )
