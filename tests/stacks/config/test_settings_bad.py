# ruff: noqa: E501 - one case a line is what makes the table readable
"""Bad settings: each change of a good environment gives exactly one problem, at this path, in these words."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from stacks.config import SettingProblem, SettingsError, Versions, load

Found = Callable[..., tuple[SettingProblem, ...]]


class _Delete:
    def __str__(self) -> str:
        return "(left out)"


DELETE = _Delete()


def put(raw: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The settings with one value set or deleted; `/` separates keys."""
    raw = copy.deepcopy(raw)
    *above, last = path.split("/")
    node = raw
    for key in above:
        node = node.setdefault(key, {})
    if value is DELETE:
        del node[last]
    else:
        node[last] = value
    return raw


BAD_GPUS = "a whole number of GPUs in one node from 1 to 16"
ABOVE_NODE = "got 9; accepted: at most the 8 GPUs of one dgx-a100-80"
ABOVE_POOL = "got 5; accepted: at most the 4 nodes of pools.a100"
POOL = {"server": "dgx-h100", "nodes": 1, "fabric": "infiniband-ndr"}
# where it is set, what is set, path of the problem if another, words of the problem
BAD: list[tuple[str, object, str, str]] = [
    # how nodes are operated
    ("pools/small/kubelet", {"topology_manager": "restricted"}, "pools.small.kubelet.topology_manager", "accepted: single-numa-node on nodes with several GPUs"),
    ("pools/a100/kubelet", {"topology_manager": "none"}, "pools.a100.kubelet.topology_manager", "accepted: single-numa-node or restricted on nodes"),
    ("pools/a100/kubelet", {"cpu_manager": "none"}, "pools.a100.kubelet.cpu_manager", "accepted: static on nodes with several GPUs"),
    ("pools/small/mig", {"layout": {"3g.40gb": 1, "4g.40gb": 1}}, "pools.small.mig.strategy", "'single' with 3g.40gb, 4g.40gb; accepted: mixed"),
    ("pools/a100/mig", {"layout": {"1g.10gb": 7}}, "pools.a100.mig", "accepted: no MIG with `multi_node_training: true`"),
    ("pools/small/mig", {"layout": {"1g.10gb": 8}}, "pools.small.mig.layout.1g.10gb", "from 1 to 7"),
    ("pools/a100/sharing", {"strategy": "time-slicing", "replicas": 4}, "pools.a100.sharing.strategy", "'time-slicing' for queues research, prod; accepted: none"),
    ("pools/small/sharing", {"strategy": "mps"}, "pools.small.sharing.replicas", "accepted: 2 or more with mps"),
    ("pools/small/sharing", {"replicas": 4}, "pools.small.sharing.replicas", "accepted: 1 while the strategy is none"),
    ("pools/small/driver", {"version": "latest", "cuda": "13.0"}, "pools.small.driver.version", 'a version in quotes'),
    ("queues/research/fair_share", 0, "", "accepted: a whole number from 1 to 1000"),
    # unknown and missing keys
    ("polls", {}, "", "got the unknown key 'polls'; accepted: kind, ownership, cluster,"),
    ("polls", {}, "", "fix: did you mean 'pools'? Else remove it"),
    ("zzzz", 1, "", "fix: remove it"),
    ("ownership/costcentre", "x", "", "did you mean 'cost_centre'?"),
    ("pools/a100/node", 4, "", "did you mean 'nodes'?"),
    ("pools/a100/topology", {"node_per_rack": 2}, "pools.a100.topology.node_per_rack", "'nodes_per_rack'?"),
    ("cluster/kubeconfig", 3, "", "got the unknown key 'kubeconfig'; accepted: source; fix: remove it"),
    ("ownership", DELETE, "", "got nothing; accepted: a mapping of keys; fix: add `ownership:` with owner, project,"),
    ("ownership/owner", DELETE, "", "got nothing; accepted: 1 to 40 of a-z, 0-9 and '-'"),
    ("storage/checkpoints", DELETE, "", "got nothing; accepted: a mapping of keys; fix: add `checkpoints:` with size_gib"),
    ("cluster", DELETE, "", "`source: kubeconfig` and a `context`; fix: add `cluster:`"),
    ("kind", DELETE, "", "got nothing; accepted: a kind of environment: dev; fix: write `kind: dev`"),
    ("kind", "Dev", "", "got 'Dev'; accepted: a kind of environment: dev; fix: did you mean 'dev'?"),
    ("kind", 3, "", "got 3"),
    # monitoring
    ("monitoring", {"retention_days": 0}, "monitoring.retention_days", "a whole number of days from 1 to 730"),
    ("monitoring", {"scrape_interval_seconds": 1}, "monitoring.scrape_interval_seconds", "got 1; accepted: a whole number of seconds from 5 to 300"),
    ("monitoring", {"receivers": {"oncall": {"url": "https://user:pass@host/x"}}}, "monitoring.receivers.oncall.url", "no secret in the settings"),
    ("monitoring", {"receivers": {"oncall": {"url": "https://host/x?key=1"}}}, "monitoring.receivers.oncall.url", "without user, password or query"),
    ("monitoring", {"receivers": {"oncall": {"url": "ftp://host"}}}, "monitoring.receivers.oncall.url", "an http or https address"),
    ("monitoring", {"grafana": {"enabled": True}}, "monitoring.grafana.image", "the image to run, where Grafana is enabled"),
    ("monitoring", {"grafana": {"image": "grafana/grafana"}}, "monitoring.grafana.image", "with an exact tag"),
    # types
    ("pools/a100/nodes", "4", "", "got '4'; accepted: a whole number of nodes from 1 to 1000; fix: write the number"),
    ("pools/a100/nodes", 4.0, "", "got 4.0; accepted: a whole number of nodes"),
    ("pools/a100/nodes", True, "", "got true; accepted: a whole number of nodes"),
    ("pools/a100/nodes", None, "", "got nothing; accepted: a whole number of nodes"),
    ("tracking/enabled", "yes", "", "got 'yes'; accepted: true or false; fix: write true or false, without quotes"),
    ("pools/a100/topology", 3, "", "got 3; accepted: a mapping of keys; fix: indent its keys below it"),
    ("samples", ["x"], "", "got a list; accepted: a mapping of keys"),
    ("cluster", "lab", "", "got 'lab'; accepted: a mapping with `source: lab`, or"),
    ("ownership/owner", 7, "", "got 7; accepted: 1 to 40 of a-z, 0-9 and '-', starting and ending with a letter or digit"),
    # numbers
    ("pools/small/nodes", 0, "", "got 0; accepted: a whole number of nodes from 1 to 1000"),
    ("pools/small/nodes", -3, "", "got -3; accepted: a whole number of nodes from 1 to 1000"),
    ("pools/a100/nodes", 1001, "", "got 1001; accepted: a whole number of nodes from 1 to 1000"),
    ("pools/a100/topology", {"nodes_per_rack": 0}, "pools.a100.topology.nodes_per_rack", "from 1 to 72"),
    ("storage/database/size_gib", 0, "", "got 0; accepted: a whole number of GiB from 1 to 65536"),
    ("storage/datasets/size_gib", 65537, "", "choose a number in that range"),
    ("queues/prod/pools", {"a100": {"gpus": 0}}, "queues.prod.pools.a100.gpus", "a whole number of GPUs from 1"),
    ("queues/prod/max_time_limit_minutes", 43201, "", "a whole number of minutes from 1 to 43200"),
    ("tracking/replicas", 9, "", "a whole number of replicas from 1 to 8"),
    ("samples/gang_job/gpus_per_node", 17, "", BAD_GPUS),
    # names
    ("pools/H100", POOL, "", "got 'H100'; accepted: 1 to 40 of a-z, 0-9 and '-'"),
    ("pools/große", POOL, "", "rename it in lower-case ASCII"),
    ("queues/a_b", {"pools": {"small": {"gpus": 1}}}, "", "got 'a_b'"),
    ("ownership/owner", "ML", "", "got 'ML'; accepted: 1 to 40 of a-z"),
    ("ownership/project", "x" * 41, "", "accepted: 1 to 40 of a-z"),
    ("ownership/cost_centre", "-x", "", "starting and ending with a letter or digit"),
    ("ownership/contact", " ", "", "how to reach the owner"),
    ("queues/prod/cohort", "A", "", "got 'A'"),
    ("tracking/allowed_hosts", ["ok.example.com", "*"], "tracking.allowed_hosts.1", "without scheme or '*'"),
    # the catalogue
    ("pools/a100/server", "dgx-a10", "", "got 'dgx-a10'; accepted: a server of the catalogue: dgx-a100-80, dgx-h100,"),
    ("pools/a100/server", "dgx-a10", "", "fix: did you mean 'dgx-a100-80'?"),
    ("pools/a100/server", "zzz", "", "fix: take one of these names"),
    ("pools/small/gpu", "b200", "", "got the unknown key 'gpu'"),
    ("pools/a100/fabric", "infiniband", "", "fix: did you mean 'infiniband-hdr'?"),
    ("pools/a100/fabric", "ethernet-100", "", "got 'ethernet-100' for multi-node training; accepted: InfiniBand or EFA"),
    ("pools/small/nodes", 5, "pools.small.fabric", "got 'ethernet-100' for 5 nodes; accepted: InfiniBand or EFA"),
    ("pools/a100/fabric", "infiniband-ndr", "", "'infiniband-ndr' with 400 Gbit/s on dgx-a100-80; accepted: at most the 200"),
    # the cluster
    ("cluster/source", "kube", "", "got 'kube'; accepted: a mapping with `source: lab`, or"),
    ("cluster/source", "kube", "", "fix: did you mean 'kubeconfig'?"),
    # queues
    ("queues/prod/pools", {}, "", "got an empty mapping; accepted: at least one pool with its quota"),
    ("queues/prod/pools", {"a10": {"gpus": 1}}, "queues.prod.pools.a10", "unknown pool 'a10'; accepted: a known pool: a100, small"),
    ("queues/prod/pools", {"a10": {"gpus": 1}}, "queues.prod.pools.a10", "fix: did you mean 'a100'?"),
    ("queues/research/pools/small", {"gpus": 5}, "queues.research.pools.small.gpus", "got 5; accepted: at most the pool's 4 GPUs"),
    ("queues/prod/pools/a100", {"gpus": 9}, "queues.prod.pools.a100.gpus", "got 33 GPUs promised (research 24, prod 9); accepted: quotas"),
    ("queues/prod/default_time_limit_minutes", 1441, "", "got 1441; accepted: at most max_time_limit_minutes, which is 1440"),
    ("queues/prod/max_time_limit_minutes", 59, "queues.prod.default_time_limit_minutes", "got 60; accepted: at most"),
    # storage
    ("storage/checkpoints/claim", "datasets", "", "got 'datasets'; accepted: another claim than storage.datasets has"),
    ("storage/datasets/claim", "checkpoints", "storage.checkpoints.claim", "fix: name two different claims"),
    ("storage/database/storage_class", "Fast", "", "the name of a StorageClass of the cluster"),
    # samples
    ("samples/gang_job/gpus_per_node", 9, "", ABOVE_NODE),
    ("samples/gang_job/nodes", 5, "", ABOVE_POOL),
    ("pools/a100/topology", {"nodes_per_rack": 2, "racks_per_block": 1}, "samples.gang_job.nodes", "got 3; accepted: at most the 2 nodes of one topology block of pools.a100"),
    ("samples/gang_job/queue", "reserch", "", "got the unknown queue 'reserch'; accepted: a known queue: research, prod"),
    ("samples/gang_job/pool", "a1000", "", "got the unknown pool 'a1000'"),
    ("samples/gang_job/queue", "prod", "samples.gang_job", "got 24 GPUs in all; accepted: at most the queue's quota of 8"),
    # artifacts
    ("artifacts", {"images": {"postgress": "a.b/c:1"}}, "artifacts.images.postgress", "did you mean 'postgres'?"),
    ("artifacts", {"charts": {"kue": {"chart": "/c", "version": "1.0.0"}}}, "artifacts.charts.kue", "mean 'kueue'?"),
    ("artifacts", {"images": {"mlflow": "ghcr.io/a/b:latest"}}, "artifacts.images.mlflow", "exact tag"),
    ("artifacts", {"images": {"mlflow": "ghcr.io/a/b"}}, "artifacts.images.mlflow", "exact tag"),
    ("artifacts", {"images": {"mlflow": "host:5000/b"}}, "artifacts.images.mlflow", "exact tag"),
    ("artifacts", {"images": {"mlflow": "a.b/c@sha256:12"}}, "artifacts.images.mlflow", "exact tag"),
    ("artifacts", {"charts": {"kueue": {"chart": "kueue", "version": "1.0.0"}}}, "artifacts.charts.kueue.chart", "oci://"),
    ("artifacts", {"charts": {"kueue": {"chart": "/c", "version": 1.2}}}, "artifacts.charts.kueue.version", "put it in quotes"),
    ("artifacts", {"charts": {"kueue": {"chart": "/c", "version": "^1"}}}, "artifacts.charts.kueue.version", "one exact version"),
    ("artifacts", {"registry_mirror": "https://m.example.com"}, "artifacts.registry_mirror", "without scheme"),
    ("artifacts", {"registry_mirror": "m.example.com"}, "artifacts.registry_mirror", "no mirror with `cluster.source: lab`"),
]  # fmt: skip


