"""The environment's cluster for reading and for sample jobs."""

from collections.abc import Mapping
from typing import Any

from kubernetes import client, config

from cli.context import Context
from lab.errors import LabError

OURS = "gpu-platform/managed-by=pulumi"


def api_client(ctx: Context, outputs: Mapping[str, Any]) -> client.ApiClient:
    """A client for the cluster the stack runs on.

    Raises:
        LabError: The stack has no outputs, or its kubeconfig can't be used.
    """
    cluster = outputs.get("cluster")
    if not cluster:
        raise LabError(
            f"environment {ctx.env} isn't up",
            where=f"stack {ctx.env}",
            why="the stack has no outputs",
            fix=f"make up ENV={ctx.env}",
        )
    try:
        return config.new_client_from_config(config_file=cluster["kubeconfig"], context=cluster["context"])
    except config.ConfigException as error:
        raise LabError(
            "the kubeconfig can't be used",
            where=str(cluster["kubeconfig"]),
            why=str(error),
            fix=f"make up ENV={ctx.env}",
        ) from error


def reason(error: Exception) -> str:
    """Why a request to the cluster failed, in a few words."""
    if isinstance(error, client.ApiException):
        return f"{error.status} {error.reason}"
    return type(error).__name__


def pod_log(api: client.ApiClient, namespace: str, name: str) -> str:
    """Log of a pod as it was written."""
    # Version 36 of the client reads a log as JSON where it can and else gives the text of a bytes object.
    raw = client.CoreV1Api(api).read_namespaced_pod_log(name, namespace, _preload_content=False)
    return str(raw.data.decode("utf-8", errors="replace"))
