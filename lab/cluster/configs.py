"""Configuration files of the components, rendered by pure functions; JSON where YAML is read."""

import base64
import json
from pathlib import Path
from typing import Any

from lab.cluster.records import Cluster

CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
KUBELET_ROOT = "/var/lib/kubelet"
PAUSE = "pause"


def containerd(cluster: Cluster) -> str:
    """Settings of containerd: CRI with the lab's pause image, runc and CNI of the unpacked packages."""
    quote = json.dumps
    debian = cluster.programs.debian
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    return f"""version = 2
root = {quote(str(cluster.paths.cluster / "containerd"))}
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.devmapper"]
[grpc]
address = {quote(CONTAINERD_SOCKET)}
[debug]
level = "warn"
[{cri}]
sandbox_image = {quote(cluster.images[PAUSE])}
restrict_oom_score_adj = true
[{cri}.cni]
bin_dir = {quote(str(debian / "usr/lib/cni"))}
conf_dir = {quote(str(cluster.etc / "cni"))}
[{cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[{cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[{cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
BinaryName = {quote(str(debian / "usr/bin/runc"))}
"""


def cni(cluster: Cluster) -> dict[str, Any]:
    """A bridge with addresses of the pod range; no masquerading, for the host has a route back."""
    return {
        "cniVersion": "1.0.0",
        "name": "lab",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": True,
                "ipMasq": False,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": cluster.network.pods}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                    # Leases end with the node: every pod gets a new sandbox after a restart.
                    "dataDir": "/run/cni/leases",
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def kubelet(cluster: Cluster) -> dict[str, Any]:
    """The kubelet: cgroupfs below the lab's own cgroup, webhook authentication, images kept."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": cluster.network.node_address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(cluster.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(cluster.pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(cluster.pki / "kubelet-server.key"),
        "readOnlyPort": 0,
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cluster.network.name}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": ["pods"],
        "kubeReserved": {"cpu": "200m", "memory": "2Gi"},
        "clusterDNS": [cluster.network.dns_address],
        "clusterDomain": "cluster.local",
        "resolvConf": str(cluster.etc / "resolv.conf"),
        # Nothing outside holds the lab's images: one that is collected would be gone for good.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {"memory.available": "200Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "maxPods": 110,
        "podPidsLimit": 4096,
        "shutdownGracePeriod": "0s",
        "rotateCertificates": False,
        "volumePluginDir": f"{KUBELET_ROOT}/volume-plugins",
        "logging": {"format": "text"},
    }


def kube_proxy(cluster: Cluster) -> dict[str, Any]:
    """kube-proxy with iptables inside the node's namespace; limits of the host's connection tracking stay."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clusterCIDR": cluster.network.pods,
        "hostnameOverride": cluster.network.name,
        "bindAddress": cluster.network.node_address,
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "clientConnection": {"kubeconfig": str(cluster.etc / "kube-proxy.kubeconfig")},
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
        "iptables": {"localhostNodePorts": False},
    }


def authentication() -> dict[str, Any]:
    """Anonymous requests reach the health endpoints and nothing else."""
    paths = ("/livez", "/readyz", "/healthz")
    return {
        "apiVersion": "apiserver.config.k8s.io/v1beta1",
        "kind": "AuthenticationConfiguration",
        "jwt": [],
        "anonymous": {"enabled": True, "conditions": [{"path": path} for path in paths]},
    }


def kubeconfig(cluster: Cluster, user: str, *, embed: bool = False) -> dict[str, Any]:
    """Access for one user of the certificate plan.

    Args:
        cluster: The cluster.
        user: Name of the certificate.
        embed: Whether certificates are in the text, for a file that is used elsewhere, or named by path.
    """

    def material(key: str, name: str) -> dict[str, str]:
        path = cluster.pki / name
        if embed:
            return {f"{key}-data": base64.b64encode(path.read_bytes()).decode()}
        return {key: str(path)}

    server = {"server": cluster.network.api_url, **material("certificate-authority", "ca.crt")}
    credentials = {
        **material("client-certificate", f"{user}.crt"),
        **material("client-key", f"{user}.key"),
    }
    name = cluster.network.name
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    }


def files(cluster: Cluster) -> dict[Path, str]:
    """Every configuration file and its content; no secret is among them."""
    etc = cluster.etc
    found: dict[Path, str] = {
        etc / "containerd.toml": containerd(cluster),
        etc / "cni" / "10-lab.conflist": json.dumps(cni(cluster), indent=1),
        etc / "kubelet.json": json.dumps(kubelet(cluster), indent=1),
        etc / "kube-proxy.json": json.dumps(kube_proxy(cluster), indent=1),
        etc / "authentication.json": json.dumps(authentication(), indent=1),
        # Pods with the node's own name service get none: the lab has no network beyond the host.
        etc / "resolv.conf": "# none\n",
    }
    for user in ("kubelet", "controller-manager", "scheduler", "kube-proxy", "kwok", "kube-router"):
        found[etc / f"{user}.kubeconfig"] = json.dumps(kubeconfig(cluster, user), indent=1)
    return found
