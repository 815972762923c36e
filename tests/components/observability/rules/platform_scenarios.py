"""How the alerts of queues, storage, MLflow and backups are tripped."""

from collections.abc import Mapping

from .scenarios import BACKUP, Scenario, Series, count, hold, named

_QUEUE = {"cluster_queue": "gpus", "replica_role": "leader"}
_CLAIM = {"namespace": "jobs", "persistentvolumeclaim": "checkpoints"}
_NODE = {"instance": "10.0.0.2:10250", "node": "node", "device": "/dev/vda1"}
PENDING = named("kueue_pending_workloads", {**_QUEUE, "status": "inadmissible"})
RUNNING = named("kueue_admitted_active_workloads", _QUEUE)
ADMITTED = named("kueue_admitted_workloads_total", {**_QUEUE, "priority_class": ""})
AVAILABLE = named("kubelet_volume_stats_available_bytes", _CLAIM)
CAPACITY = named("kubelet_volume_stats_capacity_bytes", _CLAIM)


def waits(per_minute: Mapping[str, float], later: Mapping[str, float]) -> Series:
    """Kueue's histogram: rises per bucket and minute for an hour, then others for an hour."""
    return {
        named("kueue_admission_wait_time_seconds_bucket", {**_QUEUE, "le": le}): count(
            (rise, 60), (later[le], 60)
        )
        for le, rise in per_minute.items()
    }


_QUICK = {"2560": 100.0, "5120": 100.0, "+Inf": 100.0}
QUEUES = (
    Scenario(
        alert="QueueWaitLong",
        # 91 % within 2560 s: the 95th percentile lies 4/9 into the bucket up to 5120 s, at 3698 s.
        series=waits({"2560": 91, "5120": 100, "+Inf": 100}, _QUICK),
        early=10,
        fires_at=11,
        resolved_at=90,
        labels={"cluster_queue": "gpus", "severity": "warning"},
        # 92 %: 3/8 into the bucket, at 3520 s.
        under=(waits({"2560": 92, "5120": 100, "+Inf": 100}, _QUICK),),
    ),
    Scenario(
        alert="QueueStuck",
        series={PENDING: hold((0, 10), (1, 50), (0, 60)), RUNNING: hold((0, 120))},
        early=24,
        fires_at=25,
        resolved_at=60,
        labels={"cluster_queue": "gpus", "severity": "critical"},
        under=(
            {PENDING: hold((1, 60)), RUNNING: hold((1, 60))},
            {PENDING: hold((0, 10), (1, 14), (0, 60)), RUNNING: hold((0, 120))},
        ),
    ),
    Scenario(
        alert="QueueNoAdmission",
        series={
            PENDING: hold((2, 250), (0, 50)),
            RUNNING: hold((1, 300)),
            ADMITTED: hold((5, 300)),
        },
        early=179,
        fires_at=180,
        resolved_at=250,
        labels={"cluster_queue": "gpus", "severity": "warning"},
        under=(
            {
                PENDING: hold((2, 300)),
                RUNNING: hold((1, 300)),
                ADMITTED: hold((5, 100), (6, 200)),
            },
        ),
    ),
)

STORAGE = (
    Scenario(
        alert="NodeDiskLow",
        series={
            named("container_fs_usage_bytes", {**_NODE, "id": "/"}): hold((91, 30), (50, 30)),
            named("container_fs_limit_bytes", {**_NODE, "id": "/"}): hold((100, 60)),
        },
        early=9,
        fires_at=10,
        resolved_at=30,
        labels={**_NODE, "severity": "critical"},
        under=(
            {
                named("container_fs_usage_bytes", {**_NODE, "id": "/"}): hold((89, 60)),
                named("container_fs_limit_bytes", {**_NODE, "id": "/"}): hold((100, 60)),
            },
            {
                named("node_filesystem_avail_bytes", {**_NODE, "fstype": "ext4"}): hold((10, 60)),
                named("node_filesystem_size_bytes", {**_NODE, "fstype": "ext4"}): hold((100, 60)),
                named("node_filesystem_avail_bytes", {**_NODE, "device": "t", "fstype": "tmpfs"}): hold(
                    (0, 60)
                ),
                named("node_filesystem_size_bytes", {**_NODE, "device": "t", "fstype": "tmpfs"}): hold(
                    (100, 60)
                ),
            },
        ),
    ),
    Scenario(
        alert="VolumeLow",
        series={AVAILABLE: hold((9, 30), (50, 30)), CAPACITY: hold((100, 60))},
        early=9,
        fires_at=10,
        resolved_at=30,
        labels={**_CLAIM, "severity": "critical"},
        under=({AVAILABLE: hold((10, 60)), CAPACITY: hold((100, 60))},),
    ),
    Scenario(
        alert="VolumeFullSoon",
        # Loses 0.01 % a minute, 57.6 % in four days, and has 35 %.
        series={
            AVAILABLE: [*(3500.0 - minute for minute in range(120)), *hold((9000, 60))],
            CAPACITY: hold((10000, 180)),
        },
        early=60,
        fires_at=61,
        resolved_at=120,
        labels={**_CLAIM, "severity": "warning"},
        under=(
            {
                AVAILABLE: [3500.0 - minute / 2 for minute in range(120)],
                CAPACITY: hold((10000, 120)),
            },
            {AVAILABLE: [4500.0 - minute for minute in range(90)], CAPACITY: hold((10000, 120))},
        ),
    ),
)

