"""Gangs: a whole job inside one block or nothing, and what a job must say."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cli.queues import refuse_removal_of_busy_queues
from lab.errors import LabError
from tests.integration.support import JOBS, dev, get, kubectl, until

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(900)]


@pytest.fixture
def gang() -> Iterator[dict[str, Any]]:
    """The sample gang job's manifest, 4 nodes of 8 GPUs; what a test made of it is deleted."""
    import yaml

    samples = dev().outputs()["samples"]
    data = get("configmap", samples["configMap"], "-n", samples["namespace"])["data"]
    manifest = yaml.safe_load(data["gang.yaml"])
    manifest["metadata"]["labels"]["test"] = "gangs"
    yield manifest
    kubectl("delete", "job", "-n", JOBS, "-l", "test=gangs", "--wait=true")


def _create(manifest: dict[str, Any]) -> str:
    made = kubectl("create", "-n", JOBS, "-o", "name", "-f", "-", stdin=json.dumps(manifest))
    return made.strip().removeprefix("job.batch/")


def _pods(job: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = get("pods", "-n", JOBS, "-l", f"batch.kubernetes.io/job-name={job}")[
        "items"
    ]
    return items


def _placed(job: str) -> list[str]:
    return sorted(pod["spec"]["nodeName"] for pod in _pods(job) if pod["spec"].get("nodeName"))


def _complete(job: str) -> bool:
    conditions = get("job", job, "-n", JOBS)["status"].get("conditions", [])
    return any(item["type"] == "Complete" and item["status"] == "True" for item in conditions)


def test_a_second_gang_beyond_the_quota_starts_no_pod_until_the_first_ends(gang: dict[str, Any]) -> None:
    first = _create(gang)
    nodes = until("the first gang is placed", lambda: len(placed := _placed(first)) == 4 and placed)
    labels = {item["metadata"]["name"]: item["metadata"]["labels"] for item in get("nodes")["items"]}
    assert len(set(nodes)) == 4
    assert {labels[node]["gpu-platform/topology-block"] for node in nodes} == {"a100-b0"}

    second = _create(gang)
    until("the second gang waits in the queue", lambda: _workload(second))
    assert not _complete(first), "the first gang must still run for this test to mean anything"
    assert _pods(second) == []
    assert get("job", second, "-n", JOBS)["spec"]["suspend"] is True

    until("the first gang ends", lambda: _complete(first))
    until("the second gang is placed then", lambda: len(_placed(second)) == 4)
    until("the second gang ends too", lambda: _complete(second))


def _workload(job: str) -> bool:
    return any(
        owner["name"] == job
        for item in get("workloads.kueue.x-k8s.io", "-n", JOBS)["items"]
        for owner in item["metadata"].get("ownerReferences", [])
    )


def _jobs_in_the_queue() -> int:
    status = get("localqueue", "research", "-n", JOBS).get("status", {})
    return int(status.get("admittedWorkloads", 0)) + int(status.get("pendingWorkloads", 0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda job: job["spec"].pop("activeDeadlineSeconds"), "activeDeadlineSeconds"),
        (lambda job: job["spec"].update(activeDeadlineSeconds=10**7), "86400"),
        (lambda job: job["metadata"]["labels"].pop("kueue.x-k8s.io/queue-name"), "queue"),
    ],
    ids=["no time limit", "too long a limit", "no queue"],
)
def test_a_job_that_leaves_out_what_it_must_say_is_refused(
    gang: dict[str, Any], change: Any, words: str
) -> None:
    change(gang)
    refused = kubectl("create", "-n", JOBS, "-f", "-", stdin=json.dumps(gang), ok=False)
    assert words in refused


def test_a_queue_with_jobs_is_not_removed(gang: dict[str, Any]) -> None:
    _create(gang)
    until("the queue counts it", _jobs_in_the_queue)
    with pytest.raises(LabError, match="queue research can't be removed yet"):
        refuse_removal_of_busy_queues(dev(), kept=())
    refuse_removal_of_busy_queues(dev(), kept=("research",))


def test_a_gang_larger_than_the_quota_waits_and_starts_nothing(gang: dict[str, Any]) -> None:
    gang["spec"].update(parallelism=5, completions=5)
    job = _create(gang)
    until("it is queued", lambda: _workload(job))
    assert _pods(job) == []
    assert get("job", job, "-n", JOBS)["spec"]["suspend"] is True