# What else follows from a bad value, as the rules between settings see it too.
ALSO = {
    ("queues/a_b", "got 'a_b'"): {"queues.a_b.pools.small.gpus"},
    ("samples/gang_job/gpus_per_node", BAD_GPUS): {"samples.gang_job"},
    ("samples/gang_job/nodes", ABOVE_POOL): {"samples.gang_job"},
    ("samples/gang_job/gpus_per_node", ABOVE_NODE): {"samples.gang_job"},
}


@pytest.mark.parametrize("case", BAD, ids=[f"{row[0]}={row[1]!s:.25}" for row in BAD])
def test_a_bad_setting_is_told_at_its_path_and_nowhere_else(
    good: dict[str, Any], problems: Found, case: tuple[str, object, str, str]
) -> None:
    where, value, path, words = case
    cause = path or where.replace("/", ".")
    found = problems(put(good, where, value))
    assert {problem.path for problem in found} == {cause} | ALSO.get((where, words), set())
    assert any(words in str(problem) for problem in found if problem.path == cause), found
    assert all(problem.value and problem.accepted and problem.fix for problem in found)


def test_simulated_pools_need_the_lab(good: dict[str, Any], problems: Found) -> None:
    own = _own_classes(good)
    found = problems(put(own, "cluster", {"source": "kubeconfig", "context": "mine"}))
    assert [problem.path for problem in found] == ["pools"]
    assert found[0].value == "simulated pools a100, small"
    assert "KWOK" in found[0].accepted
    assert found[0].fix == "set `cluster.source: lab`, or remove `pools` and the queues that use them"


