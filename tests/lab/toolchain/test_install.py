"""Where Pulumi finds its parts: the layout with made-up programs, and the real engine on it."""

import os
import subprocess
from pathlib import Path

import pytest

from lab import pins
from lab.paths import Paths, current
from lab.toolchain.go import ensure_tools
from lab.toolchain.install import DEV_PASSPHRASE, install, pulumi_environment

from .conftest import Programs, Recorder

NAMES = ("pulumi", "kubectl", "helm", "pulumi-resource-kubernetes")
PROGRAM = """
import pulumi, pulumi_kubernetes as k8s, pulumi_random as random
password = random.RandomPassword("password", length=20)
provider = k8s.Provider("provider", render_yaml_to_directory={rendered!r})
k8s.core.v1.ConfigMap("map", data={{"a": "b"}}, opts=pulumi.ResourceOptions(provider=provider))
pulumi.export("password", password.result)
"""


def _built(paths: Paths) -> dict[str, Path]:
    """Programs as the builder leaves them: one directory each, nothing beside them."""
    found = {}
    for name in NAMES:
        directory = paths.tools / f"{name}-0123"
        directory.mkdir(parents=True, exist_ok=True)
        found[name] = Programs(directory).write(name, f"echo {name}")
    return found


def _tree(root: Path) -> dict[str, str]:
    files = (Path(folder) / name for folder, _, names in os.walk(root) for name in names)
    return {str(file.relative_to(root)): "link" if file.is_symlink() else "file" for file in files}


def test_every_part_is_where_the_engine_looks(paths: Paths, recorder: Recorder) -> None:
    programs = _built(paths)
    install(paths, programs, recorder.progress())
    plugin = f"resource-kubernetes-{pins.load().tools['pulumi-resource-kubernetes'].version}"
    tree = _tree(paths.state)
    standins = {name: kind for name, kind in tree.items() if "/resource-random-v" in name}
    assert list(standins.values()) == ["file"]
    assert {name: kind for name, kind in tree.items() if name not in standins} == {
        ".install.lock": "file",
        "bin/helm": "link",
        "bin/kubectl": "link",
        "bin/pulumi": "file",
        "bin/pulumi-language-python": "file",
        "pulumi-home/.gpu-platform-lab": "file",
        f"pulumi-home/plugins/{plugin}/pulumi-resource-kubernetes": "link",
    }
    assert (paths.state / "bin" / "helm").resolve() == programs["helm"]
    assert paths.backend.stat().st_mode & 0o777 == 0o700
    assert recorder.text().endswith("put in place: kubectl, helm, pulumi, pulumi-resource-kubernetes")
    install(paths, programs, recorder.progress())
    assert (_tree(paths.state), len(recorder.lines)) == (tree, 1)


def test_an_official_pulumi_keeps_its_own_language_host(
    paths: Paths, recorder: Recorder, tmp_path: Path
) -> None:
    programs = _built(paths)
    install(paths, programs, recorder.progress())
    official = tmp_path / "official"
    official.mkdir()
    pulumi = Programs(official).write("pulumi", "echo official")
    Programs(official).write("pulumi-language-python", "echo official host")
    install(paths, programs | {"pulumi": pulumi}, recorder.progress())
    binaries = paths.state / "bin"
    assert (binaries / "pulumi").resolve() == pulumi
    assert not (binaries / "pulumi-language-python").exists()
    install(paths, programs, recorder.progress())
    assert not (binaries / "pulumi").is_symlink()
    assert (binaries / "pulumi").samefile(programs["pulumi"])
    assert (binaries / "pulumi-language-python").exists()
    assert pulumi.read_text() == "#!/bin/sh\necho official\n"


def test_an_engine_on_another_disk_is_copied_once(
    paths: Paths, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_link: Path, _target: Path) -> None:
        raise OSError("another disk")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    programs = _built(paths)
    install(paths, programs, recorder.progress())
    engine = paths.state / "bin" / "pulumi"
    first = engine.stat()
    assert not engine.samefile(programs["pulumi"])
    assert engine.read_text() == programs["pulumi"].read_text()
    install(paths, programs, recorder.progress())
    assert engine.stat().st_ino == first.st_ino
    programs["pulumi"].write_text("#!/bin/sh\necho a newer engine\n")
    install(paths, programs, recorder.progress())
    assert "a newer engine" in engine.read_text()


def test_a_new_build_and_a_broken_download_are_replaced(paths: Paths, recorder: Recorder) -> None:
    programs = _built(paths)
    install(paths, programs, recorder.progress())
    directory = next((paths.pulumi_home / "plugins").glob("resource-kubernetes-*"))
    Path(f"{directory}.partial").touch()
    newer = paths.tools / "pulumi-resource-kubernetes-4567"
    newer.mkdir()
    plugin = Programs(newer).write("pulumi-resource-kubernetes", "echo newer")
    install(paths, programs | {plugin.name: plugin}, recorder.progress())
    assert (directory / plugin.name).resolve() == plugin
    assert not Path(f"{directory}.partial").exists()
    assert recorder.lines[-1].endswith("put in place: pulumi-resource-kubernetes")


def test_the_environment_selects_the_lab_and_nothing_else(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/host")
    assert pulumi_environment(paths) == {
        "PATH": f"{paths.state}/bin:/host",
        "GPU_PLATFORM_LAB": "1",
        "GPU_PLATFORM_STATE": str(paths.state),
        "PULUMI_HOME": str(paths.pulumi_home),
        "PULUMI_BACKEND_URL": f"file://{paths.backend}",
        "PULUMI_CONFIG_PASSPHRASE": DEV_PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
    }


@pytest.mark.engine
def test_plain_pulumi_finds_every_plugin_without_a_warning(recorder: Recorder, tmp_path: Path) -> None:
    here = Paths(cache=current().cache, state=tmp_path / "state")
    install(here, ensure_tools(here, NAMES, recorder.progress()), recorder.progress())
    project = tmp_path / "project"
    project.mkdir()
    virtualenv = Path(__file__).parents[3] / ".venv"
    (project / "Pulumi.yaml").write_text(
        f"name: layout\nruntime: {{name: python, options: {{toolchain: pip, virtualenv: {virtualenv}}}}}\n"
    )
    (project / "__main__.py").write_text(PROGRAM.format(rendered=str(tmp_path / "rendered")))
    environment = {**os.environ, **pulumi_environment(here)}

    def pulumi(*arguments: str) -> str:
        argv = ["pulumi", *arguments, "--non-interactive"]
        done = subprocess.run(
            argv, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    version = pins.load().tools["pulumi"].version
    assert pulumi("version").strip() == version
    pulumi("stack", "init", "dev")
    output = pulumi("up", "--yes", "--skip-preview", "--stack", "dev")
    assert "warning" not in output.lower()
    assert "+ 4 created" in output
    assert list((tmp_path / "rendered").rglob("*configmap*"))
