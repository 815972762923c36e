"""The smallest image, really built from Debian packages, and run."""

import json
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from lab import images, pins
from lab.images import recipe
from lab.paths import Paths
from lab.progress import Progress

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(300)]

# A stand-in for the Go program, so that the test needs no toolchain: sleeps until it is told to end.
PROGRAM = Path(shutil.which("sleep") or "/bin/sleep")


def build(cache: Path, debian: Path) -> tuple[Path, list[str]]:
    """Build with a cache of its own but the Debian tools of the first call."""
    lines: list[str] = []
    cache.mkdir()
    (cache / "debian").symlink_to(debian)
    paths = Paths(cache=cache, state=cache / "state")
    archives = images.ensure_images(paths, {"pause": PROGRAM}, Progress(write=lines.append), ["pause"])
    return archives["pause"], lines


def unpack(archive: Path, root: Path) -> dict[str, str]:
    """Unpack the layers in order; gives the annotations of the image."""
    with tarfile.open(archive) as tar:
        index = json.load(tar.extractfile("index.json"))  # type: ignore[arg-type]
        (descriptor,) = index["manifests"]
        manifest = json.load(tar.extractfile(f"blobs/{descriptor['digest'].replace(':', '/')}"))  # type: ignore[arg-type]
        for layer in manifest["layers"]:
            with tarfile.open(
                fileobj=tar.extractfile(f"blobs/{layer['digest'].replace(':', '/')}")
            ) as content:
                content.extractall(root, numeric_owner=True, filter="fully_trusted")  # noqa: S202 - made here
    annotations: dict[str, str] = descriptor["annotations"]
    return annotations


def test_the_smallest_image_is_built_reproducibly_and_runs_without_root(tmp_path: Path) -> None:
    (tmp_path / "debian").mkdir()
    first, lines = build(tmp_path / "one", tmp_path / "debian")
    assert any("image pause: building" in line for line in lines)
    second, _ = build(tmp_path / "two", tmp_path / "debian")
    assert first.read_bytes() == second.read_bytes(), "the same recipe gives the same bytes"

    root = tmp_path / "root"
    assert unpack(first, root)["io.containerd.image.name"] == images.references()["pause"]
    assert first.name.endswith(f"-{images.references()['pause'].rpartition('-')[2]}.tar")
    for name in ("etc/apt", "var/lib/apt", "var/cache", "var/log", "etc/resolv.conf", "etc/hostname"):
        assert not (root / name).exists(), f"{name} is of the machine that built the image"
    assert (root / "var/lib/dpkg/status.d/libc6").read_text().startswith("Package: libc6\n")
    programs = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in programs if path.stat().st_mode & 0o6000] == []

    user = str(recipe.load("pause", pins.load()).user)
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", f"--userspec={user}:{user}"]
    with subprocess.Popen([*command, str(root), "/pause", "60"]) as running:
        try:
            started = time.monotonic()
            while not (children := child_commands(running.pid)) and time.monotonic() - started < 10:
                time.sleep(0.05)
            assert children == [(user, ["/pause", "60"])]
        finally:
            running.send_signal(signal.SIGKILL)


def child_commands(pid: int) -> list[tuple[str, list[str]]]:
    """Effective uid and command line of the children that have become the image's program."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        status = Path(f"/proc/{child}/status").read_text().splitlines()
        uid = next(line.split()[2] for line in status if line.startswith("Uid:"))
        arguments = Path(f"/proc/{child}/cmdline").read_text().rstrip("\0").split("\0")
        if arguments[0] == "/pause":
            found.append((uid, arguments))
    return found
