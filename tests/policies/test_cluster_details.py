"""Forms that the rules on shared objects accept or refuse and the planted faults do not show."""

from typing import Any

import pytest

from policies.quantity import amount
from tests.policies.manifests import (
    POD_SPEC,
    POD_TEMPLATE,
    Later,
    Resource,
    api_service,
    binding,
    changed,
    deployment,
    metadata,
    network_policy,
    role,
    webhook,
)
from tests.policies.plans import BY_ID, judge

_MAIN = "spec.containers.0"
_ANYWHERE = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]


def _checks(rule: str, *resources: Resource) -> list[str]:
    return [finding.check for finding in judge(BY_ID[rule], resources) or ()]


@pytest.mark.parametrize(
    "spec",
    [
        {"policyTypes": ["Ingress", "Egress"], "podSelector": {}},
        {"podSelector": {}, "egress": [{"ports": [{"port": 53, "protocol": "UDP"}]}]},
        {"ingress": [{"from": _ANYWHERE, "ports": [{"port": 9443}]}]},
        {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]},
        {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
        {"ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}]},
        {"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"a": "b"}}}]}]},
    ],
)
def test_policies_that_name_somebody_or_something_pass(spec: dict[str, Any]) -> None:
    assert judge(BY_ID["network"], [network_policy("x", **spec)]) == ()


def test_an_unknown_part_that_changes_nothing_is_not_asked_for() -> None:
    rule = {"from": [{"podSelector": {}}], "ports": Later()}
    assert judge(BY_ID["network"], [network_policy("x", ingress=[rule])]) == ()


def test_roles_and_bindings_of_narrow_reach_pass() -> None:
    passing = [
        role("pods", resources=["pods"]),
        role("secrets", kind="Role", resources=["secrets"]),
        role("one-secret", resources=["secrets"], resourceNames=["db"]),
        binding("view", "view"),
        binding("edit", "edit", kind="RoleBinding"),
    ]
    assert judge(BY_ID["access"], passing) == ()
    assert _checks("access", binding("admin", "cluster-admin", kind="RoleBinding")) == ["cluster-admin"]
    assert _checks("access", role("nodes", resources=["nodes/proxy"])) == ["exec"]
    assert _checks("access", role("sub", resources=["*/status"])) == ["wildcard"]


@pytest.mark.parametrize(
    ("image", "args", "env", "checks"),
    [
        ("redis:7.4.1", ["--requirepass", "$(REDIS_PASSWORD)"], [], []),
        ("redis:7.4.1", ["/etc/redis/redis.conf"], [], []),
        ("redis:7.4.1", ["--aclfile=/etc/users.acl", "--protected-mode no"], [], ["login"]),
        ("valkey:8.0.1", [], [], ["login"]),
        ("mlflow:3.6.0", ["mlflow", "server", "--app-name=basic-auth"], [], []),
        ("mlflow:3.6.0", ["python", "train.py"], [], []),
        ("postgres:15.14", [], [], []),
        ("grafana:12.0.1", [], [("GF_AUTH_ANONYMOUS_ENABLED", "true")], ["login"]),
        ("grafana:12.0.1", [], [("GF_AUTH_ANONYMOUS_ENABLED", "false")], []),
        ("pytorch-notebook:2025-01-01", ["--IdentityProvider.token=''"], [], ["login"]),
        ("minio:2025.1.1", ["server"], [], ["login"]),
        ("mongo:8.0.1", ["--auth"], [], []),
        ("mongo:8.0.1", ["--noauth"], [], ["login"]),
        ("web:1.2.3", [], [], []),
    ],
)
def test_services_with_and_without_their_login(
    image: str, args: list[str], env: list[tuple[str, str]], checks: list[str]
) -> None:
    pod = changed(POD_TEMPLATE, f"{_MAIN}.image", f"docker.io/library/{image}")
    pod = changed(pod, f"{_MAIN}.args", args)
    pod = changed(pod, f"{_MAIN}.env", [{"name": name, "value": value} for name, value in env])
    assert _checks("access", deployment("web", pod)) == checks


def test_a_token_for_somebody_else_than_the_api_passes() -> None:
    source = {"serviceAccountToken": {"path": "token", "audience": "vault"}}
    pod = changed(POD_TEMPLATE, "spec.volumes.1", {"name": "t", "projected": {"sources": [source]}})
    assert judge(BY_ID["access"], [deployment("web", pod)]) == ()


def test_webhooks_outside_the_cluster_stay_forbidden_to_exempt_charts() -> None:
    outside = webhook("x", "MutatingWebhookConfiguration", url="https://hooks.example.org")
    assert _checks("admission", outside) == ["webhook-url", "webhook"]
    later = webhook("x", "MutatingWebhookConfiguration", url=Later())
    assert [(f.check, f.proven) for f in judge(BY_ID["admission"], [later]) or ()] == [
        ("webhook-url", False),
        ("webhook", True),
    ]
    assert judge(BY_ID["admission"], [api_service("local")]) == ()


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (Later(), "spec is not known"),
        ({"template": Later()}, "spec.template is not known"),
        ({"podSpec": Later()}, "spec.podSpec is not known"),
        ({"podTemplate": {"spec": Later()}}, "spec.podTemplate.spec is not known"),
        ({"worker": {"containers": Later()}}, "spec.worker.containers is not known"),
    ],
)
def test_custom_resources_that_may_hide_a_pod_are_not_proven(spec: Any, says: str) -> None:
    item = Resource(
        name="x", type="kubernetes:example.org/v1:Machine", props={"metadata": metadata("x"), "spec": spec}
    )
    assert [says in str(finding) for finding in judge(BY_ID["pods"], [item]) or ()] == [True]


