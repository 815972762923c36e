"""What is scraped and how, rules, receivers."""

from typing import Any

import pytest

from components.contracts import MetricsEndpoint, SecretRef
from components.core import ArgsError
from components.kube import Pods
from components.observability import (
    AlertRules,
    AlertRulesArgs,
    Receivers,
    ReceiversArgs,
    Scrape,
    ScrapeLogin,
    Scrapes,
    ScrapesArgs,
    targets,
)
from tests.components.observability.shapes import LOGIN, crd, scrape
from tests.harness import Recording, run
from tests.harness.crd import crd_problems
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP

API = "kubernetes:monitoring.coreos.com"
MONITOR, CONFIG = f"{API}/v1:ServiceMonitor", f"{API}/v1alpha1:ScrapeConfig"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1"


def record(*scrapes: Scrape, preview: bool = False) -> Recording:
    args = ScrapesArgs(ownership=OWNERSHIP, namespace="monitoring", scrapes=scrapes)
    return run(lambda: Scrapes("s", args) and None, preview=preview)


def metadata(name: str) -> dict[str, Any]:
    return {"name": name, "namespace": "monitoring", "labels": LABELS, "annotations": ANNOTATIONS}


@pytest.mark.parametrize("preview", [False, True])
def test_two_services_of_one_namespace_share_the_right_to_be_found(preview: bool) -> None:
    record(scrape("one"), scrape("two"), preview=preview).assert_counts(
        {
            "gpuplatform:observability:Scrapes": 1,
            "gpuplatform:kube:NetworkAllow": 2,
            MONITOR: 2,
            POLICY: 4,
            f"{RBAC}:Role": 1,
            f"{RBAC}:RoleBinding": 1,
        }
    )


def test_a_service_is_found_by_its_labels_and_its_pods_are_asked() -> None:
    record(scrape(keep="thing_.*")).assert_resource(
        MONITOR,
        "s-thing",
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "ServiceMonitor",
            "metadata": metadata("thing"),
            "spec": {
                "namespaceSelector": {"matchNames": ["data"]},
                "selector": {"matchLabels": {"app": "thing"}},
                "endpoints": [
                    {
                        "targetPort": 8080,
                        "path": "/metrics",
                        "scheme": "http",
                        "honorLabels": False,
                        "relabelings": [{"targetLabel": "job", "replacement": "thing"}],
                        "metricRelabelings": [
                            {"sourceLabels": ["__name__"], "regex": "thing_.*", "action": "keep"}
                        ],
                    }
                ],
            },
        },
        parent="s",
    )


def endpoint(one: Scrape) -> dict[str, Any]:
    found: dict[str, Any] = record(one).of_type(MONITOR)[0].inputs["spec"]["endpoints"][0]
    return found


def test_telemetry_about_others_keeps_its_labels_and_not_those_of_its_exporter() -> None:
    found = endpoint(scrape(honor_labels=True, pool_label=True))
    assert found["honorLabels"] is True
    assert found["relabelings"] == [
        {"targetLabel": "job", "replacement": "thing"},
        {"action": "labeldrop", "regex": "namespace|pod|container|service|endpoint"},
        {"sourceLabels": ["__meta_kubernetes_node_label_gpu_platform_pool"], "targetLabel": "pool"},
    ]
    spec = record(scrape(pool_label=True)).of_type(MONITOR)[0].inputs["spec"]
    assert spec["attachMetadata"] == {"node": True}


def test_a_service_without_pods_is_asked_at_its_port() -> None:
    found = endpoint(targets.kubelet("monitoring"))
    assert found["port"] == "https-metrics"
    assert "targetPort" not in found


def test_logins_and_certificates() -> None:
    token = endpoint(scrape(login=ScrapeLogin.TOKEN, https=True))
    assert token["bearerTokenFile"] == "/var/run/secrets/kubernetes.io/serviceaccount/token"
    assert token["tlsConfig"] == {"caFile": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"}
    assert endpoint(scrape(https=True, verify=False))["tlsConfig"] == {"insecureSkipVerify": True}
    basic = endpoint(scrape(login=ScrapeLogin.BASIC, credentials=LOGIN))
    assert basic["basicAuth"] == {
        "username": {"name": "monitoring-login", "key": "username"},
        "password": {"name": "monitoring-login", "key": "password"},
    }
    assert not {"bearerTokenFile", "tlsConfig"} & set(basic)


def test_a_server_that_judges_the_host_header_is_asked_by_its_name() -> None:
    credentials = SecretRef(name="mlflow", keys={"username": "USER", "password": "PASS"})
    metrics = MetricsEndpoint(namespace="mlops", service="mlflow", port=5000, path="/metrics", job="mlflow")
    one = targets.tracking(metrics, namespace="mlops", app="mlflow", credentials=credentials)
    recording = record(one)
    spec = recording.one(CONFIG, "s-mlflow").inputs["spec"]
    assert spec == {
        "metricsPath": "/metrics",
        "scheme": "HTTP",
        "honorLabels": False,
        "staticConfigs": [{"targets": ["mlflow.mlops.svc:5000"], "labels": {"namespace": "mlops"}}],
        "relabelings": [{"targetLabel": "job", "replacement": "mlflow"}],
        "metricRelabelings": [{"sourceLabels": ["__name__"], "regex": "mlflow_.*", "action": "keep"}],
        "basicAuth": {
            "username": {"name": "mlflow", "key": "USER"},
            "password": {"name": "mlflow", "key": "PASS"},
        },
    }
    # Nothing to find, so no right to look; and the server lets its clients in itself.
    assert not recording.of_type(f"{RBAC}:Role")
    assert not recording.of_type(POLICY)


def test_prometheus_gets_in_and_nobody_else() -> None:
    specs = {item.name: item.inputs["spec"] for item in record(scrape()).of_type(POLICY)}
    assert set(specs) == {"s-to-thing-egress", "s-to-thing-ingress"}
    assert specs["s-to-thing-ingress"]["ingress"] == [
        {
            "from": [
                {
                    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}},
                }
            ],
            "ports": [{"protocol": "TCP", "port": 8080}],
        }
    ]


