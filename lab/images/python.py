"""Python in images: wheels of the image's own Python version, whatever the host's is, compiled ahead."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.images.recipe import Recipe

PYTHON = "python3.11"  # of Debian 12
PACKAGES = f"usr/local/lib/{PYTHON}/dist-packages"  # on the path of Debian's interpreter
SCRIPTS = "usr/local/bin"
GLIBC_MINOR = 36  # of Debian 12; every wheel for this or an older glibc runs
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def interpreter(root: Path) -> str:
    """Name of the Python interpreter in a root; empty without one."""
    return PYTHON if (root / "usr/bin" / PYTHON).is_file() else ""


def install_wheels(recipe: Recipe, root: Path, target: Path, *, cache: Path, log: Path, lock: int) -> None:
    """Install the locked wheels of a recipe into a directory that becomes a layer.

    It resolves nothing: the lock file names every package with its hash.

    Args:
        recipe: The recipe with its lock.
        root: The Debian root with the interpreter.
        target: Root directory of the layer.
        cache: Directory of pip's own cache.
        log: File for the output.
        lock: Lock descriptor the children inherit.

    Raises:
        LabError: A wheel cannot be had or has another hash.
    """
    packages = target / PACKAGES
    packages.mkdir(parents=True)
    requirements = target.parent / "requirements.txt"
    requirements.write_text(recipe.lock)
    options = ("--no-deps", "--require-hashes", "--no-compile", "--cache-dir", str(cache), "-r")
    command = [*_pip("install", packages), *options, str(requirements)]
    with log.open("w") as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=(lock,), check=False
        )
    if done.returncode:
        lines = log.read_text().splitlines()
        raise LabError(
            f"Python packages of image {recipe.name!r} could not be installed",
            where=str(log),
            why=" / ".join(line for line in lines if line.startswith("ERROR:"))[:600] or "pip failed",
            fix="check that pip reaches its package index, then run the same command again",
        )
    _strip(packages, recipe.strip)
    _move_scripts(packages / "bin", target / SCRIPTS)
    _normalise(target)
    compile_modules(root, packages, f"/{PACKAGES}", lock)


def compile_modules(root: Path, directory: Path, shown: str, lock: int) -> None:
    """Compile modules with the interpreter of a root, without entering it.

    Containers have a read-only root and would compile at every start. Compiled files carry no time, so that
    equal sources give equal bytes.

    Args:
        root: The Debian root with the interpreter.
        directory: Where the modules are now.
        shown: Where they are in the image.
        lock: Lock descriptor the children inherit.
    """
    command = [
        *(str(root / LOADER), "--library-path", str(root / LIBRARIES), str(root / "usr/bin" / PYTHON), "-S"),
        *("-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(directory), "-p", shown, str(directory)),
    ]
    environment = {"PATH": os.environ["PATH"], "PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0"}
    # A template inside a package may be no valid Python; the module is then simply not compiled.
    subprocess.run(command, env=environment, capture_output=True, pass_fds=(lock,), check=False)


def resolve(requirements: Iterable[str]) -> str:
    """The text of a lock file: every package that the requirements need, exact, with the hash of its wheel.

    Args:
        requirements: Exact requirements of a recipe.

    Raises:
        LabError: The index has no consistent set of wheels.
    """
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [*_pip("install", Path(scratch) / "none"), "--dry-run", "--ignore-installed"]
        command += ["--report", str(report), *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
            raise LabError(
                "no consistent set of Python packages",
                where=", ".join(requirements),
                why=(lines[-1] if lines else "pip failed")[:600],
                fix="choose versions that the package index serves, then run the same command again",
            )
        rows = [_locked(item) for item in json.loads(report.read_text())["install"]]
    return "".join(f"{row}\n" for row in sorted(rows))


def _locked(item: Mapping[str, Any]) -> str:
    metadata, digest = item["metadata"], item["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{metadata['name'].lower().replace('_', '-')}=={metadata['version']} --hash=sha256:{digest}"


def _pip(command: str, target: Path) -> list[str]:
    """Pip of this interpreter, choosing wheels for the image's interpreter."""
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC_MINOR, 4, -1)]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
    options = [text for platform in platforms for text in ("--platform", platform)]
    options += ["--python-version", PYTHON.removeprefix("python"), "--implementation", "cp", "--abi", "cp311"]
    head = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-input"]
    return [*head, "--only-binary=:all:", "--target", str(target), *options]


def _strip(packages: Path, patterns: Iterable[str]) -> None:
    for pattern in patterns:
        for path in list(packages.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _move_scripts(scripts: Path, target: Path) -> None:
    """Pip writes its own interpreter into the first line; the image has another."""
    if not scripts.is_dir():
        return
    target.mkdir(parents=True)
    for script in sorted(scripts.iterdir()):
        head, _, body = script.read_bytes().partition(b"\n")
        if head.startswith(b"#!") and b"python" in head:
            (target / script.name).write_bytes(f"#!/usr/bin/{PYTHON}\n".encode() + body)
            (target / script.name).chmod(0o755)
    shutil.rmtree(scripts)


def _normalise(root: Path) -> None:
    """The same modes whatever the umask of the build."""
    for path in root.rglob("*"):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
