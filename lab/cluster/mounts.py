"""The node's view of the file system, made inside its own mount namespace; the host's stays as it is."""

from pathlib import Path

from lab.cluster.configs import KUBELET_ROOT
from lab.cluster.records import Cluster
from lab.cluster.shell import run
from lab.errors import LabError

WHERE = "mounts of the node"
# The kubelet sets these for the whole kernel. It gets files to write to instead.
KUBELET_SYSCTLS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
# Per network namespace: they touch the node only.
NODE_SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/bridge/bridge-nf-call-iptables": "1",
}
HIDDEN = (Path("/run"), Path("/var/run"), Path("/proc"), Path("/sys"), Path("/dev"))


def check_state(state: Path) -> None:
    """Refuse a state directory the node's own mounts would hide.

    Raises:
        LabError: It lies below ``/run`` or a kernel file system.
    """
    if any(state.is_relative_to(hidden) for hidden in HIDDEN):
        raise LabError(
            "the state directory cannot be there",
            where=str(state),
            why="the node has its own /run, and kernel file systems hold no data",
            fix="set GPU_PLATFORM_STATE to a directory on a disk, such as /var/lib/gpu-platform",
        )


def _mount(*arguments: str) -> None:
    run(["mount", *arguments], where=WHERE)


def prepare(cluster: Cluster) -> None:
    """Own ``/run``; writes below ``/var`` in memory; the kubelet's fixed places in the state directory."""
    _mount("--make-rprivate", "/")
    _mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run")
    _overlay_var(cluster)
    for inside, kept in ((KUBELET_ROOT, "kubelet"), ("/var/log/pods", "pod-logs")):
        source = cluster.paths.cluster / kept
        source.mkdir(parents=True, exist_ok=True)
        Path(inside).mkdir(parents=True, exist_ok=True)
        _mount("--bind", str(source), inside)
    # Pods that ask for mount propagation get it; the host stays out of it, being another namespace.
    _mount("--make-rshared", "/")
    for name, value in KUBELET_SYSCTLS.items():
        stand_in = Path("/run/sysctl") / name
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(f"{value}\n")
        if (Path("/proc/sys") / name).exists():
            _mount("--bind", str(stand_in), f"/proc/sys/{name}")
    for name, value in NODE_SYSCTLS.items():
        (Path("/proc/sys") / name).write_text(value)


def _overlay_var(cluster: Cluster) -> None:
    """Put a layer in memory over ``/var``, with the lab's own directories passed through to the disk."""
    passed = [
        path.resolve()
        for path in (cluster.paths.state, cluster.paths.cache, cluster.programs.debian)
        if path.exists() and path.resolve().is_relative_to("/var")
    ]
    kept = []
    for number, path in enumerate(passed):
        stash = Path(f"/run/passed/{number}")
        stash.mkdir(parents=True)
        _mount("--bind", str(path), str(stash))
        kept.append((stash, path))
    upper, work = Path("/run/var/upper"), Path("/run/var/work")
    upper.mkdir(parents=True)
    work.mkdir()
    _mount("-t", "overlay", "-o", f"lowerdir=/var,upperdir={upper},workdir={work}", "overlay", "/var")
    for stash, path in kept:
        path.mkdir(parents=True, exist_ok=True)
        _mount("--move", str(stash), str(path))
