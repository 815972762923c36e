"""Every finding on a machine made up for it; the whole run on a good one and on this one."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from lab.doctor import Finding, Level, blocking, kernel, network, programs, run_checks, system
from lab.doctor.findings import error, ok, warning, worst_first
from lab.doctor.machine import Answer, Machine
from lab.paths import Paths

GIB = 2**30
RANGES = tuple(IPv4Network(text) for text in ("10.231.0.0/24", "10.232.0.0/16", "10.233.0.0/16"))
ROUTES = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0000000A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
"""
FILES = {
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n',
    "/proc/meminfo": "MemTotal:       24696784 kB\nMemFree:        1 kB\n",
    "/proc/net/route": ROUTES,
    "/proc/net/ip_tables_names": "nat\nfilter\n",
}


@dataclass
class MadeUp:
    """A machine by its parts: files, programs, answers by a word of the command."""

    files: dict[str, str] = field(default_factory=lambda: dict(FILES))
    missing: set[str] = field(default_factory=set)
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    free: Callable[[Path], int] = lambda _: 100 * GIB

    def machine(self, **changes: object) -> Machine:
        def ask(argv: Sequence[str], _seconds: float) -> Answer:
            line = " ".join(argv)
            self.asked.append(line)
            default = Answer(code=0, output="go1.26.8\nlocal")
            return next((answer for word, answer in self.answers.items() if word in line), default)

        good = Machine(
            read=self.files.get,
            which=lambda name: None if name in self.missing else f"/usr/bin/{name}",
            ask=ask,
            free_bytes=self.free,
            device=lambda _: 1,
            user_id=0,
            architecture="x86_64",
            cores=2,
        )
        return replace(good, **changes)  # type: ignore[arg-type]


@pytest.fixture
def made() -> MadeUp:
    return MadeUp()


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(cache=tmp_path / "cache", state=tmp_path / "state")


def _says(finding: Finding, level: Level, *parts: str) -> None:
    text = f"{finding.what}\n{finding.cause}\n{finding.fix}"
    assert finding.level is level, text
    assert all(part in text for part in parts), text
    assert (bool(finding.cause), bool(finding.fix)) == (level is not Level.OK,) * 2


def test_root(made: MadeUp) -> None:
    _says(system.check_root(made.machine()), Level.OK, "root")
    _says(system.check_root(made.machine(user_id=1000)), Level.ERROR, "user 1000", "sudo")


@pytest.mark.parametrize(
    ("release", "architecture", "level"),
    [
        (FILES["/etc/os-release"], "x86_64", Level.OK),
        (FILES["/etc/os-release"], "aarch64", Level.WARNING),
        ('PRETTY_NAME="Ubuntu 24.04 LTS"\nID=ubuntu\nVERSION_ID="24.04"\n', "x86_64", Level.WARNING),
        ("ID=debian\nVERSION_ID=13\n", "x86_64", Level.WARNING),
        ("", "x86_64", Level.WARNING),
    ],
)
def test_operating_system(made: MadeUp, release: str, architecture: str, level: Level) -> None:
    made.files["/etc/os-release"] = release
    finding = system.check_system(made.machine(architecture=architecture))
    _says(finding, level, architecture)
    assert ("untested" in finding.what) == (level is Level.WARNING)


def test_memory_and_cores(made: MadeUp) -> None:
    _says(system.check_memory(made.machine()), Level.OK, "24 GiB")
    made.files["/proc/meminfo"] = "MemTotal: 8010000 kB\n"  # what a kernel leaves of 8 GiB
    _says(system.check_memory(made.machine()), Level.OK, "8 GiB")
    made.files["/proc/meminfo"] = "MemTotal: 4000000 kB\n"
    _says(system.check_memory(made.machine()), Level.ERROR, "3.8 GiB", "8 GiB")
    del made.files["/proc/meminfo"]
    _says(system.check_memory(made.machine()), Level.WARNING, "unknown")
    _says(system.check_cores(made.machine()), Level.OK, "2 processors")
    _says(system.check_cores(made.machine(cores=1)), Level.WARNING, "1 processor")


def test_disk_counts_both_directories_where_they_share_it(made: MadeUp, paths: Paths) -> None:
    both = system.COLD_CACHE_GIB + system.STATE_GIB
    made.free = lambda _: both * GIB
    assert {finding.level for finding in system.check_disk(made.machine(), paths, cold=True)} == {Level.OK}
    made.free = lambda _: (both - 1) * GIB
    findings = system.check_disk(made.machine(), paths, cold=True)
    assert [finding.id for finding in findings] == ["disk.cache", "disk.state"]
    _says(findings[0], Level.WARNING, f"about {both} GiB", "GPU_PLATFORM_CACHE", str(paths.cache))
    apart = made.machine(device=lambda directory: 1 if directory == paths.cache else 2)
    assert {finding.level for finding in system.check_disk(apart, paths, cold=True)} == {Level.OK}
    assert {finding.level for finding in system.check_disk(made.machine(), paths, cold=False)} == {Level.OK}
    made.free = lambda _: GIB
    _says(system.check_disk(made.machine(), paths, cold=False)[1], Level.ERROR, "free space there")


