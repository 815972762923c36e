"""What runs on the node: command line of every component, what it waits for, how it is asked for health."""

from dataclasses import dataclass
from pathlib import Path

from lab.cluster.configs import CONTAINERD_SOCKET, KUBELET_ROOT
from lab.cluster.records import Cluster

KWOK_SELECTOR = "kwok.x-k8s.io/node=fake"
# Simulated nodes are kept alive by leases, as real ones are; the controller manager waits 40 s by default.
KWOK_LEASE_SECONDS = 40
TERMINATED_PODS_KEPT = 200


@dataclass(frozen=True, kw_only=True)
class Component:
    """A supervised process.

    Args:
        name: Its name, also of its log.
        argv: Program and arguments; never a secret.
        probe: Health endpoint: a http, https or ``unix:`` address inside the node's namespace.
        after: Components that must be healthy before it is started.
    """

    name: str
    argv: tuple[str, ...]
    probe: str
    after: tuple[str, ...] = ()


def plan(cluster: Cluster) -> tuple[Component, ...]:
    """Every component in the order of start."""
    return (
        _etcd(cluster),
        _containerd(cluster),
        _apiserver(cluster),
        _controller_manager(cluster),
        _scheduler(cluster),
        _kubelet(cluster),
        _kube_proxy(cluster),
        _kwok(cluster),
        _kube_router(cluster),
    )


def stage_files(directory: Path) -> tuple[Path, ...]:
    """KWOK's stages in a directory, without the module's test data and kustomization files."""
    return tuple(
        path
        for path in sorted(directory.rglob("*.yaml"))
        if path.name != "kustomization.yaml" and "testdata" not in path.parts
    )


def _flags(program: Path, flags: dict[str, object]) -> tuple[str, ...]:
    return (str(program), *(f"--{name}={value}" for name, value in flags.items()))


def _etcd(cluster: Cluster) -> Component:
    client = "https://127.0.0.1:2379"
    peer = "http://127.0.0.1:2380"
    flags: dict[str, object] = {
        "name": "lab",
        "data-dir": cluster.paths.cluster / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"lab={peer}",
        "listen-metrics-urls": "http://127.0.0.1:2381",
        "cert-file": cluster.pki / "etcd.crt",
        "key-file": cluster.pki / "etcd.key",
        "trusted-ca-file": cluster.pki / "ca.crt",
        "client-cert-auth": "true",
        "unsafe-no-fsync": "true",
        "logger": "zap",
        "log-level": "warn",
    }
    program = cluster.programs.debian / "usr/bin/etcd"
    return Component(name="etcd", argv=_flags(program, flags), probe="http://127.0.0.1:2381/health")


def _containerd(cluster: Cluster) -> Component:
    program = cluster.programs.debian / "usr/bin/containerd"
    argv = _flags(program, {"config": cluster.etc / "containerd.toml"})
    return Component(name="containerd", argv=argv, probe=f"unix:{CONTAINERD_SOCKET}")


def _apiserver(cluster: Cluster) -> Component:
    pki, network = cluster.pki, cluster.network
    flags: dict[str, object] = {
        "bind-address": network.node_address,
        "advertise-address": network.node_address,
        "secure-port": 6443,
        "service-cluster-ip-range": network.services,
        "etcd-servers": "https://127.0.0.1:2379",
        "etcd-cafile": pki / "ca.crt",
        "etcd-certfile": pki / "apiserver-etcd-client.crt",
        "etcd-keyfile": pki / "apiserver-etcd-client.key",
        "encryption-provider-config": cluster.keys / "encryption.json",
        "client-ca-file": pki / "ca.crt",
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "kubelet-client-certificate": pki / "apiserver-kubelet-client.crt",
        "kubelet-client-key": pki / "apiserver-kubelet-client.key",
        "kubelet-certificate-authority": pki / "ca.crt",
        "kubelet-preferred-address-types": "InternalIP",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": cluster.keys / "service-accounts.pub",
        "service-account-signing-key-file": cluster.keys / "service-accounts.key",
        "authentication-config": cluster.etc / "authentication.json",
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction,PodSecurity",
        "requestheader-client-ca-file": pki / "front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "proxy-client-cert-file": pki / "front-proxy-client.crt",
        "proxy-client-key-file": pki / "front-proxy-client.key",
        "enable-aggregator-routing": "true",
        "allow-privileged": "true",
        # etcd 3.4 cannot report progress, which streamed lists need: clients would wait for them in vain.
        "feature-gates": "WatchList=false",
        "profiling": "false",
    }
    return Component(
        name="kube-apiserver",
        argv=_flags(cluster.programs.go["kube-apiserver"], flags),
        probe=f"{network.api_url}/readyz",
        after=("etcd",),
    )


