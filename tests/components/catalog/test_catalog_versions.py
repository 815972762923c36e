"""Versions that fit together, support that ends, and floors; written by hand from the makers' tables."""

import datetime

import pytest

from components.catalog import (
    CUDA_RELEASES,
    CUDNN_RELEASES,
    DRIVER_BRANCHES,
    GPUS,
    KUBERNETES_RELEASES,
    OPERATOR_RELEASES,
    PRODUCTS,
    SECURITY_FLOORS,
    Compatibility,
    Grade,
    cuda_compatibility,
    open_holes,
    version_findings,
)
from components.catalog.version_numbers import parse_version, within

TODAY = datetime.date(2026, 11, 30)
FULL, MINOR = Compatibility.FULL, Compatibility.MINOR_VERSION
UNSUPPORTED, UNKNOWN = Compatibility.UNSUPPORTED, Compatibility.UNKNOWN


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("580.65.06", (580, 65, 6)),
        ("v1.18.0", (1, 18)),
        ("v2.27.3-1", (2, 27, 3)),
        ("1.20", (1, 20)),
        (" 12 ", (12,)),
        ("4.6.0-4.8.3", (4, 6)),
    ],
)
def test_versions_are_read_part_by_part(text: str, parts: tuple[int, ...]) -> None:
    assert parse_version(text) == parts


@pytest.mark.parametrize("text", ["", "latest", "v", "-1.0"])
def test_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="accepted: dotted numbers"):
        parse_version(text)


def test_bounds_include_the_lower_and_exclude_the_upper() -> None:
    assert within("1.6", since="1.6.0", below="1.7")
    assert not within("1.7.0", since="1.6", below="1.7")
    assert within("1.10", since="1.9")
    assert within("3")


def test_driver_branches_are_exactly_these() -> None:
    assert [
        (row.key, row.kind.value, row.cuda_major, row.end_of_support) for row in DRIVER_BRANCHES.values()
    ] == [
        ("535", "long-term", 12, "2026-06-30"),
        ("580", "long-term", 13, "2028-06-30"),
        ("595", "production", 13, "2027-03-31"),
        ("610", "new-feature", 13, "2026-08-31"),
        ("620", "long-term", 13, "2029-09-30"),
    ]


def test_cuda_releases_are_exactly_these() -> None:
    assert {key: (row.driver, row.minor_driver) for key, row in CUDA_RELEASES.items()} == {
        "11.8": ("520.61.05", "450.80.02"),
        "12.0": ("525.60.13", "525.60.13"),
        "12.1": ("530.30.02", "525.60.13"),
        "12.2": ("535.54.03", "525.60.13"),
        "12.3": ("545.23.06", "525.60.13"),
        "12.4": ("550.54.14", "525.60.13"),
        "12.5": ("555.42.02", "525.60.13"),
        "12.6": ("560.28.03", "525.60.13"),
        "12.8": ("570.26", "525.60.13"),
        "12.9": ("575.51.03", "525.60.13"),
        "13.0": ("580.65.06", "580.65.06"),
        "13.1": ("590.44.01", "580.65.06"),
    }


def test_kubernetes_and_operator_releases_are_exactly_these() -> None:
    assert {key: row.end_of_support for key, row in KUBERNETES_RELEASES.items()} == {
        "1.34": "2026-10-27",
        "1.35": "2027-02-28",
        "1.36": "2027-06-28",
        "1.37": "2027-10-28",
    }
    assert {key: row.support.value for key, row in OPERATOR_RELEASES.items()} == {
        "25.10": "ended",
        "26.3": "deprecated",
        "26.7": "supported",
    }
    newest = OPERATOR_RELEASES["26.7"]
    assert newest.driver_branches == ("535", "580", "595", "610")
    assert (newest.toolkit, newest.kubernetes_min, newest.kubernetes_max) == ("1.20.0", "1.32", "1.36")


