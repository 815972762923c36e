"""Good settings: the whole result, and the artifacts each source of cluster gets."""

import contextlib
import copy
import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import ValidationError

from stacks.config import ChartRef, KubeconfigCluster, LabCluster, Settings, SettingsError, Versions, load
from stacks.config.versions import VERSIONS_FILE, read
from stacks.machine import DEFAULT_STATE

DIGEST = "sha256:" + "0a" * 32


def _kubeconfig(good: dict[str, Any], **artifacts: Any) -> dict[str, Any]:
    cluster = {"source": "kubeconfig", "context": "mine", "path": "~/.kube/other"}
    storage = {
        **good["storage"],
        "datasets": {"size_gib": 5, "storage_class": "nfs"},
        "checkpoints": {"size_gib": 5, "storage_class": "lustre"},
    }
    rest = {"pools": {}, "queues": {}, "samples": {}, "artifacts": artifacts, "storage": storage}
    return {**good, "cluster": cluster, **rest}


# What the rules ask of nodes is what they get where nothing is said.
OPERATION: dict[str, Any] = {
    "kubelet": {"topology_manager": "single-numa-node", "cpu_manager": "static"},
    "mig": None,
    "sharing": {"strategy": "none", "replicas": 1},
    "driver": None,
}


def test_the_whole_result(good: dict[str, Any], versions: Versions) -> None:
    settings = load("dev", good, versions)
    assert isinstance(settings, Settings)
    assert (settings.environment, settings.kind) == ("dev", "dev")
    assert settings.ownership.model_dump() == good["ownership"]
    assert settings.cluster == LabCluster(source="lab")
    assert {name: pool.model_dump() for name, pool in settings.pools.items()} == {
        "a100": {
            "server": "dgx-a100-80",
            "nodes": 4,
            "fabric": "infiniband-hdr",
            "multi_node_training": True,
            "topology": {"nodes_per_rack": 4, "racks_per_block": 8},
            "acceptance": None,
            **OPERATION,
        },
        "small": {
            "server": "generic-2x-a100-80",
            "nodes": 2,
            "fabric": "ethernet-100",
            "multi_node_training": False,
            "topology": {"nodes_per_rack": 4, "racks_per_block": 8},
            "acceptance": None,
            **OPERATION,
        },
    }
    assert {
        name: (
            {pool: quota.gpus for pool, quota in queue.pools.items()},
            queue.default_time_limit_minutes,
            queue.max_time_limit_minutes,
            queue.cohort,
        )
        for name, queue in settings.queues.items()
    } == {"research": ({"a100": 24, "small": 4}, 60, 1440, None), "prod": ({"a100": 8}, 60, 1440, "all")}
    assert settings.storage.model_dump() == {
        "datasets": {"size_gib": 5, "storage_class": None, "claim": "datasets"},
        "checkpoints": {"size_gib": 6, "storage_class": None, "claim": "checkpoints"},
        "object_store": {"size_gib": 7, "storage_class": None},
        "database": {"size_gib": 8, "storage_class": None},
    }
    assert settings.tracking.model_dump() == {"enabled": True, "replicas": 1, "allowed_hosts": ()}
    assert settings.samples.model_dump() == {
        "enabled": True,
        "gang_job": {"queue": "research", "pool": "a100", "nodes": 3, "gpus_per_node": 8},
        "distributed_training": True,
    }


def test_the_lab_has_its_own_images_and_charts(good: dict[str, Any], versions: Versions) -> None:
    artifacts = load("dev", good, versions).artifacts
    assert dict(artifacts.images) == {
        "postgres": "gpu-platform.lab/postgres:15",
        "mlflow": "gpu-platform.lab/mlflow:3.18.0",
    }
    assert dict(artifacts.charts) == {
        "kueue": ChartRef(chart="/var/lib/gpu-platform/charts/kueue", version="0.17.0")
    }
    assert artifacts.charts["kueue"].local


def test_a_cluster_of_ones_own_has_the_public_ones(good: dict[str, Any], versions: Versions) -> None:
    settings = load("dev", _kubeconfig(good), versions)
    assert settings.cluster == KubeconfigCluster(source="kubeconfig", context="mine", path="~/.kube/other")
    assert dict(settings.artifacts.images) == {
        "postgres": "docker.io/library/postgres:15.14",
        "mlflow": "ghcr.io/mlflow/mlflow:v3.18.0",
    }
    chart = ChartRef(chart="oci://registry.k8s.io/kueue/charts/kueue", version="0.17.0", repo=None)
    assert dict(settings.artifacts.charts) == {"kueue": chart}
    assert not chart.local


