"""A training over two pods: one is lost in the middle, and the training resumes from its checkpoint."""

import json
from typing import Any

import pytest
import yaml

from tests.integration.support import get, kubectl, until

# Several minutes each, so with the long runs: `make test` must stay short.
pytestmark = [
    pytest.mark.soak,
    pytest.mark.kube,
    pytest.mark.usefixtures("environment"),
    pytest.mark.timeout(600),
]

WORKBENCH = "gpu-platform-workbench"
INDEX = "batch.kubernetes.io/job-completion-index"
STEPS, EVERY, STEP_SECONDS = 80, 5, 0.25


def _manifest() -> dict[str, Any]:
    """The delivered sample, slow enough to be disturbed."""
    data = get("configmap", "sample-jobs", "-n", "gpu-platform-jobs")["data"]
    job: dict[str, Any] = yaml.safe_load(data["distributed-training.yaml"])
    changed = {
        "TRAIN_STEPS": str(STEPS),
        "TRAIN_CHECKPOINT_EVERY": str(EVERY),
        "TRAIN_STEP_SECONDS": str(STEP_SECONDS),
    }
    for variable in job["spec"]["template"]["spec"]["containers"][0]["env"]:
        variable["value"] = changed.get(variable["name"], variable.get("value"))
        if variable["value"] is None:
            del variable["value"]
    return job


def _pods(job: str, index: str) -> list[dict[str, Any]]:
    """Pods of one rank, oldest first."""
    pods = get("pods", "-n", WORKBENCH, "-l", f"batch.kubernetes.io/job-name={job}")["items"]
    mine = [pod for pod in pods if pod["metadata"]["annotations"].get(INDEX) == index]
    return sorted(mine, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))


def _events(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """What rank 0 has said so far."""
    if pod["status"]["phase"] == "Pending":
        return []
    log = kubectl("logs", "-n", WORKBENCH, pod["metadata"]["name"])
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


def _last_step(job: str) -> int:
    pods = _pods(job, "0")
    return (
        max((event["step"] for event in _events(pods[-1]) if event["event"] == "step"), default=0)
        if pods
        else 0
    )


@pytest.mark.parametrize("lost", ["1", "0"], ids=["a peer", "the pod of rank 0"])
def test_a_lost_pod_costs_no_more_than_the_steps_since_the_last_checkpoint(lost: str) -> None:
    name = json.loads(kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps(_manifest())))
    job = str(name["metadata"]["name"])
    try:
        until("some checkpoints", lambda: _last_step(job) >= 4 * EVERY, 180)
        victim = _pods(job, lost)[-1]["metadata"]
        reached = _last_step(job)
        kubectl("delete", "pod", "-n", WORKBENCH, victim["name"], "--wait=false")

        def ended() -> bool:
            status = get("job", job, "-n", WORKBENCH)["status"]
            done = {item["type"] for item in status.get("conditions", []) if item["status"] == "True"}
            assert "Failed" not in done, status
            return "Complete" in done

        until("the training ends", ended, 300)
        final = _events(_pods(job, "0")[-1])
        assert victim["uid"] not in [pod["metadata"]["uid"] for pod in _pods(job, lost)]
        start, end = final[0], final[-1]
        assert start["event"] == "start"
        assert reached - EVERY <= start["resumed_from_step"]
        assert start["resumed_from_step"] % EVERY == 0
        assert start["resumed_from_step"] >= 4 * EVERY - EVERY
        steps = [event["step"] for event in final if event["event"] == "step"]
        assert steps == list(range(start["resumed_from_step"] + 1, STEPS + 1))
        assert (end["event"], end["completed"], end["world_size"]) == ("end", True, 2)
    finally:
        kubectl("delete", "job", job, "-n", WORKBENCH, "--cascade=foreground")
