"""Tools found or built, with a Go that only writes down how it was called."""

import json
import multiprocessing
import shutil
import threading
import time
from pathlib import Path

import pytest

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.toolchain import go, modcache
from lab.toolchain.gohost import go_directive, numbers
from lab.toolchain.official import Surroundings

from .conftest import Programs, Recorder

KUBERNETES = [
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
]
NOWHERE = Surroundings(path="", pulumi_home=Path("/nonexistent"))
# Writes each call to a file; `build` makes one program per package, named as Go would name it.
FAKE_GO = """
echo "$PWD $* | $GOFLAGS $CGO_ENABLED $GOMODCACHE $GOCACHE ${GOOS-none}" >> "$FAKE_CALLS"
case "$1" in
env) echo "$FAKE_VERSION" ;;
build)
  sleep "${FAKE_SECONDS-0}"
  if [ -n "$FAKE_ERROR" ]; then echo "first line"; echo "$FAKE_ERROR" >&2; exit 1; fi
  while [ "$1" != -o ]; do shift; done
  output=$2; shift 2
  for package in "$@"; do
    case "$output" in */) file=$output${package##*/} ;; *) file=$output ;; esac
    echo "program of $package" > "$file"
  done ;;
mod)
  directory="$GOMODCACHE/github.com/pulumi/pulumi-kubernetes/provider/v4@$FAKE_UPSTREAM"
  mkdir -p "$directory/cmd/pulumi-resource-kubernetes"
  echo '{"name": "kubernetes"}' > "$directory/cmd/pulumi-resource-kubernetes/schema.json"
  echo '{}' > "$directory/cmd/pulumi-resource-kubernetes/terraform-mapping.json" ;;
esac
"""


class FakeGo:
    """The made-up Go and its record."""

    def __init__(self, programs: Programs, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.program = programs.write("go", FAKE_GO)
        self._calls = calls
        for name, value in {"FAKE_CALLS": str(calls), "FAKE_VERSION": "go1.26.8", "FAKE_ERROR": ""}.items():
            monkeypatch.setenv(name, value)

    def calls(self, command: str = "") -> list[str]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line for line in lines if f" {command}" in line]


