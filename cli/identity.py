"""Which cluster a stack was built on, so that a new one under an old state is noticed."""

from contextlib import suppress
from pathlib import Path

import yaml
from kubernetes import client, config
from urllib3.exceptions import HTTPError

from cli.context import Context

_TIMEOUT_SECONDS = 10


def uid_of(kubeconfig: str, context: str) -> str | None:
    """Identity of a cluster: the UID of its ``kube-system``, which lives as long as it does.

    Returns:
        The UID, or None where the cluster does not answer.
    """
    try:
        api = config.new_client_from_config(config_file=kubeconfig, context=context)
        found = client.CoreV1Api(api).read_namespace("kube-system", _request_timeout=_TIMEOUT_SECONDS)
    except (config.ConfigException, client.ApiException, HTTPError, OSError, ValueError, yaml.YAMLError):
        return None
    return str(found.metadata.uid)


def record_file(ctx: Context) -> Path:
    """Where the identity of the stack's cluster is kept."""
    return ctx.paths.state / "stacks" / f"{ctx.env}.cluster"


def differs(ctx: Context, uid: str | None) -> bool:
    """Whether the stack was built on another cluster; no where either is not known."""
    try:
        recorded = record_file(ctx).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return bool(recorded and uid) and recorded != uid


def record(ctx: Context, uid: str | None) -> None:
    """Remember the cluster the stack is built on from now on."""
    if uid is not None:
        record_file(ctx).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        record_file(ctx).write_text(f"{uid}\n", encoding="ascii")


def forget(ctx: Context) -> None:
    """Forget it with the stack."""
    record_file(ctx).unlink(missing_ok=True)
    with suppress(OSError):  # not there, or other stacks have theirs in it
        record_file(ctx).parent.rmdir()