EVERY = (
    targets.kueue("kueue-system"),
    targets.kubelet("monitoring"),
    targets.containers("monitoring"),
    targets.prometheus("monitoring", LOGIN),
    targets.alertmanager("monitoring", LOGIN),
    targets.operator("monitoring"),
    targets.dcgm_exporter(),
)


def test_the_way_is_opened_inside_the_own_namespace_too() -> None:
    """It denies by default, as every namespace."""
    own = scrape(pods=Pods(namespace="monitoring", labels={"app": "thing"}))
    policies = [item.inputs for item in record(own).of_type(POLICY)]
    assert [item["metadata"]["namespace"] for item in policies] == ["monitoring", "monitoring"]
    assert [item["spec"]["policyTypes"] for item in policies] == [["Egress"], ["Ingress"]]
    assert record(scrape(opens_way=False)).of_type(POLICY) == []


def test_the_operators_definitions_accept_every_scrape() -> None:
    recording = record(*EVERY, scrape("by-name", by_name=True))
    for kind, plural in ((MONITOR, "servicemonitors"), (CONFIG, "scrapeconfigs")):
        definition = crd(plural)
        for item in recording.of_type(kind):
            assert crd_problems(definition, item.inputs) == [], item.name


def test_real_and_played_gpus_have_the_same_job() -> None:
    assert targets.dcgm_exporter().endpoint.job == "dcgm-exporter"
    assert targets.dcgm_exporter().pool_label


RULE = {"alert": "Down", "expr": "up == 0", "for": "5m"}


def test_each_group_of_rules_is_an_object_of_its_own() -> None:
    groups = ({"name": "gpus", "rules": [RULE]}, {"name": "queues", "rules": [RULE]})
    args = AlertRulesArgs(ownership=OWNERSHIP, namespace="monitoring", groups=groups)
    recording = run(lambda: AlertRules("rules", args) and None)
    recording.assert_counts({"gpuplatform:observability:AlertRules": 1, f"{API}/v1:PrometheusRule": 2})
    made = recording.assert_resource(
        f"{API}/v1:PrometheusRule",
        "rules-gpus",
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": metadata("gpus"),
            "spec": {"groups": [{"name": "gpus", "rules": [RULE]}]},
        },
    )
    assert crd_problems(crd("prometheusrules"), made.inputs) == []


def test_receivers_get_every_alert_and_their_address_stays_secret() -> None:
    args = ReceiversArgs(
        ownership=OWNERSHIP, namespace="monitoring", webhooks={"oncall": "https://hooks.example/secret"}
    )
    recording = run(lambda: Receivers("r", args) and None)
    made = recording.assert_resource(
        f"{API}/v1alpha1:AlertmanagerConfig",
        "r-oncall",
        {
            "apiVersion": "monitoring.coreos.com/v1alpha1",
            "kind": "AlertmanagerConfig",
            "metadata": metadata("oncall"),
            "spec": {
                "route": {
                    "receiver": "oncall",
                    "groupBy": ["alertname"],
                    "groupWait": "30s",
                    "groupInterval": "300s",
                    "repeatInterval": "4h",
                },
                "receivers": [
                    {
                        "name": "oncall",
                        "webhookConfigs": [
                            {"urlSecret": {"name": "receiver-oncall", "key": "url"}, "sendResolved": True}
                        ],
                    }
                ],
            },
        },
    )
    assert crd_problems(crd("alertmanagerconfigs"), made.inputs) == []
    recording.assert_no_clear("hooks.example")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: scrape(service_labels={}), "service_labels: got nothing"),
        (lambda: scrape(login=ScrapeLogin.BASIC), "credentials: got nothing"),
        (lambda: scrape(credentials=LOGIN), "credentials: got given"),
        (lambda: record(scrape(), scrape()), "scrapes: got job 'thing' twice"),
        (
            lambda: AlertRulesArgs(ownership=OWNERSHIP, namespace="m", groups=({"name": "a", "rules": []},)),
            "groups.a: got nothing",
        ),
        (
            lambda: AlertRulesArgs(
                ownership=OWNERSHIP, namespace="m", groups=({"name": "a", "rules": [{"expr": "1"}]},)
            ),
            "groups.a: got a rule with ['expr']",
        ),
        (
            lambda: ReceiversArgs(ownership=OWNERSHIP, namespace="m", webhooks={"On Call": "https://h"}),
            "webhooks.On Call: got 'On Call'",
        ),
        (
            lambda: ReceiversArgs(
                ownership=OWNERSHIP, namespace="m", webhooks={"a": "https://h"}, repeat_hours=0
            ),
            "repeat_hours: got 0",
        ),
    ],
)
def test_bad_arguments_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        make()
    assert message in str(caught.value)
