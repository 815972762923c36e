"""How the cluster does, failures first."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.cluster import network
from lab.cluster.addons import COREDNS, PROVISIONER, STORAGE_CLASSES
from lab.cluster.components import plan
from lab.cluster.node import component_rows, holder, kubectl, recorded
from lab.cluster.records import Cluster, ComponentStatus
from lab.errors import LabError
from lab.paths import Paths


def status(paths: Paths) -> list[ComponentStatus]:
    """Every component, the node, the workloads the cluster itself needs and its storage classes.

    Changes nothing and uses the programs ``up`` recorded. A lab that is down is one unhealthy line.
    """
    cluster = recorded(paths)
    holding = holder(paths)
    if cluster is None or holding is None:
        why = "down" if cluster is None else "its supervisor is gone: make up repairs it"
        return [ComponentStatus(name="supervisor", healthy=False, detail=why)]
    found = [ComponentStatus(name="supervisor", healthy=True, detail="running", pid=holding.pid)]
    told = {row["name"]: row for row in component_rows(paths)}
    for component in plan(cluster):
        row = told.get(component.name, {})
        running = bool(row.get("pid"))
        found.append(
            ComponentStatus(
                name=component.name,
                healthy=running and bool(row.get("healthy")),
                detail=str(row.get("detail", "not started yet")) if running or not row else _stopped(row),
                restarts=int(row.get("restarts", 0)),
                pid=int(row.get("pid", 0)),
            )
        )
    found += [_link(cluster), *_objects(cluster)]
    return sorted(found, key=lambda one: one.healthy)


def _stopped(row: dict[str, Any]) -> str:
    return "not running" if row.get("healthy") else str(row.get("detail"))


def _link(cluster: Cluster) -> ComponentStatus:
    healthy = network.exists(cluster.network)
    detail = "link and routes are there" if healthy else "link or routes are missing: make up repairs them"
    return ComponentStatus(name="network", healthy=healthy, detail=detail)


def _objects(cluster: Cluster) -> list[ComponentStatus]:
    names = ("node", COREDNS, PROVISIONER, *(f"storage class {name}" for name in STORAGE_CLASSES))
    arguments = ["nodes,pods,storageclasses", "--all-namespaces", "--output=json", "--request-timeout=5s"]
    try:
        items = json.loads(kubectl(cluster, "get", *arguments, timeout_seconds=15))["items"]
    except (LabError, ValueError, KeyError) as error:
        detail = f"the API does not answer: {getattr(error, 'why', error)}"
        return [ComponentStatus(name=name, healthy=False, detail=detail) for name in names]
    since = datetime.fromtimestamp(int(cluster.record.stat().st_mtime), UTC)
    return assess(items, cluster.network.name, since)


def assess(items: Sequence[Mapping[str, Any]], node: str, since: datetime) -> list[ComponentStatus]:
    """Judge what the API tells, knowing that it may tell of a time before the node was last started.

    Args:
        items: Nodes, pods and storage classes.
        node: Name of the real node.
        since: When the node was started; no container is older.
    """
    pods = [item for item in items if item["kind"] == "Pod" and item["spec"].get("nodeName") == node]
    stale = [pod["metadata"]["name"] for pod in pods if _started_before(pod, since)]
    found = [_node(next((item for item in items if _is(item, "Node", node)), None))]
    for name in (COREDNS, PROVISIONER):
        own = [pod for pod in pods if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") == name]
        ready = [pod for pod in own if _condition(pod, "Ready") == "True" and not _started_before(pod, since)]
        found.append(ComponentStatus(name=name, healthy=bool(ready), detail=f"{len(ready)} ready"))
    for name in STORAGE_CLASSES:
        there = any(_is(item, "StorageClass", name) for item in items)
        detail = "there" if there else "missing"
        found.append(ComponentStatus(name=f"storage class {name}", healthy=there, detail=detail))
    detail = f"not yet started again: {', '.join(sorted(stale)[:5])}" if stale else f"{len(pods)} on the node"
    return [*found, ComponentStatus(name="pods", healthy=not stale, detail=detail)]


def _is(item: Mapping[str, Any], kind: str, name: str) -> bool:
    return bool(item["kind"] == kind and item["metadata"]["name"] == name)


def _condition(item: Mapping[str, Any], kind: str) -> str:
    conditions = item.get("status", {}).get("conditions", [])
    return next((str(row["status"]) for row in conditions if row["type"] == kind), "")


def _started_before(pod: Mapping[str, Any], since: datetime) -> bool:
    """Whether the API still believes in a container of an earlier start of the node."""
    times = [
        row["state"]["running"]["startedAt"]
        for row in pod.get("status", {}).get("containerStatuses", [])
        if "running" in row.get("state", {})
    ]
    return any(datetime.fromisoformat(text) < since for text in times)


def _node(item: Mapping[str, Any] | None) -> ComponentStatus:
    ready = _condition(item or {}, "Ready")
    detail = {"True": "Ready", "": "not registered yet"}.get(ready, f"condition Ready is {ready}")
    return ComponentStatus(name="node", healthy=ready == "True", detail=detail)
