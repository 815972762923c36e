"""Roots of Debian packages: unpacked with their dependencies, not installed, free of this machine."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.errors import LabError
from lab.images.locking import exclusive
from lab.images.python import compile_modules, interpreter
from lab.images.recipe import FORMAT, Recipe

# Scanners read this directory in images without a package database (the form distroless images use).
STATUS_HOOK = (
    'mkdir -p "$1/var/lib/dpkg/status.d"; for d in "$1"/var/cache/apt/archives/*.deb; do '
    'dpkg-deb -f "$d" > "$1/var/lib/dpkg/status.d/$(dpkg-deb -f "$d" Package)"; done'
)
EXCLUDED = (
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/i18n/*",
    "/usr/share/lintian/*",
    "/usr/share/bug/*",
    "/usr/share/doc/*",
    "/usr/lib/x86_64-linux-gnu/gconv/*",
)
INCLUDED = ("/usr/share/doc/*/copyright", "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules*")
# Package manager state and what mmdebstrap writes from this machine: its name, resolver and apt set-up.
REMOVED = (
    "etc/apt",
    "etc/dpkg",
    "etc/resolv.conf",
    "etc/hostname",
    "etc/fstab",
    "var/lib/apt",
    "var/cache",
    "var/log",
    "dev",
    "boot",
    "lib32",
    "libx32",
    "usr/lib32",
    "usr/libx32",
)
KEPT_BELOW_DPKG = "status.d"
HOST_SETTING = re.compile(r"^Acquire::(https?::|Retries|Check-)")
TARGETS = ("apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)")
ARCHIVE_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def ensure_root(
    recipe: Recipe, roots: Path, imagetools: Path, environment: Mapping[str, str], log: Path
) -> Path:
    """The unpacked packages of a recipe; images with the same packages share one root.

    It does not run maintainer scripts and makes no user; `lab.images.assembly` adds what an image needs.

    Args:
        recipe: The recipe whose packages are wanted.
        roots: Directory that keeps one root per set of packages.
        imagetools: Root of the unpacked mmdebstrap package.
        environment: Environment in which programs of that root run.
        log: File for the output.

    Raises:
        LabError: Packages cannot be had, or mmdebstrap fails.
    """
    text = json.dumps([FORMAT, recipe.release, recipe.packages, recipe.exclude, EXCLUDED, INCLUDED, REMOVED])
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    target, partial = roots / key, roots / f".{key}.partial"
    roots.mkdir(parents=True, exist_ok=True)
    with exclusive(roots / f".{key}.lock") as lock:
        if target.is_dir():
            return target
        shutil.rmtree(partial, ignore_errors=True)
        _unpack(recipe, partial, imagetools, environment, log=log, lock=lock)
        _clean(partial)
        if python := interpreter(partial):
            compile_modules(partial, partial / "usr/lib" / python, "/usr/lib/" + python, lock)
        partial.rename(target)
    return target


def _unpack(
    recipe: Recipe, target: Path, imagetools: Path, environment: Mapping[str, str], *, log: Path, lock: int
) -> None:
    sources = target.with_suffix(".list")
    sources.write_text("".join(f"{line}\n" for line in _sources(recipe.release)))
    options = [f"--dpkgopt=path-exclude={pattern}" for pattern in (*EXCLUDED, *recipe.exclude)]
    options += [f"--dpkgopt=path-include={pattern}" for pattern in INCLUDED]
    options += [f"--aptopt={setting}" for setting in _host_settings()]
    command = [
        *("unshare", "--mount", str(imagetools / "usr/bin/mmdebstrap"), "--mode=root", "--variant=extract"),
        *("--format=directory", f"--include={','.join(recipe.packages)}", *options),
        f"--hook-dir={imagetools / 'usr/share/mmdebstrap/hooks/maybe-merged-usr'}",
        f"--extract-hook={STATUS_HOOK}",
        *(recipe.release, str(target), str(sources)),
    ]
    with log.open("w") as output:
        # The child holds the lock too: killing only this process must not let a second build start beside it.
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, **environment, "DEBIAN_FRONTEND": "noninteractive"},
            pass_fds=(lock,),
            check=False,
        )
    sources.unlink()
    if done.returncode:
        lines = log.read_text().splitlines()
        raise LabError(
            f"Debian packages of image {recipe.name!r} could not be unpacked",
            where=str(log),
            why=" / ".join(line for line in lines if line.startswith("E:")) or " / ".join(lines[-3:]),
            fix="check that this machine's apt works (apt-get update), then run the same command again",
        )


def _sources(release: str) -> list[str]:
    """This machine's own Debian sources of the release, without anything a third party added."""
    suites = {release, f"{release}-updates", f"{release}-security"}
    listed = subprocess.run(TARGETS, capture_output=True, text=True, check=False).stdout
    found: dict[str, None] = {}
    for line in listed.splitlines():
        origin, uri, suite, component = line.split("|")
        if origin in ("Debian", "") and suite in suites and component == "main":
            found[f"deb [signed-by={ARCHIVE_KEYS}] {uri} {suite} main"] = None
    if not found:
        raise LabError(
            f"no apt source of Debian {release} on this machine",
            where="/etc/apt",
            why="images are made of its packages, and apt lists none (main, Packages)",
            fix=f"add Debian {release} to the apt sources, run apt-get update, then the same command again",
        )
    return list(found)


def _host_settings() -> list[str]:
    """Proxies and certificates of this machine's apt; used for the download, not left in the root."""
    dump = subprocess.run(
        ("apt-config", "dump", "--format", '%f "%v";%n', "Acquire"),
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return [line for line in dump.splitlines() if HOST_SETTING.match(line) and not line.endswith(' "";')]


def _clean(root: Path) -> None:
    for name in REMOVED:
        path = root / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)
    for path in (root / "var/lib/dpkg").iterdir():
        if path.name != KEPT_BELOW_DPKG:
            path.unlink() if path.is_file() else shutil.rmtree(path)
    shutil.rmtree(root / "tmp")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    for path in root.rglob("*"):
        # No program of an image may gain rights; pods forbid it as well.
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o6000:
            path.chmod(path.stat().st_mode & 0o1777)
    # Without maintainer scripts nothing has written the linker's cache.
    subprocess.run(("ldconfig", "-r", str(root)), check=True, capture_output=True)
