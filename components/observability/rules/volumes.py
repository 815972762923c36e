"""Is there room: file systems of nodes, claims of pods.

A node's file system comes from node-exporter where it runs, else from the kubelet's cAdvisor endpoint
(``id="/"``); claims come from the kubelet's volume statistics, which know no ``hostPath`` volumes.
"""

from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

DISK_FREE = "gpu_platform:node_disk_free:ratio"
VOLUME_FREE = "gpu_platform:volume_free:ratio"
_BY_DISK = "by (instance, node, device)"
_BY_CLAIM = "by (namespace, persistentvolumeclaim)"
_REAL = '{fstype!~"tmpfs|ramfs|overlay|squashfs|iso9660"}'


def group(settings: RuleSettings) -> Group:
    """Little room on a node or in a claim, and claims that will be full before anybody looks."""
    exporter = f"min {_BY_DISK} (node_filesystem_avail_bytes{_REAL} / node_filesystem_size_bytes{_REAL})"
    kubelet = (
        f'min {_BY_DISK} (1 - container_fs_usage_bytes{{id="/"}} / (container_fs_limit_bytes{{id="/"}} > 0))'
    )
    return Group(
        name="volumes",
        records=(
            Record(name=DISK_FREE, expr=f"{exporter} or {kubelet}"),
            Record(
                name=VOLUME_FREE,
                # Several nodes report one shared volume; the worst of them counts.
                expr=f"min {_BY_CLAIM} (kubelet_volume_stats_available_bytes "
                "/ kubelet_volume_stats_capacity_bytes)",
            ),
        ),
        alerts=(_disk(settings), _volume(settings), _volume_soon(settings)),
    )


def _disk(settings: RuleSettings) -> Alert:
    least = settings.limits.disk_free_share
    return Alert(
        name="NodeDiskLow",
        expr=f"{DISK_FREE} < {least}",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.disk.for_seconds,
        summary="{{ $labels.instance }} {{ $labels.device }}: {{ $value | humanizePercentage }} free",
        description=f"Below {least:.0%}: the kubelet soon evicts pods and deletes images.",
    )


def _volume(settings: RuleSettings) -> Alert:
    least = settings.limits.volume_free_share
    return Alert(
        name="VolumeLow",
        expr=f"{VOLUME_FREE} < {least}",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.volume.for_seconds,
        summary="Claim {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }}: "
        "{{ $value | humanizePercentage }} free",
        description=f"Below {least:.0%}: the next checkpoint or transaction may not fit.",
    )


def _volume_soon(settings: RuleSettings) -> Alert:
    watch, limits = settings.windows.volume_trend, settings.limits
    window, horizon = duration(watch.window_seconds), duration(limits.volume_horizon_seconds)
    return Alert(
        name="VolumeFullSoon",
        expr=f"predict_linear({VOLUME_FREE}[{window}], {limits.volume_horizon_seconds}) < 0 "
        f"and {VOLUME_FREE} < {limits.volume_trend_free_share} "
        f"and {VOLUME_FREE} >= {limits.volume_free_share}",
        severity=Severity.WARNING,
        for_seconds=watch.for_seconds,
        summary="Claim {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} will be full within "
        f"{horizon}",
        description=f"At the pace of the last {window}.",
    )
