"""What `make up` leaves: answering services, and nothing to do the second time."""

import subprocess

import pytest

from lab.paths import REPOSITORY
from tests.integration.support import JOBS, cli, dev, get, kubectl

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(900)]


def test_a_second_up_changes_nothing_and_tells_the_endpoints() -> None:
    before = dev().pulumi("stack", "export").stdout
    result = cli("up")
    assert "created" not in result.stdout.split("Resources:")[-1]
    assert "mlflow.gpu-platform-mlops.svc:5000" in result.stdout
    changes = dev().pulumi("preview", "--expect-no-changes", "--stack", "dev")
    assert changes.returncode == 0, changes.stdout + changes.stderr
    assert before.count('"urn"') == dev().pulumi("stack", "export").stdout.count('"urn"')


def test_what_was_deleted_or_changed_behind_its_back_comes_back() -> None:
    kubectl("delete", "configmap", "sample-jobs", "-n", JOBS)
    kubectl("delete", "localqueue", "research", "-n", JOBS)
    kubectl("label", "node", "a100-b0-r0-n0", "gpu-platform/fabric=ethernet", "--overwrite")
    result = cli("up")
    assert "2 created" in result.stdout
    assert get("configmap", "sample-jobs", "-n", JOBS)["data"]
    assert get("localqueue", "research", "-n", JOBS)["status"]["conditions"][0]["status"] == "True"
    node = get("node", "a100-b0-r0-n0")
    assert node["metadata"]["labels"]["gpu-platform/fabric"] == "infiniband-hdr"


def test_status_finds_everything_healthy() -> None:
    result = cli("status")
    assert "FAILS" not in result.stdout
    for name in ("etcd", "kubelet", "a100-b0-r0-n0", "h100-b0-r1-n1", "mlflow", "postgres", "object-store"):
        assert name in result.stdout


def test_the_checkout_stays_clean() -> None:
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "Pulumi.yaml", "Pulumi.dev.yaml", "versions.toml"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    untracked = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert changed.stdout == ""
    assert [line for line in untracked.stdout.splitlines() if not line.endswith(".py")] == []


def test_simulated_nodes_carry_what_the_catalogue_says() -> None:
    nodes = get("nodes", "-l", "gpu-platform/pool=h100")["items"]
    assert len(nodes) == 4
    for node in nodes:
        assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
        assert node["metadata"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
        assert node["metadata"]["labels"]["gpu-platform/fabric"] == "infiniband-ndr"
    blocks = {node["metadata"]["labels"]["gpu-platform/topology-block"] for node in nodes}
    assert blocks == {"h100-b0"}


def test_every_namespace_of_ours_is_restricted_and_closed() -> None:
    for name in ("data", "jobs", "mlops", "workbench"):
        namespace = f"gpu-platform-{name}"
        labels = get("namespace", namespace)["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
        policies = {item["metadata"]["name"] for item in get("networkpolicy", "-n", namespace)["items"]}
        assert "default-deny" in policies
        assert get("resourcequota", "-n", namespace)["items"]
    refused = kubectl(
        "-n", "gpu-platform-jobs", "run", "root", "--image=gpu-platform.lab/x:1.0.0", "--privileged", ok=False
    )
    assert "violates PodSecurity" in refused
