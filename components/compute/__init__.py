"""GPU nodes, however they come to be; all of them hand on a ``GpuPool``."""

from components.compute.operation import Operation
from components.compute.simulated_gpu_pool import SimulatedGpuPool, SimulatedGpuPoolArgs

__all__ = ["Operation", "SimulatedGpuPool", "SimulatedGpuPoolArgs"]
