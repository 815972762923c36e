"""GPU nodes, however they come to be; all of them hand on a ``GpuPool``."""

from components.compute.simulated_gpu_pool import SimulatedGpuPool, SimulatedGpuPoolArgs

__all__ = ["SimulatedGpuPool", "SimulatedGpuPoolArgs"]
