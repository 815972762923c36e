"""A cluster of the tests' own, beside the lab of this host: other state, names and addresses."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab import pins
from lab.cluster import ComponentStatus, Network, Programs, down, status, up
from lab.cluster.records import GO_TOOLS
from lab.images import ensure_images
from lab.paths import Paths, current
from lab.progress import Progress
from lab.toolchain.charts import kwok_stages
from lab.toolchain.debian import ensure_debian
from lab.toolchain.go import ensure_tools

NETWORK = Network(
    name="gpu-platform-test",
    link="gpu-test0",
    nodes="10.234.0.0/24",
    pods="10.235.0.0/16",
    services="10.236.0.0/16",
)
IMAGES = ("pause", "coredns", "local-path-provisioner")
STATE = Path("/var/lib/gpu-platform-test")


@dataclass
class Lab:
    """The cluster under test and what is done with it."""

    paths: Paths
    programs: Programs
    archives: Mapping[str, Path]
    lines: list[str] = field(default_factory=list)

    def up(self) -> None:
        up(self.paths, self.programs, Progress(write=self.lines.append), self.archives, network=NETWORK)

    def down(self, *, keep_data: bool = False) -> None:
        down(self.paths, Progress(write=self.lines.append), keep_data=keep_data, network=NETWORK)

    def status(self) -> dict[str, ComponentStatus]:
        return {one.name: one for one in status(self.paths)}

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        done = subprocess.run(
            [str(self.programs.go["kubectl"]), f"--kubeconfig={self.paths.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def image(self) -> str:
        """An image with a shell."""
        return pins.load().images["local-path-provisioner"]


def remains() -> dict[str, list[str]]:
    """What a lab could leave on the host, by kind."""
    name = NETWORK.name
    routes = subprocess.run(["ip", "route"], check=True, capture_output=True, text=True).stdout
    commands = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                commands.append(
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
            except OSError:
                continue
    found = {
        "processes": [line for line in commands if str(STATE) in line],
        "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(STATE) in line],
        "namespaces": [str(path) for path in Path("/run/netns").glob("*") if name in path.name],
        "links": [str(path) for path in Path("/sys/class/net").glob("*") if path.name == NETWORK.link],
        "routes": [
            line for line in routes.splitlines() if line.startswith(("10.234.", "10.235.", "10.236."))
        ],
        "cgroups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{name}")],
    }
    return {kind: rows for kind, rows in found.items() if rows}


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The cluster, up; gone with everything it had at the end."""
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")
    quiet = Progress(write=lambda _: None)
    cache = current()
    # The images' own programs too: their recipes take them from here.
    built = ensure_tools(cache, (*GO_TOOLS, *IMAGES), quiet)
    programs = Programs(
        go={name: built[name] for name in GO_TOOLS},
        debian=ensure_debian(cache, "node", quiet),
        kwok_stages=kwok_stages(cache),
    )
    one = Lab(Paths(cache=cache.cache, state=STATE), programs, ensure_images(cache, built, quiet, IMAGES))
    one.down()
    try:
        one.up()
        yield one
    finally:
        one.down()
        shutil.rmtree(STATE, ignore_errors=True)


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool], float], None]:
    """Wait until a condition holds."""

    def wait(holds: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"not within {seconds:g} s"
            time.sleep(0.3)

    return wait
