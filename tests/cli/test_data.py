"""What a destroy deletes is named before it is deleted."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from kubernetes import client

from cli import data
from cli.context import Context
from lab.errors import LabError
from lab.progress import Progress


class Cluster:
    """Two namespaces of ours with claims, as the client library returns them."""

    def __init__(self, _: object) -> None:
        pass

    def list_namespace(self, label_selector: str, **_: Any) -> Any:
        assert label_selector == "gpu-platform/managed-by=pulumi"
        named = [SimpleNamespace(metadata=SimpleNamespace(name=name)) for name in ("jobs", "data")]
        return SimpleNamespace(items=named)

    def list_namespaced_persistent_volume_claim(self, namespace: str, **_: Any) -> Any:
        claims = {"jobs": [("datasets", "5Gi")], "data": [("postgres", "2Gi")]}[namespace]
        return SimpleNamespace(
            items=[
                SimpleNamespace(
                    metadata=SimpleNamespace(namespace=namespace, name=name),
                    spec=SimpleNamespace(resources=SimpleNamespace(requests={"storage": size})),
                )
                for name, size in claims
            ]
        )


def _told() -> list[str]:
    lines: list[str] = []
    ctx = cast("Context", SimpleNamespace(outputs=dict))
    data.tell_what_is_lost(ctx, Progress(write=lines.append))
    return lines


def test_every_volume_is_named_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "api_client", lambda *_: None)
    monkeypatch.setattr(client, "CoreV1Api", Cluster)
    (line,) = _told()
    assert line.endswith("deleting for good the data in 2 volumes: data/postgres (2Gi), jobs/datasets (5Gi)")


def test_a_cluster_that_does_not_answer_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise LabError("x", where="x", why="x", fix="x")

    monkeypatch.setattr(data, "api_client", refuse)
    assert _told() == []
