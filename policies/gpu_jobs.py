"""Jobs that ask for GPUs, planned or kept as templates in ConfigMaps, and how Kueue is configured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policies.model import KubeObject, Planned, Unknown, Value, at
from policies.objects import Pod, pods

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu")
_GPU_PREFIXES = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu")
_TEMPLATE_FILES = (".yaml", ".yml")
_CONFIGURATION = "Configuration"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A Job that asks for GPUs.

    Args:
        item: The planned object, or the ConfigMap that holds its template.
        where: Its kind and name, with the key of a ConfigMap.
        pods: Pods at once.
        deadline: ``spec.activeDeadlineSeconds``, None when absent.
        queue: Value of the queue label, None when absent.
    """

    item: KubeObject
    where: str
    pods: float
    deadline: Value
    queue: Value


def jobs_in(item: KubeObject) -> Iterator[Job]:
    """Jobs an object is, will make, or holds as a template."""
    if item.kind == "ConfigMap" and not item.group:
        data = at(item.body, "data")
        for key, text in (data if isinstance(data, Mapping) else {}).items():
            for body in _documents(key, text):
                yield from _job(replace(item, kind="Job", group="batch", body=body), item, f"data[{key}]")
    elif item.group == "batch" and item.kind == "Job" and not item.patch:
        yield from _job(item, item, "it")
    elif item.group == "batch" and item.kind == "CronJob" and not item.patch:
        body = at(item.body, "spec", "jobTemplate")
        if isinstance(body, Mapping):
            yield from _job(replace(item, kind="Job", body=body), item, "spec.jobTemplate")


def kueue_configurations(planned: Planned) -> Iterator[tuple[KubeObject, Mapping[str, Any]]]:
    """Configuration files of Kueue's controller in the plan's ConfigMaps."""
    for item in planned.objects:
        if item.kind == "ConfigMap" and not item.group:
            data = at(item.body, "data")
            for key, text in (data if isinstance(data, Mapping) else {}).items():
                for body in _documents(key, text):
                    if str(body.get("apiVersion")).startswith("config.kueue.x-k8s.io/"):
                        yield item, body


def _documents(key: str, text: Value) -> Iterator[Mapping[str, Any]]:
    import yaml  # noqa: PLC0415 (only where a ConfigMap holds manifests: importing the pack stays light)

    wanted = isinstance(text, str) and key.endswith(_TEMPLATE_FILES) and "kind:" in text
    if not wanted or not ("kind: Job" in text or f"kind: {_CONFIGURATION}" in text):
        return
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError:
        # A file that is no YAML is no manifest.
        return
    yield from (body for body in documents if isinstance(body, Mapping))


def _job(job: KubeObject, owner: KubeObject, where: str) -> Iterator[Job]:
    if at(job.body, "kind") not in (None, "Job") or not any(_asks_for_gpus(pod) for pod in pods(job)):
        return
    count = at(job.body, "spec", "parallelism")
    yield Job(
        item=owner,
        where=where,
        # A number that is not known may be more than one.
        pods=float("inf") if isinstance(count, Unknown) else float(1 if count is None else count),
        deadline=at(job.body, "spec", "activeDeadlineSeconds"),
        queue=at(job.body, "metadata", "labels", QUEUE_LABEL),
    )


def _asks_for_gpus(pod: Pod) -> bool:
    return any(
        str(key).startswith(_GPU_PREFIXES)
        for container in pod.containers()
        for kind in ("requests", "limits")
        for key in _keys(at(container.body, "resources", kind))
    )


def _keys(value: Value) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, Mapping) else ()
