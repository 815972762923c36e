"""Arguments and expected objects that several tests of this folder share."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from components.contracts import MetricsEndpoint, SecretRef
from components.kube import Pods
from components.observability import Scrape
from lab import paths, pins
from lab.toolchain.modcache import MODULES, required_version

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PASSWORD = "random:index/randomPassword:RandomPassword"
MADE = {PASSWORD: {"result": "made-for-{name}", "bcryptHash": "hash-for-{name}"}}
LOGIN = SecretRef(
    name="monitoring-login", keys={"username": "username", "password": "password", "htpasswd": "htpasswd"}
)


def scrape(job: str = "thing", **changes: Any) -> Scrape:
    base: dict[str, Any] = {
        "endpoint": MetricsEndpoint(namespace="data", service="thing", port=80, path="/metrics", job=job),
        "pods": Pods(namespace="data", labels={"app": "thing"}),
        "pod_port": 8080,
        "service_labels": {"app": "thing"},
    }
    return Scrape(**(base | changes))


def crd(plural: str) -> Mapping[str, Any]:
    """A definition of the pinned operator; the test is skipped where its module was never fetched."""
    chart = pins.load().charts["prometheus-operator-crds"]
    version = required_version((MODULES / chart.module / "go.mod").read_text(), chart.upstream)
    directory = paths.current().go / "mod" / f"{chart.upstream}@{version}" / chart.path
    file = directory / f"monitoring.coreos.com_{plural}.yaml"
    if not file.is_file():
        pytest.skip(f"{chart.upstream} {version} is not in the module cache; `make up` fetches it")
    # One enumeration holds a bare `=`, which YAML 1.1 has a tag of its own for.
    found: Mapping[str, Any] = yaml.load(file.read_text().replace("- =\n", "- '='\n"), Loader=LOADER)  # noqa: S506
    return found


def plain(manifest: Any) -> Any:
    """The manifest with what flows between resources taken for text."""
    if isinstance(manifest, Mapping):
        return {key: plain(value) for key, value in manifest.items()}
    if isinstance(manifest, list | tuple):
        return [plain(value) for value in manifest]
    if isinstance(manifest, str | int | float | bool) or manifest is None:
        return manifest
    return "text"