@pytest.mark.parametrize("context", [{}, {"context": ""}, {"context": None}])
def test_a_kubeconfig_needs_its_context(
    good: dict[str, Any], problems: Found, context: dict[str, Any]
) -> None:
    rest: dict[str, Any] = {"pools": {}, "queues": {}, "samples": {}}
    raw = {**_own_classes(good), "cluster": {"source": "kubeconfig", **context}, **rest}
    assert [problem.path for problem in problems(raw)] == ["cluster.context"]


def _own_classes(good: dict[str, Any]) -> dict[str, Any]:
    named = put(good, "storage/datasets/storage_class", "nfs")
    return put(named, "storage/checkpoints/storage_class", "lustre")


def test_a_cluster_of_ones_own_has_no_default_classes(good: dict[str, Any], problems: Found) -> None:
    rest: dict[str, Any] = {"pools": {}, "queues": {}, "samples": {}}
    raw = {**good, "cluster": {"source": "kubeconfig", "context": "mine"}, **rest}
    paths = ["storage.datasets.storage_class", "storage.checkpoints.storage_class"]
    assert [problem.path for problem in problems(raw)] == paths


@pytest.mark.parametrize(
    ("datasets", "checkpoints"),
    [("nfs", "nfs"), ("fast", None), (None, "standard")],
    ids=["both named", "the default of checkpoints", "the default of datasets"],
)
def test_datasets_and_checkpoints_never_share_a_class(
    good: dict[str, Any], problems: Found, datasets: str | None, checkpoints: str | None
) -> None:
    raw = good
    for name, chosen in (("datasets", datasets), ("checkpoints", checkpoints)):
        if chosen is not None:
            raw = put(raw, f"storage/{name}/storage_class", chosen)
    assert [problem.path for problem in problems(raw)] == ["storage.checkpoints.storage_class"]


