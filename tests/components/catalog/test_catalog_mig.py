"""MIG: profiles, counts and mixes written by hand from NVIDIA's guide and the MIG manager's configuration."""

from itertools import product

import pytest

from components.catalog import GPUS, MIG_GPUS, MigGpu, UnknownKeyError, full_layouts, mig_problem

SEVEN = {
    "a100-40": ("1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    "a100-80": ("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "h100-80": ("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "h200": ("1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    "b200": ("1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    "b300": ("1g.34gb", "1g.34gb+me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"),
}


@pytest.mark.parametrize("gpu", SEVEN)
def test_profiles_and_their_greatest_counts(gpu: str) -> None:
    assert MIG_GPUS[gpu].max_counts == dict(zip(SEVEN[gpu], (7, 1, 4, 3, 2, 1, 1), strict=True))


def test_gpus_with_mig_are_exactly_these() -> None:
    assert list(MIG_GPUS) == [*SEVEN, "rtx-pro-6000"]
    assert MIG_GPUS["rtx-pro-6000"].max_counts == {"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1}
    assert set(MIG_GPUS) <= set(GPUS)


# Layouts the MIG manager ships, and what its users asked for that no GPU can do.
@pytest.mark.parametrize(
    ("gpu", "counts"),
    [
        ("a100-40", {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}),
        ("a100-80", {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}),
        ("h100-80", {"3g.40gb": 1, "4g.40gb": 1}),
        ("h100-80", {"1g.10gb": 3, "4g.40gb": 1}),
        ("h100-80", {"1g.10gb": 6, "1g.10gb+me": 1}),
        ("h200", {"1g.18gb": 2, "2g.35gb": 1, "3g.71gb": 1}),
        ("b200", {"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1}),
        ("b300", {"1g.34gb": 2, "2g.67gb": 1, "3g.135gb": 1}),
        ("h100-80", {"1g.10gb": 1}),
        ("h100-80", {"1g.10gb": 1, "2g.20gb": 0}),
        ("rtx-pro-6000", {"1g.24gb": 2, "2g.48gb": 1}),
    ],
)
def test_legal(gpu: str, counts: dict[str, int]) -> None:
    assert mig_problem(gpu, counts) is None


@pytest.mark.parametrize(
    ("gpu", "counts", "problem"),
    [
        ("h100-80", {"7g.80gb": 2}, "2 x 7g.80gb on one h100-80; accepted: 0 to 1"),
        ("h100-80", {"1g.10gb": 8}, "8 x 1g.10gb on one h100-80; accepted: 0 to 7"),
        ("h100-80", {"1g.10gb": -1}, "-1 x 1g.10gb on one h100-80; accepted: 0 to 7"),
        (
            "h100-80",
            {"3g.40gb": 2, "1g.10gb": 1},
            "2 x 3g.40gb + 1 x 1g.10gb do not fit on one h100-80 together",
        ),
        ("h100-80", {"4g.40gb": 1, "2g.20gb": 2}, "1 x 4g.40gb + 2 x 2g.20gb do not fit"),
        ("h100-80", {"7g.80gb": 1, "1g.10gb": 1}, "do not fit"),
        ("h100-80", {"1g.10gb": 7, "1g.10gb+me": 1}, "do not fit"),
        (
            "h100-80",
            {"1g.5gb": 1},
            "h100-80 has no profile '1g.5gb'; did you mean '1g.20gb'? accepted: 1g.10gb,",
        ),
        ("h100-80", {}, "no instance on h100-80; accepted: at least one, or MIG off"),
        ("l4", {"1g.6gb": 1}, "l4 cannot be partitioned; accepted: a100-40,"),
        ("rtx-pro-6000", {"1g.24gb": 3, "2g.48gb": 1}, "do not fit"),
    ],
)
def test_illegal(gpu: str, counts: dict[str, int], problem: str) -> None:
    found = mig_problem(gpu, counts)
    assert found is not None
    assert problem in found


def test_full_layouts_of_a_small_gpu_are_exactly_these() -> None:
    assert [dict(one) for one in full_layouts("rtx-pro-6000")] == [
        {"1g.24gb": 4},
        {"1g.24gb": 2, "2g.48gb": 1},
        {"2g.48gb": 2},
        {"4g.96gb": 1},
    ]


def test_full_layouts_of_a_seven_slice_gpu_hold_those_of_the_guide() -> None:
    found = [dict(one) for one in full_layouts("a100-40")]
    for one in (
        {"7g.40gb": 1},
        {"3g.20gb": 1, "4g.20gb": 1},
        {"3g.20gb": 2},
        {"1g.5gb": 1, "2g.10gb": 1, "4g.20gb": 1},
        {"1g.5gb": 3, "4g.20gb": 1},
        {"1g.5gb": 1, "2g.10gb": 3},
        {"1g.5gb": 7},
        {"1g.10gb": 4},
    ):
        assert one in found, one
    assert {"1g.5gb": 6} not in found
    with pytest.raises(UnknownKeyError, match="unknown GPU with MIG 'l4'"):
        full_layouts("l4")


def _placeable(row: MigGpu) -> set[tuple[int, ...]]:
    """Counts of every set of placements without overlap, found by adding one placement after the other."""
    places = [
        (index, sum(1 << bit for bit in range(start, start + profile.slices)))
        for index, profile in enumerate(row.profiles)
        for start in profile.starts
    ]
    reached = {((0,) * len(row.profiles), 0)}
    for index, mask in places:
        reached |= {
            (tuple(count + (index == at) for at, count in enumerate(counts)), used | mask)
            for counts, used in reached
            if not used & mask
        }
    media = [index for index, profile in enumerate(row.profiles) if profile.media]
    return {counts for counts, _ in reached if any(counts) and sum(counts[at] for at in media) <= 1}


@pytest.mark.parametrize("row", MIG_GPUS.values(), ids=lambda row: row.key)
def test_legal_is_exactly_what_can_be_placed(row: MigGpu) -> None:
    placeable = _placeable(row)
    for counts in product(*(range(most + 1) for most in row.max_counts.values())):
        if any(counts):
            wanted = dict(zip(row.max_counts, counts, strict=True))
            assert (mig_problem(row.key, wanted) is None) is (counts in placeable), wanted


@pytest.mark.parametrize("row", MIG_GPUS.values(), ids=lambda row: row.key)
def test_no_instance_has_more_than_its_share(row: MigGpu) -> None:
    whole = row.profiles[-1]
    for profile in row.profiles:
        assert all(start + profile.slices <= whole.slices for start in profile.starts)
        assert profile.max_count * profile.compute_slices <= whole.compute_slices
        assert mig_problem(row.key, {profile.name: profile.max_count}) is None
        assert profile.memory_gb <= GPUS[row.key].memory_gb
