"""Hardware truth as pure data: each row carries its source and date. Creates nothing, reads nothing."""

from components.catalog.fabrics import FABRICS, Fabric, FabricKind
from components.catalog.gpus import GPUS, Gpu
from components.catalog.nccl import NCCL_ROWS, NcclRow, nccl_environment
from components.catalog.servers import SERVERS, Server
from components.catalog.table import Table, UnknownKeyError, nearest

__all__ = [
    "FABRICS",
    "GPUS",
    "NCCL_ROWS",
    "SERVERS",
    "Fabric",
    "FabricKind",
    "Gpu",
    "NcclRow",
    "Server",
    "Table",
    "UnknownKeyError",
    "nccl_environment",
    "nearest",
]
