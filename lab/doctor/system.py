"""User, operating system, memory, disk."""

from lab.doctor.findings import Finding, error, ok, warning
from lab.doctor.machine import Machine
from lab.paths import Paths

_GIB = 2**30
# Measured on Debian 12, x86_64: docs/performance.md.
COLD_CACHE_GIB = 20
WARM_CACHE_GIB = 5
STATE_GIB = 8
MEMORY_GIB = 8
CORES = 2


def check_root(machine: Machine) -> Finding:
    """The lab makes namespaces, mounts and routes."""
    if machine.user_id == 0:
        return ok("root", "running as root")
    return error(
        "root",
        f"running as user {machine.user_id}",
        cause="the lab makes network namespaces, mounts and routes",
        fix="run the command as root, e.g. `sudo -E make up`",
    )


def check_system(machine: Machine) -> Finding:
    """Debian 12 on x86_64 is what the lab is tested on."""
    release = dict(
        line.split("=", 1) for line in (machine.read("/etc/os-release") or "").splitlines() if "=" in line
    )
    values = {name: value.strip('"') for name, value in release.items()}
    name = values.get("PRETTY_NAME") or f"{values.get('ID', 'unknown system')} {values.get('VERSION_ID', '')}"
    found = f"{name.strip()}, {machine.architecture}"
    if (values.get("ID"), values.get("VERSION_ID"), machine.architecture) == ("debian", "12", "x86_64"):
        return ok("system", found)
    return warning(
        "system",
        f"{found} is untested",
        cause="the lab unpacks packages of the machine's own release and was run on Debian 12 x86_64",
        fix="use Debian 12 on x86_64, or go on and report what differs",
    )


def check_memory(machine: Machine) -> Finding:
    """The cluster idles below 6 GiB; builds and images need the rest."""
    found = [
        int(line.split()[1])
        for line in (machine.read("/proc/meminfo") or "").splitlines()
        if line.startswith("MemTotal:")
    ]
    if not found:
        return warning("memory", "memory is unknown", cause="/proc/meminfo tells none", fix="mount /proc")
    total_gib = found[0] * 1024 / _GIB
    # The kernel keeps a part of the installed memory to itself.
    if total_gib >= MEMORY_GIB * 0.93:
        return ok("memory", f"{total_gib:.0f} GiB of memory")
    return error(
        "memory",
        f"{total_gib:.1f} GiB of memory",
        cause=f"cluster, builds and images need {MEMORY_GIB} GiB",
        fix=f"give the machine {MEMORY_GIB} GiB or more",
    )


def check_cores(machine: Machine) -> Finding:
    """Fewer cores work, slowly."""
    if machine.cores >= CORES:
        return ok("cores", f"{machine.cores} processors")
    return warning(
        "cores",
        f"{machine.cores} processor",
        cause=f"times are measured on {CORES}; the first start builds for about twice as long",
        fix=f"give the machine {CORES} processors or more",
    )


def check_disk(machine: Machine, paths: Paths, *, cold: bool) -> list[Finding]:
    """Free space for the cache and the state, together where they share a disk.

    Args:
        machine: The machine.
        paths: The lab's directories.
        cold: The programs are still to be built.
    """
    needs = {
        "cache": (paths.cache, COLD_CACHE_GIB if cold else WARM_CACHE_GIB),
        "state": (paths.state, STATE_GIB),
    }
    total: dict[int, int] = {}
    for directory, gib in needs.values():
        disk = machine.device(directory)
        total[disk] = total.get(disk, 0) + gib
    return [
        _disk(f"disk.{name}", machine, paths, name, total[machine.device(directory)])
        for name, (directory, _) in needs.items()
    ]


def _disk(check: str, machine: Machine, paths: Paths, name: str, need_gib: int) -> Finding:
    directory = paths.cache if name == "cache" else paths.state
    # The settings name the state's place, so only the cache can move.
    elsewhere = ", or point GPU_PLATFORM_CACHE to a larger disk" if name == "cache" else ""
    free_gib = machine.free_bytes(directory) / _GIB
    if free_gib >= need_gib:
        return ok(check, f"{free_gib:.0f} GiB free at {directory}")
    finding = error if free_gib < need_gib / 2 else warning
    return finding(
        check,
        f"{free_gib:.1f} GiB free at {directory}",
        cause=f"cache and state on this disk need about {need_gib} GiB",
        fix=f"free space there{elsewhere}",
    )
