"""The lab's public face: bring it up, take it down, look at it."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lab import pins
from lab.cluster import ComponentStatus, Programs
from lab.cluster import down as cluster_down
from lab.cluster import status as cluster_status
from lab.cluster import up as cluster_up
from lab.cluster.lock import lab_lock
from lab.images import ensure_images
from lab.paths import Paths
from lab.progress import Progress
from lab.toolchain.charts import ensure_charts, kwok_stages
from lab.toolchain.debian import ensure_debian
from lab.toolchain.go import ensure_tools
from lab.toolchain.install import bin_directory, install, pulumi_environment

__all__ = [
    "ComponentStatus",
    "down",
    "exclusive",
    "has_data",
    "prepare",
    "promtool",
    "pulumi_environment",
    "start",
    "status",
    "stop",
    "toolchain",
]

_NODE_TOOLS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
    "kwok",
    "kube-router",
)
# All a cluster of the user's own needs from the toolchain.
_CLIENT_TOOLS = ("pulumi", "pulumi-resource-kubernetes", "helm", "kubectl")


@contextmanager
def exclusive(paths: Paths, purpose: str) -> Iterator[None]:
    """Hold the lab of this host; a second holder is refused with the first one's name."""
    with lab_lock(paths, purpose):
        yield


def toolchain(paths: Paths, progress: Progress) -> None:
    """Only what a cluster of the user's own needs: Pulumi with its plug-ins, helm, kubectl."""
    progress.enter("toolchain")
    install(paths, ensure_tools(paths, _CLIENT_TOOLS, progress), progress)


def prepare(paths: Paths, progress: Progress) -> tuple[Programs, Mapping[str, Path]]:
    """Programs, charts and images of the lab, each only as far as it is missing.

    Returns:
        What the node runs, and the image archives by name.
    """
    progress.enter("toolchain")
    programs = ensure_tools(paths, pins.load().tools, progress)
    debian = ensure_debian(paths, "node", progress)
    ensure_debian(paths, "monitoring", progress)
    ensure_charts(paths, progress)
    install(paths, programs, progress)
    progress.enter("images")
    archives = ensure_images(paths, programs, progress)
    node = Programs(
        go={name: programs[name] for name in _NODE_TOOLS},
        debian=debian,
        kwok_stages=kwok_stages(paths),
    )
    return node, archives


def promtool(paths: Paths, progress: Progress) -> Path:
    """The program that checks and tests Prometheus rules, fetched when it is missing."""
    return ensure_debian(paths, "monitoring", progress) / "usr/bin/promtool"


def start(paths: Paths, progress: Progress) -> None:
    """Prepare and start the cluster, or repair it."""
    node, archives = prepare(paths, progress)
    progress.enter("cluster")
    cluster_up(paths, node, progress, archives)


def stop(paths: Paths, progress: Progress) -> None:
    """Stop the cluster and keep its data, as a restart of the machine would."""
    progress.enter("cluster")
    cluster_down(paths, progress, keep_data=True)


def down(paths: Paths, progress: Progress, *, forget_backend: bool) -> None:
    """End the cluster and everything it left on the host; the caches and the logs stay.

    Args:
        paths: The lab's directories.
        progress: Where steps are told.
        forget_backend: Delete Pulumi's home and backend too; False while another stack lives there.
    """
    progress.enter("cluster")
    cluster_down(paths, progress, keep_data=False)
    shutil.rmtree(paths.charts, ignore_errors=True)
    if forget_backend:
        for directory in (paths.backend, paths.pulumi_home, bin_directory(paths)):
            shutil.rmtree(directory, ignore_errors=True)


def has_data(paths: Paths) -> bool:
    """Whether the cluster's database is there; it may be deleted while its processes still run."""
    return (paths.cluster / "etcd" / "member").is_dir()


def status(paths: Paths) -> list[ComponentStatus]:
    """The cluster's components, failures first."""
    return cluster_status(paths)