def test_bare_pod_specs_and_other_fields_of_custom_resources() -> None:
    bare = changed(POD_SPEC, "containers.0.securityContext.privileged", True)
    for props in ({"spec": {"podSpec": bare}}, {"spec": {"a": [{"b": bare}]}}, {"template": {"spec": bare}}):
        item = Resource(
            name="x", type="kubernetes:example.org/v1:Machine", props={"metadata": metadata("x"), **props}
        )
        assert _checks("pods", item) == ["privileged"]
    other = {"metadata": metadata("x"), "spec": {"size": Later(), "containers": ["a", "b"]}}
    assert judge(BY_ID["pods"], [Resource(name="x", type="kubernetes:example.org/v1:M", props=other)]) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0.0),
        ("0m", 0.0),
        ("0.0Gi", 0.0),
        ("100m", 0.1),
        ("2Gi", 2147483648.0),
        ("1.5k", 1500.0),
        ("1e3", 1000.0),
        (4, 4.0),
        ("", None),
        ("1 Gi", None),
        ("1Gi\n", None),
        (True, None),
        (None, None),
    ],
)
def test_quantities(text: Any, number: float | None) -> None:
    assert amount(text) == number


@pytest.mark.parametrize(
    ("words", "checks"),
    [
        (["--password", "x1"], ["env"]),
        (["--password", "$(DB_PASSWORD)"], []),
        (["--password", "--verbose"], []),
        (["--password-file", "/run/secret"], []),
        (["sh", "-c", 'psql "postgresql://u:x1@db/x"'], ["url"]),
        (["sh", "-c", "export TOKEN=x1; run"], ["command"]),
        (["sh", "-c", 'export TOKEN="$(cat /run/token)"; run'], []),
        (["sh", "-c", "run --api-key x1 | tee log"], ["command"]),
        (["sh", "-c", "run --api-key $KEY"], []),
        (["sh", "-c", "curl -H 'Authorization: Bearer x1' db"], ["shape"]),
        (["sh", "-c", 'curl -H "Authorization: Bearer ${TOKEN}" db'], []),
        (["sh", "-c", "sleep 1 && exec run --port 80"], []),
    ],
)
def test_command_lines(words: list[str], checks: list[str]) -> None:
    for field in ("command", "args"):
        pod = changed(POD_TEMPLATE, f"{_MAIN}.{field}", words)
        assert _checks("pods-secrets", deployment("web", pod)) == checks


@pytest.mark.parametrize(
    ("key", "text", "checks"),
    [
        ("app.ini", "[db]\npassword = x1", ["config-map"]),
        ("app.json", '{\n  "apiKey": "x1",\n  "a": 1\n}', ["config-map"]),
        (".env", "DB_PASS=x1", ["config-map"]),
        ("app.yaml", "password: ${DB_PASSWORD}", []),
        ("app.yaml", "passwordFile: /run/x", []),
        ("app.yaml", "secretKeyRef:\n  key: password", []),
        ("app.yaml", "token: null\npassword:\n  valueFrom: x", []),
        ("app.py", 'password = os.environ["X"]', []),
        ("id_rsa", "-----BEGIN PRIVATE KEY-----", ["shape"]),
    ],
)
def test_settings_files_in_config_maps(key: str, text: str, checks: list[str]) -> None:
    item = Resource(
        name="x", type="kubernetes:core/v1:ConfigMap", props={"metadata": metadata("x"), "data": {key: text}}
    )
    assert _checks("pods-secrets", item) == checks


def test_content_of_config_maps_that_is_not_known_is_not_proven() -> None:
    for field in ("data", "binaryData"):
        for content in (Later(), {"a": Later()}):
            props = {"metadata": metadata("x"), field: content}
            found = judge(
                BY_ID["pods-secrets"], [Resource(name="x", type="kubernetes:core/v1:ConfigMap", props=props)]
            )
            assert [(finding.check, finding.proven) for finding in found or ()] == [("config-map", False)]
