"""Quantities and type tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.kube import count, gibibytes, gigabytes
from components.kube.custom_object import type_token

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (count(0), "0"),
        (count(1024), "1024"),
        (count(2000), "2k"),
        (count(3_000_000), "3M"),
        (gibibytes(1), "1Gi"),
        (gibibytes(7372), "7372Gi"),
        (gibibytes(8192), "8Ti"),
        (gibibytes(1024**2), "1Pi"),
        (gigabytes(30720), "30720G"),
        (gigabytes(30000), "30T"),
    ],
)
def test_quantities_are_written_as_the_api_server_would(written: str, canonical: str) -> None:
    assert written == canonical


@given(st.integers(0, 10**18))
def test_no_amount_is_lost(amount: int) -> None:
    text = count(amount)
    number = text.rstrip("kMGTPE")
    assert int(number) * UNITS[text[len(number) :]] == amount


@pytest.mark.parametrize(
    ("api_version", "kind", "token"),
    [
        ("v1", "Node", "kubernetes:core/v1:Node"),
        ("kueue.x-k8s.io/v1beta2", "Topology", "kubernetes:kueue.x-k8s.io/v1beta2:Topology"),
    ],
)
def test_the_provider_knows_an_object_by_this_token(api_version: str, kind: str, token: str) -> None:
    assert type_token(api_version, kind) == token
