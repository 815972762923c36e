"""The parts of an environment a backup is made of, found by the stack's outputs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.backup.postgres import Server
from cli.backup.store import Store, reached
from cli.connect import login
from cli.context import Context
from cli.kube import api_client, reason
from lab.errors import LabError

DATABASE, STORE = "postgres", "object-store"


@dataclass(frozen=True, kw_only=True)
class Site:
    """An environment with data.

    Args:
        ctx: The environment.
        outputs: Outputs of its stack.
        api: Its cluster.
    """

    ctx: Context
    outputs: Mapping[str, Any]
    api: client.ApiClient

    @property
    def kubectl(self) -> tuple[str, ...]:
        """Kubectl on the environment's cluster."""
        cluster = self.outputs["cluster"]
        program = str(self.ctx.paths.state / "bin" / "kubectl")
        return (program, "--kubeconfig", cluster["kubeconfig"], "--context", cluster["context"])

    @property
    def namespace(self) -> str:
        """Namespace of the data."""
        return str(self.outputs["services"][DATABASE]["namespace"])

    def server(self) -> Server:
        """The PostgreSQL pod that is ready.

        Raises:
            LabError: There is none.
        """
        service = self.outputs["services"][DATABASE]
        core = client.CoreV1Api(self.api)
        try:
            found = core.read_namespaced_service(service["service"], self.namespace, _request_timeout=10)
            selector = ",".join(f"{key}={value}" for key, value in (found.spec.selector or {}).items())
            pods = core.list_namespaced_pod(
                self.namespace, label_selector=selector, _request_timeout=10
            ).items
        except (client.ApiException, HTTPError) as error:
            raise self._silent(reason(error)) from error
        for pod in pods:
            if all(one.ready for one in pod.status.container_statuses or [None]):
                return Server(kubectl=self.kubectl, namespace=self.namespace, pod=pod.metadata.name)
        raise self._silent("no pod of it is ready")

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The object store, reachable as long as the context lasts."""
        service = self.outputs["services"][STORE]
        values = login(self.api, service)
        with reached(
            self.kubectl,
            str(service["namespace"]),
            str(service["service"]),
            int(service["port"]),
            (values["access_key_id"], values["secret_access_key"]),
        ) as found:
            yield found

    def _silent(self, why: str) -> LabError:
        return LabError(
            "PostgreSQL doesn't answer", where=f"namespace {self.namespace}", why=why, fix="make status"
        )


def site(ctx: Context) -> Site:
    """The environment's data.

    Raises:
        LabError: It isn't up, or keeps no data of its own.
    """
    outputs = ctx.outputs()
    api = api_client(ctx, outputs)
    services = outputs.get("services", {})
    missing = [name for name in (DATABASE, STORE) if name not in services]
    if missing:
        raise LabError(
            f"environment {ctx.env} has no {' and no '.join(missing)}",
            where="settings tracking.enabled",
            why="no service needs one, so there is nothing to back up or to restore into",
            fix="set tracking.enabled: true and run make up",
        )
    return Site(ctx=ctx, outputs=outputs, api=api)
