"""Run by the program's own interpreter: what is installed there, as JSON on standard output."""

import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PLUGIN_FILE = "pulumi-plugin.json"


def _name(raw: str) -> str:
    return raw.lower().replace("_", "-").replace(".", "-")


def _requirement(line: str) -> str:
    name = "".join(
        char if char.isalnum() or char in "-_." else " " for char in line.split(";", maxsplit=1)[0]
    )
    return _name(name.split()[0]) if "extra ==" not in line and name.split() else ""


def _plugin(distribution: metadata.Distribution) -> dict[str, str] | None:
    for file in distribution.files or ():
        if file.name == PLUGIN_FILE and len(file.parts) == 2:
            path = Path(str(distribution.locate_file(file)))
            described: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
            if not described.get("resource"):
                return None
            return {
                "name": described.get("name") or _name(distribution.name).removeprefix("pulumi-"),
                "version": described.get("version") or distribution.version,
                "server": described.get("server", ""),
            }
    return None


def report() -> dict[str, Any]:
    """The interpreter, its packages with what needs them, and the provider plug-ins they ask for."""
    distributions = {_name(item.name): item for item in metadata.distributions()}
    needed = {_requirement(line) for item in distributions.values() for line in item.requires or ()}
    plugins = [plugin for item in distributions.values() if (plugin := _plugin(item))]
    return {
        "executable": sys.executable,
        "version": platform.python_version(),
        "packages": [
            {"name": item.name, "version": item.version, "direct": name not in needed}
            for name, item in sorted(distributions.items())
        ],
        "plugins": sorted(plugins, key=lambda plugin: plugin["name"]),
    }


if __name__ == "__main__":
    json.dump(report(), sys.stdout)
