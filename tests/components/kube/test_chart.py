"""ChartRelease, its readiness gate, and image references for charts."""

import asyncio
from typing import Any

import pulumi
import pytest

from components.contracts import ClusterAccess
from components.core import ArgsError
from components.kube import ChartRelease, ChartReleaseArgs, ChartSource, NotReadyError, Readiness, split_image
from components.kube.readiness import Gate, judged, rolled_out, server_dry_run
from tests.harness import run
from tests.harness.samples import ACCESS

RELEASE, COMPONENT = "kubernetes:helm.sh/v3:Release", "gpuplatform:kube:ChartRelease"
MANIFEST = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "probe"}}


def _args(**changes: Any) -> ChartReleaseArgs:
    values: dict[str, Any] = {
        "release": "widget",
        "namespace": "widgets",
        "source": ChartSource(chart="oci://registry.example/widget", version="1.2.3"),
        "values": {"replicas": 1},
    }
    return ChartReleaseArgs(**(values | changes))


def _readiness(**changes: Any) -> Readiness:
    values: dict[str, Any] = {"access": ACCESS, "plural": "widgets", "manifest": MANIFEST}
    return Readiness(**(values | changes))


@pytest.mark.parametrize("preview", [False, True])
def test_a_release_is_exact_and_waits(preview: bool) -> None:
    recording = run(lambda: ChartRelease("widget", _args()) and None, preview=preview)
    release = recording.assert_resource(
        RELEASE,
        "widget-release",
        {
            "name": "widget",
            "namespace": "widgets",
            "chart": "oci://registry.example/widget",
            "version": "1.2.3",
            "values": {"replicas": 1},
            "createNamespace": False,
            "skipAwait": False,
            "timeout": 300,
            "maxHistory": 5,
            "compat": "true",
        },
        parent="widget",
    )
    assert release.options.hooks == {}
    recording.assert_counts({COMPONENT: 1, RELEASE: 1})


def test_a_chart_on_this_machine_has_its_own_version_and_a_classic_repository_is_named() -> None:
    def program() -> None:
        ChartRelease("local", _args(source=ChartSource(chart="/charts/widget", version="1.2.3")))
        source = ChartSource(chart="widget", version="1.2.3", repository="https://charts.example")
        ChartRelease("classic", _args(source=source))

    recording = run(program)
    local = recording.one(RELEASE, "local-release").inputs
    classic = recording.one(RELEASE, "classic-release").inputs
    assert (local.get("version"), local["chart"]) == (None, "/charts/widget")
    assert (classic["version"], classic["repositoryOpts"]) == ("1.2.3", {"repo": "https://charts.example"})


def test_the_gate_holds_back_the_release_and_can_hold_back_custom_resources() -> None:
    gates: list[pulumi.ResourceHookBinding | None] = []
    recording = run(lambda: gates.append(ChartRelease("widget", _args(readiness=_readiness())).gate))
    hooks = recording.one(RELEASE, "widget-release").options.hooks
    assert hooks == {"after_create": ("widget-answers",), "after_update": ("widget-answers",)}
    assert recording.one(RELEASE, "widget-release").inputs["skipAwait"] is True
    (gate,) = gates
    assert gate is not None
    assert [hook.name for hook in gate.before_create or []] == ["widget-answers"]  # type: ignore[union-attr]
    # Never under preview, where nothing was installed.
    assert not gate.before_create[0].opts.on_dry_run  # type: ignore[index, union-attr]


def _wait(answers: list[str | None], **changes: Any) -> list[str]:
    asked: list[str] = []

    def ask(kubeconfig: str) -> str | None:
        asked.append(kubeconfig)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    gate = Gate(_readiness(**changes), ask)

    async def twice() -> None:
        await gate.wait()
        await gate.wait()

    asyncio.run(twice())
    return asked


def test_the_gate_asks_until_the_webhook_answers_and_not_again() -> None:
    assert _wait(["503", None], interval_seconds=1) == ["/state/kubeconfig"] * 2