def test_kernel_features_are_tried_each_by_itself(made: MadeUp) -> None:
    names = ["kernel.namespaces", "kernel.veth", "kernel.bridge", "kernel.overlayfs"]
    assert [finding.id for finding in kernel.check_features(made.machine())] == names
    assert all(line.startswith("unshare ") for line in made.asked)
    made.answers["veth"] = Answer(code=2, output="RTNETLINK\nError: Unknown device type.")
    findings = kernel.check_features(made.machine())
    assert [finding.level for finding in findings] == [Level.OK, Level.ERROR, Level.OK, Level.OK]
    _says(findings[1], Level.ERROR, "Unknown device type", "CONFIG_VETH")
    assert kernel.check_features(made.machine(user_id=1)) == []


def test_packet_filter_is_tried_or_else_read_from_the_kernel(made: MadeUp, tmp_path: Path) -> None:
    _says(kernel.check_packet_filter(made.machine(), tmp_path), Level.OK)
    assert f"LD_LIBRARY_PATH={tmp_path}" in made.asked[0]
    made.answers["iptables"] = Answer(code=3, output="iptables: table `nat' does not exist")
    _says(kernel.check_packet_filter(made.machine(), tmp_path), Level.ERROR, "`nat' does not exist")
    _says(kernel.check_packet_filter(made.machine(), None), Level.OK)
    made.files["/proc/net/ip_tables_names"] = "filter\n"
    made.answers["config"] = Answer(code=0, output="CONFIG_NFT_NAT=m\n")
    _says(kernel.check_packet_filter(made.machine(), None), Level.OK)
    made.answers["config"] = Answer(code=0, output="# CONFIG_NFT_NAT is not set\n")
    _says(kernel.check_packet_filter(made.machine(), None), Level.WARNING, "CONFIG_NFT_NAT")
    made.files["/proc/modules"] = "nf_tables 1 0 - Live\n"
    _says(kernel.check_packet_filter(made.machine(), None), Level.OK)


