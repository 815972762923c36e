"""Alerts end to end: a fault is injected, exactly its alert reaches a receiver, and it resolves."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml

from tests.integration.support import (
    DATA,
    JOBS,
    MLOPS,
    cli,
    dev,
    forwarded,
    get,
    http,
    kubectl,
    secret,
    until,
)

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(900)]

MONITORING = "gpu-platform-monitoring"
NODE = "h100-b0-r0-n0"
ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts"
MARK = {"test": "monitoring"}
# Windows a test can wait for; expressions and thresholds are those of production.
RULES: Mapping[str, tuple[str, str]] = {
    "TestXid": ('DCGM_EXP_XID_ERRORS_COUNT{xid="79"} > 0', "0s"),
    "TestEcc": ("sum by (Hostname, gpu) (increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[1m])) > 0", "0s"),
    "TestLowUtilisation": ('avg by (pool) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{pod!=""}[30s])) < 85', "0s"),
    "TestQueueStuck": ("sum by (cluster_queue) (kueue_pending_workloads) > 0", "15s"),
    "TestMlflowErrors": (
        'sum by (job) (rate(mlflow_http_request_total{job="mlflow",status=~"5.."}[1m]))'
        ' / sum by (job) (rate(mlflow_http_request_total{job="mlflow"}[1m])) > 0.01',
        "0s",
    ),
}


class Receiver:
    """A webhook on the machine that runs the tests; keeps what it is told."""

    def __init__(self, address: str) -> None:
        self.told: list[dict[str, Any]] = []
        told = self.told

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                told.extend(json.loads(body)["alerts"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://{address}:{self.port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def names(self, status: str, since: int = 0) -> set[str]:
        return {a["labels"]["alertname"] for a in self.told[since:] if a["status"] == status}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _send(manifest: dict[str, Any]) -> None:
    kubectl("apply", "-n", MONITORING, "-f", "-", stdin=json.dumps(manifest))


def _host_address() -> str:
    """The machine's address as pods reach it: what the lab's name service says of the host."""
    corefile = get("configmap", "coredns", "-n", "kube-system")["data"]["Corefile"]
    line = next(line for line in corefile.splitlines() if "host.gpu-platform.lab" in line)
    return str(line.split()[0])


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """A receiver every alert of this module's rules is sent to; all of it is taken away again."""
    made = Receiver(_host_address())
    rules = [
        {"alert": name, "expr": expr, "for": wait, "labels": MARK} for name, (expr, wait) in RULES.items()
    ]
    _send(
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {"name": "test-monitoring", "labels": MARK},
            "spec": {"groups": [{"name": "test", "interval": "5s", "rules": rules}]},
        }
    )
    _send(
        {
            "apiVersion": "monitoring.coreos.com/v1alpha1",
            "kind": "AlertmanagerConfig",
            "metadata": {"name": "test-monitoring", "labels": MARK},
            "spec": {
                "route": {
                    "receiver": "test",
                    "matchers": [{"name": "test", "value": "monitoring"}],
                    "groupBy": ["alertname"],
                    "groupWait": "1s",
                    "groupInterval": "5s",
                },
                "receivers": [{"name": "test", "webhookConfigs": [{"url": made.url, "sendResolved": True}]}],
            },
        }
    )
    _send(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "test-monitoring", "labels": MARK},
            "spec": {
                "podSelector": {"matchLabels": {"app.kubernetes.io/name": "alertmanager"}},
                "policyTypes": ["Egress"],
                "egress": [{"ports": [{"port": made.port, "protocol": "TCP"}]}],
            },
        }
    )
    yield made
    kinds = "prometheusrule,alertmanagerconfig,networkpolicy"
    kubectl("delete", "-n", MONITORING, kinds, "-l", "test=monitoring")
    made.close()


@pytest.fixture
def prometheus() -> Iterator[Any]:
    """Asks Prometheus a query, with the login."""
    login = secret(MONITORING, "monitoring-login")
    with forwarded(MONITORING, "prometheus", 9080) as port:

        def ask(query: str) -> list[dict[str, Any]]:
            from urllib.parse import quote

            status, text = http(
                f"http://127.0.0.1:{port}/api/v1/query?query={quote(query)}",
                login=(login["username"], login["password"]),
            )
            assert status == 200, text
            found: list[dict[str, Any]] = json.loads(text)["data"]["result"]
            return found

        yield ask


@pytest.mark.parametrize("service", ["prometheus", "alertmanager"])
def test_nobody_gets_in_without_the_login(service: str) -> None:
    login = secret(MONITORING, "monitoring-login")
    with forwarded(MONITORING, service, 9080) as port:
        url = f"http://127.0.0.1:{port}"
        assert http(f"{url}/api/v1/status/buildinfo")[0] == 401
        assert http(f"{url}/api/v1/status/buildinfo", login=("admin", "admin"))[0] == 401
        assert http(f"{url}/-/healthy")[0] == 200
        known = (login["username"], login["password"])
        assert http(f"{url}/-/reload", login=known, body={})[0] == 403
        path = "/api/v1/query?query=1" if service == "prometheus" else "/api/v2/status"
        assert http(f"{url}{path}", login=known)[0] == 200


