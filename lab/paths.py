"""Where the lab keeps things: a cache that can be rebuilt, and the state of the one lab of this host."""

import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE_VARIABLE = "GPU_PLATFORM_CACHE"
STATE_VARIABLE = "GPU_PLATFORM_STATE"
DEFAULT_STATE = Path("/var/lib/gpu-platform")


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Every directory of the lab.

    Args:
        cache: Built programs, unpacked packages and images; safe to delete when the lab is down.
        state: The lab of this host: cluster data, credentials, logs, Pulumi backend.
    """

    cache: Path
    state: Path

    @property
    def go(self) -> Path:
        """Go's module and build caches."""
        return self.cache / "go"

    @property
    def tools(self) -> Path:
        """Built programs, one directory per tool and key."""
        return self.cache / "tools"

    @property
    def debian(self) -> Path:
        """Unpacked Debian packages, one directory per key."""
        return self.cache / "debian"

    @property
    def images(self) -> Path:
        """OCI archives, one per recipe key."""
        return self.cache / "images"

    @property
    def cluster(self) -> Path:
        """Data of the cluster: etcd, containerd, kubelet, volumes, certificates."""
        return self.state / "cluster"

    @property
    def charts(self) -> Path:
        """Helm charts of the lab at a fixed place, so that settings can name them."""
        return self.state / "charts"

    @property
    def logs(self) -> Path:
        """One log per component and stage."""
        return self.state / "logs"

    @property
    def run(self) -> Path:
        """Locks, pids and sockets."""
        return self.state / "run"

    @property
    def kubeconfig(self) -> Path:
        """Administrator access to the lab's cluster."""
        return self.state / "kubeconfig"

    @property
    def backend(self) -> Path:
        """Pulumi's file backend of the dev stack."""
        return self.state / "backend"

    @property
    def scratch(self) -> Path:
        """Temporary files of engine runs, readable by the owner only."""
        return self.state / "tmp"

    @property
    def pulumi_home(self) -> Path:
        """The lab's own PULUMI_HOME: stand-in plug-ins live here and nowhere on a user's PATH."""
        return self.state / "pulumi-home"


def current() -> Paths:
    """The paths of this process, from the environment or their defaults."""
    home_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = Path(os.environ.get(CACHE_VARIABLE) or home_cache / "gpu-platform")
    state = Path(os.environ.get(STATE_VARIABLE) or DEFAULT_STATE)
    return Paths(cache=cache, state=state)
