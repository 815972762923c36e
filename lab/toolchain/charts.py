"""Helm charts and KWOK stages that lie inside pinned Go modules, copied to fixed places."""

import shutil
from pathlib import Path

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.pins import LabChart
from lab.progress import Progress
from lab.toolchain.cache import copy_tree, key_of, locked, make_directory, partial_directory, remove_tree
from lab.toolchain.modcache import MODULES, module_directory, required_version

_KWOK = "sigs.k8s.io/kwok"
_STAGES = (
    "node/fast/node-initialize",
    "pod/general/pod-complete",
    "pod/fast/pod-delete",
    "pod/fast/pod-ready",
)


def ensure_charts(paths: Paths, progress: Progress) -> dict[str, Path]:
    """Copy every chart of ``versions.toml`` to ``paths.charts/<name>``; again when the version changes.

    Returns:
        Chart name → its directory.
    """
    return {name: _ensure_chart(paths, chart, progress) for name, chart in pins.load().charts.items()}


def kwok_stages(paths: Paths) -> Path:
    """Directory of the stages without which KWOK simulates nothing; copied once per version and choice."""
    version = required_version((MODULES / "kwok" / "go.mod").read_text(), _KWOK)
    place = paths.cache / "kwok" / f"{version}-{key_of(_STAGES)}"
    if place.is_dir():
        return place
    with locked(paths.cache / "kwok" / ".lock"):
        if not place.is_dir():
            source, _ = module_directory(paths, "kwok", _KWOK)
            with partial_directory(place.parent, place.name) as work:
                stages = make_directory(work / "stages")
                for stage in _STAGES:
                    file = _existing(source / "kustomize" / "stage" / f"{stage}.yaml", "kwok")
                    shutil.copyfile(file, stages / file.name)
                stages.rename(place)
    return place


def _ensure_chart(paths: Paths, chart: LabChart, progress: Progress) -> Path:
    place = paths.charts / chart.name
    marker = paths.charts / f".{chart.name}.version"
    with locked(paths.charts / f".{chart.name}.lock"):
        pinned = required_version((MODULES / chart.module / "go.mod").read_text(), chart.upstream)
        content = f"{chart.upstream}@{pinned} {chart.path}{f' as {chart.packed}' if chart.packed else ''}\n"
        if place.is_dir() and marker.exists() and marker.read_text() == content:
            return place
        progress.step(f"chart {chart.name}: copying {chart.upstream}@{pinned}")
        directory, _ = module_directory(paths, chart.module, chart.upstream)
        source = _existing(directory / chart.path, chart.module)
        # The marker goes first and comes last: a place without it is copied again.
        marker.unlink(missing_ok=True)
        with partial_directory(paths.charts, chart.name) as work:
            if chart.packed:
                _pack(chart, source, work / "new")
            else:
                copy_tree(source, work / "new")
            remove_tree(place)
            (work / "new").rename(place)
        marker.write_text(content)
    return place


def _pack(chart: LabChart, source: Path, target: Path) -> None:
    """Make a chart of a directory of CRDs, built like the public one: a sub-chart with a switch per kind.

    Helm stores a release in one Secret of at most 1 MiB: of a sub-chart it keeps what was rendered, of the
    chart itself the templates too, which would be too much. The files are taken as they are; none holds a
    template's braces.
    """
    inner = target / "charts" / chart.packed
    templates = make_directory(inner / "templates")
    switches = []
    for file in sorted(source.glob("*.yaml")):
        kind = file.stem.rpartition("_")[2]
        switches.append(f"{kind}:\n  enabled: true\n")
        text = f"{{{{- if .Values.{kind}.enabled }}}}\n{file.read_text()}\n{{{{- end }}}}\n"
        (templates / file.name).write_text(text)
    (inner / "values.yaml").write_text("".join(switches))
    for place, name in ((target, chart.name), (inner, chart.packed)):
        (place / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {chart.version}\n")


def _existing(path: Path, module: str) -> Path:
    if path.exists():
        return path
    raise LabError(
        f"{path.name} is not in its Go module",
        where=f"lab/toolchain/modules/{module}",
        why=f"{path} does not exist in the pinned version",
        fix="correct the path in versions.toml, or delete the module from the cache to fetch it again",
    )
