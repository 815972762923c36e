"""The running node as seen from the host: its holder, its first process, commands inside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.cluster import views
from lab.cluster.processes import Identity, alive, first_child, in_namespace, read_identity
from lab.cluster.records import Cluster, cluster_from_json
from lab.cluster.shell import run
from lab.errors import LabError
from lab.paths import Paths


def recorded(paths: Paths) -> Cluster | None:
    """The cluster as the last ``up`` wrote it down; None when there is none, or an older lab wrote it."""
    try:
        return cluster_from_json((paths.run / "cluster.json").read_text())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def holder(paths: Paths) -> Identity | None:
    """The living process that holds the node's namespaces; killing it ends everything in them."""
    identity = read_identity(paths.run / "supervisor.json")
    return identity if alive(identity) else None


def supervisor_pid(paths: Paths) -> int | None:
    """The first process of the node, by its pid on the host."""
    holding = holder(paths)
    return first_child(holding.pid) if holding else None


def component_rows(paths: Paths) -> list[dict[str, Any]]:
    """What the supervisor last told of its components, with pids of the host; pid 0 for what does not run."""
    try:
        rows = json.loads((paths.run / "components.json").read_text())
    except (OSError, ValueError):
        return []
    first = supervisor_pid(paths)
    inside: dict[int, int] = {}
    if first is not None:
        try:
            reference = str(Path(f"/proc/{first}/ns/pid").readlink())
        except OSError:
            reference = ""
        inside = {theirs: here for here, theirs in in_namespace("pid", reference).items()}
    return [{**row, "pid": inside.get(row["pid"], 0) if row["pid"] else 0} for row in rows]


def run_inside(cluster: Cluster, argv: Sequence[str], *, where: str, timeout_seconds: float = 60) -> str:
    """Run a program of the node inside its namespaces.

    Raises:
        LabError: The node does not run, or the program failed.
    """
    first = supervisor_pid(cluster.paths)
    if first is None:
        raise LabError(
            "the lab's node does not run", where=where, why="its supervisor is gone", fix="make up"
        )
    return run(
        ["nsenter", "--target", str(first), "--mount", "--net", "--pid", "--uts", "--", *argv],
        where=where,
        environment=views.environment(cluster),
        timeout_seconds=timeout_seconds,
    )


def kubectl(cluster: Cluster, *arguments: str, stdin: str | None = None, timeout_seconds: float = 60) -> str:
    """Run kubectl from the host as the lab's administrator.

    Raises:
        LabError: It failed.
    """
    return run(
        [str(cluster.programs.go["kubectl"]), f"--kubeconfig={cluster.paths.kubeconfig}", *arguments],
        where="the lab's API server",
        stdin=stdin,
        environment={**views.environment(cluster), "NO_PROXY": "*"},
        timeout_seconds=timeout_seconds,
    )