def test_a_mirror_takes_the_place_of_registries_but_not_of_replacements(
    good: dict[str, Any], versions: Versions
) -> None:
    raw = _kubeconfig(
        good,
        registry_mirror="mirror.example.com:5000/all",
        images={"mlflow": f"own.example.com/mlflow@{DIGEST}"},
    )
    artifacts = load("dev", raw, versions).artifacts
    assert dict(artifacts.images) == {
        "postgres": "mirror.example.com:5000/all/library/postgres:15.14",
        "mlflow": f"own.example.com/mlflow@{DIGEST}",
    }
    assert artifacts.charts["kueue"].chart == "oci://mirror.example.com:5000/all/kueue/charts/kueue"


def test_a_chart_can_be_replaced(good: dict[str, Any], versions: Versions) -> None:
    raw = _kubeconfig(good, charts={"kueue": {"chart": "/srv/charts/kueue", "version": "0.17.1"}})
    assert dict(load("dev", raw, versions).artifacts.charts) == {
        "kueue": ChartRef(chart="/srv/charts/kueue", version="0.17.1")
    }


def test_nothing_in_the_result_can_be_changed(good: dict[str, Any], versions: Versions) -> None:
    settings = load("dev", good, versions)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.kind = "x"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        settings.pools["a100"].nodes = 9  # type: ignore[misc]
    for mapping in (
        settings.pools,
        settings.queues,
        settings.queues["prod"].pools,
        settings.artifacts.images,
    ):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["x"] = None  # type: ignore[index]


def test_loading_leaves_its_input_alone(good: dict[str, Any], versions: Versions) -> None:
    before = copy.deepcopy(good)
    load("dev", good, versions)
    assert good == before


def test_the_real_pins_are_exact_and_agree_with_the_file() -> None:
    versions = read(DEFAULT_STATE)
    assert VERSIONS_FILE.name == "versions.toml"
    assert (
        set(versions.lab.images)
        == set(versions.supported.images)
        >= {"kueue", "postgres", "mlflow", "object-store"}
    )
    assert all(one.startswith("gpu-platform.lab/") for one in versions.lab.images.values())
    assert all(chart.chart.startswith("oci://") for chart in versions.supported.charts.values())
    every = {**versions.supported.images, **{f"lab-{name}": one for name, one in versions.lab.images.items()}}
    assert all(":" in one.rpartition("/")[2] and not one.endswith(":latest") for one in every.values())


SLUGS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True)
relaxed = hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@relaxed
@given(name=SLUGS, owner=SLUGS)
def test_every_slug_is_a_name(good: dict[str, Any], versions: Versions, name: str, owner: str) -> None:
    raw = copy.deepcopy(good)
    raw["ownership"]["owner"] = owner
    raw["pools"] = {name: raw["pools"]["a100"]}
    raw["queues"] = {name: {"pools": {name: {"gpus": 24}}}}
    raw["samples"]["gang_job"].update(queue=name, pool=name)
    settings = load(owner, raw, versions)
    assert (settings.environment, list(settings.pools), list(settings.queues)) == (owner, [name], [name])


def _is_slug(text: str) -> bool:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-")
    return 0 < len(text) <= 40 and set(text) <= allowed and text[0] != "-" and text[-1] != "-"


@relaxed
@given(name=st.text(max_size=50).filter(lambda text: not _is_slug(text)))
def test_nothing_else_is_a_name(good: dict[str, Any], versions: Versions, name: str) -> None:
    raw = copy.deepcopy(good)
    raw["pools"][name] = {"server": "dgx-h100", "nodes": 1, "fabric": "infiniband-ndr"}
    with pytest.raises(SettingsError) as caught:
        load("dev", raw, versions)
    assert [problem.location for problem in caught.value.problems] == [("pools", name)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
SECTIONS = ["kind", "ownership", "cluster", "artifacts", "pools", "queues", "storage", "tracking", "samples"]


@relaxed
@given(section=st.sampled_from(SECTIONS), below=st.booleans(), value=JSON)
def test_any_junk_gives_settings_or_a_settings_error(
    good: dict[str, Any], versions: Versions, section: str, below: bool, value: object
) -> None:
    raw = copy.deepcopy(good)
    if below and isinstance(raw.get(section), dict):
        for key in raw[section]:
            raw[section][key] = value
    else:
        raw[section] = value
    with contextlib.suppress(SettingsError):
        load("dev", raw, versions)
