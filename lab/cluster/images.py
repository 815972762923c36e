"""OCI archives loaded into the node's containerd. Not done here: building them."""

from collections.abc import Mapping
from pathlib import Path

from lab import pins
from lab.cluster.configs import CONTAINERD_SOCKET
from lab.cluster.node import recorded, run_inside
from lab.cluster.records import Cluster
from lab.errors import LabError
from lab.paths import Paths
from lab.progress import Progress

WHERE = "images of the node"
IMPORT_SECONDS = 600


def _ctr(cluster: Cluster, *arguments: str) -> list[str]:
    program = cluster.programs.debian / "usr/bin/ctr"
    return [str(program), "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", *arguments]


def present(cluster: Cluster) -> set[str]:
    """References of the images the node has."""
    return set(run_inside(cluster, _ctr(cluster, "images", "list", "-q"), where=WHERE).split())


def load(cluster: Cluster, archives: Mapping[str, Path], progress: Progress) -> None:
    """Import what is missing; an archive must hold the image under the reference it is given for.

    Raises:
        LabError: An archive cannot be read or holds another image.
    """
    references = pins.load().images
    wanted = {references.get(name, name): archive for name, archive in archives.items()}
    there = present(cluster)
    for reference, archive in wanted.items():
        if reference in there:
            continue
        progress.step(f"import image {reference} ({archive.stat().st_size >> 20} MiB)")
        argv = _ctr(cluster, "images", "import", str(archive.resolve()))
        run_inside(cluster, argv, where=WHERE, timeout_seconds=IMPORT_SECONDS)
    missing = sorted(set(wanted) - present(cluster))
    if missing:
        raise LabError(
            "an archive does not hold the image it is named for",
            where=WHERE,
            why=f"not there after the import: {', '.join(missing)}",
            fix="remove the archive from the cache's images directory and run make up again",
        )


def load_images(paths: Paths, archives: Mapping[str, Path], progress: Progress) -> None:
    """Import archives into the running lab, only those whose reference is missing.

    Args:
        paths: Directories of the lab.
        archives: Image name of ``versions.toml``, or a whole reference → OCI archive.
        progress: Where steps are told.

    Raises:
        LabError: The lab does not run, or an archive is bad.
    """
    cluster = recorded(paths)
    if cluster is None:
        raise LabError("there is no lab to load images into", where=WHERE, why="it is down", fix="make up")
    load(cluster, archives, progress)
