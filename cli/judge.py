"""Pass criteria of the sample jobs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kubernetes import client

from cli.kube import pod_log
from components.scheduling import DISTRIBUTED_SAMPLE

BLOCK_LABEL = "gpu-platform/topology-block"
_GPU = "nvidia.com/gpu"
_INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One criterion and what was seen.

    Args:
        sample: Sample job.
        criterion: What must hold.
        passed: Whether it holds.
        seen: What was seen.
    """

    sample: str
    criterion: str
    passed: bool
    seen: str


def judge(api: client.ApiClient, sample: str, namespace: str, name: str) -> list[Verdict]:
    """Judge a finished job: that it ended well, and what its kind promises."""
    job = client.BatchV1Api(api).read_namespaced_job(name, namespace)
    pods = client.CoreV1Api(api).list_namespaced_pod(
        namespace, label_selector=f"batch.kubernetes.io/job-name={name}"
    )
    conditions = [item.type for item in job.status.conditions or [] if item.status == "True"]
    complete = "Complete" in conditions
    verdicts = [
        Verdict(
            sample=sample,
            criterion="job completes within its time limit",
            passed=complete,
            seen="complete" if complete else ", ".join(conditions) or "still running or waiting",
        )
    ]
    kind = _KINDS.get(_kind(job))
    return verdicts + (kind(api, sample, job, pods.items) if kind and complete else [])


def _kind(job: client.V1Job) -> str:
    if (job.metadata.labels or {}).get("app.kubernetes.io/name") == DISTRIBUTED_SAMPLE:
        return "distributed"
    resources = job.spec.template.spec.containers[0].resources.limits or {}
    return "gang" if _GPU in resources else "training"


def _gang(api: client.ApiClient, sample: str, job: client.V1Job, pods: list[client.V1Pod]) -> list[Verdict]:
    nodes = sorted({pod.spec.node_name for pod in pods if pod.spec.node_name})
    labels = {node.metadata.name: node.metadata.labels for node in client.CoreV1Api(api).list_node().items}
    blocks = sorted({labels.get(node, {}).get(BLOCK_LABEL, "none") for node in nodes})
    wanted = job.spec.parallelism
    return [
        Verdict(
            sample=sample,
            criterion=f"{wanted} pods on {wanted} nodes of their own",
            passed=len(nodes) == wanted,
            seen=", ".join(nodes) or "no node",
        ),
        Verdict(
            sample=sample,
            criterion="all inside one topology block (simulated nodes: placement only)",
            passed=len(blocks) == 1,
            seen=", ".join(blocks) or "no block",
        ),
    ]


def _training(
    api: client.ApiClient, sample: str, job: client.V1Job, pods: list[client.V1Pod]
) -> list[Verdict]:
    log = pod_log(api, job.metadata.namespace, pods[0].metadata.name) if pods else ""
    result = last_json_line(log)
    verdict = "model_version" in result and "run_id" in result
    same = result.get("loaded_model_predicts_the_same")
    return [
        Verdict(
            sample=sample,
            criterion="run recorded and model version registered",
            passed=verdict,
            seen=json.dumps(result) if result else "no result line in the pod's log",
        ),
        Verdict(
            sample=sample,
            criterion="the version, loaded back from the registry, predicts the same",
            passed=bool(same),
            seen=str(same),
        ),
    ]


def _distributed(
    api: client.ApiClient, sample: str, job: client.V1Job, pods: list[client.V1Pod]
) -> list[Verdict]:
    first = [
        pod
        for pod in pods
        # A lost pod stays beside the one that took its place.
        if pod.status.phase == "Succeeded" and pod.metadata.annotations.get(_INDEX) == "0"
    ]
    log = pod_log(api, job.metadata.namespace, first[0].metadata.name) if first else ""
    result, losses = last_json_line(log), step_losses(log)
    wanted, seen = job.spec.parallelism, result.get("world_size")
    return [
        Verdict(
            sample=sample,
            criterion=f"{wanted} pods train one model to its last step",
            passed=bool(result.get("completed")) and seen == wanted,
            seen=json.dumps(result) if result else "no result line in the log of pod 0",
        ),
        Verdict(
            sample=sample,
            criterion="the loss falls",
            passed=len(losses) > 1 and losses[-1] < losses[0],
            seen=f"{losses[0]:.3f} to {losses[-1]:.3f}" if losses else "no step in the log",
        ),
    ]


def step_losses(log: str) -> list[float]:
    """Loss of each step in the log of a distributed training."""
    events = [json.loads(line) for line in log.splitlines() if line.startswith('{"event": "step"')]
    return [float(event["loss"]) for event in events]


def last_json_line(log: str) -> Mapping[str, Any]:
    """The result a job printed as its last line; empty when there is none."""
    for line in reversed(log.splitlines()):
        if line.startswith("{"):
            try:
                result = json.loads(line)
            except ValueError:
                return {}
            return result if isinstance(result, dict) else {}
    return {}


_KINDS: Mapping[str, Callable[[client.ApiClient, str, client.V1Job, list[client.V1Pod]], list[Verdict]]] = (
    MappingProxyType({"gang": _gang, "training": _training, "distributed": _distributed})
)
