"""NCCL environment: whole results written by hand."""

import pytest

from components.catalog import FABRICS, GPUS, Fabric, FabricKind, nccl_environment

NO_LOCAL = "^docker,lo,veth"


def _fabric(kind: FabricKind) -> Fabric:
    return Fabric(
        key="x", kind=kind, port_gbit_per_second=400, source="https://example.com", date="2026-01-01"
    )


@pytest.mark.parametrize(("gpu", "nvls"), [("a100-80", "0"), ("h100-80", "1")])
@pytest.mark.parametrize("fabric", ["infiniband-hdr", "infiniband-ndr"])
def test_infiniband(gpu: str, nvls: str, fabric: str) -> None:
    assert nccl_environment(GPUS[gpu], FABRICS[fabric]) == {
        "NCCL_COLLNET_ENABLE": "0",
        "NCCL_IB_HCA": "mlx5",
        "NCCL_NVLS_ENABLE": nvls,
        "NCCL_SOCKET_IFNAME": NO_LOCAL,
    }


@pytest.mark.parametrize(("gpu", "nvls"), [("a100-80", "0"), ("h100-80", "1")])
def test_ethernet(gpu: str, nvls: str) -> None:
    assert nccl_environment(GPUS[gpu], FABRICS["ethernet-100"]) == {
        "NCCL_IB_DISABLE": "1",
        "NCCL_NVLS_ENABLE": nvls,
        "NCCL_SOCKET_IFNAME": NO_LOCAL,
    }


def test_efa_leaves_tuning_to_its_plugin() -> None:
    assert nccl_environment(GPUS["h100-80"], _fabric(FabricKind.EFA)) == {
        "FI_EFA_USE_HUGE_PAGE": "0",
        "NCCL_NVLS_ENABLE": "1",
        "NCCL_SOCKET_IFNAME": NO_LOCAL,
    }


def test_roce_is_refused_as_its_values_are_the_sites_own() -> None:
    with pytest.raises(
        LookupError, match="no NCCL values for fabric kind 'roce'; known: infiniband, efa, ethernet"
    ):
        nccl_environment(GPUS["h100-80"], _fabric(FabricKind.ROCE))


def test_the_result_is_sorted_and_its_own() -> None:
    first = nccl_environment(GPUS["h100-80"], FABRICS["infiniband-ndr"])
    assert list(first) == sorted(first)
    first["NCCL_IB_HCA"] = "changed"
    assert nccl_environment(GPUS["h100-80"], FABRICS["infiniband-ndr"])["NCCL_IB_HCA"] == "mlx5"
