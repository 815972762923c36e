"""Settings of metrics, alerts and dashboards."""

from pydantic import Field

from stacks.config.fields import (
    ClassName,
    Days,
    Flag,
    ImageReference,
    ScrapeSeconds,
    SizeGib,
    WebhookUrl,
)
from stacks.config.section import ByName, Section, empty


class ReceiverSettings(Section):
    """A webhook that is told of every alert, and of its end."""

    url: WebhookUrl
    """Address, from inside the cluster."""


class GrafanaSettings(Section):
    """Grafana with an image of your own choice: it is AGPL, so none is pinned here."""

    enabled: Flag = False
    """Build it."""
    image: ImageReference | None = None
    """The image; needed where it is enabled."""


class MonitoringSettings(Section):
    """Prometheus and Alertmanager with GPU telemetry and alert rules."""

    enabled: Flag = True
    """Build it."""
    retention_days: Days = 15
    """How long series are kept, days."""
    size_gib: SizeGib = 20
    """Volume of Prometheus, GiB; the oldest series go when 85 % of it are full."""
    storage_class: ClassName | None = None
    """StorageClass; left out: the cluster's default."""
    scrape_interval_seconds: ScrapeSeconds = 30
    """Between two scrapes of a target and two evaluations of a rule, seconds."""
    receivers: ByName[ReceiverSettings] = Field(default_factory=empty)
    """Webhooks by name; left out: alerts are shown and sent nowhere."""
    grafana: GrafanaSettings = GrafanaSettings()
    """Grafana on top."""