@pytest.mark.parametrize(
    ("driver", "cuda", "how"),
    [
        ("580.173.02", "13.0", FULL),
        ("580.65.06", "13.0", FULL),
        ("580.65.05", "13.0", UNSUPPORTED),
        ("580.173.02", "13.1", MINOR),  # came with 590
        ("595.91.07", "13.1", FULL),
        ("580.173.02", "12.8", FULL),  # newer driver, older CUDA
        ("535.309.01", "12.2", FULL),
        ("535.309.01", "12.8", MINOR),
        ("535.309.01", "12.8.1", MINOR),
        ("535.309.01", "13.0", UNSUPPORTED),
        ("525.60.13", "12.9", MINOR),
        ("525.60.12", "12.0", UNSUPPORTED),
        ("470.256.02", "11.8", MINOR),
        ("580.173.02", "13.5", MINOR),  # no row: proven is only that it runs
        ("580.173.02", "14.0", UNKNOWN),
        ("580.173.02", "10.2", UNKNOWN),
    ],
)
def test_cuda_on_a_driver(driver: str, cuda: str, how: Compatibility) -> None:
    assert cuda_compatibility(driver, cuda) is how
    assert how.legal is (how in {FULL, MINOR})


def _found(**versions: object) -> list[tuple[str, str]]:
    found = version_findings(**{"today": TODAY, **versions})  # type: ignore[arg-type]
    return [(one.grade.value, f"{one.subject}: {one.message}") for one in found]


def test_a_good_set_has_no_finding() -> None:
    assert not _found(
        driver="595.91.07",
        cuda="13.0",
        cudnn="9.17.0",
        gpu=GPUS["b200"],
        operator="26.7.0",
        kubernetes="1.36.4",
    )
    assert not _found()


def test_minor_version_compatibility_is_no_finding() -> None:
    assert not _found(driver="580.173.02", cuda="13.1")


@pytest.mark.parametrize(
    ("versions", "grade", "message"),
    [
        (
            {"driver": "535.309.01"},
            "warn",
            "driver 535.309.01: support ended on 2026-06-30; supported on 2026-11-30: 580, 595, 620",
        ),
        (
            {"driver": "570.172.08"},
            "unknown",
            "driver 570.172.08: not in the catalogue, so nothing is proven; known: 535, 580, 595, 610, 620",
        ),
        (
            {"driver": "580.65.05", "cuda": "13.0"},
            "refuse",
            "CUDA 13.0 on driver 580.65.05: the driver is too old; accepted: 580.65.06 or newer",
        ),
        (
            {"driver": "580.173.02", "cuda": "14.0"},
            "unknown",
            "CUDA 14.0 on driver 580.173.02: not in the catalogue",
        ),
        (
            {"cuda": "12.4", "gpu": GPUS["b200"]},
            "refuse",
            "CUDA 12.4 on b200: this CUDA does not support the GPU; accepted: 12.8 or newer",
        ),
        (
            {"cuda": "13.0", "gpu": GPUS["v100-32"]},
            "refuse",
            "CUDA 13.0 on v100-32: this CUDA does not support the GPU; accepted: 9.0 or newer, up to 12.x",
        ),
        (
            {"cuda": "13.0", "cudnn": "9.5.1"},
            "warn",
            "cuDNN 9.5.1 with CUDA 13.0: not a supported pair; accepted: CUDA 11.8, 12.0,",
        ),
        (
            {"cuda": "12.8", "cudnn": "9.99.0"},
            "unknown",
            "cuDNN 9.99.0 with CUDA 12.8: not in the catalogue, so nothing is proven; known: 9.5.1, 9.10.2,",
        ),
        (
            {"cuda": "12.6", "cudnn": "9.5.1", "gpu": GPUS["b300"]},
            "warn",
            "cuDNN 9.5.1 with CUDA 12.6: not listed for b300 (compute capability 10.3); listed: 7.0, 7.5,",
        ),
        (
            {"operator": "26.3.1"},
            "warn",
            "GPU Operator 26.3.1: support is deprecated since 2026-08-21 at the latest; supported: 26.7",
        ),
        ({"operator": "v24.9.0"}, "unknown", "GPU Operator v24.9.0: not in the catalogue"),
        (
            {"operator": "26.7.0", "driver": "620.10.01"},
            "warn",
            "not released with driver 620.10.01; accepted branches: 535, 580, 595, 610",
        ),
        (
            {"operator": "26.7.0", "kubernetes": "1.37.1"},
            "warn",
            "not validated with Kubernetes 1.37.1; accepted: 1.32 to 1.36",
        ),
        (
            {"kubernetes": "v1.34.4"},
            "warn",
            "Kubernetes v1.34.4: support ended on 2026-10-27; supported on 2026-11-30: 1.35, 1.36, 1.37",
        ),
        ({"kubernetes": "1.20.0"}, "unknown", "Kubernetes 1.20.0: not in the catalogue"),
    ],
)
def test_what_does_not_fit_is_told(versions: dict[str, object], grade: str, message: str) -> None:
    assert [(grade, True)] == [(found, message in text) for found, text in _found(**versions)][-1:]


