"""What a destroy deletes for good, named before it does."""

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import OURS, api_client
from lab.errors import LabError
from lab.progress import Progress

_TIMEOUT_SECONDS = 10


def tell_what_is_lost(ctx: Context, progress: Progress) -> None:
    """Name every volume of the environment with its size; nothing where the cluster doesn't answer."""
    try:
        core = client.CoreV1Api(api_client(ctx, ctx.outputs()))
        found = core.list_namespace(label_selector=OURS, _request_timeout=_TIMEOUT_SECONDS).items
        claims = [
            f"{claim.metadata.namespace}/{claim.metadata.name} ({claim.spec.resources.requests['storage']})"
            for namespace in sorted(item.metadata.name for item in found)
            for claim in core.list_namespaced_persistent_volume_claim(
                namespace, _request_timeout=_TIMEOUT_SECONDS
            ).items
        ]
    except (LabError, client.ApiException, HTTPError):
        return
    if claims:
        progress.step(f"deleting for good the data in {len(claims)} volumes: {', '.join(claims)}")