def test_the_gate_is_bounded_and_names_what_it_waited_for_and_the_last_answer() -> None:
    with pytest.raises(NotReadyError) as caught:
        _wait(["500 no endpoints"], timeout_seconds=1, interval_seconds=1)
    assert str(caught.value) == (
        "waited 1 s for the server to judge a Widget (example.com/v1, dry run); "
        "last answer: 500 no endpoints; next: look at the controller's pods and logs, "
        "then run `pulumi up` again"
    )


@pytest.mark.parametrize(
    ("status", "body", "answer"),
    [
        (409, "already exists", None),
        (403, 'admission webhook "v.kb.io" denied the request: no', None),
        (404, "page not\n  found", "404 page not found"),
        (500, "failed calling webhook", "500 failed calling webhook"),
        (500, '{"kind": "Status", "message": "no endpoints"}', "500 no endpoints"),
        (500, "[1]", "500 [1]"),
    ],
)
def test_a_refusal_by_the_webhook_is_an_answer_and_a_failure_to_ask_it_is_not(
    status: int, body: str, answer: str | None
) -> None:
    assert judged(status, body) == answer


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        ({"observed_generation": 2, "updated_replicas": 2, "available_replicas": 2}, None),
        (
            {"observed_generation": 1, "updated_replicas": 2, "available_replicas": 2},
            "the newest revision is not seen yet",
        ),
        (
            {"observed_generation": 2, "updated_replicas": 1, "available_replicas": 2},
            "1 of 2 pods are updated and available",
        ),
        (
            {"observed_generation": 2, "updated_replicas": 2, "available_replicas": None},
            "0 of 2 pods are updated and available",
        ),
        ({"observed_generation": None}, "the newest revision is not seen yet"),
    ],
)
def test_pods_of_an_old_revision_do_not_count(status: dict[str, Any], answer: str | None) -> None:
    deployment = {"metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": status}
    assert rolled_out(deployment) == answer


@pytest.mark.parametrize("kubeconfig", ["/no/such/file", '{"kind": "Config"}'])
def test_an_unusable_kubeconfig_is_told_and_not_raised(kubeconfig: str) -> None:
    access = ClusterAccess(kubeconfig=kubeconfig, context="lab", identity="lab")
    answer = server_dry_run(_readiness(access=access), kubeconfig)
    assert answer is not None
    assert answer.startswith("ConfigException")


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"release": "Widget"}, "release"),
        ({"source": ChartSource(chart="", version="1")}, "source.chart"),
        ({"source": ChartSource(chart="a", version="")}, "source.version"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"max_history": 0}, "max_history"),
    ],
)
def test_an_impossible_release_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"plural": ""}, "plural"),
        ({"manifest": {}}, "manifest"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"interval_seconds": -1}, "interval_seconds"),
    ],
)
def test_an_impossible_readiness_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _readiness(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(
    ("reference", "repository", "tag"),
    [
        ("gpu-platform.lab/kueue:0.17.0", "gpu-platform.lab/kueue", "0.17.0"),
        ("localhost:5000/kueue:1", "localhost:5000/kueue", "1"),
        ("a.b/kueue:1@sha256:ab", "a.b/kueue", "1@sha256:ab"),
        ("a.b/kueue@sha256:ab", "a.b/kueue@sha256", "ab"),
        ("localhost:5000/kueue@sha256:ab", "localhost:5000/kueue@sha256", "ab"),
    ],
)
def test_an_image_splits_into_two_parts_that_make_it_again(reference: str, repository: str, tag: str) -> None:
    assert split_image(reference) == (repository, tag)
    assert f"{repository}:{tag}" == reference


@pytest.mark.parametrize("reference", ["kueue", "localhost:5000/kueue"])
def test_an_image_without_tag_is_refused(reference: str) -> None:
    with pytest.raises(ValueError, match="neither tag nor digest"):
        split_image(reference)
