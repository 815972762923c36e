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


def _pod_spec(job: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = job["spec"]["template"]["spec"]
    return spec


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
        (lambda job: job["spec"].update(managedBy="example.com/other"), "remove spec.managedBy"),
        (lambda job: _pod_spec(job).update(priorityClassName="system-node-critical"), "priorityClassName"),
        (lambda job: _pod_spec(job).update(priorityClassName="any-other"), "priorityClassName"),
        (
            lambda job: job["metadata"]["labels"].update({"kueue.x-k8s.io/priority-class": "huge"}),
            "accepted: low, normal, high",
        ),
    ],
    ids=[
        *("no time limit", "too long a limit", "no queue", "another controller"),
        *("critical pods", "an unknown class of pods", "an unknown priority"),
    ],
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


def test_a_gang_that_never_starts_holds_up_no_other(gang: dict[str, Any]) -> None:
    gang["spec"].update(parallelism=1, completions=1)
    stuck = json.loads(json.dumps(gang))
    lost = {"name": "lost", "persistentVolumeClaim": {"claimName": "no-such-claim"}}
    _pod_spec(stuck).setdefault("volumes", []).append(lost)
    first = _create(stuck)
    until("the stuck gang is admitted", lambda: not get("job", first, "-n", JOBS)["spec"]["suspend"])
    second = _create(gang)
    until("the gang after it ends", lambda: _complete(second))
    assert _placed(first) == []


def _gpu_pod(gang: dict[str, Any], resource: str = "nvidia.com/gpu") -> dict[str, Any]:
    """A pod of the gang's form, as somebody might write it by hand."""
    spec = {**_pod_spec(gang), "restartPolicy": "Never", "schedulerName": "default-scheduler"}
    container = spec["containers"][0]
    container["resources"] = {
        kind: {"cpu": "100m", "memory": "64Mi", resource: "1"} for kind in ("requests", "limits")
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "around-the-queue"}, "spec": spec}


def test_a_gpu_pod_with_a_forged_owner_is_refused(gang: dict[str, Any]) -> None:
    job = _create(gang)
    uid = get("job", job, "-n", JOBS)["metadata"]["uid"]
    pod = _gpu_pod(gang)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid, "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    refused = kubectl("create", "-n", JOBS, "-f", "-", stdin=json.dumps(pod), ok=False)
    assert "only the Job's controller may make it" in refused


@pytest.mark.parametrize("namespace", ["default", "kube-system", "gpu-platform-workbench"])
@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb"])
def test_a_gpu_pod_outside_the_queues_is_refused(gang: dict[str, Any], namespace: str, resource: str) -> None:
    pod = _gpu_pod(gang, resource)
    refused = kubectl("create", "-n", namespace, "-f", "-", stdin=json.dumps(pod), ok=False)
    assert "a pod gets GPUs only as part of a Job" in refused


def test_a_gpu_job_outside_the_queues_starts_no_pod(gang: dict[str, Any]) -> None:
    gang["metadata"]["labels"].pop("kueue.x-k8s.io/queue-name")
    gang["metadata"].pop("namespace", None)
    gang["spec"].update(suspend=False)
    made = kubectl("create", "-n", "default", "-o", "name", "-f", "-", stdin=json.dumps(gang)).strip()
    try:
        name = made.removeprefix("job.batch/")

        def refused() -> bool:
            events = get("events", "-n", "default", "--field-selector", f"involvedObject.name={name}")
            return any("gets GPUs only as part of a Job" in item["message"] for item in events["items"])

        until("the job's controller is refused its pods", refused)
        assert get("job", name, "-n", "default")["status"].get("active", 0) == 0
    finally:
        kubectl("delete", made, "-n", "default", "--wait=true")
