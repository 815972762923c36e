"""`logs`: what a service's pods or a component of the lab wrote."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import api_client, reason
from lab.errors import LabError
from lab.process import run

_POLL_SECONDS = 0.5
_SINCE = re.compile(r"(\d{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
# Times as the lab's components write them: an ISO time anywhere, or klog's letter, month and day.
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})")
_KLOG = re.compile(r"^[IWEF](\d{2})(\d{2}) (\d{2}:\d{2}:\d{2})")


def logs(ctx: Context, name: str, *, follow: bool, since: str | None, tail: int) -> None:
    """Print the log of a service or a component.

    Args:
        ctx: The environment.
        name: A service of the stack, or a log of the lab.
        follow: Go on until Ctrl-C.
        since: Only what is younger, such as ``10m``.
        tail: Lines at most; -1 for all.

    Raises:
        LabError: No such log, or the cluster doesn't hand it out.
    """
    age = None if since is None else _age(since)
    file = ctx.paths.logs / f"{name}.log"
    if name in _components(ctx):
        for line in _file_lines(file, age=age, tail=tail, follow=follow):
            print(line, flush=follow)
        return
    outputs = ctx.outputs()
    services = outputs.get("services", {})
    if name not in services:
        raise LabError(
            f"nothing called {name!r} has a log",
            where=f"environment {ctx.env}",
            why="it is neither a service of the stack nor a component of the lab",
            fix=f"use one of: {', '.join([*sorted(services), *_components(ctx)]) or 'none; make up first'}",
        )
    _service_logs(ctx, outputs, services[name], follow=follow, since=since, tail=tail)


def _components(ctx: Context) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in ctx.paths.logs.glob("*.log"))) if ctx.on_lab else ()


def _age(text: str) -> timedelta:
    match = _SINCE.fullmatch(text)
    if not match:
        raise LabError(
            "that is no span of time",
            where="logs --since",
            why=f"{text!r} isn't a number with s, m, h or d",
            fix="write it like 30s, 10m, 2h or 1d",
        )
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _service_logs(
    ctx: Context,
    outputs: Mapping[str, Any],
    service: Mapping[str, Any],
    *,
    follow: bool,
    since: str | None,
    tail: int,
) -> None:
    namespace, name = str(service["namespace"]), str(service["service"])
    try:
        found = client.CoreV1Api(api_client(ctx, outputs)).read_namespaced_service(
            name, namespace, _request_timeout=10
        )
    except (client.ApiException, HTTPError) as error:
        raise LabError(
            "the service can't be read", where=f"{namespace}/{name}", why=reason(error), fix="make status"
        ) from error
    selector = ",".join(f"{key}={value}" for key, value in sorted((found.spec.selector or {}).items()))
    cluster = outputs["cluster"]
    # kubectl's own d is not a unit of Go's durations.
    span = () if since is None else (f"--since={int(_age(since).total_seconds())}s",)
    result = run(
        [
            *(str(ctx.paths.state / "bin" / "kubectl"), "--kubeconfig", cluster["kubeconfig"]),
            *("--context", cluster["context"], "--namespace", namespace, "logs", "--selector", selector),
            *("--all-containers", "--prefix", "--max-log-requests=20", f"--tail={tail}", *span),
            *(("--follow",) if follow else ()),
        ],
        capture=False,
    )
    if result.returncode != 0:
        raise LabError(
            "the log can't be read",
            where=f"{namespace}/{name}",
            why=f"kubectl ended with {result.returncode}; it says why above",
            fix="make status",
        )


def _file_lines(path: Path, *, age: timedelta | None, tail: int, follow: bool) -> Iterator[str]:
    with path.open(errors="replace") as file:
        lines: Iterable[str] = (line.rstrip("\n") for line in file)
        if age is not None:
            lines = younger(lines, now=datetime.now(UTC), age=age)
        kept = list(lines)
        yield from kept if tail < 0 else kept[max(len(kept) - tail, 0) :]
        while follow:
            if line := file.readline():
                yield line.rstrip("\n")
            else:
                time.sleep(_POLL_SECONDS)


def younger(lines: Iterable[str], *, now: datetime, age: timedelta) -> Iterator[str]:
    """Lines written within ``age``; one without a time of its own goes with the one before it."""
    kept = False
    for line in lines:
        told = _written(line, now)
        kept = kept if told is None else now - told <= age
        if kept:
            yield line


def _written(line: str, now: datetime) -> datetime | None:
    if match := _KLOG.match(line):
        found = f"{now.year}-{match[1]}-{match[2]} {match[3]}"
    elif match := _ISO.search(line):
        found = f"{match[1]} {match[2]}"
    else:
        return None
    try:
        told = datetime.strptime(found, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    # klog writes no year: a date ahead of now is last year's.
    return told.replace(year=told.year - 1) if told > now + timedelta(days=1) else told
