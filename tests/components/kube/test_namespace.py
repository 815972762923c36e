"""TenantNamespace and NetworkAllow: nothing enters or leaves unasked."""

from typing import Any

import pytest

from components.core import ArgsError
from components.kube import (
    ANYWHERE,
    ContainerDefaults,
    Direction,
    Flow,
    NetworkAllow,
    NetworkAllowArgs,
    Peer,
    Pods,
    PodSecurity,
    TenantNamespace,
    TenantNamespaceArgs,
)
from tests.harness import Options, Recording, run
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP, metadata

NAMESPACE, QUOTA, LIMITS = (
    "kubernetes:core/v1:Namespace",
    "kubernetes:core/v1:ResourceQuota",
    "kubernetes:core/v1:LimitRange",
)
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
COMPONENT = "gpuplatform:kube:Namespace"
FLOW = Flow(
    name="web",
    direction=Direction.INGRESS,
    peers=(Peer(namespace="serving", pod_labels={"app": "gateway"}), ANYWHERE, Peer()),
    ports=(8080,),
    pods={"app": "web"},
)


def _args(**changes: Any) -> TenantNamespaceArgs:
    values: dict[str, Any] = {"namespace": "jobs", "ownership": OWNERSHIP, "quota": {"pods": "20"}}
    return TenantNamespaceArgs(**(values | changes))


def _policy(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, "jobs"),
        "spec": spec,
    }


@pytest.mark.parametrize("preview", [False, True])
def test_a_plain_namespace_has_quota_default_deny_and_dns(preview: bool) -> None:
    def program() -> dict[str, object]:
        return {"namespace": TenantNamespace("jobs", _args()).namespace}

    recording = run(program, preview=preview)
    assert recording.outputs == {"namespace": "jobs"}
    security = {
        f"pod-security.kubernetes.io/{mode}{suffix}": value
        for mode in ("enforce", "audit", "warn")
        for suffix, value in (("", "restricted"), ("-version", "v1.34"))
    }
    recording.assert_resource(
        NAMESPACE,
        "jobs-namespace",
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "jobs", "labels": {**LABELS, **security}, "annotations": ANNOTATIONS},
        },
        parent="jobs",
    )
    recording.assert_resource(
        QUOTA,
        "jobs-quota",
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": metadata("quota", "jobs"),
            "spec": {"hard": {"pods": "20"}},
        },
        parent="jobs",
    )
    deny = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    recording.assert_resource(POLICY, "jobs-default-deny", _policy("default-deny", deny), parent="jobs")
    dns = {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [
            {
                "to": [
                    {
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
                        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
                    }
                ]
            }
        ],
    }
    recording.assert_resource(POLICY, "jobs-allow-dns", _policy("allow-dns", dns), parent="jobs")
    recording.assert_counts({COMPONENT: 1, NAMESPACE: 1, QUOTA: 1, POLICY: 2})
    assert recording.one(QUOTA, "jobs-quota").options == Options(depends_on=("jobs-namespace",))


def test_exceptions_limits_and_flows_are_what_was_asked() -> None:
    args = _args(
        pod_security=PodSecurity.PRIVILEGED,
        container_defaults=ContainerDefaults(requests={"cpu": "1"}, limits={"cpu": "2"}),
        flows=(FLOW,),
    )
    recording = run(lambda: TenantNamespace("jobs", args) and None)
    labels = recording.one(NAMESPACE, "jobs-namespace").inputs["metadata"]["labels"]
    modes = [labels[f"pod-security.kubernetes.io/{mode}"] for mode in ("enforce", "audit", "warn")]
    assert modes == ["privileged", "restricted", "restricted"]
    recording.assert_resource(
        LIMITS,
        "jobs-limits",
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": metadata("limits", "jobs"),
            "spec": {
                "limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}]
            },
        },
    )
    spec = {
        "podSelector": {"matchLabels": {"app": "web"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [
                    {
                        "podSelector": {"matchLabels": {"app": "gateway"}},
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "serving"}},
                    },
                    {"ipBlock": {"cidr": "0.0.0.0/0"}},
                    {"podSelector": {}},
                ],
                "ports": [{"protocol": "TCP", "port": 8080}],
            }
        ],
    }
    recording.assert_resource(POLICY, "jobs-allow-web", _policy("allow-web", spec))
    recording.assert_counts({COMPONENT: 1, NAMESPACE: 1, QUOTA: 1, LIMITS: 1, POLICY: 3})