def test_support_ends_after_its_last_day() -> None:
    last = datetime.date(2026, 10, 27)
    assert not version_findings(today=last, kubernetes="1.34.9")
    (found,) = version_findings(today=last + datetime.timedelta(days=1), kubernetes="1.34.9")
    assert found.grade is Grade.WARN


def test_cudnn_needs_its_driver() -> None:
    found = _found(driver="450.80.01", cuda="11.8", cudnn="9.5.1")
    assert found[-1] == (
        "refuse",
        "cuDNN 9.5.1 with CUDA 11.8: driver 450.80.01 is too old; accepted: 450.80.02 or newer",
    )
    assert [row.key for row in CUDNN_RELEASES.values()] == [
        "9.5.1-cuda11",
        "9.5.1-cuda12",
        "9.10.2-cuda11",
        "9.10.2-cuda12",
        "9.17.0-cuda12",
        "9.17.0-cuda13",
    ]


@pytest.mark.parametrize(
    ("product", "version", "holes"),
    [
        ("nvidia-container-toolkit", "1.16.1", ["CVE-2024-0132", "CVE-2025-23359", "CVE-2025-23266"]),
        ("nvidia-container-toolkit", "1.17.3", ["CVE-2025-23359", "CVE-2025-23266"]),
        ("nvidia-container-toolkit", "1.17.7", ["CVE-2025-23266"]),
        ("nvidia-container-toolkit", "v1.17.8", []),
        ("nvidia-container-toolkit", "1.20.0", []),
        ("gpu-operator", "v24.9.1", ["CVE-2025-23359-operator"]),
        ("gpu-operator", "v24.9.2", []),
        ("triton", "25.06", ["CVE-2025-23319"]),
        ("triton", "25.07", []),
        ("mlflow", "3.9.0", ["CVE-2026-2614", "CVE-2026-0545"]),
        ("mlflow", "3.10.1", ["CVE-2026-0545"]),
        ("mlflow", "3.17.2", []),
        ("munge", "0.5.17", ["CVE-2026-25506"]),
        ("munge", "0.5.18", []),
        ("redis", "6.2.19", ["CVE-2025-49844"]),
        ("redis", "6.2.20", []),
        ("redis", "7.2.10", ["CVE-2025-49844"]),
        ("redis", "7.4.6", []),
        ("redis", "8.0.3", ["CVE-2025-49844"]),
        ("redis", "7.0.15", ["CVE-2025-49844"]),  # its branch was never mended
        ("redis", "8.4.0", []),
        ("nginx", "1.0", []),
    ],
)
def test_holes_of_a_version(product: str, version: str, holes: list[str]) -> None:
    assert [one.key for one in open_holes(product, version)] == holes


def test_floors_say_what_is_accepted() -> None:
    assert PRODUCTS == ("gpu-operator", "mlflow", "munge", "nvidia-container-toolkit", "redis", "triton")
    assert SECURITY_FLOORS["CVE-2026-0545"].accepted == "newer than 3.10.1"
    assert SECURITY_FLOORS["CVE-2025-23266"].accepted == "1.17.8 and newer"
    for row in SECURITY_FLOORS.values():
        assert bool(row.fixed_in) != bool(row.affected_through), row.key
        assert list(row.fixed_in) == sorted(row.fixed_in, key=parse_version)
