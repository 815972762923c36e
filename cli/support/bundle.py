"""`support-bundle`: one file with what is needed to help, without secrets."""

import io
import json
import os
import platform
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import api_client, reason
from cli.recovery import exported
from cli.status import collect
from cli.support.redact import Redactor
from cli.support.secrets import known_secrets
from lab.doctor import run_checks
from lab.errors import LabError
from lab.paths import REPOSITORY
from lab.progress import Progress

_OURS = "gpu-platform/managed-by"
_TAIL_BYTES = 400_000
_POD_LINES = 1000
_README = """\
Made by `support-bundle`. Secrets of the cluster and of the lab were replaced wherever they stood, and
what looks like a password, token or key too. Kubernetes Secrets and the stack's state are not in it.
Read it through before you hand it on: a machine can't know every secret.
"""

Part = Callable[[], Iterator[tuple[str, str]]]


def bundle(ctx: Context, to: Path, progress: Progress) -> None:
    """Write the bundle; a part that can't be had is told in it and hides no other.

    Raises:
        LabError: The target exists or can't be written, or the secrets to take out can't be read.
    """
    progress.enter("support-bundle")
    if to.exists():
        raise LabError("the target exists", where=str(to), why="nothing is overwritten", fix="name another")
    outputs = ctx.outputs()
    api = api_client(ctx, outputs) if outputs.get("cluster") else None
    redactor = Redactor(known_secrets(ctx, api))
    partial = to.with_name(f"{to.name}.partial")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as tar:
            for name, text in _texts(ctx, api, progress):
                _add(tar, f"support/{name}", redactor.clean(text))
        partial.rename(to)
    except OSError as error:
        raise LabError(
            "the bundle can't be written",
            where=str(to),
            why=error.strerror or str(error),
            fix="name a file in a directory that you may write to",
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    progress.step(f"{to}: read it through before you hand it on")


def _texts(ctx: Context, api: client.ApiClient | None, progress: Progress) -> Iterator[tuple[str, str]]:
    yield "README.txt", _README
    parts: list[tuple[str, Part]] = [
        ("machine", lambda: _machine(ctx)),
        ("settings", lambda: _settings(ctx)),
        ("status", lambda: _status(ctx)),
        ("state", lambda: _state(ctx)),
        ("lab logs", lambda: _lab_logs(ctx)),
    ]
    if api is not None:
        parts.append(("cluster", lambda: _cluster(api)))
    for name, part in parts:
        progress.step(name)
        try:
            yield from part()
        except (LabError, OSError, ValueError, client.ApiException, HTTPError) as error:
            yield f"{name}.failed.txt", f"{type(error).__name__}: {error}\n"


def _machine(ctx: Context) -> Iterator[tuple[str, str]]:
    facts = {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    yield "machine.json", json.dumps(facts, indent=2)
    findings = [asdict(one) for one in run_checks(ctx.paths, online=False)]
    yield "doctor.json", json.dumps(findings, indent=2)


def _settings(ctx: Context) -> Iterator[tuple[str, str]]:
    for path in (ctx.settings_file, REPOSITORY / "versions.toml"):
        yield path.name, path.read_text(errors="replace")


def _status(ctx: Context) -> Iterator[tuple[str, str]]:
    yield "status.json", json.dumps([asdict(row) for row in collect(ctx)], indent=2)


def _state(ctx: Context) -> Iterator[tuple[str, str]]:
    """Names only: the values of a state are for nobody else."""
    deployment = exported(ctx)
    resources = deployment.get("resources") or []
    pending = deployment.get("pending_operations") or []
    summary = {
        "types": dict(sorted(Counter(one["type"] for one in resources).items())),
        "resources": [{"urn": one["urn"], "id": one.get("id", "")} for one in resources],
        "pending": [{"type": one.get("type"), "urn": one["resource"]["urn"]} for one in pending],
    }
    yield "state.json", json.dumps(summary, indent=2)


def _lab_logs(ctx: Context) -> Iterator[tuple[str, str]]:
    for path in sorted(ctx.paths.logs.glob("*.log")):
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
            yield f"logs/{path.name}", file.read().decode(errors="replace")


def _cluster(api: client.ApiClient) -> Iterator[tuple[str, str]]:
    core = client.CoreV1Api(api)
    nodes = [_plain(api, one) for one in core.list_node(_request_timeout=10).items]
    yield "nodes.json", json.dumps(nodes, indent=2)
    for space in core.list_namespace(label_selector=_OURS, _request_timeout=10).items:
        name = space.metadata.name
        events = core.list_namespaced_event(name, _request_timeout=10).items
        yield f"{name}/events.json", json.dumps([_plain(api, one) for one in events], indent=2)
        for pod in core.list_namespaced_pod(name, _request_timeout=10).items:
            place = f"{name}/pods/{pod.metadata.name}"
            yield f"{place}.json", json.dumps(_plain(api, pod), indent=2)
            for container in pod.spec.containers:
                yield f"{place}.{container.name}.log", _pod_log(core, pod, container.name)


def _pod_log(core: client.CoreV1Api, pod: client.V1Pod, container: str) -> str:
    try:
        # Unread: version 36 of the client makes Python text of a log.
        raw = core.read_namespaced_pod_log(
            pod.metadata.name,
            pod.metadata.namespace,
            container=container,
            tail_lines=_POD_LINES,
            _request_timeout=10,
            _preload_content=False,
        )
    except (client.ApiException, HTTPError) as error:
        return f"can't be read: {reason(error)}\n"
    return str(raw.data.decode("utf-8", errors="replace"))


def _plain(api: client.ApiClient, item: object) -> Any:  # noqa: ANN401 - JSON of any kind of object
    found = api.sanitize_for_serialization(item)
    found.get("metadata", {}).pop("managedFields", None)
    return found


def _add(tar: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o600
    tar.addfile(info, io.BytesIO(data))
