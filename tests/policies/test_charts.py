"""Rendering charts: what is asked of helm, and every way it can fail."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from policies.charts import (
    HELM_VARIABLE,
    TIMEOUT_VARIABLE,
    ChartError,
    ChartRenderer,
    ChartRequest,
    chart_request,
    helm_template,
    manifests,
)
from policies.model import Unknown

REQUEST = ChartRequest(
    release="kueue",
    namespace="kueue-system",
    chart="oci://example.org/charts/kueue",
    version="0.17.0",
    repository="",
    values='{"password": "correct-horse"}',
)


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that writes its arguments and standard input down and answers with the file ``answer``."""
    program = tmp_path / "helm"
    program.write_text(
        f'#!/bin/sh\ncd {tmp_path}\nprintf "%s\\n" "$@" > arguments\ncat > values\n'
        "if [ -f slow ]; then sleep 30; fi\nif [ -f fail ]; then cat fail >&2; exit 1; fi\ncat answer\n"
    )
    program.chmod(0o755)
    (tmp_path / "answer").write_text(
        "---\nkind: Pod\n---\n# nothing\n---\nkind: List\nitems: [{kind: Job}]\n"
    )
    monkeypatch.setenv(HELM_VARIABLE, str(program))
    return tmp_path


def test_helm_is_asked_with_values_on_standard_input_only(helm: Path) -> None:
    assert helm_template(REQUEST) == ({"kind": "Pod"}, {"kind": "Job"})
    arguments = (helm / "arguments").read_text().split()
    assert arguments == [
        *("template", "kueue", "oci://example.org/charts/kueue", "--namespace", "kueue-system"),
        *("--skip-tests", "--values", "-", "--version", "0.17.0"),
    ]
    assert json.loads((helm / "values").read_text()) == {"password": "correct-horse"}


def test_helm_that_fails_is_a_problem_with_its_words(helm: Path) -> None:
    (helm / "fail").write_text("Error: chart not found")
    with pytest.raises(ChartError, match=r"helm template of .*kueue failed: Error: chart not found"):
        helm_template(REQUEST)


def test_helm_that_hangs_is_ended(helm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (helm / "slow").touch()
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.2")
    with pytest.raises(ChartError, match=r"gave no answer in 0\.2 s"):
        helm_template(REQUEST)


@pytest.mark.parametrize(
    ("variable", "says"), [("/nowhere/helm", "does not start: No such file"), ("", "no helm program")]
)
def test_no_helm_is_a_problem(monkeypatch: pytest.MonkeyPatch, variable: str, says: str) -> None:
    monkeypatch.setenv(HELM_VARIABLE, variable)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ChartError, match=says):
        helm_template(REQUEST)


def test_rendered_text_that_is_no_yaml_is_a_problem() -> None:
    with pytest.raises(ChartError, match="is not YAML"):
        manifests("kind: {")


def test_custom_resource_definitions_are_skipped_and_nothing_else_with_them() -> None:
    text = (
        "kind: CustomResourceDefinition\nspec: {\n---\nkind: Pod\nnote: |\n  kind: CustomResourceDefinition\n"
    )
    assert manifests(text) == ({"kind": "Pod", "note": "kind: CustomResourceDefinition\n"},)


def test_the_same_request_is_rendered_once_and_problems_are_kept() -> None:
    asked: list[ChartRequest] = []

    def render(request: ChartRequest) -> tuple[Mapping[str, Any], ...]:
        asked.append(request)
        if request.release == "bad":
            raise ChartError("broken")
        return ({"kind": "Pod"},)

    renderer = ChartRenderer(render)
    bad = ChartRequest(release="bad", namespace="", chart="", version="", repository="", values="{}")
    for _ in range(3):
        assert renderer(REQUEST).manifests == ({"kind": "Pod"},)
        assert renderer(bad).problem == "broken"
    assert asked == [REQUEST, bad]


def test_a_request_is_read_from_a_release() -> None:
    props = {
        "name": "kueue",
        "namespace": "kueue-system",
        "chart": "kueue",
        "version": "0.17.0",
        "repositoryOpts": {"repo": "https://charts.example.org"},
        "valueYamlFiles": [pulumi.StringAsset("a: {b: 1, c: 2}")],
        "values": {"a": {"b": 3}},
    }
    request = chart_request(props, "logical")
    assert request == ChartRequest(
        release="kueue",
        namespace="kueue-system",
        chart="kueue",
        version="0.17.0",
        repository="https://charts.example.org",
        values='{"a": {"b": 3, "c": 2}}',
    )
    assert (request.name, REQUEST.name) == ("kueue", "kueue")


@pytest.mark.parametrize("text", ["Ünïcode", "🚀 team", "tab\tend", "del\x7f\x85\u2028", 'quote"\\'])
def test_values_are_the_same_text_when_read_as_yaml(text: str) -> None:
    request = chart_request({"chart": "kueue", "version": "1", "values": {"contact": text}}, "logical")
    assert yaml.safe_load(request.values) == {"contact": text}


@pytest.mark.usefixtures("helm")
def test_values_that_are_no_text_are_a_problem() -> None:
    values = chart_request({"chart": "kueue", "version": "1", "values": {"a": "\ud83d"}}, "x").values
    with pytest.raises(ChartError, match="not Unicode text"):
        helm_template(replace(REQUEST, values=values))


@pytest.mark.parametrize(
    ("props", "says"),
    [
        ({"chart": Unknown("chart")}, "chart is not known"),
        ({"values": {"a": [{"b": Unknown("values.a[0].b")}]}}, r"values\.a\[0\]\.b is not known"),
        ({"values": Unknown("values")}, "values is not known"),
        ({"version": ""}, "an input of the release is not known"),
        ({"postrender": "sed"}, "postrender changes"),
        ({"repositoryOpts": {"password": "x"}}, "with a login"),
        ({"valueYamlFiles": [pulumi.FileAsset("/nowhere.yaml")]}, "can't be read"),
    ],
)
def test_what_decides_the_content_must_be_known(props: dict[str, Any], says: str) -> None:
    with pytest.raises(ChartError, match=says):
        chart_request({"chart": "kueue", **props}, "logical")