@pytest.fixture
def fake_go(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    return FakeGo(programs, tmp_path / "calls", monkeypatch)


def test_programs_of_one_module_are_built_by_one_run_and_not_again(
    paths: Paths, recorder: Recorder, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOS", "plan9")
    found = go.ensure_tools(paths, [*KUBERNETES, "kwok"], recorder.progress(), NOWHERE)
    assert sorted(found) == sorted([*KUBERNETES, "kwok"])
    assert found["kubelet"].read_text() == "program of k8s.io/kubernetes/cmd/kubelet\n"
    builds = fake_go.calls("build")
    assert [sum(f"cmd/{name}" in line for name in KUBERNETES) for line in builds] == [6, 0]
    module = modcache.MODULES / "kubernetes"
    assert builds[0].startswith(
        f"{module} build -gcflags=all=-dwarf=false -ldflags -s -w -X k8s.io/component-base"
    )
    settings = f"| -buildvcs=false -modcacherw -trimpath 0 {paths.go}/mod {paths.go}/build none"
    assert all(line.endswith(settings) for line in builds)
    for name, program in found.items():
        assert program.name == name
        assert program.parent.parent == paths.tools
        assert program.stat().st_mode & 0o777 == 0o755
    assert not list(paths.tools.glob(".*.partial"))
    assert "kwok: built in" in recorder.text()

    before, lines = len(fake_go.calls()), len(recorder.lines)
    assert go.ensure_tools(paths, [*KUBERNETES, "kwok"], recorder.progress(), NOWHERE) == found
    assert (len(fake_go.calls()), len(recorder.lines)) == (before, lines)


def test_the_warm_call_is_quick_without_starting_go(
    paths: Paths, recorder: Recorder, fake_go: FakeGo
) -> None:
    names = [name for name in pins.load().tools if name != "pulumi-resource-kubernetes"]
    go.ensure_tools(paths, names, recorder.progress(), NOWHERE)
    calls = len(fake_go.calls())
    started = time.monotonic()
    go.ensure_tools(paths, names, recorder.progress(), NOWHERE)
    assert time.monotonic() - started < 0.5
    assert len(fake_go.calls()) == calls


def test_only_what_is_missing_of_a_module_is_built(paths: Paths, recorder: Recorder, fake_go: FakeGo) -> None:
    first = go.ensure_tools(paths, ["kubelet"], recorder.progress(), NOWHERE)
    every = go.ensure_tools(paths, KUBERNETES, recorder.progress(), NOWHERE)
    assert every["kubelet"] == first["kubelet"]
    assert "cmd/kubelet" not in fake_go.calls("build")[1]


def test_a_new_go_a_new_pin_and_a_new_requirement_each_make_a_new_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = pins.load().tools["kwok"]
    monkeypatch.setattr(go, "MODULES", tmp_path)
    (tmp_path / "kwok").mkdir()
    (tmp_path / "kwok" / "go.mod").write_text("go 1.26\n")
    keys = {go.tool_key(tool, "go1.26.8"), go.tool_key(tool, "go1.26.9")}
    keys.add(go.tool_key(pins.Tool(**{**vars(tool), "ldflags": ""}), "go1.26.8"))
    for name in ("go.mod", "go.sum", "main.go"):
        (tmp_path / "kwok" / name).write_text("changed\n")
        keys.add(go.tool_key(tool, "go1.26.8"))
    assert len(keys) == 6


@pytest.mark.usefixtures("fake_go")
def test_the_kubernetes_plugin_is_built_beside_its_upstream_files(
    paths: Paths, recorder: Recorder, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = pins.load().tools["pulumi-resource-kubernetes"]
    version = modcache.required_version(
        (modcache.MODULES / tool.module / "go.mod").read_text(), tool.upstream
    )
    monkeypatch.setenv("FAKE_UPSTREAM", version)
    kept = paths.cache / "kept"
    programs.write("go", f'{FAKE_GO}\n[ "$(basename $PWD)" != source ] || cp -r "$PWD" {kept}')
    found = go.ensure_tools(paths, [tool.name], recorder.progress(), NOWHERE)
    assert found[tool.name].is_file()
    assert json.loads((kept / "schema.json").read_text()) == {"name": "kubernetes", "version": "4.25.0"}
    assert sorted(file.name for file in kept.iterdir()) == [
        "go.mod",
        "go.sum",
        "main.go",
        "schema.json",
        "terraform-mapping.json",
    ]
    assert not (modcache.MODULES / tool.module / "schema.json").exists()


@pytest.mark.usefixtures("fake_go")
@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ("undefined: thing", "read /"),
        ("write /x: no space left on device", "free space on the disk"),
        ("compile: signal: killed", "free memory"),
        ("Get x: dial tcp: lookup proxy: no such host", "module proxy reachable"),
        ("verifying x: checksum mismatch", "differs from its pinned hash"),
    ],
)
def test_a_failed_build_tells_its_last_lines_its_log_and_a_fix(
    paths: Paths, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, message: str, fix: str
) -> None:
    monkeypatch.setenv("FAKE_ERROR", message)
    with pytest.raises(LabError) as failure:
        go.ensure_tools(paths, ["coredns"], recorder.progress(), NOWHERE)
    log = paths.logs / "toolchain-coredns.log"
    assert log.read_text() == f"first line\n{message}\n"
    assert str(log) in failure.value.where
    assert message in failure.value.why
    assert fix in failure.value.fix
    assert not list(paths.tools.glob("coredns-*"))
    assert not list(paths.tools.glob(".*.partial"))
    monkeypatch.setenv("FAKE_ERROR", "")
    assert go.ensure_tools(paths, ["coredns"], recorder.progress(), NOWHERE)["coredns"].is_file()


@pytest.mark.usefixtures("fake_go")
def test_a_missing_and_a_too_old_go_are_told(
    paths: Paths, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VERSION", "go1.19.8")
    with pytest.raises(LabError, match=r"Go is too old(.|\n)*go1.19.8 at (.|\n)*GOTOOLCHAIN=auto"):
        go.ensure_tools(paths, ["pulumi"], recorder.progress(), NOWHERE)
    monkeypatch.setenv("FAKE_VERSION", "go1.26.8")
    assert go.ensure_tools(paths, ["pulumi"], recorder.progress(), NOWHERE)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match=r"Go is not installed(.|\n)*needs Go 1\.26"):
        go.ensure_tools(paths, ["pulumi"], recorder.progress(), NOWHERE)


def test_an_unknown_tool_is_refused_before_anything_is_built(
    paths: Paths, recorder: Recorder, fake_go: FakeGo
) -> None:
    with pytest.raises(LabError, match=r"tool 'kubectx' is not pinned(.|\n)*known tools: coredns, helm"):
        go.ensure_tools(paths, ["kwok", "kubectx"], recorder.progress(), NOWHERE)
    assert fake_go.calls("build") == []


def test_two_runs_at_once_build_once(
    paths: Paths, recorder: Recorder, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "1")
    found: list[Path] = []

    def ensure() -> None:
        found.append(go.ensure_tools(paths, ["helm"], recorder.progress(), NOWHERE)["helm"])

    threads = [threading.Thread(target=ensure) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake_go.calls("build")) == 1
    assert len(set(found)) == 1
    assert recorder.text().count("another run builds it; waiting") == 2


def _ensure_helm(paths: Paths) -> None:
    go.ensure_tools(paths, ["helm"], Recorder().progress(), NOWHERE)


def test_a_killed_build_leaves_nothing_that_looks_built(
    paths: Paths, recorder: Recorder, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "30")
    builder = multiprocessing.get_context("fork").Process(target=_ensure_helm, args=(paths,))
    builder.start()
    while not fake_go.calls("build"):
        time.sleep(0.02)
    builder.kill()
    builder.join()
    assert not list(paths.tools.glob("helm-*"))
    assert len(list(paths.tools.glob(".*.partial"))) == 1
    monkeypatch.setenv("FAKE_SECONDS", "0")
    assert go.ensure_tools(paths, ["helm"], recorder.progress(), NOWHERE)["helm"].is_file()
    assert not list(paths.tools.glob(".*.partial"))


def test_versions_compare_as_numbers_and_every_module_states_one() -> None:
    assert (
        numbers("go1.9") < numbers("go1.26rc1") == numbers("1.26") < numbers("go1.26.8 X:exp") == (1, 26, 8)
    )
    modules = {tool.module for tool in pins.load().tools.values()}
    assert all(numbers(go_directive(module)) >= (1, 26, 0) for module in modules)
    assert {file.parent.name for file in modcache.MODULES.glob("*/go.mod")} == modules


def test_required_versions_are_read_from_both_forms_of_go_mod() -> None:
    text = "module m\n\nrequire a.b/C v1.2.3\n\nrequire (\n\td.e/f/v2 v2.0.0-2025 // indirect\n)\n"
    assert modcache.required_version(text, "a.b/C") == "v1.2.3"
    assert modcache.required_version(text, "d.e/f/v2") == "v2.0.0-2025"
    assert modcache.escaped("github.com/NVIDIA/gpu") == "github.com/!n!v!i!d!i!a/gpu"
    with pytest.raises(LabError, match=r"module d\.e/f is not pinned"):
        modcache.required_version(text, "d.e/f")


def test_go_is_asked_again_when_its_program_changes(
    paths: Paths, recorder: Recorder, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = go.ensure_tools(paths, ["kwok"], recorder.progress(), NOWHERE)["kwok"]
    monkeypatch.setenv("FAKE_VERSION", "go1.27.0")
    shutil.copyfile(fake_go.program, fake_go.program.with_suffix(".new"))
    fake_go.program.with_suffix(".new").chmod(0o755)
    fake_go.program.with_suffix(".new").replace(fake_go.program)
    second = go.ensure_tools(paths, ["kwok"], recorder.progress(), NOWHERE)["kwok"]
    assert first.parent != second.parent