def test_every_target_is_up(prometheus: Any) -> None:
    jobs = {
        "alertmanager",
        "cadvisor",
        "dcgm-exporter",
        "kubelet",
        "kueue",
        "mlflow",
        "prometheus",
        "prometheus-operator",
    }

    def up() -> bool:
        seen = {item["metric"]["job"]: item["value"][1] for item in prometheus("up")}
        return set(seen) == jobs and set(seen.values()) == {"1"}

    until("every target is up", up, 90)


def test_every_simulated_gpu_is_seen_with_its_pool(prometheus: Any) -> None:
    counts = {
        item["metric"]["pool"]: item["value"][1]
        for item in prometheus("count by (pool) (DCGM_FI_DEV_GPU_TEMP)")
    }
    assert counts == {"a100": "32", "h100": "32"}


@pytest.fixture
def gang() -> Iterator[dict[str, Any]]:
    """A gang on one H100 node that runs until the test ends it."""
    samples = dev().outputs()["samples"]
    data = get("configmap", samples["configMap"], "-n", samples["namespace"])["data"]
    manifest = yaml.safe_load(data["gang.yaml"])
    manifest["metadata"]["labels"] |= MARK
    yield manifest
    kubectl("delete", "job", "-n", JOBS, "-l", "test=monitoring", "--wait=true")


def _inject(fault: str, gpu: str, *more: str, node: str = NODE) -> None:
    cli("inject", "--fault", fault, "--node", node, "--gpu", gpu, *more)


@pytest.mark.soak  # minutes of waiting for windows to pass
def test_each_fault_raises_exactly_its_alert_and_clearing_it_resolves_it(
    receiver: Receiver,
) -> None:
    begun = len(receiver.told)
    for fault, gpu in (("xid:79", "0"), ("ecc:dbe", "1")):
        _inject(fault, gpu)
    try:
        until("both alerts", lambda: receiver.names("firing", begun) >= {"TestXid", "TestEcc"}, 90)
        assert receiver.names("firing", begun) == {"TestXid", "TestEcc"}
        where = {
            (alert["labels"]["alertname"], alert["labels"]["Hostname"], alert["labels"]["gpu"])
            for alert in receiver.told[begun:]
        }
        assert where == {("TestXid", NODE, "0"), ("TestEcc", NODE, "1")}
    finally:
        _inject("all", "all", "--clear")
    until("both resolved", lambda: receiver.names("resolved", begun) >= {"TestXid", "TestEcc"}, 150)


@pytest.mark.soak  # minutes of waiting for windows to pass
def test_a_queue_that_admits_nothing_and_a_busy_server_that_fails(
    receiver: Receiver, gang: dict[str, Any]
) -> None:
    begun = len(receiver.told)
    gang["spec"].update(parallelism=5, completions=5)  # above the quota, so that it waits for ever
    kubectl("create", "-n", JOBS, "-f", "-", stdin=json.dumps(gang))
    # Not its database: without that MLflow knows no login, and so shows no metrics either.
    kubectl("scale", "statefulset", "object-store", "-n", DATA, "--replicas=0")
    login = secret(MLOPS, "mlflow-server")
    known = (login["admin-username"], login["admin-password"])
    wanted = {"TestQueueStuck", "TestMlflowErrors"}
    try:
        with forwarded(MLOPS, "mlflow", 5000) as port:
            url = f"http://127.0.0.1:{port}{ARTIFACTS}"

            def both() -> bool:
                with suppress(OSError):
                    http(url, login=known)
                return receiver.names("firing", begun) >= wanted

            until("both alerts", both, 120)
        assert receiver.names("firing", begun) == wanted
    finally:
        kubectl("scale", "statefulset", "object-store", "-n", DATA, "--replicas=1")
        kubectl("delete", "job", "-n", JOBS, "-l", "test=monitoring", "--wait=true")
    kubectl("rollout", "status", "statefulset/object-store", "-n", DATA, "--timeout=120s")
    with forwarded(MLOPS, "mlflow", 5000) as port:
        url = f"http://127.0.0.1:{port}{ARTIFACTS}"

        def resolved() -> bool:
            http(url, login=known)
            return receiver.names("resolved", begun) >= wanted

        until("both resolved", resolved, 150)


def test_gpus_that_are_held_and_not_used(receiver: Receiver, gang: dict[str, Any]) -> None:
    begun = len(receiver.told)
    pool = gang["spec"]["template"]["spec"]["nodeSelector"]["gpu-platform/pool"]
    gang["spec"].update(parallelism=1, completions=1)
    gang["spec"]["template"]["metadata"]["annotations"]["pod-complete.stage.kwok.x-k8s.io/delay"] = "600s"
    gang["spec"]["template"]["metadata"]["labels"] |= MARK
    kubectl("create", "-n", JOBS, "-f", "-", stdin=json.dumps(gang))
    (node,) = until("the job is placed", _running, 60)
    _inject("utilisation:10", "all", node=node)
    try:
        until("the alert", lambda: "TestLowUtilisation" in receiver.names("firing", begun), 90)
        assert receiver.names("firing", begun) == {"TestLowUtilisation"}
        pools = {a["labels"]["pool"] for a in receiver.told[begun:] if a["status"] == "firing"}
        assert pools == {pool}
    finally:
        _inject("all", "all", "--clear", node=node)
    until("resolved", lambda: "TestLowUtilisation" in receiver.names("resolved", begun), 120)


def _running() -> list[str]:
    pods = get("pods", "-n", JOBS, "-l", "test=monitoring")["items"]
    return sorted(p["spec"]["nodeName"] for p in pods if p["status"]["phase"] == "Running")
