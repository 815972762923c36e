"""Kernel features, tried in throw-away namespaces that end with the trial."""

from collections.abc import Sequence
from pathlib import Path

from lab.cluster.cgroups import detect
from lab.doctor.findings import Finding, error, ok, warning
from lab.doctor.machine import Machine
from lab.errors import LabError
from lab.toolchain.debian import run_environment

_SECONDS = 10
_NETWORK = ("unshare", "--net")
_PACKET_FILTER_OPTIONS = ("CONFIG_NFT_NAT", "CONFIG_IP_NF_NAT")
_PACKET_FILTER_FIX = "use a kernel with CONFIG_NFT_NAT and CONFIG_NFT_COMPAT, or CONFIG_IP_NF_NAT"
_TRIALS: tuple[tuple[str, str, Sequence[str]], ...] = (
    (
        "namespaces",
        "CONFIG_NAMESPACES",
        ("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--mount-proc", "true"),
    ),
    (
        "veth",
        "CONFIG_VETH",
        (*_NETWORK, "ip", "link", "add", "trial0", "type", "veth", "peer", "name", "trial1"),
    ),
    ("bridge", "CONFIG_BRIDGE", (*_NETWORK, "ip", "link", "add", "trial0", "type", "bridge")),
    (
        "overlayfs",
        "CONFIG_OVERLAY_FS",
        (
            "unshare",
            "--mount",
            "sh",
            "-ec",
            "mount -t tmpfs trial /mnt; mkdir /mnt/l /mnt/u /mnt/w /mnt/m;"
            " mount -t overlay -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w trial /mnt/m",
        ),
    ),
)


def check_features(machine: Machine) -> list[Finding]:
    """Namespaces, veth, bridge and overlayfs; untried without root, whose absence is a finding of its own."""
    if machine.user_id != 0:
        return []
    return [_try(machine, name, option, argv) for name, option, argv in _TRIALS]


def _try(machine: Machine, name: str, option: str, argv: Sequence[str]) -> Finding:
    check = f"kernel.{name}"
    answer = machine.ask(argv, _SECONDS)
    if answer.code == 0:
        return ok(check, f"{name} works")
    return error(
        check,
        f"{name} does not work",
        cause=(answer.output.splitlines() or ["the trial failed without a word"])[-1],
        fix=f"use a kernel with {option}; in a container, run it privileged",
    )


def check_packet_filter(machine: Machine, unpacked: Path | None) -> Finding:
    """Address translation by iptables, over nf_tables or the older tables.

    Args:
        machine: The machine.
        unpacked: Root of the lab's Debian packages, whose iptables is tried; None before there is one.
    """
    check = "kernel.packet-filter"
    if unpacked is not None and machine.user_id == 0:
        variables = (f"{name}={value}" for name, value in run_environment(unpacked).items())
        trial = ("env", *variables, *_NETWORK, "iptables", "-t", "nat", "-L", "-n")
        answer = machine.ask(trial, _SECONDS)
        if answer.code == 0:
            return ok(check, "iptables translates addresses")
        cause = (answer.output.splitlines() or ["the trial failed without a word"])[-1]
        return error(check, "iptables can't translate addresses", cause=cause, fix=_PACKET_FILTER_FIX)
    if _translates(machine):
        return ok(check, "the kernel translates addresses")
    return warning(
        check,
        "address translation is not proven",
        cause="Services need iptables' nat table in the node's network namespace",
        fix=_PACKET_FILTER_FIX,
    )


def _translates(machine: Machine) -> bool:
    """What the kernel tells about itself: tables in use, loaded modules, its configuration."""
    tables = (machine.read("/proc/net/ip_tables_names") or "").split()
    modules = machine.read("/proc/modules") or ""
    if "nat" in tables or any(name in modules for name in ("nf_tables ", "iptable_nat ")):
        return True
    answer = machine.ask(("sh", "-c", "zcat /proc/config.gz || cat /boot/config-$(uname -r)"), _SECONDS)
    options = set(answer.output.splitlines())
    return any(f"{name}={state}" in options for name in _PACKET_FILTER_OPTIONS for state in "ym")


def check_cgroups(machine: Machine) -> Finding:
    """Version 1 is what the lab is run on; version 2 is handled but not run here."""
    try:
        layout = detect(machine.root)
    except (LabError, OSError) as problem:
        return error(
            "kernel.cgroups",
            "cgroup controllers are missing",
            cause=problem.why if isinstance(problem, LabError) else str(problem),
            fix="mount the cgroup controllers below /sys/fs/cgroup; in a container, run it privileged",
        )
    if layout.version == 1:
        return ok("kernel.cgroups", "cgroup version 1 with all needed controllers")
    return warning(
        "kernel.cgroups",
        "cgroup version 2 is untested",
        cause="the lab handles it, but was run on version 1 only",
        fix="go on and report what differs, or boot with systemd.unified_cgroup_hierarchy=0",
    )
