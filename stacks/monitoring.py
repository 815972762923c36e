"""Metrics and alerts of an environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from components.contracts import GpuPool
from components.kube import ChartSource, TenantNamespace, TenantNamespaceArgs
from components.observability import (
    AlertRules,
    AlertRulesArgs,
    Grafana,
    GrafanaArgs,
    Monitoring,
    MonitoringArgs,
    PrometheusOperator,
    PrometheusOperatorArgs,
    Receivers,
    ReceiversArgs,
    Scrape,
    Scrapes,
    ScrapesArgs,
    SimulatedGpuTelemetry,
    SimulatedGpuTelemetryArgs,
    flows,
    targets,
)
from components.observability.rules import ExpectedPool, RuleSettings, rule_groups, shortened
from components.scheduling import KueueOperator
from stacks.config import LabCluster
from stacks.mlplatform import MlPlatform
from stacks.namespaces import MLOPS, MONITORING, defaults, service_quota
from stacks.outputs import Service
from stacks.site import Site

KUEUE_NAMESPACE = "kueue-system"
# Simulated nodes have no kubelet; the label says which those are, on every cluster.
_REAL_NODES = "gpu-platform/simulated!=true"


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The namespace of the monitoring with its operator; what else is built waits for both."""

    namespace: TenantNamespace
    operator: PrometheusOperator


def install(site: Site) -> Installed | None:
    """Namespace, CRDs and operator; None where monitoring is off."""
    if not site.settings.monitoring.enabled:
        return None
    artifacts = site.settings.artifacts
    namespace = TenantNamespace(
        MONITORING.removeprefix("gpu-platform-"),
        TenantNamespaceArgs(
            namespace=MONITORING,
            ownership=site.ownership,
            quota=service_quota(),
            container_defaults=defaults(),
            flows=flows(tuple(one.url for one in site.settings.monitoring.receivers.values())),
        ),
        opts=site.after(),
    )
    chart = artifacts.charts["prometheus-operator-crds"]
    operator = PrometheusOperator(
        "prometheus-operator",
        PrometheusOperatorArgs(
            ownership=site.ownership,
            access=site.access,
            crds=ChartSource(chart=chart.chart, version=chart.version, repository=chart.repo),
            image=artifacts.images["prometheus-operator"],
            reloader_image=artifacts.images["prometheus-config-reloader"],
            namespace=MONITORING,
            node_selector=_REAL_NODES,
        ),
        opts=site.after(namespace),
    )
    return Installed(namespace=namespace, operator=operator)


def deploy(
    site: Site,
    installed: Installed | None,
    *,
    kueue: KueueOperator | None,
    ml: MlPlatform,
    pools: Mapping[str, GpuPool],
) -> Mapping[str, Service]:
    """Prometheus, Alertmanager, scrapes, alerts, who is told; nothing where monitoring is off."""
    if installed is None:
        return {}
    settings, artifacts = site.settings.monitoring, site.settings.artifacts
    gate, waiting = installed.operator.gate, site.after(installed.namespace, installed.operator)
    monitoring = Monitoring(
        "monitoring",
        MonitoringArgs(
            namespace=MONITORING,
            ownership=site.ownership,
            prometheus_image=artifacts.images["prometheus"],
            alertmanager_image=artifacts.images["alertmanager"],
            proxy_image=artifacts.images["login-proxy"],
            retention_days=settings.retention_days,
            size_gib=settings.size_gib,
            storage_class=settings.storage_class,
            scrape_interval_seconds=settings.scrape_interval_seconds,
            gate=gate,
            protect=site.settings.kind != "dev",
        ),
        opts=waiting,
    )
    Scrapes(
        "scrapes",
        ScrapesArgs(
            ownership=site.ownership,
            namespace=MONITORING,
            scrapes=(
                *_own_scrapes(monitoring),
                *_gpu_scrapes(site, installed),
                *(() if kueue is None else (targets.kueue(KUEUE_NAMESPACE),)),
                *_tracking_scrape(ml),
            ),
            gate=gate,
        ),
        opts=waiting if kueue is None else site.after(installed.namespace, installed.operator, kueue),
    )
    AlertRules(
        "alerts",
        AlertRulesArgs(
            ownership=site.ownership,
            namespace=MONITORING,
            groups=tuple(rule_groups(_rule_settings(site, pools))),
            gate=gate,
        ),
        opts=waiting,
    )
    if settings.receivers:
        Receivers(
            "receivers",
            ReceiversArgs(
                ownership=site.ownership,
                namespace=MONITORING,
                webhooks={name: receiver.url for name, receiver in settings.receivers.items()},
                gate=gate,
            ),
            opts=waiting,
        )
    services = {
        "prometheus": Service(endpoint=monitoring.prometheus, credentials=monitoring.login),
        "alertmanager": Service(endpoint=monitoring.alertmanager, credentials=monitoring.login),
    }
    return services | _grafana(site, installed, monitoring)


def _rule_settings(site: Site, pools: Mapping[str, GpuPool]) -> RuleSettings:
    """Windows of production; on the lab shorter ones, so that an injected fault shows within minutes."""
    interval = site.settings.monitoring.scrape_interval_seconds
    watched = tuple(ExpectedPool.of(pool) for pool in pools.values())
    if isinstance(site.settings.cluster, LabCluster):
        return shortened(RuleSettings(pools=watched), scrape_interval_seconds=interval)
    return RuleSettings(pools=watched, scrape_interval_seconds=interval)


def _own_scrapes(monitoring: Monitoring) -> tuple[Scrape, ...]:
    return (
        targets.prometheus(MONITORING, monitoring.login),
        targets.alertmanager(MONITORING, monitoring.login),
        targets.operator(MONITORING),
        targets.kubelet(MONITORING),
        targets.containers(MONITORING),
    )


def _gpu_scrapes(site: Site, installed: Installed) -> tuple[Scrape, ...]:
    """Simulated pools are played; real ones have the GPU Operator's exporter."""
    if not site.settings.pools:
        return ()
    telemetry = SimulatedGpuTelemetry(
        "gpu-telemetry",
        SimulatedGpuTelemetryArgs(
            namespace=MONITORING,
            ownership=site.ownership,
            image=site.settings.artifacts.images["gpu-telemetry"],
        ),
        opts=site.after(installed.namespace),
    )
    return (telemetry.scrape,)


def _tracking_scrape(ml: MlPlatform) -> tuple[Scrape, ...]:
    if ml.tracking is None or ml.metrics_login is None:
        return ()
    metrics = ml.tracking.metrics
    return (targets.tracking(metrics, namespace=MLOPS, app=metrics.job, credentials=ml.metrics_login),)


def _grafana(site: Site, installed: Installed, monitoring: Monitoring) -> dict[str, Service]:
    settings = site.settings.monitoring.grafana
    if not settings.enabled or settings.image is None:
        return {}
    grafana = Grafana(
        "grafana",
        GrafanaArgs(
            namespace=MONITORING,
            ownership=site.ownership,
            image=settings.image,
            prometheus=monitoring.prometheus,
            prometheus_login=monitoring.login,
            protect=site.settings.kind != "dev",
        ),
        opts=site.after(installed.namespace, monitoring),
    )
    return {"grafana": Service(endpoint=grafana.service, credentials=grafana.login)}
