"""Every secret value of an environment that could stand in a log."""

import base64
import os
from collections.abc import Iterator

import yaml
from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import reason
from lab.errors import LabError

_VARIABLES = (
    "PULUMI_CONFIG_PASSPHRASE",
    "PULUMI_ACCESS_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "KUBE_TOKEN",
)


def known_secrets(ctx: Context, api: client.ApiClient | None) -> set[str]:
    """Values of the cluster's Secrets, of the kubeconfig and of this process's environment.

    Args:
        ctx: The environment.
        api: Its cluster; None where it isn't up.

    Raises:
        LabError: The Secrets can't be read. A bundle that may hold them is not made.
    """
    found = {value for name in _VARIABLES if (value := os.environ.get(name))}
    found |= set(_kubeconfig(ctx))
    if api is not None:
        try:
            for secret in client.CoreV1Api(api).list_secret_for_all_namespaces(_request_timeout=30).items:
                found |= {
                    base64.b64decode(value).decode(errors="replace") for value in (secret.data or {}).values()
                }
        except (client.ApiException, HTTPError) as error:
            raise LabError(
                "the secrets to take out can't be read",
                where=f"environment {ctx.env}",
                why=reason(error),
                fix="make up brings the cluster back; python -m cli logs COMPONENT shows single logs",
            ) from error
    return found


def _kubeconfig(ctx: Context) -> Iterator[str]:
    try:
        document = yaml.safe_load(ctx.paths.kubeconfig.read_text())
        users = [entry["user"] for entry in document["users"]]
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return
    for user in users:
        for key in ("client-key-data", "token", "password"):
            if isinstance(value := user.get(key), str):
                yield value
