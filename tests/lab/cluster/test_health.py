"""What the API tells is judged against the time the node was started."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.cluster import status
from lab.cluster.health import assess
from lab.paths import Paths

SINCE = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
NODE = "gpu-platform-lab"


def item(kind: str, name: str, ready: str = "True") -> dict[str, Any]:
    return {
        "kind": kind,
        "metadata": {"name": name},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def pod(app: str, started: str, ready: str = "True", node: str = NODE) -> dict[str, Any]:
    one = item("Pod", f"{app}-1", ready)
    one["metadata"]["labels"] = {"app.kubernetes.io/name": app}
    one["spec"] = {"nodeName": node}
    one["status"]["containerStatuses"] = [{"state": {"running": {"startedAt": started}}}]
    return one


def whole(started: str = "2026-01-02T12:00:05Z") -> list[dict[str, Any]]:
    return [
        item("Node", NODE),
        item("StorageClass", "standard"),
        item("StorageClass", "fast"),
        pod("coredns", started),
        pod("local-path-provisioner", started),
    ]


def unhealthy(items: list[dict[str, Any]]) -> list[str]:
    return [one.name for one in assess(items, NODE, SINCE) if not one.healthy]


def test_everything_there() -> None:
    assert unhealthy(whole()) == []
    assert len(assess(whole(), NODE, SINCE)) == 6


def test_pods_of_before_the_restart_do_not_count() -> None:
    assert unhealthy(whole("2026-01-02T11:59:59Z")) == ["coredns", "local-path-provisioner", "pods"]


def test_any_old_pod_of_the_node_is_waited_for_but_simulated_ones_are_not() -> None:
    assert unhealthy([*whole(), pod("mlflow", "2026-01-01T00:00:00Z")]) == ["pods"]
    assert unhealthy([*whole(), pod("sim", "2026-01-01T00:00:00Z", node="sim-0")]) == []


def test_what_is_missing_is_named() -> None:
    assert unhealthy([]) == [
        "node",
        "coredns",
        "local-path-provisioner",
        "storage class standard",
        "storage class fast",
    ]
    assert unhealthy([item("Node", NODE, ready="Unknown"), *whole()[1:]]) == ["node"]


def test_a_lab_that_is_down_is_one_line(tmp_path: Path) -> None:
    (line,) = status(Paths(cache=tmp_path / "cache", state=tmp_path / "state"))
    assert (line.name, line.healthy, line.detail, line.pid) == ("supervisor", False, "down", 0)
