"""Up and down of the cluster."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from lab import pins
from lab.cluster import addons, cgroups, configs, images, mounts, node, pki, views
from lab.cluster import network as links
from lab.cluster.health import status
from lab.cluster.lock import lab_lock
from lab.cluster.processes import (
    Identity,
    identify,
    send,
    wait_gone,
    with_arguments,
    write_atomically,
)
from lab.cluster.records import Cluster, Network, Programs
from lab.cluster.shell import run, succeeds
from lab.errors import LabError
from lab.paths import REPOSITORY, Paths
from lab.progress import Progress

CLUSTER_IMAGES = (configs.PAUSE, addons.COREDNS, addons.PROVISIONER)
API_SECONDS = 120.0
READY_SECONDS = 180.0
ORDERLY_SECONDS = 60.0
NO_ARCHIVES: Mapping[str, Path] = MappingProxyType({})
DEFAULT_NETWORK = Network()


def up(
    paths: Paths,
    programs: Programs,
    progress: Progress,
    archives: Mapping[str, Path] = NO_ARCHIVES,
    *,
    network: Network = DEFAULT_NETWORK,
) -> None:
    """Start or repair the cluster and wait until it does everything it is for.

    Safe at any point, also after an interrupted run: what runs as wanted is left alone, what does not is
    started again with its data.

    Args:
        paths: Directories of the lab.
        programs: Programs of the node.
        progress: Where steps are told.
        archives: Image name of ``versions.toml``, or a whole reference → OCI archive; at least those of the
            pause, CoreDNS and local-path-provisioner images, unless the node has them already.
        network: Names and address ranges.

    Raises:
        LabError: Something is missing, in the way, or did not become ready.
    """
    with lab_lock(paths, "up of the cluster"):
        references = pins.load().images
        cluster = Cluster(
            paths=paths,
            programs=programs,
            network=network,
            images={name: references[name] for name in CLUSTER_IMAGES if name in references},
        )
        _check(cluster)
        _ensure_running(cluster, progress)
        progress.step("API server")
        _wait("kube-apiserver", API_SECONDS, paths, lambda: succeeds(_ready_command(cluster)))
        _wait("containerd", API_SECONDS, paths, lambda: _healthy(paths, "containerd"))
        images.load(cluster, archives, progress)
        progress.step("name service, storage classes, access rights")
        _apply_addons(cluster)
        progress.step("node, name service and volumes become ready")
        _wait("the cluster", READY_SECONDS, paths, lambda: all(one.healthy for one in status(paths)))


def down(
    paths: Paths,
    progress: Progress,
    *,
    keep_data: bool = False,
    network: Network = DEFAULT_NETWORK,
) -> None:
    """End everything of the cluster: processes, mounts, namespaces, links, routes, control groups.

    Works on half-started remains too. Logs stay, for they tell what happened.

    Args:
        paths: Directories of the lab.
        progress: Where steps are told.
        keep_data: Keep data, certificates and kubeconfig, and let pods and database end in order.
        network: Names to clean up where no record of a run is left.
    """
    with lab_lock(paths, "down of the cluster"):
        cluster = node.recorded(paths)
        _end(paths, progress, cluster.network if cluster else network, orderly=keep_data)
        if keep_data:
            return
        progress.step(f"deleting the cluster's data, its volumes among it: {paths.cluster}")
        _remove_tree(paths.cluster)
        paths.kubeconfig.unlink(missing_ok=True)
        (paths.run / "cluster.json").unlink(missing_ok=True)


def _remove_tree(directory: Path) -> None:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise LabError(
            "the cluster's data cannot be removed",
            where=str(error.filename or directory),
            why=error.strerror or str(error),
            fix="free it (mount, lsof), then run make down again",
        ) from error


def _check(cluster: Cluster) -> None:
    if os.geteuid() != 0:
        raise LabError(
            "the lab needs root",
            where="this process",
            why="namespaces, mounts and control groups are made by root only",
            fix="run the command as root",
        )
    mounts.check_state(cluster.paths.state)
    views.check_programs(cluster.programs)
    links.check_routes(cluster.network)
    _own_members(cluster.paths, cluster.network)
    missing = sorted(name for name in CLUSTER_IMAGES if name not in cluster.images)
    if missing:
        raise LabError(
            "images have no pin", where="versions.toml", why=", ".join(missing), fix="add them to [images]"
        )


def _ready_command(cluster: Cluster) -> list[str]:
    kubectl = str(cluster.programs.go["kubectl"])
    return [
        kubectl,
        f"--kubeconfig={cluster.paths.kubeconfig}",
        "get",
        "--raw=/readyz",
        "--request-timeout=3s",
    ]


def _configure(cluster: Cluster) -> bool:
    """Write certificates and configuration; tell whether anything differs from what was there."""
    changed = pki.ensure(cluster)
    for path, text in configs.files(cluster).items():
        if not path.exists() or path.read_text() != text:
            write_atomically(path, text)
            changed = True
    admin = json.dumps(configs.kubeconfig(cluster, "admin", embed=True), indent=1)
    write_atomically(cluster.paths.kubeconfig, admin)
    return changed


def _ensure_running(cluster: Cluster, progress: Progress) -> None:
    paths = cluster.paths
    before = node.recorded(paths)
    running = node.holder(paths) is not None and before == cluster
    progress.step("certificates and configuration")
    changed = _configure(cluster)
    if running and not changed and (links.NAMESPACES / cluster.network.name).exists():
        links.repair_routes(cluster.network)
        return
    _end(paths, progress, before.network if before else cluster.network, orderly=True)
    progress.step("network and control groups")
    links.create(cluster.network)
    views.link(cluster)
    cgroups.prepare(cgroups.detect(), cluster.network.name)
    progress.step("components")
    _start_supervisor(cluster)


def _start_supervisor(cluster: Cluster) -> None:
    paths = cluster.paths
    for directory in (paths.run, paths.logs):
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)
    for name in addons.STORAGE_CLASSES:
        (cluster.volumes / name).mkdir(parents=True, exist_ok=True)
    (paths.run / "components.json").unlink(missing_ok=True)
    (paths.run / "supervisor.json").unlink(missing_ok=True)
    write_atomically(cluster.record, cluster.to_json())
    environment = {"PATH": views.SYSTEM_PATH, "PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"}
    with (paths.logs / "supervisor.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab.cluster.supervisor", "enter", str(cluster.record)],
            start_new_session=True,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    _wait("supervisor", 30, paths, lambda: node.supervisor_pid(paths) is not None, process)


def _end(paths: Paths, progress: Progress, ours: Network, *, orderly: bool) -> None:
    holding = node.holder(paths)
    if holding is not None:
        progress.step("end the components")
        first = node.supervisor_pid(paths)
        inside = identify(first) if first else None
        if orderly and inside is not None:
            send(inside, signal.SIGTERM)
            wait_gone(inside, ORDERLY_SECONDS)
        send(holding, signal.SIGKILL)
        wait_gone(holding, 10)
        if inside is not None:
            wait_gone(inside, 10)
    # A supervisor that an interrupted `up` has only just begun is not yet recorded.
    for left in [
        *with_arguments("lab.cluster.supervisor", str(paths.run / "cluster.json")),
        *_own_members(paths, ours),
    ]:
        send(left, signal.SIGKILL)
        wait_gone(left, 10)
    links.remove(ours)
    cgroups.remove(cgroups.detect(), ours.name)
    for name in ("supervisor.json", "components.json", "supervisor.lock"):
        (paths.run / name).unlink(missing_ok=True)


def _own_members(paths: Paths, ours: Network) -> list[Identity]:
    """What the lab left in the node's network namespace; refused when a lab of another state lives there."""
    members = []
    for pid in links.namespace_members(ours):
        identity, command = identify(pid), _command(pid)
        own = str(paths.state) in command
        if "lab.cluster.supervisor" in command and not own:
            raise LabError(
                "another lab uses the same names on this host",
                where=f"network namespace {ours.name}",
                why=f"process {pid} lives in it: {command[:200]}",
                fix="make down in the checkout, or with the GPU_PLATFORM_STATE, it was started with",
            )
        # A user's own shell in the namespace is not ours to end; the namespace goes when it leaves.
        if own and identity is not None:
            members.append(identity)
    return members


