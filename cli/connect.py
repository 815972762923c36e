"""`connect`: how to reach each service and the cluster; logins only when asked for."""

import base64
import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import api_client, reason
from lab.errors import LabError
from lab.process import run

# The other keys of a service's Secret are for programs.
LOGIN_ROLES = ("username", "password", "access_key_id", "secret_access_key")


def connect(ctx: Context, service: str | None, *, credentials: bool, forward: bool, as_json: bool) -> None:
    """Print how to reach the environment, or keep a way to one service open.

    Args:
        ctx: The environment.
        service: One service; all when left out.
        credentials: Print the logins too. They go to standard output and nowhere else.
        forward: Open the way to the one service until Ctrl-C.
        as_json: For programs.

    Raises:
        LabError: No such service, or the environment isn't up.
    """
    outputs = ctx.outputs()
    api = api_client(ctx, outputs)
    services = _chosen(ctx, outputs.get("services", {}), service, forward=forward)
    values = {name: login(api, one) for name, one in services.items()} if credentials else {}
    if as_json:
        print(json.dumps(_document(outputs, services, values), indent=2))
    else:
        print("\n".join(_lines(ctx, outputs, services, values)))
    if forward:
        for one in services.values():
            _forward(ctx, outputs["cluster"], one)


def service_lines(name: str, service: Mapping[str, Any]) -> Iterator[str]:
    """A service for people: where it answers, the way there, where its login lies."""
    namespace, port = service["namespace"], service["port"]
    secret = service["credentials"]["secret"]
    yield f"  {name}: {service['service']}.{namespace}.svc:{port} (login: {service['auth']})"
    yield f"    from here: {_command(service)}" + _then(service)
    for role, key in _login_keys(service):
        yield (
            f"    {role.replace('_', ' ')}: kubectl -n {namespace} get secret {secret} "
            f"-o jsonpath='{{.data.{key}}}' | base64 -d"
        )


def _lines(
    ctx: Context,
    outputs: Mapping[str, Any],
    services: Mapping[str, Mapping[str, Any]],
    values: Mapping[str, Mapping[str, str]],
) -> Iterator[str]:
    cluster = outputs["cluster"]
    yield f"environment {outputs['environment']}"
    yield f"kubeconfig: export KUBECONFIG={shlex.quote(str(cluster['kubeconfig']))}"
    yield f"context: {cluster['context']}"
    yield f'pulumi and kubectl in your shell: eval "$(make -s shell ENV={ctx.env})"'
    yield ""
    yield "services"
    for name, service in services.items():
        yield from service_lines(name, service)
        for role, value in values.get(name, {}).items():
            yield f"    {role.replace('_', ' ')} is {value}"


def _document(
    outputs: Mapping[str, Any],
    services: Mapping[str, Mapping[str, Any]],
    values: Mapping[str, Mapping[str, str]],
) -> Mapping[str, Any]:
    return {
        "environment": outputs["environment"],
        "cluster": dict(outputs["cluster"]),
        "services": {
            name: {
                "inCluster": f"{one['service']}.{one['namespace']}.svc:{one['port']}",
                "portForward": _command(one),
                "url": _url(one),
                "auth": one["auth"],
                "secret": {
                    "namespace": one["namespace"],
                    "name": one["credentials"]["secret"],
                    "keys": dict(_login_keys(one)),
                },
                **({"credentials": dict(values[name])} if name in values else {}),
            }
            for name, one in services.items()
        },
    }


def _chosen(
    ctx: Context, services: Mapping[str, Mapping[str, Any]], wanted: str | None, *, forward: bool
) -> Mapping[str, Mapping[str, Any]]:
    names = ", ".join(sorted(services)) or "none"
    if wanted is None and forward:
        raise LabError(
            "one way can be open at a time",
            where="connect --forward",
            why="no service is named",
            fix=f"name one of: {names}",
        )
    if wanted is not None and wanted not in services:
        raise LabError(
            f"no service {wanted!r}",
            where=f"environment {ctx.env}",
            why="the stack hands on no such service",
            fix=f"use one of: {names}",
        )
    return {name: one for name, one in services.items() if wanted in (None, name)}


def _login_keys(service: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for role, key in sorted(service["credentials"]["keys"].items(), reverse=True):
        if role in LOGIN_ROLES:
            yield role, key


def login(api: client.ApiClient, service: Mapping[str, Any]) -> Mapping[str, str]:
    """The login of a service of the stack's outputs, role → value; never to be logged.

    Raises:
        LabError: Its Secret can't be read.
    """
    namespace, secret = service["namespace"], service["credentials"]["secret"]
    try:
        data = client.CoreV1Api(api).read_namespaced_secret(secret, namespace, _request_timeout=10).data or {}
        return {role: base64.b64decode(data[key]).decode() for role, key in _login_keys(service)}
    except (client.ApiException, HTTPError, KeyError) as error:
        raise LabError(
            "the login can't be read",
            where=f"Secret {namespace}/{secret}",
            why=reason(error),
            fix="make status",
        ) from error


def _command(service: Mapping[str, Any]) -> str:
    port = service["port"]
    return f"kubectl -n {service['namespace']} port-forward service/{service['service']} {port}:{port}"


def _url(service: Mapping[str, Any]) -> str:
    """Address behind the port-forward; empty for a service that speaks no HTTP."""
    return f"http://localhost:{service['port']}" if service["healthPath"] else ""


def _then(service: Mapping[str, Any]) -> str:
    return f", then {_url(service)}" if _url(service) else ""


def _forward(ctx: Context, cluster: Mapping[str, str], service: Mapping[str, Any]) -> None:
    kubectl = str(ctx.paths.state / "bin" / "kubectl")
    where = ("--kubeconfig", cluster["kubeconfig"], "--context", cluster["context"])
    _, *arguments = _command(service).split(" ")
    result = run([kubectl, *where, *arguments], capture=False)
    if result.returncode != 0:
        raise LabError(
            "the way to the service ended",
            where=_command(service),
            why=f"kubectl ended with {result.returncode}; it says why above",
            fix="make status; a port in use needs another program to end",
        )
