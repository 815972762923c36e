"""Configuration files and manifests as they are written."""

import json
import tomllib
from typing import Any

from lab.cluster import addons, configs
from lab.cluster.manifests import LABELS
from lab.cluster.records import Network, cluster_from_json
from tests.lab.cluster.shapes import IMAGES, make_cluster

CLUSTER = make_cluster()


def objects() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(addons.manifests(CLUSTER))["items"]
    return items


def test_the_record_survives_being_written() -> None:
    assert cluster_from_json(CLUSTER.to_json()) == CLUSTER


def test_addresses_follow_the_ranges() -> None:
    network = Network(nodes="10.9.0.0/24", pods="10.10.0.0/16", services="10.11.0.0/16")
    assert network.host_address == "10.9.0.1"
    assert network.api_url == "https://10.9.0.2:6443"
    assert network.api_service_address == "10.11.0.1"
    assert network.dns_address == "10.11.0.10"
    assert len(network.link) <= 15


def test_exactly_these_files_and_no_secret_in_them() -> None:
    files = configs.files(CLUSTER)
    assert sorted(path.relative_to(CLUSTER.etc).as_posix() for path in files) == [
        "authentication.json",
        "cni/10-lab.conflist",
        "containerd.toml",
        "controller-manager.kubeconfig",
        "kube-proxy.json",
        "kube-proxy.kubeconfig",
        "kube-router.kubeconfig",
        "kubelet.json",
        "kubelet.kubeconfig",
        "kwok.kubeconfig",
        "resolv.conf",
        "scheduler.kubeconfig",
    ]
    assert not any("PRIVATE KEY" in text or "key-data" in text for text in files.values())


def test_containerd_needs_no_capability_and_no_systemd() -> None:
    cri = tomllib.loads(configs.containerd(CLUSTER))["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is True
    assert cri["sandbox_image"] == IMAGES["pause"]
    runc = cri["containerd"]["runtimes"]["runc"]["options"]
    assert runc == {"SystemdCgroup": False, "BinaryName": "/lab/debian/usr/bin/runc"}


def test_kubelet_stays_below_its_cgroup_and_keeps_images() -> None:
    settings = configs.kubelet(CLUSTER)
    assert settings["cgroupRoot"] == "/gpu-platform-lab"
    assert settings["cgroupDriver"] == "cgroupfs"
    assert settings["failCgroupV1"] is False
    assert settings["imageGCHighThresholdPercent"] == 100
    assert settings["authentication"]["anonymous"] == {"enabled": False}
    assert settings["authentication"]["webhook"] == {"enabled": True}
    assert settings["authorization"] == {"mode": "Webhook"}


def test_kube_proxy_leaves_the_hosts_connection_tracking_alone() -> None:
    conntrack = configs.kube_proxy(CLUSTER)["conntrack"]
    assert (conntrack["maxPerCore"], conntrack["min"]) == (0, 0)


def test_anonymous_requests_reach_health_only() -> None:
    anonymous = configs.authentication()["anonymous"]
    assert [row["path"] for row in anonymous["conditions"]] == ["/livez", "/readyz", "/healthz"]


def test_exactly_these_objects() -> None:
    kinds = [f"{item['kind']}/{item['metadata']['name']}" for item in objects()]
    assert len(kinds) == len(set(kinds)) == 22
    assert {"StorageClass/standard", "StorageClass/fast", "Deployment/coredns", "Service/kube-dns"} <= set(
        kinds
    )


def test_every_object_and_pod_carries_its_owner() -> None:
    for item in objects():
        assert LABELS.items() <= item["metadata"]["labels"].items()
        if item["kind"] == "Deployment":
            assert LABELS.items() <= item["spec"]["template"]["metadata"]["labels"].items()


def test_own_pods_keep_to_the_restricted_standard_with_requests_and_limits() -> None:
    deployments = [item for item in objects() if item["kind"] == "Deployment"]
    assert len(deployments) == 2
    for item in deployments:
        pod = item["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["readOnlyRootFilesystem"] is True
        assert set(container["resources"]) == {"requests", "limits"}
        assert container["imagePullPolicy"] == "IfNotPresent"
        assert not any("hostPath" in volume for volume in pod["volumes"])


def test_two_classes_on_two_directories_one_default() -> None:
    classes = [item for item in objects() if item["kind"] == "StorageClass"]
    default = {
        item["metadata"]["name"]: item["metadata"]["annotations"][
            "storageclass.kubernetes.io/is-default-class"
        ]
        for item in classes
    }
    assert default == {"standard": "true", "fast": "false"}
    (settings,) = [
        item["data"] for item in objects() if item["kind"] == "ConfigMap" and "config.json" in item["data"]
    ]
    paths = {
        name: row["nodePathMap"][0]["paths"]
        for name, row in json.loads(settings["config.json"])["storageClassConfigs"].items()
    }
    assert paths == {
        "standard": ["/lab/state/cluster/volumes/standard"],
        "fast": ["/lab/state/cluster/volumes/fast"],
    }


def test_changed_settings_start_the_pod_again() -> None:
    def mark(cluster: Any) -> str:
        items = json.loads(addons.manifests(cluster))["items"]
        (found,) = [
            item for item in items if item["kind"] == "Deployment" and item["metadata"]["name"] == "coredns"
        ]
        return str(found["spec"]["template"]["metadata"]["annotations"]["gpu-platform/settings"])

    other = cluster_from_json(CLUSTER.to_json().replace("10.231.0.0/24", "10.230.0.0/24"))
    assert mark(CLUSTER) == mark(make_cluster())
    assert mark(other) != mark(CLUSTER)


def test_network_policies_find_the_name_service_by_its_usual_label_and_port() -> None:
    wanted = {("Deployment", "coredns"), ("Service", "kube-dns")}
    found = {
        item["kind"]: item["spec"] for item in objects() if (item["kind"], item["metadata"]["name"]) in wanted
    }
    (container,) = found["Deployment"]["template"]["spec"]["containers"]
    assert found["Deployment"]["template"]["metadata"]["labels"]["k8s-app"] == "kube-dns"
    dns = [port["containerPort"] for port in container["ports"] if port["name"].startswith("dns")]
    assert dns == [port["targetPort"] for port in found["Service"]["ports"] if port["port"] == 53] == [53, 53]
