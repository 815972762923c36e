"""MIG: how GPUs that can be partitioned may be cut.

A GPU has memory slices in a row. Each profile takes a run of them and may begin only at given places; a
layout is legal when all its profiles fit without overlap. So it is the mix that decides: two ``3g`` and one
``1g`` never fit, although each count is within its own maximum.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from components.catalog.table import Table, nearest


@dataclass(frozen=True, kw_only=True)
class MigProfile:
    """One way to cut an instance out of a GPU.

    Args:
        name: As ``nvidia-smi`` and the MIG manager write it, e.g. ``3g.40gb``.
        max_count: Instances of it on one GPU with nothing else on it.
        compute_slices: Compute slices of one instance.
        memory_gb: Memory of one instance as the name says, GB.
        slices: Memory slices it takes.
        starts: Memory slices it may begin at.
        media: Has the media engines, which one instance at most can have.
    """

    name: str
    max_count: int
    compute_slices: int
    memory_gb: int
    slices: int
    starts: tuple[int, ...]
    media: bool = False


@dataclass(frozen=True, kw_only=True)
class MigGpu:
    """The profiles of one GPU.

    Args:
        key: Catalogue key of the GPU.
        profiles: Its profiles, smallest first.
        source: Public address of the figures.
        date: Day they were published or read, ISO 8601.
    """

    key: str
    profiles: tuple[MigProfile, ...]
    source: str
    date: str

    @property
    def max_counts(self) -> dict[str, int]:
        """How many instances of each profile fit alone."""
        return {profile.name: profile.max_count for profile in self.profiles}


_GUIDE = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html"
_PARTED = (
    "second source: https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml"
)


def _seven(key: str, one: int, two: int, three: int, seven: int) -> MigGpu:
    """GPUs with eight memory and seven compute slices; the numbers are the profiles' memory, GB."""
    rows = (
        (f"1g.{one}gb", 7, 1, one, 1, (0, 1, 2, 3, 4, 5, 6), False),
        (f"1g.{one}gb+me", 1, 1, one, 1, (0, 1, 2, 3, 4, 5, 6), True),
        (f"1g.{two}gb", 4, 1, two, 2, (0, 2, 4, 6), False),
        (f"2g.{two}gb", 3, 2, two, 2, (0, 2, 4), False),
        (f"3g.{three}gb", 2, 3, three, 4, (0, 4), False),
        (f"4g.{three}gb", 1, 4, three, 4, (0,), False),
        (f"7g.{seven}gb", 1, 7, seven, 8, (0,), False),
    )
    return _gpu(key, rows)


def _gpu(key: str, rows: Iterable[tuple[str, int, int, int, int, tuple[int, ...], bool]]) -> MigGpu:
    profiles = tuple(
        MigProfile(
            name=name,
            max_count=most,
            compute_slices=compute,
            memory_gb=memory_gb,
            slices=slices,
            starts=starts,
            media=media,
        )
        for name, most, compute, memory_gb, slices, starts, media in rows
    )
    return MigGpu(key=key, profiles=profiles, source=f"{_GUIDE}; {_PARTED}", date="2026-11-30")


MIG_GPUS: Table[MigGpu] = Table(
    "GPU with MIG",
    (
        _seven("a100-40", 5, 10, 20, 40),
        _seven("a100-80", 10, 20, 40, 80),
        _seven("h100-80", 10, 20, 40, 80),
        _seven("h200", 18, 35, 71, 141),
        _seven("b200", 23, 45, 90, 180),
        _seven("b300", 34, 67, 135, 269),
        # Plain profiles only: those with graphics or without media engines cut it the same way.
        _gpu(
            "rtx-pro-6000",
            (
                ("1g.24gb", 4, 1, 24, 1, (0, 1, 2, 3), False),
                ("2g.48gb", 2, 2, 48, 2, (0, 2), False),
                ("4g.96gb", 1, 4, 96, 4, (0,), False),
            ),
        ),
    ),
)


def mig_problem(gpu: str, counts: Mapping[str, int]) -> str | None:
    """What is wrong with a layout of one GPU, or None when it is legal.

    Args:
        gpu: Catalogue key of the GPU.
        counts: Instances per profile name.
    """
    row = MIG_GPUS.get(gpu)
    if row is None:
        return f"{gpu} cannot be partitioned; accepted: {', '.join(MIG_GPUS)}"
    for name, count in counts.items():
        if name not in row.max_counts:
            near = nearest(name, row.max_counts)
            hint = f"did you mean {near!r}? " if near else ""
            return f"{gpu} has no profile {name!r}; {hint}accepted: {', '.join(row.max_counts)}"
        if not 0 <= count <= row.max_counts[name]:
            return f"{count} x {name} on one {gpu}; accepted: 0 to {row.max_counts[name]}"
    if not any(counts.values()):
        return f"no instance on {gpu}; accepted: at least one, or MIG off"
    if not any(_part_of(counts, full) for full in _full_layouts(row)):
        mix = " + ".join(f"{count} x {name}" for name, count in counts.items() if count)
        return f"{mix} do not fit on one {gpu} together; accepted: part of one of its full layouts"
    return None


def full_layouts(gpu: str) -> tuple[Mapping[str, int], ...]:
    """Every legal layout of a GPU to which nothing can be added, as counts per profile name.

    A layout is legal exactly when it is part of one of these.

    Args:
        gpu: Catalogue key of the GPU.

    Raises:
        UnknownKeyError: The GPU has no MIG.
    """
    return _full_layouts(MIG_GPUS[gpu])


@cache
def _full_layouts(row: MigGpu) -> tuple[Mapping[str, int], ...]:
    found = {tuple(sorted(layout)) for layout in _placements(row, 0, frozenset())}
    counted = [{name: layout.count(name) for name in row.max_counts if name in layout} for layout in found]
    full = [one for one in counted if not any(_part_of(one, other) for other in counted if other != one)]
    return tuple(sorted(full, key=lambda one: [-one.get(name, 0) for name in row.max_counts]))


def _part_of(part: Mapping[str, int], whole: Mapping[str, int]) -> bool:
    return all(count <= whole.get(name, 0) for name, count in part.items())


def _placements(row: MigGpu, at: int, media: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Names of every way to fill the memory slices from ``at`` on, gaps included."""
    last = max(start for profile in row.profiles for start in profile.starts)
    if at > last:
        yield ()
        return
    yield from _placements(row, at + 1, media)
    for profile in row.profiles:
        if at in profile.starts and not (profile.media and media):
            taken = media | {profile.name} if profile.media else media
            for rest in _placements(row, at + profile.slices, taken):
                yield (profile.name, *rest)
