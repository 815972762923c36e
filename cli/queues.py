"""Queues of the environment: their state, and whether one may go."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import api_client, reason
from lab.errors import LabError

_KUEUE = ("kueue.x-k8s.io", "v1beta2")


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """What a queue does now.

    Args:
        admitted: Jobs it has let start.
        waiting: Jobs that wait in it.
        fault: Why it takes no jobs; empty when it does.
    """

    admitted: int
    waiting: int
    fault: str


def queue_state(custom: client.CustomObjectsApi, queue: Mapping[str, Any]) -> QueueState:
    """State of a queue of the stack's outputs, judged by both of its objects.

    Raises:
        ApiException: An object is missing or the server doesn't answer.
    """
    local = custom.get_namespaced_custom_object(
        *_KUEUE, queue["namespace"], "localqueues", queue["name"], _request_timeout=10
    )
    whole = custom.get_cluster_custom_object(
        *_KUEUE, "clusterqueues", local["spec"]["clusterQueue"], _request_timeout=10
    )
    faults = [_fault(item) for item in (local, whole)]
    status = local.get("status", {})
    return QueueState(
        admitted=int(status.get("admittedWorkloads", 0)),
        waiting=int(status.get("pendingWorkloads", 0)),
        fault="; ".join(fault for fault in faults if fault),
    )


def queue_fault(custom: client.CustomObjectsApi, queue: Mapping[str, Any]) -> str:
    """Why a queue takes no jobs; empty when it does."""
    try:
        return queue_state(custom, queue).fault
    except (client.ApiException, HTTPError) as error:
        return reason(error)


def refuse_removal_of_busy_queues(ctx: Context, *, kept: Collection[str]) -> None:
    """Stop before a queue with jobs is removed: its deletion would wait, silently, for the last of them.

    Raises:
        LabError: A queue that leaves the settings still has jobs.
    """
    outputs = ctx.outputs()
    leaving = {name: queue for name, queue in outputs.get("queues", {}).items() if name not in kept}
    if not leaving:
        return
    custom = client.CustomObjectsApi(api_client(ctx, outputs))
    for name, queue in leaving.items():
        try:
            state = queue_state(custom, queue)
        except (client.ApiException, HTTPError):
            continue
        if state.admitted or state.waiting:
            raise LabError(
                f"queue {name} can't be removed yet",
                where=f"settings queues.{name}",
                why=f"it has {state.admitted} admitted and {state.waiting} waiting jobs",
                fix=f"let them end, or delete them: kubectl -n {queue['namespace']} get jobs "
                f"-l kueue.x-k8s.io/queue-name={queue['name']}; then make up again",
            )


def _fault(item: Mapping[str, Any]) -> str:
    name = f"{item['kind']} {item['metadata']['name']}"
    if "deletionTimestamp" in item["metadata"]:
        return f"{name} is being deleted"
    conditions = {one["type"]: one for one in item.get("status", {}).get("conditions", [])}
    active = conditions.get("Active", {})
    if active.get("status") == "True":
        return ""
    return f"{name} is inactive: {active.get('message', 'no condition yet')}"