def test_cgroups_of_both_versions_and_none(made: MadeUp, tmp_path: Path) -> None:
    empty = made.machine(root=tmp_path)
    _says(kernel.check_cgroups(empty), Level.ERROR, "privileged")
    table = tmp_path / "proc/self/mountinfo"
    table.parent.mkdir(parents=True)
    table.write_text("30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    unified = tmp_path / "sys/fs/cgroup"
    unified.mkdir(parents=True)
    (unified / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids\n")
    (unified / "cgroup.subtree_control").write_text("cpuset cpu io memory hugetlb pids\n")
    _says(kernel.check_cgroups(empty), Level.WARNING, "version 2")
    first = ("cpu", "cpuacct", "cpuset", "memory", "pids")
    rows = [
        f"{n} 25 0:{n} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}" for n, name in enumerate(first)
    ]
    table.write_text("\n".join(rows) + "\n")
    (tmp_path / "proc/cgroups").write_text("#subsys\n" + "".join(f"{name}\t1\t1\t1\n" for name in first))
    _says(kernel.check_cgroups(empty), Level.OK, "version 1")
    table.write_text("\n".join(rows[1:]) + "\n")
    _says(kernel.check_cgroups(empty), Level.ERROR, "cpu")


@pytest.mark.parametrize(
    ("row", "taken"),
    [
        ("tun0\t0000E80A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0", "10.232.0.0/16 by tun0"),
        ("tun0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0", "10.0.0.0/8 by tun0"),
        ("br0\t0700E70A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0", "10.231.0.7/32 by br0"),
        ("gpu-platform0\t0000E70A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", ""),
        ("tun0\t0000EA0A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0", ""),
    ],
)
def test_a_route_into_the_labs_ranges_is_refused_unless_it_is_the_labs(
    made: MadeUp, row: str, taken: str
) -> None:
    made.files["/proc/net/route"] = f"{ROUTES}{row}\n"
    finding = network.check_ranges(made.machine(), RANGES, "gpu-platform0")
    _says(finding, Level.ERROR if taken else Level.OK, taken or "are free")


def test_registries_that_answer_refuse_or_hang(made: MadeUp) -> None:
    findings = network.check_registries(made.machine())
    assert [(finding.id, finding.level) for finding in findings] == [
        ("registry.go", Level.OK),
        ("registry.python", Level.OK),
        ("registry.debian", Level.OK),
    ]
    made.answers = {
        "go list": Answer(code=1, output="go: module\ndial tcp: no such host"),
        "pip index": Answer(code=None, output="no answer within 20 s", timed_out=True),
        "apt-helper": Answer(code=0, output="Err:1 mirror InRelease\nE: Failed to fetch"),
    }
    findings = network.check_registries(made.machine())
    _says(findings[0], Level.ERROR, "no such host", "GOPROXY")
    _says(findings[1], Level.WARNING, "20 s", "pip config")
    _says(findings[2], Level.ERROR, "Failed to fetch", "/etc/apt")


def test_programs_that_are_missing_are_named_with_one_command(made: MadeUp) -> None:
    _says(programs.check_programs(made.machine()), Level.OK)
    made.missing = {"nsenter", "unshare", "openssl"}
    finding = programs.check_programs(made.machine())
    _says(finding, Level.ERROR, "nsenter, unshare, openssl", "apt-get install openssl util-linux")


@pytest.mark.parametrize(
    ("answer", "level", "part"),
    [
        (Answer(code=0, output="go1.26.8\nlocal"), Level.OK, "go1.26.8"),
        (Answer(code=0, output="go1.26.6\nlocal"), Level.OK, "go1.26.6"),
        (Answer(code=0, output="go1.26.5\nlocal"), Level.ERROR, "go1.26.5 is too old"),
        (Answer(code=0, output="go1.22.1\nauto"), Level.WARNING, "look for 1.26.6 by itself"),
        (Answer(code=0, output="go1.22.1\ngo1.22.1+auto"), Level.ERROR, "GOTOOLCHAIN=auto"),
        (Answer(code=0, output="go1.19.8"), Level.ERROR, "go1.19.8 is too old"),
        (Answer(code=2, output="boom"), Level.ERROR, "does not answer"),
        (Answer(code=None, output="no answer", timed_out=True), Level.ERROR, "does not answer"),
    ],
)
def test_go(made: MadeUp, answer: Answer, level: Level, part: str) -> None:
    made.answers["go env"] = answer
    _says(programs.check_go(made.machine(), "1.26.6"), level, part)


def test_no_go_no_venv_old_python(made: MadeUp) -> None:
    made.missing = {"go"}
    _says(programs.check_go(made.machine(), "1.26.6"), Level.ERROR, "not installed", "1.26.6")
    _says(programs.check_python((3, 11, 2), venv=True), Level.OK, "3.11.2")
    _says(programs.check_python((3, 11, 2), venv=False), Level.ERROR, "without venv", "python3-venv")
    _says(programs.check_python((3, 10, 9), venv=True), Level.ERROR, "3.10.9")


def test_tools(made: MadeUp) -> None:
    assert made.machine().cores == 2
    _says(programs.check_tools(None, 15), Level.OK, "none of 15")
    _says(programs.check_tools(["helm"], 15), Level.OK, "14 of 15", "to build: helm")
    _says(programs.check_tools([], 15), Level.OK, "all 15")


def test_failures_come_first_and_only_errors_block() -> None:
    findings = [
        ok("a", "good"),
        warning("b", "odd", cause="c", fix="f"),
        ok("c", "good"),
        error("d", "bad", cause="c", fix="f"),
        warning("e", "odd", cause="c", fix="f"),
    ]
    assert [finding.id for finding in worst_first(findings)] == ["d", "b", "e", "a", "c"]
    assert [finding.id for finding in blocking(findings)] == ["d"]


def test_a_bad_machine_gets_every_finding_and_nothing_is_changed(made: MadeUp, paths: Paths) -> None:
    made.files |= {"/etc/os-release": "ID=alpine\n", "/proc/meminfo": "MemTotal: 1000000 kB\n"}
    made.missing = {"ip", "go"}
    made.free = lambda _: GIB
    findings = run_checks(paths, True, made.machine(user_id=1000, root=Path("/nonexistent"), cores=1))
    bad = [finding.id for finding in findings if finding.level is not Level.OK]
    assert [finding.id for finding in blocking(findings)] == [
        "root",
        "memory",
        "disk.cache",
        "disk.state",
        "kernel.cgroups",
        "programs",
        "go",
    ]
    assert bad[7:] == ["system", "cores"]
    assert len(findings) == 16
    assert not paths.cache.exists()
    assert not paths.state.exists()


def test_this_machine_answers_every_offline_question(paths: Paths) -> None:
    assert shutil.which("sh")
    findings = run_checks(paths, False)
    assert len({finding.id for finding in findings}) == len(findings) >= 13
    assert all(finding.what for finding in findings)
