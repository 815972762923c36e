"""Address ranges the lab takes on the host, and the registries its parts come from."""

import re
import sys
from collections.abc import Iterable
from ipaddress import IPv4Network

from lab.doctor.findings import Finding, error, ok, warning
from lab.doctor.machine import Machine

ONLINE_SECONDS = 20
_FIRST_RELEASE_FILE = (
    "address=$(apt-get --print-uris update | sed -n \"1s/^'\\([^']*\\)'.*/\\1/p\");"
    " file=$(mktemp); trap 'rm -f \"$file\"' EXIT;"
    ' /usr/lib/apt/apt-helper -o Acquire::Retries=0 download-file "$address" "$file"'
)
# Small packages, asked for by the ordinary clients under the machine's own configuration.
_REGISTRIES = (
    ("go", ("go", "list", "-m", "-versions", "golang.org/x/text"), "`go env GOPROXY`"),
    (
        "python",
        (sys.executable, "-m", "pip", "index", "versions", "six", "--retries", "0", "--timeout", "10"),
        "`pip config list`",
    ),
    (
        "debian",
        ("sh", "-ec", _FIRST_RELEASE_FILE),
        "/etc/apt",
    ),
)


def check_ranges(machine: Machine, ranges: Iterable[IPv4Network], own_link: str) -> Finding:
    """No route of the host may lead into the lab's ranges, except the lab's own.

    Args:
        machine: The machine.
        ranges: What the lab takes.
        own_link: Interface of the lab on the host; its routes are expected.
    """
    taken = [
        f"{network} by {link}"
        for link, network in routes(machine.read("/proc/net/route") or "")
        if link != own_link and network.prefixlen and any(network.overlaps(own) for own in ranges)
    ]
    wanted = ", ".join(str(network) for network in ranges)
    if not taken:
        return ok("network.ranges", f"{wanted} are free")
    return error(
        "network.ranges",
        f"taken on this host: {', '.join(taken)}",
        cause=f"the lab uses {wanted} for its node, pods and Services",
        fix="remove that route or interface (`ip route`), e.g. stop the VPN or bridge that owns it",
    )


def routes(table: str) -> list[tuple[str, IPv4Network]]:
    """Interface and destination of each row of ``/proc/net/route``, which writes addresses low byte first."""
    found = []
    for row in table.splitlines()[1:]:
        link, destination, *rest = row.split()
        address, mask = (int.from_bytes(bytes.fromhex(text), "little") for text in (destination, rest[5]))
        found.append((link, IPv4Network((address, mask.bit_count()))))
    return found


def check_registries(machine: Machine) -> list[Finding]:
    """Ask each registry one small question; a slow answer is a warning."""
    return [_registry(machine, name, argv, setting) for name, argv, setting in _REGISTRIES]


def _registry(machine: Machine, name: str, argv: tuple[str, ...], setting: str) -> Finding:
    check = f"registry.{name}"
    answer = machine.ask(argv, ONLINE_SECONDS)
    if answer.code == 0 and not re.search(r"^(Err|E|W):", answer.output, re.MULTILINE):
        return ok(check, f"the {name} registry answers")
    cause = (answer.output.splitlines() or ["no answer"])[-1]
    fix = f"check the network and {setting}; parts that are already in the cache need no registry"
    finding = warning if answer.timed_out else error
    return finding(check, f"the {name} registry does not answer", cause=cause, fix=fix)
