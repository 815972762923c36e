"""`pulumi install` in a fresh project."""

import zipfile
from pathlib import Path

import pytest

from lab.toolchain.language import dependencies
from lab.toolchain.language.process import Children
from lab.toolchain.language.program import Program
from tests.engine import Workspace, make_workspace

pytestmark = pytest.mark.engine


def wheel(directory: Path) -> Path:
    """The smallest wheel, so that the test needs no registry."""
    path = directory / "tinything-1.2.3-py3-none-any.whl"
    info = "tinything-1.2.3.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tinything.py", "VALUE = 7\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinything\nVersion: 1.2.3\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(
            f"{info}/RECORD", f"tinything.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )
    return path


@pytest.fixture
def fresh(tmp_path: Path, engine_programs: Path) -> Workspace:
    """A project whose virtualenv does not exist yet."""
    return make_workspace(tmp_path / "fresh", engine_programs, virtualenv="venv")


def test_install_makes_the_virtualenv_and_fills_it(fresh: Workspace) -> None:
    fresh.write("requirements.txt", f"{wheel(fresh.directory)}\n")
    output = fresh.run("install").output
    assert "Creating virtualenv" in output
    assert "Dependencies installed" in output
    about = fresh.run("about", "--json").output
    assert "tinything" in about
    assert str(fresh.directory / "venv" / "bin" / "python") in about
    assert "Creating virtualenv" not in fresh.run("install").output


def test_a_failing_install_says_why(fresh: Workspace) -> None:
    fresh.write("requirements.txt", "./missing-1.0-py3-none-any.whl\n")
    output = fresh.run("install", ok=False).output
    assert "missing-1.0-py3-none-any.whl" in output
    assert "pulumi install" in output
    assert "Traceback" not in output


def test_constraints_beside_the_requirements_are_honoured(fresh: Workspace) -> None:
    fresh.write("requirements.txt", f"{wheel(fresh.directory)}\n")
    fresh.write("constraints.txt", "tinything==9.9.9\n")
    assert "tinything" in fresh.run("install", ok=False).output


def test_a_program_without_a_virtualenv_is_left_alone(tmp_path: Path) -> None:
    program = Program(root=tmp_path, directory=tmp_path, entry=".", virtualenv=None)
    (tmp_path / "requirements.txt").write_text("surely-not-there==0\n")
    told = list(dependencies.install(program, Children(), lambda _: None))
    assert told == [("stdout", b"No virtualenv in the runtime options: nothing to install.\n")]
