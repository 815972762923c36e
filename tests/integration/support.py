"""The dev environment as its users drive it: commands, kubectl, forwarded ports."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from cli.context import Context, context
from lab.paths import REPOSITORY, current

JOBS = "gpu-platform-jobs"
MLOPS = "gpu-platform-mlops"
DATA = "gpu-platform-data"
WAIT_SECONDS = 120.0


def cli(*arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    """Run ``python -m cli``; a failure that isn't expected shows everything it wrote."""
    result = subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (result.returncode == 0) is ok, f"cli {' '.join(arguments)}: {result.returncode}\n{result.stdout}"
    return result


def dev() -> Context:
    """The dev environment's context."""
    return context("dev")


def kubectl(*arguments: str, stdin: str | None = None, ok: bool = True) -> str:
    """Run kubectl as administrator and return what it printed."""
    paths = current()
    result = subprocess.run(
        [str(paths.state / "bin" / "kubectl"), "--kubeconfig", str(paths.kubeconfig), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode == 0) is ok, f"kubectl {' '.join(arguments)}: {result.stdout}{result.stderr}"
    return result.stdout + ("" if ok else result.stderr)


def get(*arguments: str) -> Any:
    """An object of the cluster."""
    return json.loads(kubectl("get", *arguments, "-o", "json"))


def secret(namespace: str, name: str) -> Mapping[str, str]:
    """A Secret's values in the clear."""
    import base64

    data = get("secret", name, "-n", namespace)["data"]
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def until(what: str, done: Any, seconds: float = WAIT_SECONDS) -> Any:
    """Wait until ``done()`` is truthy and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := done():
            return found
        time.sleep(0.5)
    raise AssertionError(f"not within {seconds} s: {what}")


@contextmanager
def forwarded(namespace: str, service: str, port: int) -> Iterator[int]:
    """A local port that leads to a Service."""
    paths = current()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        local = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            str(paths.state / "bin" / "kubectl"),
            "--kubeconfig",
            str(paths.kubeconfig),
            "--namespace",
            namespace,
            "port-forward",
            f"service/{service}",
            f"{local}:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(f"port {local} to {service}", lambda: _open(local), 30)
        yield local
    finally:
        process.terminate()
        process.wait(10)


def http(
    url: str,
    *,
    login: tuple[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    method: str | None = None,
) -> tuple[int, str]:
    """Status and text of a request, whatever the status; POST with a body and GET without if not said."""
    import base64

    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, method=method)  # noqa: S310
    if login is not None:
        token = base64.b64encode(":".join(login).encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (URLError, ConnectionError) as error:
        return 0, str(error)


def environment_of_pulumi() -> dict[str, str]:
    """What ``make shell`` exports."""
    return {**os.environ, **dev().environment()}


def _open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
