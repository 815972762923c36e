"""Services of the environment: whether they answer, and how to reach them."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.connect import service_lines
from cli.context import Context
from cli.kube import api_client, reason
from cli.queues import queue_fault
from lab.errors import LabError
from lab.progress import Progress

ANSWER_TIMEOUT_SECONDS = 300.0
_POLL_SECONDS = 2.0


def answers(api: client.CoreV1Api, service: Mapping[str, Any]) -> str:
    """Ask a service for its health through the API server.

    Returns:
        Empty when it answers, else the reason it doesn't.
    """
    path = str(service["healthPath"])
    name, namespace = str(service["service"]), str(service["namespace"])
    if not path:
        return _has_endpoints(api, namespace, name)
    try:
        api.connect_get_namespaced_service_proxy_with_path(
            name=f"{name}:{service['port']}", namespace=namespace, path=path.lstrip("/"), _request_timeout=10
        )
    except (client.ApiException, HTTPError) as error:
        return reason(error)
    return ""


def wait_until_answering(ctx: Context, progress: Progress) -> None:
    """Wait for every service and queue, bounded; names the ones still silent.

    Raises:
        LabError: Some service or queue didn't answer in time.
    """
    outputs = ctx.outputs()
    api = api_client(ctx, outputs)
    core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
    silent: dict[str, Callable[[], str]] = {
        name: partial(answers, core, service) for name, service in outputs.get("services", {}).items()
    }
    for name, queue in outputs.get("queues", {}).items():
        silent[f"queue {name}"] = partial(queue_fault, custom, queue)
    reasons: dict[str, str] = {}
    deadline = time.monotonic() + ANSWER_TIMEOUT_SECONDS
    while silent and time.monotonic() < deadline:
        for name in sorted(silent):
            reasons[name] = silent[name]()
            if not reasons[name]:
                progress.step(f"{name} answers")
                del silent[name]
        if silent:
            time.sleep(_POLL_SECONDS)
    if silent:
        raise LabError(
            f"no answer from {', '.join(sorted(silent))}",
            where=f"environment {ctx.env}",
            why="; ".join(f"{name}: {reasons[name]}" for name in sorted(silent)),
            fix="make status shows what fails; then make up again",
        )


def describe(ctx: Context) -> str:
    """Endpoints and where the credentials are, for people."""
    outputs = ctx.outputs()
    lines = [
        f"environment {outputs['environment']} (kubeconfig {outputs['cluster']['kubeconfig']})",
        "",
        "pools",
    ]
    for name, pool in outputs["pools"].items():
        simulated = ", simulated: placement is real, work is not" if pool["simulated"] else ""
        lines.append(
            f"  {name}: {pool['nodes']} nodes, {pool['gpus']} x {pool['product']}, "
            f"{pool['fabric']}{simulated}"
        )
    lines.append("queues")
    for name, queue in outputs["queues"].items():
        quota = ", ".join(f"{pool} {gpus} GPUs" for pool, gpus in queue["gpuQuota"].items())
        lines.append(f"  {name}: namespace {queue['namespace']}, {quota}")
    lines += ["", 'pulumi and kubectl in your shell: eval "$(make -s shell)"', "", "services"]
    for name, service in outputs["services"].items():
        lines += service_lines(name, service)
    lines += ["", "next: make smoke, make status, python -m cli connect"]
    return "\n".join(lines)


def _has_endpoints(api: client.CoreV1Api, namespace: str, name: str) -> str:
    try:
        endpoints = api.read_namespaced_endpoints(name, namespace, _request_timeout=10)
    except (client.ApiException, HTTPError) as error:
        return reason(error)
    ready = any(subset.addresses for subset in endpoints.subsets or [])
    return "" if ready else "no ready pod behind the Service"
