"""Ranges that clash with the host's are found; the lab's own routes are no clash."""

import pytest

from lab.cluster.network import overlapping_routes
from lab.cluster.records import Network

NETWORK = Network()


@pytest.mark.parametrize("destination", ["10.232.5.0/24", "10.0.0.0/8", "10.233.0.10", "10.231.0.0/24"])
def test_overlaps_are_told_with_their_interface(destination: str) -> None:
    routes = [{"dst": "default", "dev": "eth0"}, {"dst": destination, "dev": "tun0"}]
    assert overlapping_routes(routes, NETWORK) == [f"{destination} dev tun0"]


@pytest.mark.parametrize(
    "route",
    [
        {"dst": "default", "dev": "eth0"},
        {"dst": "192.0.2.0/24", "dev": "eth0"},
        {"dst": "10.232.0.0/16", "dev": NETWORK.link},
        {"type": "local", "dst": "127.0.0.0/8", "dev": "lo"},
        {"dst": "fe80::/64", "dev": "eth0"},
    ],
)
def test_other_routes_are_no_clash(route: dict[str, str]) -> None:
    assert overlapping_routes([route], NETWORK) == []
