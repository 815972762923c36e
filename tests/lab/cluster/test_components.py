"""Command lines of the components."""

from pathlib import Path

import pytest

from lab.cluster.components import plan, stage_files
from tests.lab.cluster.shapes import make_cluster

NAMES = (
    "etcd",
    "containerd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kwok",
    "kube-router",
)


def argv(name: str) -> tuple[str, ...]:
    return next(one.argv for one in plan(make_cluster()) if one.name == name)


def test_exactly_these_components_in_an_order_that_can_start() -> None:
    started: set[str] = set()
    for component in plan(make_cluster()):
        assert set(component.after) <= started
        started.add(component.name)
    assert tuple(one.name for one in plan(make_cluster())) == NAMES


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("etcd", {"--unsafe-no-fsync=true", "--client-cert-auth=true",
                  "--listen-client-urls=https://127.0.0.1:2379"}),
        ("containerd", {"--config=/lab/state/cluster/etc/containerd.toml"}),
        ("kube-apiserver", {
            "--bind-address=10.231.0.2", "--advertise-address=10.231.0.2",
            "--service-cluster-ip-range=10.233.0.0/16",
            "--kubelet-preferred-address-types=InternalIP",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction,PodSecurity",
            "--encryption-provider-config=/lab/state/cluster/keys/encryption.json",
            "--requestheader-client-ca-file=/lab/state/cluster/pki/front-proxy-ca.crt",
            "--proxy-client-cert-file=/lab/state/cluster/pki/front-proxy-client.crt",
            "--authentication-config=/lab/state/cluster/etc/authentication.json",
            "--feature-gates=WatchList=false",
        }),
        ("kube-controller-manager", {
            "--cluster-signing-key-file=/lab/state/cluster/pki/ca.key",
            "--terminated-pod-gc-threshold=200", "--use-service-account-credentials=true",
        }),
        ("kube-scheduler", {"--bind-address=127.0.0.1"}),
        ("kubelet", {"--hostname-override=gpu-platform-lab", "--node-ip=10.231.0.2",
                     "--node-labels=gpu-platform/node=real"}),
        ("kube-proxy", {"--config=/lab/state/cluster/etc/kube-proxy.json"}),
        ("kwok", {"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
                  "--node-lease-duration-seconds=40"}),
        ("kube-router", {"--run-firewall=true", "--run-router=false", "--run-service-proxy=false",
                         "--service-cluster-ip-range=10.233.0.0/16"}),
    ],
)  # fmt: skip
def test_what_each_component_cannot_do_without(name: str, flags: set[str]) -> None:
    assert flags <= set(argv(name))


def test_no_probe_is_shared_and_none_leaves_the_node() -> None:
    probes = [one.probe for one in plan(make_cluster())]
    assert len(set(probes)) == len(NAMES)
    assert all(
        "127.0.0.1" in probe or "10.231.0.2" in probe or probe.startswith("unix:/run/") for probe in probes
    )


def test_no_command_line_carries_a_credential() -> None:
    for component in plan(make_cluster()):
        for argument in component.argv[1:]:
            flag, _, value = argument.partition("=")
            if any(word in flag for word in ("key", "token", "password", "secret", "credential")):
                assert value.startswith("/lab/state/") or value in {"true", "false"}, argument


def test_stages_leave_out_what_is_no_stage(tmp_path: Path) -> None:
    for name in ("node-initialize.yaml", "pod/fast/pod-ready.yaml", "pod/fast/kustomization.yaml",
                 "pod/fast/testdata/case.yaml", "README.md"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert stage_files(tmp_path) == (tmp_path / "node-initialize.yaml", tmp_path / "pod/fast/pod-ready.yaml")
