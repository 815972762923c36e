"""`status`: what runs, by name, failures first."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from kubernetes import client
from rich.console import Console
from rich.markup import escape
from urllib3.exceptions import HTTPError

from cli.backup.mark import last
from cli.backup.site import DATABASE
from cli.context import Context
from cli.endpoints import answers
from cli.exits import Exit, Stop
from cli.kube import api_client, reason
from cli.queues import queue_state
from cli.recovery import hint
from lab import api as lab_api
from lab.errors import LabError

WATCH_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing and how it is.

    Args:
        kind: What it is.
        name: Its name, with the namespace where it has one.
        healthy: Whether it is as it should be.
        detail: What is seen.
    """

    kind: str
    name: str
    healthy: bool
    detail: str


def status(ctx: Context, *, as_json: bool) -> None:
    """Print every part of the environment; exit code 1 when one fails."""
    rows = _sorted(collect(ctx))
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _show(rows)
    if not rows or not all(row.healthy for row in rows):
        raise Stop(Exit.FAILED)


def watch(ctx: Context, *, as_json: bool) -> None:
    """Print the state again and again until Ctrl-C; as JSON one document on a line each time."""
    while True:
        rows = _sorted(collect(ctx))
        if as_json:
            told = {
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
                "rows": [asdict(row) for row in rows],
            }
            print(json.dumps(told), flush=True)
        else:
            if sys.stdout.isatty():
                print("\033[2J\033[H", end="")
            failing = sum(not row.healthy for row in rows)
            print(f"{datetime.now(UTC):%H:%M:%S} UTC, {failing} of {len(rows)} fail; Ctrl-C ends")
            _show(rows)
            sys.stdout.flush()
        time.sleep(WATCH_SECONDS)


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.healthy, row.kind, row.name))


def collect(ctx: Context) -> list[Row]:
    """Rows of the lab, the cluster, the queues and the services; a dead part hides no other."""
    rows = [
        Row(kind="component", name=part.name, healthy=part.healthy, detail=_component(part))
        for part in lab_api.status(ctx.paths)
    ]
    if text := hint(ctx):
        rows.append(Row(kind="stack", name=ctx.env, healthy=False, detail=text))
    try:
        outputs = ctx.outputs()
    except LabError as error:
        told = f"{error.what}: {error.why}; next: {error.fix}"
        return [*rows, Row(kind="stack", name=ctx.env, healthy=False, detail=told)]
    if not outputs.get("cluster"):
        return [*rows, Row(kind="stack", name=ctx.env, healthy=False, detail="not up; run make up")]
    api = api_client(ctx, outputs)
    core = client.CoreV1Api(api)
    parts: tuple[tuple[str, Callable[[], Iterable[Row]]], ...] = (
        ("nodes", lambda: _nodes(core)),
        ("pods", lambda: _pods(core)),
        ("volumes", lambda: _claims(core)),
        ("queues", lambda: _queues(client.CustomObjectsApi(api), outputs)),
        ("services", lambda: _services(core, outputs)),
        ("backup", lambda: _backup(core, outputs)),
    )
    for name, part in parts:
        try:
            rows += part()
        except (client.ApiException, HTTPError) as error:
            rows.append(Row(kind=name, name=ctx.env, healthy=False, detail=f"can't be read: {reason(error)}"))
    return rows


def _component(part: lab_api.ComponentStatus) -> str:
    restarts = f", restarted {part.restarts} times" if part.restarts else ""
    return f"{part.detail}{restarts}"


def _nodes(core: client.CoreV1Api) -> Iterable[Row]:
    for node in core.list_node(_request_timeout=10).items:
        ready = next((item for item in node.status.conditions or [] if item.type == "Ready"), None)
        gpus = (node.status.allocatable or {}).get("nvidia.com/gpu", "0")
        healthy = ready is not None and ready.status == "True"
        state = "Ready" if healthy else f"not Ready: {ready.reason if ready else 'no condition'}"
        yield Row(kind="node", name=node.metadata.name, healthy=healthy, detail=f"{state}, {gpus} GPUs")


def _pods(core: client.CoreV1Api) -> Iterable[Row]:
    for pod in core.list_pod_for_all_namespaces(_request_timeout=10).items:
        if pod.status.phase == "Succeeded":
            continue
        statuses = pod.status.container_statuses or []
        ready = bool(statuses) and all(item.ready for item in statuses)
        waiting = [item.state.waiting.reason for item in statuses if item.state.waiting]
        gated = pod.spec.scheduling_gates
        detail = ", ".join(waiting) or ("held by its queue" if gated else pod.status.phase)
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        yield Row(kind="pod", name=name, healthy=ready or bool(gated), detail=detail)


def _claims(core: client.CoreV1Api) -> Iterable[Row]:
    for claim in core.list_persistent_volume_claim_for_all_namespaces(_request_timeout=10).items:
        name = f"{claim.metadata.namespace}/{claim.metadata.name}"
        # A claim nobody mounts yet stays Pending under WaitForFirstConsumer; that is no fault.
        lost = claim.status.phase == "Lost"
        yield Row(kind="volume", name=name, healthy=not lost, detail=claim.status.phase)


def _queues(custom: client.CustomObjectsApi, outputs: Mapping[str, Any]) -> Iterable[Row]:
    for queue in outputs.get("queues", {}).values():
        state = queue_state(custom, queue)
        detail = f"{state.admitted} admitted, {state.waiting} waiting"
        yield Row(
            kind="queue",
            name=f"{queue['namespace']}/{queue['name']}",
            healthy=not state.fault,
            detail=state.fault or detail,
        )


def _services(core: client.CoreV1Api, outputs: Mapping[str, Any]) -> Iterable[Row]:
    for name, service in outputs.get("services", {}).items():
        fault = answers(core, service)
        yield Row(kind="service", name=name, healthy=not fault, detail=fault or "answers")


def _backup(core: client.CoreV1Api, outputs: Mapping[str, Any]) -> Iterable[Row]:
    database = outputs.get("services", {}).get(DATABASE)
    if database:
        detail = last(core, str(database["namespace"]), now=datetime.now(UTC))
        yield Row(kind="backup", name="last", healthy=True, detail=detail)


def _show(rows: list[Row]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    kind_width = max((len(row.kind) for row in rows), default=0)
    name_width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        mark = "[green]ok   [/]" if row.healthy else "[red]FAILS[/]"
        line = f"{row.kind:{kind_width}}  {row.name:{name_width}}  {row.detail}"
        console.print(f"{mark} {escape(line)}")
