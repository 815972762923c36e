"""The pins of images and charts, as ``versions.toml`` has them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

VERSIONS_FILE = Path(__file__).resolve().parents[2] / "versions.toml"


@dataclass(frozen=True, kw_only=True)
class ChartRef:
    """A Helm chart to install.

    Args:
        chart: ``oci://`` address, chart name inside ``repo``, or absolute path of a directory.
        version: Version of the chart.
        repo: Address of an HTTP chart repository; None for ``oci://`` and paths.
    """

    chart: str
    version: str
    repo: str | None = None

    @property
    def local(self) -> bool:
        """Whether it is a directory of this machine."""
        return self.chart.startswith("/")


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """Images and charts by name, ready to be used.

    Args:
        images: Image name → full reference.
        charts: Chart name → chart.
    """

    images: Mapping[str, str]
    charts: Mapping[str, ChartRef]


@dataclass(frozen=True, kw_only=True)
class Versions:
    """Both columns of ``versions.toml``.

    Args:
        supported: What users get: public registries.
        lab: What a bare machine has without a registry.
        lab_state: Directory of this machine's lab, which holds the charts of its column.
    """

    supported: Artifacts
    lab: Artifacts
    lab_state: Path


def parse(data: Mapping[str, Any], lab_state: Path) -> Versions:
    """Both columns from the parsed file."""
    images, charts = data["images"], data["charts"]
    return Versions(
        supported=Artifacts(
            images=MappingProxyType({name: row["supported"] for name, row in images.items()}),
            charts=MappingProxyType(
                {
                    name: ChartRef(chart=row["supported"], version=row["version"])
                    for name, row in charts.items()
                }
            ),
        ),
        lab=Artifacts(
            images=MappingProxyType({name: row["lab"] for name, row in images.items()}),
            charts=MappingProxyType(
                {
                    name: ChartRef(chart=str(lab_state / "charts" / name), version=row["version"])
                    for name, row in charts.items()
                }
            ),
        ),
        lab_state=lab_state,
    )


def read(lab_state: Path, path: Path = VERSIONS_FILE) -> Versions:
    """Read the pins from disk.

    Args:
        lab_state: Directory of this machine's lab.
        path: The file.
    """
    return parse(tomllib.loads(path.read_text(encoding="utf-8")), lab_state)
