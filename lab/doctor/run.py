"""All checks of one machine."""

from lab import pins
from lab.cluster import Network
from lab.doctor import kernel, network, programs, system
from lab.doctor.findings import Finding, worst_first
from lab.doctor.machine import Machine
from lab.errors import LabError
from lab.paths import Paths
from lab.toolchain.go import missing_tools


def run_checks(paths: Paths, online: bool, machine: Machine | None = None) -> list[Finding]:
    """Check the machine; nothing is changed.

    Args:
        paths: The lab's directories.
        online: Ask the package registries too, at most 20 s each.
        machine: The machine; this one by default.

    Returns:
        Findings, errors first.
    """
    here = machine or Machine()
    missing = _missing(paths)
    total = len(pins.load().tools)
    lab = Network()
    unpacked = max(paths.debian.glob("node-*"), key=lambda root: root.stat().st_mtime, default=None)
    findings = [
        system.check_root(here),
        system.check_system(here),
        system.check_memory(here),
        system.check_cores(here),
        *system.check_disk(here, paths, cold=missing is None or bool(missing)),
        *kernel.check_features(here),
        kernel.check_packet_filter(here, unpacked),
        kernel.check_cgroups(here),
        network.check_ranges(here, lab.ranges, lab.link),
        programs.check_programs(here),
        programs.check_go(here, programs.needed_go()),
        programs.check_python(),
        programs.check_tools(missing, total),
    ]
    if online:
        findings += network.check_registries(here)
    return worst_first(findings)


def _missing(paths: Paths) -> list[str] | None:
    try:
        return missing_tools(paths)
    except LabError:
        return None