_BUCKETS = ("0.25", "0.5", "0.75", "1.0", "2.5", "5.0", "7.5", "10.0", "+Inf")


def answers(slow: Mapping[str, int], requests: int) -> Series:
    """MLflow for an hour and, from then on, only quick answers.

    Args:
        slow: Bucket limit to answers within it, per minute; limits not named repeat the one before.
        requests: Requests per minute.
    """
    rises, within = {}, 0
    for le in _BUCKETS:
        within = slow.get(le, within)
        rises[le] = within
    job = {"job": "mlflow", "method": "GET", "status": "200"}
    return {
        named("mlflow_http_request_total", job): count((requests, 120)),
        **{
            named("mlflow_http_request_duration_seconds_bucket", {**job, "le": le}): count(
                (rise, 60), (requests, 60)
            )
            for le, rise in rises.items()
        },
    }


def failures(good: float, bad: float) -> Series:
    """MLflow's answers per minute; the bad ones end after an hour."""
    series = {
        named("mlflow_http_request_total", {"job": "mlflow", "method": "POST", "status": "200"}): count(
            (good, 120)
        )
    }
    if bad:
        failed = {"job": "mlflow", "method": "POST", "status": "500"}
        series[named("mlflow_http_request_total", failed)] = count((bad, 60), (0, 60))
    return series


def _slow(alert: str, series: Series, *under: Series) -> Scenario:
    return Scenario(
        alert=alert,
        series=series,
        early=9,
        fires_at=20,
        resolved_at=72,
        labels={"job": "mlflow", "severity": "warning", "quantile": f"0.{alert[-2:]}".rstrip("0")},
        under=under,
    )


TRACKING = (
    # All within 0.5 to 0.75 s: the median is 0.625 s.
    _slow(
        "MlflowLatencyP50",
        answers({"0.75": 10}, 10),
        answers({"0.5": 5, "0.75": 10}, 10),
        answers({"0.75": 4}, 4),
    ),
    # One in ten within 2.5 to 5 s: the 95th percentile is 3.75 s, the 99th 4.75 s.
    _slow("MlflowLatencyP95", answers({"0.25": 9, "5.0": 10}, 10), answers({"0.25": 9, "2.5": 10}, 10)),
    # Three in a hundred within 5 to 7.5 s: the 99th percentile is 6.7 s.
    _slow("MlflowLatencyP99", answers({"0.25": 97, "7.5": 100}, 100), answers({"0.25": 97, "5.0": 100}, 100)),
    Scenario(
        alert="MlflowErrors",
        series=failures(98, 2),
        early=5,
        fires_at=20,
        resolved_at=71,
        labels={"job": "mlflow", "severity": "critical"},
        under=(failures(99, 1), failures(100, 0), failures(3, 1)),
    ),
)

BACKUPS = (
    Scenario(
        alert="BackupTooOld",
        # 26 hours are 1560 minutes after the backup of minute 1.
        series={BACKUP: hold((60, 1580), (94800, 40))},
        early=1571,
        fires_at=1572,
        resolved_at=1580,
        labels={"target": "postgres", "severity": "critical"},
        under=({BACKUP: hold((720, 1600))},),
    ),
    Scenario(
        alert="BackupMissing",
        series={BACKUP: [*["_"] * 30, *hold((1800, 60))]},
        early=9,
        fires_at=10,
        resolved_at=30,
        labels={"target": "postgres", "severity": "critical"},
        under=({BACKUP: [*["_"] * 9, *hold((540, 60))]},),
    ),
)
