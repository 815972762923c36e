"""What an alert is tried with: series by hand, minute by minute, and what must fire when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from components.observability.rules import ExpectedPool, RuleSettings

Value = float | str
Series = Mapping[str, Sequence[Value]]
SETTINGS = RuleSettings(pools=(ExpectedPool(name="a100", nodes=1, gpus_per_node=2),), backups=("postgres",))


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One way to trip one alert, at production windows.

    Args:
        alert: Its name.
        series: What goes wrong, over a healthy node.
        early: Minute at which it must not fire yet.
        fires_at: Minute at which it must fire, alone.
        resolved_at: Minute at which nothing may fire any more.
        labels: Labels of the firing alert beside its name.
        under: Series just short of tripping it; nothing may fire at ``fires_at``.
    """

    alert: str
    series: Series
    early: int
    fires_at: int
    resolved_at: int
    labels: Mapping[str, str]
    under: tuple[Series, ...] = field(default_factory=tuple)


def hold(*steps: tuple[float, int]) -> list[Value]:
    """A gauge: each value for so many minutes."""
    return [value for value, minutes in steps for _ in range(minutes)]


def count(*steps: tuple[float, int]) -> list[Value]:
    """A counter from 0: each rise per minute for so many minutes."""
    values: list[Value] = [0]
    total = 0.0
    for rise, minutes in steps:
        for _ in range(minutes):
            total += rise
            values.append(total)
    return values


def jump(at: int, size: float, until: int) -> list[Value]:
    """A counter that stands at 0, rises once at the minute ``at``, and stands again."""
    return hold((0, at), (size, until - at))


def gone(value: float, since: int, back: int, until: int) -> list[Value]:
    """A series that ends at the minute ``since`` and is there again from ``back`` on."""
    return [*hold((value, since)), "stale", *["_"] * (back - since - 1), *hold((value, until - back))]


def gpu_labels(index: int) -> dict[str, str]:
    """Labels of a GPU of the healthy node."""
    return {
        "pool": "a100",
        "Hostname": "a100-0",
        "gpu": str(index),
        "UUID": f"GPU-{index}",
        "device": f"nvidia{index}",
        "modelName": "NVIDIA A100-SXM4-80GB",
    }


WORKLOAD = {"namespace": "jobs", "pod": "train-0", "container": "main"}


def named(metric: str, labels: Mapping[str, str]) -> str:
    """A series as promtool writes it."""
    matchers = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{metric}{{{matchers}}}"


def busy(metric: str, index: int) -> str:
    """A GPU's series while the training holds it."""
    return named(metric, {**gpu_labels(index), **WORKLOAD})


UTILISATION = tuple(busy("DCGM_FI_DEV_GPU_UTIL", index) for index in (0, 1))
EXPORTER_UP = named("up", {"job": "dcgm-exporter", "instance": "a100-0:9400"})
BACKUP = named("gpu_platform_backup_last_success_timestamp_seconds", {"target": "postgres"})


def healthy(minutes: int) -> Series:
    """One node with two busy GPUs, its exporter, and a backup every minute."""
    return {
        UTILISATION[0]: hold((95, minutes)),
        UTILISATION[1]: hold((95, minutes)),
        EXPORTER_UP: hold((1, minutes)),
        BACKUP: [60.0 * minute + 1 for minute in range(minutes)],
    }
