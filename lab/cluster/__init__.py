"""The lab's one-node Kubernetes cluster, in namespaces of its own: the host's rules and settings stay."""

from lab.cluster.health import status
from lab.cluster.images import load_images
from lab.cluster.lifecycle import down, up
from lab.cluster.records import ComponentStatus, Network, Programs

__all__ = ["ComponentStatus", "Network", "Programs", "down", "load_images", "status", "up"]
