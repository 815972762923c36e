"""When the last backup was taken, kept in the cluster so that everyone sees it."""

from collections.abc import Mapping
from datetime import UTC, datetime

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.backup.manifest import Manifest
from cli.kube import reason
from lab.errors import LabError

NAME = "last-backup"
_OWNERSHIP = "gpu-platform/"
_MANAGED_BY = "gpu-platform/managed-by"
_CONTACT = "gpu-platform/contact"


def leave(api: client.ApiClient, namespace: str, manifest: Manifest) -> None:
    """Note a finished backup in a ConfigMap beside the data, owned by whoever owns the namespace.

    Raises:
        LabError: The cluster doesn't take the note; the backup itself is whole.
    """
    core = client.CoreV1Api(api)
    try:
        home = core.read_namespace(namespace, _request_timeout=10).metadata
        labels = {key: value for key, value in (home.labels or {}).items() if key.startswith(_OWNERSHIP)}
        annotations = {key: value for key, value in (home.annotations or {}).items() if key == _CONTACT}
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": NAME,
                "namespace": namespace,
                # Not the program's: it neither makes nor removes it.
                "labels": {**labels, _MANAGED_BY: "cli"},
                "annotations": annotations,
            },
            "data": {
                "created": manifest.created,
                "databases": str(len(manifest.databases)),
                "objects": str(len(manifest.objects)),
                "bytes": str(manifest.size),
            },
        }
        try:
            core.create_namespaced_config_map(namespace, body, _request_timeout=10)
        except client.ApiException as error:
            if error.status != 409:
                raise
            core.replace_namespaced_config_map(NAME, namespace, body, _request_timeout=10)
    except (client.ApiException, HTTPError) as error:
        raise LabError(
            "the backup is whole, but its time could not be noted in the cluster",
            where=f"ConfigMap {namespace}/{NAME}",
            why=reason(error),
            fix="nothing to mend in the backup; make status shows the time of the one before",
        ) from error


def last(core: client.CoreV1Api, namespace: str, *, now: datetime) -> str:
    """How long ago the last backup began and what it held, in words.

    Raises:
        ApiException: The cluster doesn't answer.
    """
    try:
        data: Mapping[str, str] = (
            core.read_namespaced_config_map(NAME, namespace, _request_timeout=10).data or {}
        )
        created = datetime.fromisoformat(data["created"]).astimezone(UTC)
    except client.ApiException as error:
        if error.status == 404:
            return "none yet"
        raise
    except (KeyError, ValueError):
        return "its note can't be read"
    hours = (now - created).total_seconds() / 3600
    return f"{hours:.1f} hours ago: {data.get('databases')} databases, {data.get('objects')} objects"
