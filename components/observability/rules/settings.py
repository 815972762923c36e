"""Windows and thresholds of the rules: production by default, shorter windows for the lab."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

from components.contracts import GpuPool
from components.core.errors import Problem, raise_problems

_FEWEST_SAMPLES = 4
"""Samples a window must hold at the least, so that one lost scrape leaves two to compare."""


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Over how long something is measured and how long it must last.

    Args:
        window_seconds: Range of the measurement, seconds; 0 where the moment is judged.
        for_seconds: How long the finding must hold before the alert fires, seconds.
    """

    window_seconds: int
    for_seconds: int


@dataclass(frozen=True, kw_only=True)
class Windows:
    """One watch per kind of finding; the defaults are the production ones.

    ``violation`` follows the published OCI GPU rules (20 % of 5 min, for 15 min); ``xid`` is at least the
    5 min over which dcgm-exporter counts. The others are planning figures: long enough that a checkpoint, an
    epoch's end or one lost scrape alarms nobody, short enough to save most of a lost night.
    """

    utilisation: Watch = Watch(window_seconds=1800, for_seconds=900)
    memory_copy: Watch = Watch(window_seconds=1800, for_seconds=900)
    nvlink_errors: Watch = Watch(window_seconds=900, for_seconds=0)
    nvlink_bandwidth: Watch = Watch(window_seconds=900, for_seconds=900)
    violation: Watch = Watch(window_seconds=300, for_seconds=900)
    ecc_uncorrectable: Watch = Watch(window_seconds=900, for_seconds=0)
    ecc_correctable: Watch = Watch(window_seconds=3600, for_seconds=0)
    row_remap: Watch = Watch(window_seconds=3600, for_seconds=0)
    xid: Watch = Watch(window_seconds=600, for_seconds=0)
    gpu_missing: Watch = Watch(window_seconds=0, for_seconds=300)
    pool_incomplete: Watch = Watch(window_seconds=0, for_seconds=900)
    target_down: Watch = Watch(window_seconds=0, for_seconds=300)
    queue_wait: Watch = Watch(window_seconds=3600, for_seconds=600)
    queue_stuck: Watch = Watch(window_seconds=0, for_seconds=900)
    queue_no_admission: Watch = Watch(window_seconds=3600, for_seconds=10800)
    disk: Watch = Watch(window_seconds=0, for_seconds=600)
    volume: Watch = Watch(window_seconds=0, for_seconds=600)
    volume_trend: Watch = Watch(window_seconds=21600, for_seconds=3600)
    latency: Watch = Watch(window_seconds=600, for_seconds=600)
    errors: Watch = Watch(window_seconds=600, for_seconds=300)
    backup: Watch = Watch(window_seconds=0, for_seconds=600)

    def items(self) -> Iterator[tuple[str, Watch]]:
        """Every watch with its name."""
        for entry in fields(self):
            yield entry.name, getattr(self, entry.name)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Thresholds; the same in production and in the lab.

    Args:
        utilisation_percent: Least mean utilisation of allocated GPUs of a pool.
        memory_copy_percent: Memory-copy utilisation above which a GPU that is not busy computing is reported.
        nvlink_errors: NVLink CRC errors and replays of one GPU within the window.
        nvlink_share: Least share of the mean NVLink throughput of the same pod's GPUs on the node.
        nvlink_floor_mb_per_second: Mean throughput, MB/s, below which shares mean nothing.
        violation_share: Share of time clocks may be held down by power or temperature.
        ecc_correctable: Corrected single-bit errors of one GPU within the window.
        queue_wait_quantile: Quantile of the admission wait that is judged.
        queue_wait_seconds: Longest such wait, seconds.
        disk_free_share: Least free share of a node's file system.
        volume_free_share: Least free share of a claim.
        volume_trend_free_share: Free share above which no trend is reported.
        volume_horizon_seconds: How far ahead the trend looks, seconds.
        latency_p50_seconds: Longest median answer of MLflow, seconds.
        latency_p95_seconds: Longest 95th percentile, seconds.
        latency_p99_seconds: Longest 99th percentile, seconds.
        error_share: Largest share of MLflow's answers with a status of 500 or more.
        fewest_requests: Requests within the window below which latency and error share are not judged.
        backup_age_seconds: Oldest last successful backup, seconds.
    """

    utilisation_percent: float = 85
    memory_copy_percent: float = 80
    nvlink_errors: int = 100
    nvlink_share: float = 0.5
    nvlink_floor_mb_per_second: int = 1000
    violation_share: float = 0.2
    ecc_correctable: int = 1000
    queue_wait_quantile: float = 0.95
    queue_wait_seconds: int = 3600
    disk_free_share: float = 0.1
    volume_free_share: float = 0.1
    volume_trend_free_share: float = 0.4
    volume_horizon_seconds: int = 345600
    latency_p50_seconds: float = 0.5
    latency_p95_seconds: float = 2
    latency_p99_seconds: float = 5
    error_share: float = 0.01
    fewest_requests: int = 50
    backup_age_seconds: int = 93600


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """Regular expressions of the scrape jobs' names (label ``job``).

    Args:
        gpus: The exporter of GPU telemetry; the GPU Operator names it ``nvidia-dcgm-exporter``.
        tracking: MLflow.
    """

    gpus: str = "(nvidia-)?dcgm-exporter"
    tracking: str = "mlflow"


@dataclass(frozen=True, kw_only=True)
class ExpectedPool:
    """What a pool must show in telemetry: at least ``nodes`` nodes of ``gpus_per_node`` GPUs."""

    name: str
    nodes: int
    gpus_per_node: int

    @staticmethod
    def of(pool: GpuPool) -> "ExpectedPool":
        """The expectation of a pool that was made; a pool that may shrink is held to its smallest size."""
        return ExpectedPool(name=pool.name, nodes=pool.min_nodes, gpus_per_node=pool.gpus_per_node)


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """Everything the rules depend on.

    Args:
        pools: GPU pools whose nodes and GPUs are counted.
        backups: Names (label ``target``) of the data that must be backed up; none where nothing is.
        windows: Measurement windows.
        limits: Thresholds.
        jobs: Names of scrape jobs.
        scrape_interval_seconds: Longest interval between two scrapes of a target, seconds.
        runbook_base: Put before a runbook's file name in ``runbook_url``: an address, or the path in the
            project.

    Raises:
        ArgsError: A window holds fewer than four scrapes, or two pools share a name.
    """

    pools: tuple[ExpectedPool, ...] = ()
    backups: tuple[str, ...] = ()
    windows: Windows = field(default_factory=Windows)
    limits: Limits = field(default_factory=Limits)
    jobs: Jobs = field(default_factory=Jobs)
    scrape_interval_seconds: int = 30
    runbook_base: str = "docs/runbooks"

    def __post_init__(self) -> None:
        least = _FEWEST_SAMPLES * self.scrape_interval_seconds
        problems = [
            Problem(
                path=f"windows.{name}.window_seconds",
                value=str(watch.window_seconds),
                accepted=f"{least} or more, four scrapes of {self.scrape_interval_seconds} s",
                fix="lengthen the window, or scrape more often",
            )
            for name, watch in self.windows.items()
            if 0 < watch.window_seconds < least
        ]
        names = [pool.name for pool in self.pools]
        if len(set(names)) < len(names):
            problems.append(
                Problem(path="pools", value=repr(names), accepted="distinct names", fix="rename a pool")
            )
        raise_problems("monitoring rules", problems)


_LAB_LONGEST_SECONDS = 120
_LAB_SCRAPE_SECONDS = 15


def shortened(settings: RuleSettings, *, scrape_interval_seconds: int = _LAB_SCRAPE_SECONDS) -> RuleSettings:
    """The same rules with windows a test can wait for: two minutes at most, then two scrapes at most.

    Thresholds stay; only ``fewest_requests`` shrinks with the window. The windows of ``volume_trend`` and
    ``queue_no_admission`` shrink too, so their alerts mean little outside a test.
    """
    windows = {
        name: Watch(
            window_seconds=min(watch.window_seconds, _LAB_LONGEST_SECONDS),
            for_seconds=min(watch.for_seconds, 2 * scrape_interval_seconds),
        )
        for name, watch in settings.windows.items()
    }
    return replace(
        settings,
        windows=Windows(**windows),
        limits=replace(settings.limits, fewest_requests=min(settings.limits.fewest_requests, 10)),
        scrape_interval_seconds=scrape_interval_seconds,
    )
