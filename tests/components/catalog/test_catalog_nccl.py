"""NCCL environment: whole results written by hand."""

import pytest

from components.catalog import FABRICS, GPUS, NCCL_SITES, NcclSoftware, nccl_environment

NO_LOCAL = "^docker,lo,veth"


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
    assert nccl_environment(GPUS["h100-80"], FABRICS["efa-v2"]) == {
        "FI_EFA_USE_HUGE_PAGE": "0",
        "NCCL_NVLS_ENABLE": "1",
        "NCCL_SOCKET_IFNAME": NO_LOCAL,
    }


BASE = {"FI_EFA_USE_HUGE_PAGE": "0", "NCCL_NVLS_ENABLE": "0", "NCCL_SOCKET_IFNAME": NO_LOCAL}
RDMA = {"FI_EFA_USE_DEVICE_RDMA": "1"}
SYNC = {"FI_EFA_SET_CUDA_SYNC_MEMOPS": "0"}


@pytest.mark.parametrize(
    ("software", "adds"),
    [
        (NcclSoftware(ofi_nccl="1.7.0"), {}),
        (NcclSoftware(ofi_nccl="1.6.9"), RDMA),
        (NcclSoftware(ofi_nccl="v1.6"), RDMA),
        (NcclSoftware(ofi_nccl="1.5.0"), {**RDMA, "FI_PROVIDER": "efa", "NCCL_PROTO": "simple"}),
        (NcclSoftware(efa_installer="1.29.1", nccl="2.19.4"), {}),
        (NcclSoftware(efa_installer="1.29.0", nccl="2.19.0"), SYNC),
        (NcclSoftware(efa_installer="1.29.0", nccl="2.18.6"), {}),
    ],
)
def test_efa_with_older_software(software: NcclSoftware, adds: dict[str, str]) -> None:
    assert nccl_environment(GPUS["a100-40"], FABRICS["efa-v1"], software) == {**BASE, **adds}


@pytest.mark.parametrize("gpu", ["a10g", "l4"])
def test_efa_on_gpus_without_nvlink_copies_by_the_gpu(gpu: str) -> None:
    found = nccl_environment(GPUS[gpu], FABRICS["efa-v1"])
    assert found == {**BASE, "NCCL_SHM_USE_CUDA_MEMCPY": "1"}


def test_software_matters_on_no_other_fabric() -> None:
    old = NcclSoftware(nccl="2.19.0", ofi_nccl="1.5.0", efa_installer="1.20.0")
    fabric = FABRICS["infiniband-ndr"]
    assert nccl_environment(GPUS["h200"], fabric, old) == nccl_environment(GPUS["h200"], fabric)


def test_roce_needs_the_sites_own_values() -> None:
    needs = "fabric 'roce-400' needs the site's own NCCL_IB_GID_INDEX, NCCL_IB_TC; known sites: oci"
    with pytest.raises(LookupError, match=needs):
        nccl_environment(GPUS["h100-80"], FABRICS["roce-400"])
    with pytest.raises(LookupError, match="needs the site's own NCCL_IB_TC; known"):
        nccl_environment(GPUS["h100-80"], FABRICS["roce-400"], site={"NCCL_IB_GID_INDEX": "3"})


def test_roce_at_a_known_site() -> None:
    assert nccl_environment(GPUS["h100-80"], FABRICS["roce-400"], site=NCCL_SITES["oci"].variables) == {
        "NCCL_COLLNET_ENABLE": "0",
        "NCCL_CUMEM_ENABLE": "0",
        "NCCL_IB_GID_INDEX": "3",
        "NCCL_IB_HCA": "mlx5",
        "NCCL_IB_QPS_PER_CONNECTION": "1",
        "NCCL_IB_SL": "0",
        "NCCL_IB_SPLIT_DATA_ON_QPS": "0",
        "NCCL_IB_TC": "41",
        "NCCL_IB_TIMEOUT": "22",
        "NCCL_IGNORE_CPU_AFFINITY": "1",
        "NCCL_NVLS_ENABLE": "1",
        "NCCL_SOCKET_IFNAME": NO_LOCAL,
    }


def test_the_sites_values_win() -> None:
    found = nccl_environment(GPUS["b200"], FABRICS["infiniband-ndr"], site={"NCCL_IB_HCA": "=mlx5_0"})
    assert found["NCCL_IB_HCA"] == "=mlx5_0"


def test_the_result_is_sorted_and_its_own() -> None:
    first = nccl_environment(GPUS["h100-80"], FABRICS["infiniband-ndr"])
    assert list(first) == sorted(first)
    first["NCCL_IB_HCA"] = "changed"
    assert nccl_environment(GPUS["h100-80"], FABRICS["infiniband-ndr"])["NCCL_IB_HCA"] == "mlx5"
