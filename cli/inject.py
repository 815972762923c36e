"""`inject`: faults of simulated GPUs, for seeing alerts before hardware makes them."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes import client

from cli.context import Context
from cli.kube import api_client
from components.catalog import nearest
from components.core.ownership import LABEL_PREFIX
from components.observability.gpu_telemetry import faults
from components.observability.simulated_gpu_telemetry import FAULTS_CONFIG_MAP
from lab.errors import LabError
from stacks.namespaces import MONITORING

_NOT_FOUND, _CONFLICT = 404, 409
_SIMULATED = "gpu-platform/simulated=true"
_TRIES = 5


def inject(ctx: Context, *, fault: str, node: str, gpu: str, clear: bool) -> str:
    """Give simulated GPUs of a node a fault, or take it away.

    Args:
        ctx: The environment.
        fault: Name of the fault; ``all`` with ``clear``.
        node: A simulated node.
        gpu: Index of the GPU on it, or ``all``.
        clear: Take the fault away.

    Returns:
        One line about what holds now.

    Raises:
        LabError: No such fault, node or GPU, or the environment is not up.
    """
    if not (faults.is_fault(fault) or (clear and fault == "all")):
        raise LabError(
            f"there is no fault {fault!r}",
            where="--fault",
            why=f"accepted: {faults.accepted()}; with --clear also: all",
            fix="name one of them",
        )
    outputs = ctx.outputs()
    core = client.CoreV1Api(api_client(ctx, outputs))
    if "prometheus" not in outputs.get("services", {}):
        raise LabError(
            "nothing watches the GPUs",
            where=f"environment {ctx.env}",
            why="its monitoring is off",
            fix="set monitoring.enabled to true and run make up",
        )
    keys = [faults.key(node, index) for index in _gpus(core, node, gpu)]
    held = _change(core, keys, fault, clear=clear)
    state = ", ".join(sorted(held)) or "healthy"
    return f"LAB {node} GPU {gpu}: {state}; the next scrape shows it"


def _gpus(core: client.CoreV1Api, node: str, gpu: str) -> range:
    """The GPUs meant, on a node that is simulated."""
    nodes = {
        item.metadata.name: int(item.metadata.labels.get("nvidia.com/gpu.count", 0))
        for item in core.list_node(label_selector=_SIMULATED, _request_timeout=10).items
    }
    if node not in nodes:
        suggestion = nearest(node, tuple(nodes))
        raise LabError(
            f"there is no simulated node {node!r}",
            where="--node",
            why=f"simulated nodes: {', '.join(sorted(nodes)) or 'none'}; real ones have real faults",
            fix=f"did you mean {suggestion!r}?" if suggestion else "name one of them",
        )
    if gpu == "all":
        return range(nodes[node])
    if not (gpu.isascii() and gpu.isdigit() and int(gpu) < nodes[node]):
        raise LabError(
            f"{node} has no GPU {gpu}",
            where="--gpu",
            why=f"it has {nodes[node]}",
            fix=f"name one from 0 to {nodes[node] - 1}, or all",
        )
    return range(int(gpu), int(gpu) + 1)


def _change(core: client.CoreV1Api, keys: Sequence[str], fault: str, *, clear: bool) -> set[str]:
    """Read, change and write the ConfigMap; again when somebody else wrote in between.

    Returns:
        The faults that are left on any of these GPUs.
    """
    for _ in range(_TRIES):
        found = _read(core)
        data: dict[str, str] = dict(found.data or {}) if found else {}
        held: set[str] = set()
        for key in keys:
            now = _changed(faults.read(data.pop(key, "{}")), fault, clear=clear)
            held |= set(now)
            if now:
                data[key] = faults.write(now)
        try:
            _write(core, found, data)
        except client.ApiException as error:
            if error.status != _CONFLICT:
                raise
        else:
            return held
    raise LabError(
        "the faults could not be written",
        where=f"ConfigMap {MONITORING}/{FAULTS_CONFIG_MAP}",
        why="others write it at the same time",
        fix="run the command again",
    )


def _changed(held: Mapping[str, float], fault: str, *, clear: bool) -> dict[str, float]:
    if not clear:
        return {**held, fault: time.time()}
    return {name: since for name, since in held.items() if fault not in ("all", name)}


def _read(core: client.CoreV1Api) -> client.V1ConfigMap | None:
    try:
        return core.read_namespaced_config_map(FAULTS_CONFIG_MAP, MONITORING, _request_timeout=10)
    except client.ApiException as error:
        if error.status != _NOT_FOUND:
            raise
        return None


def _write(core: client.CoreV1Api, found: client.V1ConfigMap | None, data: Mapping[str, str]) -> None:
    if found is None:
        core.create_namespaced_config_map(MONITORING, _new(core, data), _request_timeout=10)
        return
    found.data = dict(data)
    core.replace_namespaced_config_map(FAULTS_CONFIG_MAP, MONITORING, found, _request_timeout=10)


def _new(core: client.CoreV1Api, data: Mapping[str, str]) -> dict[str, Any]:
    """The ConfigMap, owned by whoever owns its namespace."""
    labels = core.read_namespace(MONITORING, _request_timeout=10).metadata.labels
    owned = {name: value for name, value in labels.items() if name.startswith(f"{LABEL_PREFIX}/")}
    metadata = {"name": FAULTS_CONFIG_MAP, "namespace": MONITORING, "labels": owned}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}
