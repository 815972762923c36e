"""`smoke`: the sample jobs, run and judged by their pass criteria."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from kubernetes import client
from rich.console import Console
from rich.markup import escape

from cli import judge
from cli.context import Context
from cli.exits import Exit, Stop
from cli.kube import api_client
from lab.errors import LabError
from lab.progress import Progress

_POLL_SECONDS = 1.0
# An idle environment admits a sample within seconds; longer means that other jobs hold the queue.
_QUEUE_SECONDS = 180.0


@dataclass(frozen=True, kw_only=True)
class Started:
    """A sample job on the cluster."""

    sample: str
    namespace: str
    name: str
    deadline: float


def smoke(ctx: Context, progress: Progress) -> None:
    """Start every sample, wait, judge; exit code 1 when a criterion isn't met.

    Raises:
        LabError: The environment has no samples.
    """
    progress.enter("smoke")
    outputs = ctx.outputs()
    api = api_client(ctx, outputs)
    verdicts: list[judge.Verdict] = []
    started: list[Started] = []
    try:
        for sample, manifest in _manifests(api, outputs):
            started.append(_start(api, sample, manifest, progress))
        for job in started:
            _wait(api, job, progress)
            verdicts += judge.judge(api, job.sample, job.namespace, job.name)
    except client.ApiException as error:
        raise LabError(
            "a sample job was refused or lost",
            where=f"environment {ctx.env}",
            why=f"{error.status} {error.reason}: {error.body}",
            fix="make status; then make smoke again",
        ) from error
    except KeyboardInterrupt:
        for job in started:
            client.BatchV1Api(api).delete_namespaced_job(
                job.name, job.namespace, propagation_policy="Background"
            )
        raise
    console = Console(highlight=False, soft_wrap=True)
    for verdict in sorted(verdicts, key=lambda one: one.passed):
        mark = "[green]pass[/]" if verdict.passed else "[red]FAIL[/]"
        console.print(f"{mark} {verdict.sample}: {escape(verdict.criterion)} ({escape(verdict.seen)})")
    if not all(verdict.passed for verdict in verdicts):
        raise Stop(Exit.FAILED)


def _manifests(api: client.ApiClient, outputs: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    samples = outputs.get("samples") or {}
    if not samples:
        raise LabError(
            "this environment has no sample jobs",
            where="settings samples.enabled",
            why="it is false",
            fix="set it to true and run make up",
        )
    found = client.CoreV1Api(api).read_namespaced_config_map(samples["configMap"], samples["namespace"])
    for name in samples["names"]:
        yield name, yaml.safe_load(found.data[f"{name}.yaml"])


def _start(api: client.ApiClient, sample: str, manifest: Mapping[str, Any], progress: Progress) -> Started:
    """Create what the manifest holds; its one Job gets a name of its own for each run."""
    items = manifest["items"] if manifest["kind"] == "List" else [manifest]
    job = next(item for item in items if item["kind"] == "Job")
    for item in items:
        if item["kind"] == "ConfigMap":
            _apply_config_map(client.CoreV1Api(api), item)
    metadata = dict(job["metadata"])
    if name := metadata.pop("name", None):
        metadata["generateName"] = f"{name}-"
    namespace = metadata["namespace"]
    made = client.BatchV1Api(api).create_namespaced_job(namespace, {**job, "metadata": metadata})
    progress.step(f"{sample}: job {namespace}/{made.metadata.name} created")
    limit = job["spec"]["activeDeadlineSeconds"] + _QUEUE_SECONDS
    return Started(
        sample=sample, namespace=namespace, name=made.metadata.name, deadline=time.monotonic() + limit
    )


def _apply_config_map(core: client.CoreV1Api, item: Mapping[str, Any]) -> None:
    namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
    try:
        core.create_namespaced_config_map(namespace, item)
    except client.ApiException as error:
        if error.status != 409:
            raise
        core.replace_namespaced_config_map(name, namespace, item)


def _wait(api: client.ApiClient, job: Started, progress: Progress) -> None:
    batch = client.BatchV1Api(api)
    told, queued_until = "", time.monotonic() + _QUEUE_SECONDS
    while time.monotonic() < job.deadline:
        found = batch.read_namespaced_job(job.name, job.namespace)
        conditions = [item.type for item in found.status.conditions or [] if item.status == "True"]
        state = _state(found, conditions)
        if state != told:
            progress.step(f"{job.sample}: {state}")
            told = state
        if "Complete" in conditions or "Failed" in conditions:
            return
        if found.spec.suspend and time.monotonic() > queued_until:
            progress.step(f"{job.sample}: not admitted within {_QUEUE_SECONDS:.0f} s; it goes")
            batch.delete_namespaced_job(job.name, job.namespace, propagation_policy="Background")
            raise LabError(
                f"the queue doesn't admit sample {job.sample}",
                where=f"job {job.namespace}/{job.name}",
                why="other jobs hold the quota, or the queue is inactive",
                fix="make status; run make smoke again when the queue is free",
            )
        time.sleep(_POLL_SECONDS)


def _state(job: client.V1Job, conditions: list[str]) -> str:
    if "Complete" in conditions:
        return "complete"
    if "Failed" in conditions:
        return "failed"
    if job.spec.suspend:
        return "waits in its queue"
    return f"{job.status.active or 0} of {job.spec.parallelism} pods started"
