"""A cluster record for tests of pure functions."""

from pathlib import Path

from lab.cluster.records import GO_TOOLS, Cluster, Network, Programs
from lab.paths import Paths

IMAGES = {
    "pause": "gpu-platform.lab/pause:1.0.0",
    "coredns": "gpu-platform.lab/coredns:1.15.0",
    "local-path-provisioner": "gpu-platform.lab/local-path-provisioner:0.0.30",
}


def make_cluster(root: Path = Path("/lab")) -> Cluster:
    return Cluster(
        paths=Paths(cache=root / "cache", state=root / "state"),
        programs=Programs(
            go={name: root / "go" / name for name in GO_TOOLS},
            debian=root / "debian",
            kwok_stages=root / "stages",
        ),
        network=Network(),
        images=IMAGES,
    )
