"""Jobs of the environment, ended before what they stand on goes."""

import time

from kubernetes import client
from urllib3.exceptions import HTTPError

from cli.context import Context
from cli.kube import OURS, api_client
from lab.errors import LabError
from lab.progress import Progress

_BOUND_SECONDS = 60.0


def end_jobs(ctx: Context, progress: Progress) -> None:
    """Delete every job in the environment's namespaces and wait, bounded, until they are gone.

    A queue with a running job and a volume with a pod on it refuse to go; the engine would wait for minutes.
    Where the cluster doesn't answer this is skipped: the destroy itself will say so.
    """
    try:
        api = api_client(ctx, ctx.outputs())
        core, batch = client.CoreV1Api(api), client.BatchV1Api(api)
        found = core.list_namespace(label_selector=OURS, _request_timeout=10).items
        namespaces = [item.metadata.name for item in found]
        jobs = [
            (name, job.metadata.name) for name in namespaces for job in batch.list_namespaced_job(name).items
        ]
        if not jobs:
            return
        progress.step(f"ending jobs: {', '.join(f'{namespace}/{name}' for namespace, name in jobs)}")
        for namespace, name in jobs:
            batch.delete_namespaced_job(name, namespace, propagation_policy="Foreground")
        deadline = time.monotonic() + _BOUND_SECONDS
        while time.monotonic() < deadline and any(batch.list_namespaced_job(n).items for n in namespaces):
            time.sleep(1.0)
    except (LabError, client.ApiException, HTTPError) as error:
        progress.step(f"jobs can't be ended first ({type(error).__name__}); going on")
