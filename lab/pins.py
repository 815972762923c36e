"""The pins of ``versions.toml`` as records."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from lab.paths import REPOSITORY

VERSIONS_FILE = REPOSITORY / "versions.toml"


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A program built from a pinned Go module.

    Args:
        name: Name of the executable.
        module: Directory below ``lab/toolchain/modules``.
        package: Go package of the main function.
        version: Version it reports.
        ldflags: Linker flags that set that version.
        upstream: Module whose generated files the builder copies in; empty for none.
    """

    name: str
    module: str
    package: str
    version: str
    ldflags: str
    upstream: str = ""


@dataclass(frozen=True, kw_only=True)
class LabChart:
    """A Helm chart inside a pinned Go module.

    Args:
        name: Chart name.
        version: Version of the chart.
        module: Directory below ``lab/toolchain/modules``.
        upstream: Module it lies in.
        path: The chart's directory inside the module; that of the CRDs where ``packed`` is set.
        packed: Name of the sub-chart the lab packs a directory of CRDs into, as the public chart has it;
            empty where ``path`` is a chart already.
    """

    name: str
    version: str
    module: str
    upstream: str
    path: str
    packed: str = ""


@dataclass(frozen=True, kw_only=True)
class Pins:
    """Everything ``versions.toml`` says about the lab.

    Args:
        tools: Tool name → how it is built.
        debian_release: Debian release of the packages.
        debian_sets: Set name → package names.
        charts: Chart name → where it lies in a module.
        images: Image name → reference in the lab.
    """

    tools: Mapping[str, Tool]
    debian_release: str
    debian_sets: Mapping[str, tuple[str, ...]]
    charts: Mapping[str, LabChart]
    images: Mapping[str, str]


@cache
def load() -> Pins:
    """Read ``versions.toml`` once."""
    data = tomllib.loads(VERSIONS_FILE.read_text())
    debian = dict(data["debian"])
    release = debian.pop("release")
    return Pins(
        tools={name: Tool(name=name, **row) for name, row in data["tools"].items()},
        debian_release=release,
        debian_sets={name: tuple(packages) for name, packages in debian.items()},
        charts={
            name: LabChart(name=name, version=row["version"], **row["lab"])
            for name, row in data["charts"].items()
        },
        images={name: row["lab"] for name, row in data["images"].items()},
    )
