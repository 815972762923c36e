"""Charts and stages copied out of a made-up module cache."""

from pathlib import Path

import pytest

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.toolchain import charts
from lab.toolchain.modcache import MODULES, escaped, required_version

from .conftest import Programs, Recorder

STAGES = ["node-initialize.yaml", "pod-complete.yaml", "pod-delete.yaml", "pod-ready.yaml"]


def _module(paths: Paths, module: str, upstream: str) -> Path:
    version = required_version((MODULES / module / "go.mod").read_text(), upstream)
    return paths.go / "mod" / f"{escaped(upstream)}@{version}"


@pytest.fixture
def kueue(paths: Paths) -> Path:
    source = _module(paths, "kueue", "sigs.k8s.io/kueue") / "charts" / "kueue"
    (source / "templates").mkdir(parents=True)
    (source / "Chart.yaml").write_text("name: kueue\n")
    (source / "Chart.yaml").chmod(0o444)
    (source / "templates" / "all.yaml").write_text("{}\n")
    return source


@pytest.fixture(autouse=True)
def crds(paths: Paths) -> Path:
    upstream = "github.com/prometheus-operator/prometheus-operator"
    source = _module(paths, "prometheus-operator", upstream) / "example" / "prometheus-operator-crd"
    source.mkdir(parents=True)
    for kind in ("probes", "thanosrulers"):
        (source / f"monitoring.coreos.com_{kind}.yaml").write_text(f"---\nkind: {kind}\n")
    return source


def test_crds_are_packed_into_a_sub_chart_with_a_switch_each(
    paths: Paths, recorder: Recorder, kueue: Path
) -> None:
    assert kueue.is_dir()
    chart = charts.ensure_charts(paths, recorder.progress())["prometheus-operator-crds"]
    files = {str(file.relative_to(chart)): file.read_text() for file in chart.rglob("*") if file.is_file()}
    version = pins.load().charts["prometheus-operator-crds"].version
    assert files == {
        "Chart.yaml": f"apiVersion: v2\nname: prometheus-operator-crds\nversion: {version}\n",
        "charts/crds/Chart.yaml": f"apiVersion: v2\nname: crds\nversion: {version}\n",
        "charts/crds/values.yaml": "probes:\n  enabled: true\nthanosrulers:\n  enabled: true\n",
        **{
            f"charts/crds/templates/monitoring.coreos.com_{kind}.yaml": (
                f"{{{{- if .Values.{kind}.enabled }}}}\n---\nkind: {kind}\n\n{{{{- end }}}}\n"
            )
            for kind in ("probes", "thanosrulers")
        },
    }


def test_charts_are_copied_once_to_a_place_settings_can_name(
    paths: Paths, recorder: Recorder, kueue: Path
) -> None:
    places = charts.ensure_charts(paths, recorder.progress())
    assert places == {name: paths.charts / name for name in pins.load().charts}
    assert (paths.charts / "kueue" / "Chart.yaml").read_text() == "name: kueue\n"
    (paths.charts / "kueue" / "Chart.yaml").write_text("mine\n")
    (kueue / "Chart.yaml").unlink()
    charts.ensure_charts(paths, recorder.progress())
    assert (paths.charts / "kueue" / "Chart.yaml").read_text() == "mine\n"
    assert len(recorder.lines) == len(pins.load().charts)


def test_another_version_or_a_lost_marker_replaces_the_whole_chart(
    paths: Paths, recorder: Recorder, kueue: Path
) -> None:
    assert kueue.is_dir()
    charts.ensure_charts(paths, recorder.progress())
    marker = paths.charts / ".kueue.version"
    for damage in (lambda: marker.write_text("sigs.k8s.io/kueue@v0.1.0 charts/kueue\n"), marker.unlink):
        (paths.charts / "kueue" / "left-over.yaml").write_text("old")
        damage()
        charts.ensure_charts(paths, recorder.progress())
        assert sorted(file.name for file in (paths.charts / "kueue").iterdir()) == ["Chart.yaml", "templates"]
    assert marker.read_text() == f"sigs.k8s.io/kueue@{kueue.parent.parent.name.split('@')[1]} charts/kueue\n"


def test_stages_are_copied_once_per_choice(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _module(paths, "kwok", "sigs.k8s.io/kwok") / "kustomize" / "stage"
    for folder, names in (("node/fast", STAGES[:1]), ("pod/fast", STAGES[1:]), ("pod/general", STAGES[1:])):
        (source / folder).mkdir(parents=True)
        for name in [*names, "kustomization.yaml"]:
            (source / folder / name).write_text(f"{name}\n")
    place = charts.kwok_stages(paths)
    assert sorted(file.name for file in place.iterdir()) == STAGES
    assert place.is_relative_to(paths.cache)
    (source / "node/fast" / STAGES[0]).unlink()
    assert charts.kwok_stages(paths) == place
    monkeypatch.setattr(charts, "_STAGES", ("pod/fast/pod-ready",))
    assert [file.name for file in charts.kwok_stages(paths).iterdir()] == ["pod-ready.yaml"]


def test_a_module_that_cannot_be_had_or_lacks_the_file_is_told(
    paths: Paths, recorder: Recorder, programs: Programs
) -> None:
    programs.write("go", "echo 'dial tcp: no such host' >&2; exit 1")
    with pytest.raises(
        LabError, match=r"module sigs.k8s.io/kueue could not be downloaded(.|\n)*no such host"
    ):
        charts.ensure_charts(paths, recorder.progress())
    programs.write("go", "exit 0")
    with pytest.raises(LabError, match=r"kueue is not in its Go module(.|\n)*versions\.toml"):
        charts.ensure_charts(paths, recorder.progress())
    assert [entry.name for entry in paths.charts.iterdir() if not entry.name.startswith(".")] == []
