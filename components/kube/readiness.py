"""Waiting until a controller's webhook answers, as resource hooks.

A chart counts as installed when its pods are ready; the certificate of its webhook may come seconds later,
and until then its custom resources are refused. The gate sends one such object to the server as a dry run
until it is judged.

The engine (3.274) completes a resource only after its ``after_create`` hooks, so dependents wait for the
gate. When such a hook fails the resource is kept as created, and the hook does not run again at the next
``up``: therefore the same gate is also offered as a ``before_create`` hook for the first custom resources.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulumi

from components.contracts import ClusterAccess
from components.core import check_not_empty, check_positive, raise_problems

DEFAULT_TIMEOUT_SECONDS = 180
DEFAULT_INTERVAL_SECONDS = 2
_REQUEST_TIMEOUT_SECONDS = 10
_ANSWER_LENGTH = 400
_ALREADY_EXISTS = 409
_REFUSED_BY_WEBHOOK = "denied the request"

# One dry run: None when the webhook judged the object, else what was answered instead.
Ask = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """What must answer before custom resources are created.

    Args:
        access: The cluster.
        plural: Resource name in the API path, e.g. ``clusterqueues``.
        manifest: A valid custom resource, cluster-wide or of an existing namespace; sent as a dry run, never
            stored.
        deployments: ``namespace/name`` of Deployments that must be rolled out first.
        timeout_seconds: Longest wait.
        interval_seconds: Pause between two tries.
    """

    access: ClusterAccess
    plural: str
    manifest: Mapping[str, Any]
    deployments: tuple[str, ...] = ()
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    interval_seconds: int = DEFAULT_INTERVAL_SECONDS

    def __post_init__(self) -> None:
        raise_problems(
            f"readiness of {self.plural!r}",
            [
                *check_not_empty("plural", self.plural, "a resource name such as 'clusterqueues'"),
                *check_not_empty("manifest", self.manifest, "a custom resource"),
                *check_positive("timeout_seconds", self.timeout_seconds),
                *check_positive("interval_seconds", self.interval_seconds),
            ],
        )


class NotReadyError(RuntimeError):
    """The webhook did not answer within its time."""


class Gate:
    """Asks until the webhook judges the object; later calls return at once.

    Args:
        readiness: What to wait for.
        ask: One dry run, given the resolved kubeconfig.
    """

    def __init__(self, readiness: Readiness, ask: Ask) -> None:
        self._readiness = readiness
        self._ask = ask
        self._answered = False

    async def wait(self, _args: object = None) -> None:
        """Return when the webhook answers.

        Raises:
            NotReadyError: It did not within ``timeout_seconds``; names what was awaited and the last answer.
        """
        wanted = self._readiness
        kubeconfig = await pulumi.Output.from_input(wanted.access.kubeconfig).future()
        deadline = time.monotonic() + wanted.timeout_seconds
        while not self._answered:
            # In a thread, because the engine's other callbacks share this loop.
            answer = await asyncio.to_thread(self._ask, str(kubeconfig))
            if answer is None:
                self._answered = True
            elif time.monotonic() >= deadline:
                raise NotReadyError(
                    f"waited {wanted.timeout_seconds} s for the server to judge a {wanted.manifest['kind']} "
                    f"({wanted.manifest['apiVersion']}, dry run); last answer: {answer}; "
                    "next: look at the controller's pods and logs, then run `pulumi up` again"
                )
            else:
                await asyncio.sleep(wanted.interval_seconds)


def readiness_gate(name: str, readiness: Readiness) -> pulumi.ResourceHook:
    """A hook that waits for the webhook; does nothing under preview.

    Args:
        name: Unique name of the hook.
        readiness: What to wait for.
    """
    gate = Gate(readiness, lambda kubeconfig: server_dry_run(readiness, kubeconfig))
    return pulumi.ResourceHook(name, gate.wait, pulumi.ResourceHookOptions(on_dry_run=False))


def server_dry_run(readiness: Readiness, kubeconfig: str) -> str | None:
    """Send the object once; None when it was judged, else the server's answer in one line."""
    # Imported here: the client is large and only a run with a gate needs it.
    import yaml  # noqa: PLC0415
    from kubernetes import client, config  # noqa: PLC0415

    context = readiness.access.context
    group, version = str(readiness.manifest["apiVersion"]).split("/")
    try:
        if "\n" in kubeconfig or kubeconfig.lstrip().startswith("{"):
            api = config.new_client_from_config_dict(yaml.safe_load(kubeconfig), context=context)
        else:
            api = config.new_client_from_config(config_file=kubeconfig, context=context)
        with api:
            for deployment in readiness.deployments:
                namespace, name = deployment.split("/")
                answer = rolled_out(
                    client.AppsV1Api(api)
                    .read_namespaced_deployment(name, namespace, _request_timeout=_REQUEST_TIMEOUT_SECONDS)
                    .to_dict()
                )
                if answer is not None:
                    return f"Deployment {deployment}: {answer}"
            custom, namespace = client.CustomObjectsApi(api), readiness.manifest["metadata"].get("namespace")
            create = (
                partial(custom.create_namespaced_custom_object, group, version, namespace)
                if namespace
                else partial(custom.create_cluster_custom_object, group, version)
            )
            create(
                readiness.plural,
                dict(readiness.manifest),
                dry_run="All",
                _request_timeout=_REQUEST_TIMEOUT_SECONDS,
            )
    except client.ApiException as error:
        return judged(error.status, str(error.body or error.reason))
    except Exception as error:
        # Failures to connect are of many kinds, and all mean "not yet".
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return None


def rolled_out(deployment: Mapping[str, Any]) -> str | None:
    """None when every pod is of the newest revision and available; else how far it is.

    Args:
        deployment: The object with the Python client's field names.
    """
    wanted = deployment["spec"]["replicas"]
    status = deployment["status"]
    if (status.get("observed_generation") or 0) < deployment["metadata"]["generation"]:
        return "the newest revision is not seen yet"
    ready = min(status.get("updated_replicas") or 0, status.get("available_replicas") or 0)
    return None if ready >= wanted else f"{ready} of {wanted} pods are updated and available"


def judged(status: int | None, body: str) -> str | None:
    """None when a refusal shows that the webhook was asked; else the answer in one line.

    ``409 AlreadyExists`` comes after admission, and a webhook's own refusal is an answer too.
    """
    if status == _ALREADY_EXISTS or _REFUSED_BY_WEBHOOK in body:
        return None
    return f"{status} {' '.join(_message(body).split())[:_ANSWER_LENGTH]}"


def _message(body: str) -> str:
    """The text inside a Kubernetes Status; anything else as it is."""
    try:
        status = json.loads(body)
    except ValueError:
        return body
    return str(status.get("message") or body) if isinstance(status, dict) else body
