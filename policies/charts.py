"""Renders the chart of a Helm Release with ``helm template``, so that rules see what it will install.

Values go to helm on standard input: they may hold secrets, which belong neither on a command line nor in
a file. Standard library only, but for PyYAML, which the Pulumi SDK requires: helm renders nothing but YAML.
"""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.model import Unknown, Value, at, items

HELM_VARIABLE = "GPU_PLATFORM_HELM"
TIMEOUT_VARIABLE = "GPU_PLATFORM_HELM_TIMEOUT_SECONDS"
DEFAULT_TIMEOUT_SECONDS = 60
_KIND_LINE = re.compile(r"^kind:\s*(\S+)\s*$", re.MULTILINE)
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_DOCUMENT = re.compile(r"^---.*$", re.MULTILINE)
_SHOWN_CHARACTERS = 600


class ChartError(Exception):
    """A chart can't be rendered; the text says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class ChartRequest:
    """Everything that decides what a Release renders; hashable, so that each is rendered once.

    Args:
        release: Release name.
        namespace: Namespace it goes to.
        chart: Path, ``oci://`` reference, or name in ``repository``.
        version: Chart version, empty for a path.
        repository: Address of a classic chart repository, may be empty.
        values: Merged values as JSON with sorted keys, readable as YAML.
    """

    release: str
    namespace: str
    chart: str
    version: str
    repository: str
    values: str

    @property
    def name(self) -> str:
        """The chart's own name, as exemptions write it."""
        return self.chart.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What came of a request: manifests, or the problem."""

    manifests: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""


def chart_request(props: Mapping[str, Any], logical_name: str) -> ChartRequest:
    """Read a Release's planned properties.

    Raises:
        ChartError: Something that decides the content is unknown or can't be followed.
    """
    for key in ("postrender", "devel"):
        if props.get(key):
            raise ChartError(f"{key} changes the content after rendering; accepted: a chart without it")
    if at(props, "repositoryOpts", "password") or at(props, "repositoryOpts", "username"):
        raise ChartError(
            "a repository with a login can't be rendered; accepted: helm registry login, or a mirror"
        )
    values: dict[str, Any] = {}
    for asset in items(props.get("valueYamlFiles")):
        values = _merged(values, _from_asset(asset))
    planned_values = props.get("values")
    values = _merged(values, planned_values if isinstance(planned_values, Mapping) else {})
    texts = {
        "release": props.get("name") or logical_name,
        "namespace": props.get("namespace") or "default",
        "chart": props.get("chart") or "",
        "version": props.get("version") or "",
        "repository": at(props, "repositoryOpts", "repo") or "",
    }
    unknown = _first_unknown((planned_values, *texts.values()))
    if unknown:
        raise ChartError(f"{unknown.path} is not known during preview; accepted: a chart with known values")
    if props.get("version") == "":
        # The provider's check fills in the version unless an input is unknown, and drops unknown values.
        raise ChartError("an input of the release is not known during preview; accepted: known inputs")
    return ChartRequest(values=_as_yaml(values), **texts)


class ChartRenderer:
    """Renders each request once.

    Args:
        render: Renders one request, ``ChartError`` when it can't.
    """

    def __init__(self, render: Callable[[ChartRequest], tuple[Mapping[str, Any], ...]]) -> None:
        self._render = render
        self._seen: dict[ChartRequest, Rendered] = {}
        self._lock = threading.Lock()

    def __call__(self, request: ChartRequest) -> Rendered:
        """The manifests or the problem, from memory when seen before."""
        with self._lock:
            if request not in self._seen:
                try:
                    self._seen[request] = Rendered(manifests=self._render(request))
                except ChartError as error:
                    self._seen[request] = Rendered(problem=str(error))
            return self._seen[request]


def helm_template(request: ChartRequest) -> tuple[Mapping[str, Any], ...]:
    """Render with the helm program of the environment.

    Raises:
        ChartError: No helm, no chart, a template error, or no answer in time.
    """
    helm = os.environ.get(HELM_VARIABLE) or shutil.which("helm")
    if not helm:
        raise ChartError(f"no helm program: put helm on PATH or its path into {HELM_VARIABLE}")
    seconds = float(os.environ.get(TIMEOUT_VARIABLE) or DEFAULT_TIMEOUT_SECONDS)
    command = [helm, "template", request.release, request.chart, "--namespace", request.namespace]
    command += ["--skip-tests", "--values", "-"]
    command += ["--version", request.version] if request.version else []
    command += ["--repo", request.repository] if request.repository else []
    try:
        done = subprocess.run(
            command,
            input=request.values,
            capture_output=True,
            # helm reads and writes UTF-8 in every locale
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except UnicodeError:
        raise ChartError(
            f"values or content of {request.chart} are not Unicode text; accepted: UTF-8"
        ) from None
    except subprocess.TimeoutExpired:
        raise ChartError(f"helm template of {request.chart} gave no answer in {seconds:g} s") from None
    except OSError as error:
        raise ChartError(f"helm program {helm} does not start: {error.strerror}") from None
    if done.returncode:
        raise ChartError(
            f"helm template of {request.chart} failed: {done.stderr.strip()[-_SHOWN_CHARACTERS:]}"
        )
    return manifests(done.stdout)


def manifests(text: str) -> tuple[Mapping[str, Any], ...]:
    """Parse what helm rendered; CRDs, by far the longest documents and of no interest to rules, are skipped.

    Raises:
        ChartError: It is not YAML.
    """
    import yaml  # noqa: PLC0415 (only where a chart is rendered: importing the pack stays light)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: list[Mapping[str, Any]] = []
    for document in _DOCUMENT.split(text):
        if _KIND_LINE.findall(document) == ["CustomResourceDefinition"]:
            continue
        try:
            parsed = yaml.load(document, Loader=loader)  # noqa: S506 (a safe loader)
        except yaml.YAMLError as error:
            raise ChartError(f"the rendered content is not YAML: {error}") from None
        if isinstance(parsed, Mapping):
            nested = parsed.get("items") if parsed.get("kind") == "List" else None
            found.extend(item for item in (nested or [parsed]) if isinstance(item, Mapping))
    return tuple(found)


def _as_yaml(values: Mapping[str, Any]) -> str:
    """JSON that is YAML too: YAML has no pairs of surrogates, and no raw control characters."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Helm's merge: mappings key by key, anything else replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def _from_asset(asset: Value) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 (as above)

    text, path = getattr(asset, "text", None), getattr(asset, "path", None)
    try:
        content = text if isinstance(text, str) else Path(str(path)).read_text()
        parsed = yaml.safe_load(content)
    except (OSError, yaml.YAMLError) as error:
        raise ChartError(f"valueYamlFiles can't be read: {error}; accepted: local files or text") from None
    return parsed if isinstance(parsed, Mapping) else {}


def _first_unknown(value: Value) -> Unknown | None:
    if isinstance(value, Unknown):
        return value
    below = value.values() if isinstance(value, Mapping) else items(value)
    return next((found for item in below if (found := _first_unknown(item))), None)