def _command(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return text.replace(b"\0", b" ").decode(errors="replace").strip()


def _apply_addons(cluster: Cluster) -> None:
    run(
        [
            str(cluster.programs.go["kubectl"]), f"--kubeconfig={cluster.paths.kubeconfig}", "apply",
            "--server-side", "--force-conflicts", "--field-manager=gpu-platform-lab", "--filename=-",
        ],
        where="name service and storage of the lab",
        stdin=addons.manifests(cluster),
        timeout_seconds=120,
    )  # fmt: skip


def _healthy(paths: Paths, name: str) -> bool:
    return any(row["name"] == name and row["healthy"] for row in node.component_rows(paths))


def _wait(
    what: str,
    seconds: float,
    paths: Paths,
    done: Callable[[], bool],
    process: "subprocess.Popen[bytes] | None" = None,
) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        ended = process is not None and process.poll() is not None
        if ended or time.monotonic() > deadline:
            failing = [f"{one.name}: {one.detail}" for one in status(paths) if not one.healthy]
            raise LabError(
                f"{what} did not become ready",
                where=f"logs in {paths.logs}",
                why="; ".join(failing)[:1500]
                or ("it ended at once" if ended else f"not within {seconds:g} s"),
                fix="read the log named after the first failing component, then make up again",
            )
        time.sleep(0.5)