def test_two_namespaces_live_in_one_stack() -> None:
    def program() -> None:
        TenantNamespace("jobs", _args())
        TenantNamespace("data", _args(namespace="data"))

    recording = run(program)
    recording.assert_counts({COMPONENT: 2, NAMESPACE: 2, QUOTA: 2, POLICY: 4})
    assert len({resource.name for resource in recording.resources if resource.type != COMPONENT}) == 8


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"namespace": "Jobs"}, "namespace"),
        ({"quota": {}}, "quota"),
        ({"flows": (Flow(name="a", direction=Direction.EGRESS, peers=(), ports=(1,)),)}, "flows.a.peers"),
        (
            {"flows": (Flow(name="a", direction=Direction.EGRESS, peers=(ANYWHERE,), ports=()),)},
            "flows.a.ports",
        ),
        (
            {"flows": (Flow(name="a", direction=Direction.EGRESS, peers=(ANYWHERE,), ports=(0,)),)},
            "flows.a.ports",
        ),
        (
            {"flows": (Flow(name="A", direction=Direction.EGRESS, peers=(ANYWHERE,), ports=(1,)),)},
            "flows.A.name",
        ),
        (
            {
                "flows": (
                    Flow(
                        name="a",
                        direction=Direction.EGRESS,
                        peers=(Peer(cidr="10.0.0.0/8", namespace="x"),),
                        ports=(1,),
                    ),
                )
            },
            "flows.a.peers",
        ),
    ],
)
def test_what_could_not_work_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


def _allow() -> Recording:
    args = NetworkAllowArgs(
        ownership=OWNERSHIP,
        client=Pods(namespace="mlflow", labels={"app": "mlflow"}),
        server=Pods(namespace="data", labels={"app": "postgres"}),
        ports=(5432,),
    )
    return run(lambda: NetworkAllow("mlflow-to-postgres", args) and None)


def test_a_call_is_allowed_on_both_sides() -> None:
    recording = _allow()
    recording.assert_resource(
        POLICY,
        "mlflow-to-postgres-egress",
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata("mlflow-to-postgres-egress", "mlflow"),
            "spec": {
                "podSelector": {"matchLabels": {"app": "mlflow"}},
                "policyTypes": ["Egress"],
                "egress": [
                    {
                        "to": [
                            {
                                "podSelector": {"matchLabels": {"app": "postgres"}},
                                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "data"}},
                            }
                        ],
                        "ports": [{"protocol": "TCP", "port": 5432}],
                    }
                ],
            },
        },
        parent="mlflow-to-postgres",
    )
    ingress = recording.one(POLICY, "mlflow-to-postgres-ingress").inputs
    assert ingress["metadata"]["namespace"] == "data"
    assert ingress["spec"]["podSelector"] == {"matchLabels": {"app": "postgres"}}
    assert ingress["spec"]["ingress"][0]["from"][0]["podSelector"] == {"matchLabels": {"app": "mlflow"}}
    recording.assert_counts({"gpuplatform:kube:NetworkAllow": 1, POLICY: 2})


def test_a_call_between_impossible_ends_is_refused_with_every_reason() -> None:
    with pytest.raises(ArgsError) as caught:
        NetworkAllowArgs(
            ownership=OWNERSHIP, client=Pods(namespace=""), server=Pods(namespace="X"), ports=(0,)
        )
    assert [p.path for p in caught.value.problems] == ["client.namespace", "server.namespace", "ports"]