def _controller_manager(cluster: Cluster) -> Component:
    kubeconfig = cluster.etc / "controller-manager.kubeconfig"
    flags: dict[str, object] = {
        "bind-address": "127.0.0.1",
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "false",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": cluster.keys / "service-accounts.key",
        "root-ca-file": cluster.pki / "ca.crt",
        "cluster-signing-cert-file": cluster.pki / "ca.crt",
        "cluster-signing-key-file": cluster.pki / "ca.key",
        "terminated-pod-gc-threshold": TERMINATED_PODS_KEPT,
        "profiling": "false",
    }
    return Component(
        name="kube-controller-manager",
        argv=_flags(cluster.programs.go["kube-controller-manager"], flags),
        probe="https://127.0.0.1:10257/healthz",
        after=("kube-apiserver",),
    )


def _scheduler(cluster: Cluster) -> Component:
    kubeconfig = cluster.etc / "scheduler.kubeconfig"
    flags: dict[str, object] = {
        "bind-address": "127.0.0.1",
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "false",
        "profiling": "false",
    }
    return Component(
        name="kube-scheduler",
        argv=_flags(cluster.programs.go["kube-scheduler"], flags),
        probe="https://127.0.0.1:10259/healthz",
        after=("kube-apiserver",),
    )


def _kubelet(cluster: Cluster) -> Component:
    flags: dict[str, object] = {
        "config": cluster.etc / "kubelet.json",
        "kubeconfig": cluster.etc / "kubelet.kubeconfig",
        "root-dir": KUBELET_ROOT,
        "hostname-override": cluster.network.name,
        "node-ip": cluster.network.node_address,
        "node-labels": "gpu-platform/node=real",
    }
    return Component(
        name="kubelet",
        argv=_flags(cluster.programs.go["kubelet"], flags),
        probe="http://127.0.0.1:10248/healthz",
        after=("containerd", "kube-apiserver"),
    )


def _kube_proxy(cluster: Cluster) -> Component:
    return Component(
        name="kube-proxy",
        argv=_flags(cluster.programs.go["kube-proxy"], {"config": cluster.etc / "kube-proxy.json"}),
        probe="http://127.0.0.1:10256/livez",
        after=("kube-apiserver",),
    )


def _kwok(cluster: Cluster) -> Component:
    flags: dict[str, object] = {
        "kubeconfig": cluster.etc / "kwok.kubeconfig",
        "manage-nodes-with-annotation-selector": KWOK_SELECTOR,
        "node-lease-duration-seconds": KWOK_LEASE_SECONDS,
        "node-ip": cluster.network.node_address,
        "server-address": "127.0.0.1:10247",
        "config": ",".join(map(str, stage_files(cluster.programs.kwok_stages))),
    }
    return Component(
        name="kwok",
        argv=_flags(cluster.programs.go["kwok"], flags),
        probe="http://127.0.0.1:10247/healthz",
        after=("kube-apiserver",),
    )


def _kube_router(cluster: Cluster) -> Component:
    """The controller of NetworkPolicies alone: pods are routed by the bridge, Services by kube-proxy."""
    flags: dict[str, object] = {
        "kubeconfig": cluster.etc / "kube-router.kubeconfig",
        "hostname-override": cluster.network.name,
        "run-firewall": "true",
        "run-router": "false",
        "run-service-proxy": "false",
        "run-loadbalancer": "false",
        "enable-cni": "false",
        "enable-ibgp": "false",
        "enable-overlay": "false",
        "service-cluster-ip-range": cluster.network.services,
        "health-port": 20244,
    }
    return Component(
        name="kube-router",
        argv=_flags(cluster.programs.go["kube-router"], flags),
        probe="http://127.0.0.1:20244/healthz",
        after=("kube-apiserver", "kube-proxy"),
    )