@pytest.mark.parametrize(
    ("raw", "value"), [(None, "nothing"), ("x", "'x'"), ([], "an empty list"), ({}, "nothing"), (3, "3")]
)
def test_settings_that_are_no_mapping(problems: Found, raw: object, value: str) -> None:
    first = problems(raw)[0]
    assert first.value == value
    assert first.path == ("kind" if raw == {} else "(settings)")


def test_a_stack_name_must_fit_a_label(good: dict[str, Any], problems: Found) -> None:
    assert [problem.path for problem in problems(good, stack="Dev_1")] == ["(stack)"]
    assert [problem.path for problem in problems(good, stack="x" * 41)] == ["(stack)"]
    assert [problem.path for problem in problems(good, stack="dev\n")] == ["(stack)"]


def test_everything_at_once(good: dict[str, Any], versions: Versions) -> None:
    raw = copy.deepcopy(good)
    del raw["ownership"]["owner"]
    raw["polls"] = {}
    raw["pools"]["a100"]["nodes"] = 0
    raw["pools"]["small"].update(server="dgx", nodes=9)
    raw["queues"]["prod"]["pools"] = {"gone": {"gpus": 1}}
    raw["queues"]["research"]["default_time_limit_minutes"] = 5000
    raw["storage"]["checkpoints"]["claim"] = "datasets"
    raw["admin_password"] = "hunter2"
    with pytest.raises(SettingsError) as caught:
        load("Dev", raw, versions)
    assert sorted(problem.path for problem in caught.value.problems) == [
        "(stack)",
        "admin_password",
        "ownership.owner",
        "polls",
        "pools.a100.nodes",
        "pools.small.fabric",
        "pools.small.server",
        "queues.prod.pools.gone",
        "queues.research.default_time_limit_minutes",
        "storage.checkpoints.claim",
    ]
    text = str(caught.value)
    assert text.startswith("settings of stack Dev: 10 problems in the settings\n  - ")
    assert len(text.splitlines()) == 11
    assert "hunter2" not in text
