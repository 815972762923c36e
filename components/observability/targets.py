"""Scrapes of services that other projects make: where they answer and how they are asked."""

from components.contracts import MetricsEndpoint, SecretRef
from components.kube import NAME_LABEL, Pods
from components.observability.login import PORT as LOGIN_PORT
from components.observability.operator import APP as OPERATOR
from components.observability.operator import KUBELET_SERVICE
from components.observability.operator_api import ALERTMANAGER_PODS, PROMETHEUS_PODS
from components.observability.scrape import Scrape, ScrapeLogin
from components.observability.simulated_gpu_telemetry import JOB as GPU_JOB
from components.observability.simulated_gpu_telemetry import PORT as DCGM_PORT

_KUBELET_PORT, _KUEUE_PORT, _OPERATOR_PORT = 10250, 8443, 8080
# What rules and dashboards use; the rest of the kubelet's and cAdvisor's thousands of series is dropped.
_KUBELET_METRICS = "kubelet_(volume_stats_.*|running_pods|node_name)"
_CONTAINER_METRICS = "container_(cpu_usage_seconds_total|memory_working_set_bytes|fs_(usage|limit)_bytes)"


def kueue(namespace: str) -> Scrape:
    """Kueue's manager; its certificate is signed by itself, and it asks the API server who calls."""
    return Scrape(
        endpoint=MetricsEndpoint(
            namespace=namespace,
            service="kueue-controller-manager-metrics-service",
            port=_KUEUE_PORT,
            path="/metrics",
            job="kueue",
        ),
        pods=Pods(namespace=namespace, labels={"control-plane": "controller-manager"}),
        pod_port=_KUEUE_PORT,
        service_labels={"app.kubernetes.io/component": "metrics-service"},
        login=ScrapeLogin.TOKEN,
        https=True,
        verify=False,
        keep="kueue_.*",
    )


def kubelet(namespace: str) -> Scrape:
    """Kubelets of the real nodes, through the Service the operator keeps; volume sizes above all."""
    return _kubelet(namespace, "kubelet", "/metrics", _KUBELET_METRICS)


def containers(namespace: str) -> Scrape:
    """CPU, memory and disk of containers, from the same kubelets."""
    return _kubelet(namespace, "cadvisor", "/metrics/cadvisor", _CONTAINER_METRICS)


def _kubelet(namespace: str, job: str, path: str, keep: str) -> Scrape:
    return Scrape(
        endpoint=MetricsEndpoint(
            namespace=namespace, service=KUBELET_SERVICE, port=_KUBELET_PORT, path=path, job=job
        ),
        pods=Pods(namespace=namespace),
        pod_port=_KUBELET_PORT,
        port_name="https-metrics",
        service_labels={NAME_LABEL: "kubelet"},
        login=ScrapeLogin.TOKEN,
        https=True,
        honor_labels=True,
        opens_way=False,  # no pods answer there, and ``flows`` opens the way to nodes
        keep=keep,
    )


def prometheus(namespace: str, login: SecretRef) -> Scrape:
    """Prometheus itself, through its own login."""
    return _guarded(namespace, "prometheus", PROMETHEUS_PODS, login)


def alertmanager(namespace: str, login: SecretRef) -> Scrape:
    """Alertmanager, through its login."""
    return _guarded(namespace, "alertmanager", ALERTMANAGER_PODS, login)


def _guarded(namespace: str, app: str, labels: dict[str, str], login: SecretRef) -> Scrape:
    return Scrape(
        endpoint=MetricsEndpoint(namespace=namespace, service=app, port=LOGIN_PORT, path="/metrics", job=app),
        pods=Pods(namespace=namespace, labels=labels),
        pod_port=LOGIN_PORT,
        service_labels={NAME_LABEL: app},
        login=ScrapeLogin.BASIC,
        credentials=login,
    )


def operator(namespace: str) -> Scrape:
    """The prometheus-operator."""
    labels = {NAME_LABEL: OPERATOR}
    return Scrape(
        endpoint=MetricsEndpoint(
            namespace=namespace, service=OPERATOR, port=_OPERATOR_PORT, path="/metrics", job=OPERATOR
        ),
        pods=Pods(namespace=namespace, labels=labels),
        pod_port=_OPERATOR_PORT,
        service_labels=labels,
        keep="prometheus_operator_.*",
    )


def tracking(metrics: MetricsEndpoint, *, namespace: str, app: str, credentials: SecretRef) -> Scrape:
    """MLflow: it asks for a login, judges the Host header, and has opened the way to its clients itself."""
    return Scrape(
        endpoint=metrics,
        pods=Pods(namespace=namespace, labels={NAME_LABEL: app}),
        pod_port=metrics.port,
        login=ScrapeLogin.BASIC,
        credentials=credentials,
        by_name=True,
        opens_way=False,
        keep="mlflow_.*",
    )


def dcgm_exporter(namespace: str = "gpu-operator") -> Scrape:
    """The real exporter, as the GPU Operator runs it on nodes with GPUs; same job, same names, same labels.

    Its default counters leave out ECC, violations, NVLink errors and the count of XIDs: the operator's value
    ``dcgmExporter.config`` has to name a ConfigMap with those fields.
    """
    labels = {"app": "nvidia-dcgm-exporter"}
    return Scrape(
        endpoint=MetricsEndpoint(
            namespace=namespace, service="nvidia-dcgm-exporter", port=DCGM_PORT, path="/metrics", job=GPU_JOB
        ),
        pods=Pods(namespace=namespace, labels=labels),
        pod_port=DCGM_PORT,
        service_labels=labels,
        honor_labels=True,
        pool_label=True,
    )
