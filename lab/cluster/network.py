"""The node's network namespace, its veth pair and the host's routes to pods and Services."""

import contextlib
import json
import os
from collections.abc import Sequence
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from lab.cluster.processes import in_namespace
from lab.cluster.records import Network
from lab.cluster.shell import run, succeeds
from lab.errors import LabError

NAMESPACES = Path("/run/netns")
WHERE = "network of the lab"


def overlapping_routes(routes: Sequence[dict[str, Any]], network: Network) -> list[str]:
    """Routes of the host that the lab's ranges would clash with, as ``destination dev interface``.

    Args:
        routes: What ``ip -json route`` prints.
        network: The lab's ranges; routes over its own link do not count.
    """
    clashes = []
    for route in routes:
        destination = str(route.get("dst", "default"))
        if destination == "default" or route.get("dev") == network.link:
            continue
        with contextlib.suppress(ValueError):
            if any(IPv4Network(destination).overlaps(ours) for ours in network.ranges):
                clashes.append(f"{destination} dev {route.get('dev', '?')}")
    return clashes


def check_routes(network: Network) -> None:
    """Refuse ranges the host already uses.

    Raises:
        LabError: A route of the host overlaps one of the lab's ranges.
    """
    routes = json.loads(run(["ip", "-json", "-4", "route", "show", "table", "all"], where=WHERE) or "[]")
    clashes = overlapping_routes(routes, network)
    if clashes:
        ranges = ", ".join(map(str, network.ranges))
        raise LabError(
            "the lab's address ranges are in use on this host",
            where=WHERE,
            why=f"the lab needs {ranges}; the host has routes {'; '.join(clashes)}",
            fix="remove those routes (ip route) or leave that network, then run the command again",
        )


def namespace_members(network: Network) -> list[int]:
    """Processes on the host that live in the lab's network namespace."""
    path = NAMESPACES / network.name
    if not path.exists():
        return []
    reference = f"net:[{os.stat(path).st_ino}]"
    return sorted(in_namespace("net", reference))


def create(network: Network) -> None:
    """Make namespace, veth pair, addresses and routes anew; earlier remains are removed first."""
    check_routes(network)
    remove(network)
    name = network.name
    node, host, length = network.node_address, network.host_address, network.prefix_length
    commands = [
        f"netns add {name}",
        f"link add {network.link} type veth peer name eth0 netns {name}",
        f"-n {name} link set lo up",
        f"-n {name} address add {node}/{length} dev eth0",
        f"-n {name} link set eth0 up",
        f"-n {name} route add default via {host}",
        f"address add {host}/{length} dev {network.link}",
        f"link set {network.link} up",
        f"route add {network.pods} via {node} dev {network.link}",
        f"route add {network.services} via {node} dev {network.link}",
    ]
    for command in commands:
        run(
            ["ip", *command.split()],
            where=WHERE,
            fix="make down, then make up; make doctor names what is missing",
        )


def exists(network: Network) -> bool:
    """Whether namespace, link and routes are all there."""
    wanted = {network.nodes, network.pods, network.services}
    routes = json.loads(run(["ip", "-json", "-4", "route"], where=WHERE) or "[]")
    ours = {str(route["dst"]) for route in routes if route.get("dev") == network.link}
    return (NAMESPACES / network.name).exists() and wanted <= ours


def repair_routes(network: Network) -> None:
    """Put back routes of a running lab that something removed from the host."""
    run(["ip", "link", "set", network.link, "up"], where=WHERE)
    for destination in (network.pods, network.services):
        run(
            ["ip", "route", "replace", destination, "via", network.node_address, "dev", network.link],
            where=WHERE,
        )


def remove(network: Network) -> None:
    """Remove link, routes and namespace, whatever of them is there."""
    # The routes go with the link, and the link with either of its ends.
    if Path(f"/sys/class/net/{network.link}").exists():
        succeeds(["ip", "link", "delete", network.link])
    path = NAMESPACES / network.name
    if path.exists():
        run(["ip", "netns", "delete", network.name], where=WHERE)
