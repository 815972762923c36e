"""What a workload refuses, before anything is built."""

from typing import Any

import pytest

from components.core import ArgsError
from components.kube import (
    HttpGet,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    SecretVolume,
    WorkloadArgs,
)
from tests.harness.samples import OWNERSHIP, SECRET

DEPLOYMENT, STATEFUL_SET = "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:StatefulSet"
SERVICE, ACCOUNT = "kubernetes:core/v1:Service", "kubernetes:core/v1:ServiceAccount"
CONFIG_MAP, COMPONENT = "kubernetes:core/v1:ConfigMap", "gpuplatform:kube:Workload"
RESOURCES = Resources(cpu_request="100m", cpu_limit="1", memory_request="64Mi", memory_limit="128Mi")


def _args(**changes: Any) -> WorkloadArgs:
    values: dict[str, Any] = {
        "app": "web",
        "namespace": "apps",
        "ownership": OWNERSHIP,
        "image": "example/web:1",
        "resources": RESOURCES,
    }
    return WorkloadArgs(**(values | changes))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"app": "Web"}, "app"),
        ({"replicas": 0}, "replicas"),
        ({"user_id": 0}, "user_id"),
        ({"group_id": 0}, "group_id"),
        ({"ports": {"http": 70000}}, "ports.http"),
        ({"env": {"DB_PASSWORD": "x"}}, "env.DB_PASSWORD"),
        ({"env": {"aws_secret_access_key": "x"}}, "env.aws_secret_access_key"),
        ({"env": {"A": "1"}, "secret_env": {"A": SecretKey(secret=SECRET, role="password")}}, "env.A"),
        ({"secret_env": {"A": SecretKey(secret=SECRET, role="token")}}, "secret_env.A"),
        ({"volumes": (SecretVolume(name="v", path="/v", secret=SECRET, roles=("x",)),)}, "volumes.v"),
        ({"volumes": (ScratchVolume(name="v", path="v", size_mib=1),)}, "volumes.v"),
        ({"volumes": (ScratchVolume(name="v", path="/v", size_mib=1),) * 2}, "volumes.v"),
        ({"files": {"a": "x"}}, "files.a"),
        ({"readiness": Probe(tcp_port="http")}, "readiness"),
        ({"liveness": Probe(http=HttpGet(path="/", port="http"))}, "liveness"),
    ],
)
def test_what_could_not_work_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


def test_a_refused_plain_secret_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ArgsError, match="DB_PASSWORD") as caught:
        _args(env={"DB_PASSWORD": "hunter2"})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("ways", [{}, {"tcp_port": "a", "command": ("b",)}])
def test_a_probe_asks_in_exactly_one_way(ways: dict[str, Any]) -> None:
    with pytest.raises(ArgsError, match="exactly one"):
        Probe(**ways)
