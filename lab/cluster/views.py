"""Unpacked Debian packages made usable without installing them: links and environment."""

import os
import re
import shutil
from pathlib import Path

from lab.cluster.records import GO_TOOLS, Cluster, Programs
from lab.cluster.shell import succeeds
from lab.errors import LabError

DEBIAN_PROGRAMS = (
    "usr/bin/etcd",
    "usr/bin/containerd",
    "usr/bin/containerd-shim-runc-v2",
    "usr/bin/ctr",
    "usr/lib/cni/bridge",
    "usr/lib/cni/host-local",
    "usr/lib/cni/loopback",
    "usr/lib/cni/portmap",
    "usr/sbin/conntrack",
    "usr/sbin/ipset",
    "usr/sbin/xtables-nft-multi",
    "usr/sbin/xtables-legacy-multi",
)
HOST_PROGRAMS = ("ip", "nsenter", "unshare", "mount", "umount", "openssl")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The C library must be the one of the host's own loader: an unpacked second copy would crash every program.
C_LIBRARY = re.compile(
    r"(ld-linux.*|libc|libm|libmvec|libdl|librt|libpthread|libresolv|libutil|libanl|libnsl|libBrokenLocale"
    r"|libnss_\w+|libthread_db|libmemusage|libpcprofile|libc_malloc_debug)\.so(\.\d+)?"
)


def check_programs(programs: Programs) -> None:
    """Refuse to start with programs missing.

    Raises:
        LabError: Names everything that is missing.
    """
    missing = [name for name in GO_TOOLS if not programs.go.get(name, Path("/nonexistent")).exists()]
    missing += [name for name in DEBIAN_PROGRAMS if not (programs.debian / name).exists()]
    missing += [] if programs.kwok_stages.is_dir() else ["KWOK's stage files"]
    absent = [name for name in HOST_PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]
    if absent:
        raise LabError(
            "programs of the host are missing",
            where="PATH of the host",
            why=", ".join(absent),
            fix="apt-get install iproute2 util-linux mount openssl",
        )
    if missing:
        raise LabError(
            "programs of the cluster are missing",
            where=str(programs.debian),
            why=", ".join(missing),
            fix="run make up again; it builds and unpacks what is missing",
        )


def is_c_library(name: str) -> bool:
    """Whether a file belongs to the C library."""
    return C_LIBRARY.fullmatch(name) is not None


def link(cluster: Cluster) -> None:
    """Lay out links: unpacked libraries but the C library, and ``iptables`` under its plain names."""
    shutil.rmtree(cluster.views, ignore_errors=True)
    libraries, binaries = cluster.views / "lib", cluster.views / "bin"
    libraries.mkdir(parents=True)
    binaries.mkdir()
    for directory in ("lib", "usr/lib"):
        for path in sorted((cluster.programs.debian / directory / "x86_64-linux-gnu").glob("*.so*")):
            target = libraries / path.name
            if not is_c_library(path.name) and not target.exists():
                target.symlink_to(path)
    backend = _iptables_backend(cluster)
    for family in ("iptables", "ip6tables"):
        for suffix in ("", "-save", "-restore"):
            (binaries / f"{family}{suffix}").symlink_to(backend)


def _iptables_backend(cluster: Cluster) -> Path:
    """The nftables variant where the kernel has it, else the legacy one; asked in the node's namespace."""
    sbin = cluster.programs.debian / "usr/sbin"
    inside = ["nsenter", f"--net=/run/netns/{cluster.network.name}"]
    for variant in ("nft", "legacy"):
        program = sbin / f"xtables-{variant}-multi"
        if succeeds([*inside, str(program), "iptables", "-t", "nat", "-S"], environment=environment(cluster)):
            return program
    raise LabError(
        "the kernel offers no address translation to the node",
        where="iptables in the node's namespace",
        why="neither nf_tables nor ip_tables has a nat table",
        fix="modprobe nf_tables nft_chain_nat nf_nat, or use a kernel that has them",
    )


def environment(cluster: Cluster) -> dict[str, str]:
    """The whole environment of everything that runs on the node."""
    debian = cluster.programs.debian
    path = [cluster.views / "bin", *(debian / name for name in ("usr/sbin", "usr/bin", "sbin", "bin"))]
    return {
        "PATH": os.pathsep.join([*map(str, path), SYSTEM_PATH]),
        "LD_LIBRARY_PATH": str(cluster.views / "lib"),
        "XTABLES_LIBDIR": str(debian / "usr/lib/x86_64-linux-gnu/xtables"),
        "HOME": "/root",
        "LANG": "C.UTF-8",
    }
