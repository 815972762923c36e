"""Official programs are taken at exactly the pinned version and never from the lab's own directories."""

import os
from pathlib import Path

import pytest

from lab import pins
from lab.paths import Paths
from lab.toolchain.official import Surroundings, find_official

from .conftest import Programs

ANSWERS = {
    "pulumi": "echo {}",
    "helm": "echo {}",
    "kubectl": """echo '{{"clientVersion": {{"gitVersion": "{}"}}, "kustomizeVersion": "v9.9.9"}}'""",
}


def _around(programs: Programs, home: Path) -> Surroundings:
    return Surroundings(path=str(programs.directory), pulumi_home=home)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_only_the_pinned_version_is_taken(
    paths: Paths, programs: Programs, tmp_path: Path, name: str
) -> None:
    tool = pins.load().tools[name]
    around = _around(programs, tmp_path / "home")
    assert find_official(paths, tool, around) is None
    program = programs.write(name, ANSWERS[name].format(tool.version))
    assert find_official(paths, tool, around) == program
    for other in (f"{tool.version}-dispatcher", f"{tool.version}0", "v1.0.0", "garbage"):
        programs.write(name, ANSWERS[name].format(other))
        os.utime(program, ns=(0, len(other)))
        assert find_official(paths, tool, around) is None
    programs.write(name, "exit 1")
    assert find_official(paths, tool, around) is None


def test_a_program_is_asked_once_and_again_when_replaced(
    paths: Paths, programs: Programs, tmp_path: Path
) -> None:
    tool = pins.load().tools["helm"]
    paths.tools.mkdir(parents=True)
    asked = tmp_path / "asked"
    programs.write("helm", f"echo asked >> {asked}; echo {tool.version}")
    for _ in range(3):
        assert find_official(paths, tool, _around(programs, tmp_path))
    assert asked.read_text().count("asked") == 1
    programs.write("helm", f"echo asked again >> {asked}; echo v3.0.0")
    assert find_official(paths, tool, _around(programs, tmp_path)) is None


def test_what_the_lab_put_on_the_path_is_not_official(paths: Paths, tmp_path: Path) -> None:
    tool = pins.load().tools["pulumi"]
    own = Programs(paths.state / "bin")
    own.directory.mkdir(parents=True)
    own.write("pulumi", f"echo {tool.version}")
    assert find_official(paths, tool, _around(own, tmp_path)) is None


def test_plugins_come_whole_from_the_users_pulumi_home(
    paths: Paths, programs: Programs, tmp_path: Path
) -> None:
    tool = pins.load().tools["pulumi-resource-kubernetes"]
    home = tmp_path / "home"
    directory = home / "plugins" / f"resource-kubernetes-{tool.version}"
    directory.mkdir(parents=True)
    around = _around(programs, home)
    assert find_official(paths, tool, around) is None
    plugin = Programs(directory).write("pulumi-resource-kubernetes", "exit 0")
    assert find_official(paths, tool, around) == plugin
    Path(f"{directory}.partial").touch()
    assert find_official(paths, tool, around) is None
    Path(f"{directory}.partial").unlink()
    own = Paths(cache=paths.cache, state=tmp_path)
    (tmp_path / "pulumi-home").symlink_to(home)
    assert find_official(own, tool, around) is None


def test_programs_that_no_release_ships_are_never_looked_for(
    paths: Paths, programs: Programs, tmp_path: Path
) -> None:
    programs.write("kubelet", "echo Kubernetes v1.34.4")
    assert find_official(paths, pins.load().tools["kubelet"], _around(programs, tmp_path)) is None
