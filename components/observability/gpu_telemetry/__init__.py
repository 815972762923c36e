"""LAB: GPU telemetry of simulated nodes, in the form of NVIDIA's dcgm-exporter.

The package runs in a pod on its own, from the standard library: its modules import each other relatively and
nothing else of the project. ``faults`` is also what the command that injects faults reads.
"""
