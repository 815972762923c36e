"""Debian packages with what they depend on, unpacked into the cache; nothing is installed on the host."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.progress import Progress
from lab.toolchain import apt
from lab.toolchain.cache import key_of, locked, make_directory, partial_directory

_MANIFEST = ".packages.json"
_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
# Maintainer scripts would have made these links; the order is Debian's own preference.
_ALTERNATIVES: Mapping[str, tuple[str, ...]] = {
    f"usr/sbin/{family}{action}": (f"{family}-nft{action}", f"{family}-legacy{action}")
    for family in ("iptables", "ip6tables")
    for action in ("", "-save", "-restore")
}


def ensure_debian(paths: Paths, set_name: str, progress: Progress) -> Path:
    """Unpack one set of packages of ``versions.toml``, once per set of candidate versions.

    A machine that cannot reach its mirror keeps using the newest directory unpacked from the same names.

    Args:
        paths: The lab's directories.
        set_name: A key of ``[debian]``.
        progress: Told what is fetched and unpacked.

    Returns:
        Root of the unpacked tree; ``run_environment`` makes its programs run.

    Raises:
        LabError: The set is unknown, or the packages cannot be had and were never unpacked.
    """
    names = pins.load().debian_sets.get(set_name)
    if names is None:
        raise LabError(
            f"no set of Debian packages is named {set_name!r}",
            where="versions.toml, [debian]",
            why=f"known sets: {', '.join(sorted(pins.load().debian_sets))}",
            fix="correct the name, or add the set",
        )
    with locked(
        paths.debian / f".{set_name}.lock",
        lambda: progress.step(f"{set_name}: another run unpacks it; waiting"),
    ):
        try:
            return _ensure(paths, set_name, names, progress)
        except LabError as error:
            earlier = _earlier(paths, set_name, names)
            if earlier is None:
                raise
            progress.step(f"Debian set {set_name}: {error.what}; using the packages unpacked earlier")
            return earlier


def run_environment(root: Path) -> dict[str, str]:
    """Variables under which programs of an unpacked set find each other, their libraries and modules.

    To be laid over a process's own environment; ``PATH`` already ends in this process's own.
    """
    triplet = _TRIPLETS.get(platform.machine(), f"{platform.machine()}-linux-gnu")
    programs = [root / part for part in ("usr/sbin", "usr/bin", "sbin", "bin")]
    libraries = [root / part / triplet for part in ("usr/lib", "lib")]
    perl = [
        *(path for base in ("usr/share/perl", f"usr/lib/{triplet}/perl") for path in _versions(root / base)),
        root / "usr/share/perl5",
        *_versions(root / f"usr/lib/{triplet}/perl5"),
    ]
    environment = {
        "PATH": os.pathsep.join([*map(str, programs), os.environ.get("PATH", os.defpath)]),
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
        "PERL5LIB": os.pathsep.join(str(path) for path in perl if path.is_dir()),
    }
    extensions = root / "usr/lib" / triplet / "xtables"
    if extensions.is_dir():
        environment["XTABLES_LIBDIR"] = str(extensions)
    return environment


def _versions(base: Path) -> list[Path]:
    return sorted(base.iterdir()) if base.is_dir() else []


def _ensure(paths: Paths, set_name: str, names: Sequence[str], progress: Progress) -> Path:
    versions = _candidates(paths, set_name, names)
    if len(versions) < len(names) and not any(apt.LISTS.glob("*_Packages*")):
        apt.update(progress)
        versions = apt.candidates(names)
    missing = [name for name in names if name not in versions]
    if missing:
        raise LabError(
            f"apt does not know {', '.join(missing)}",
            where=f"versions.toml, [debian] {set_name}",
            why="the package lists of this machine do not contain it",
            fix=f"run `apt-get update` on a machine with the sources of Debian {pins.load().debian_release}",
        )
    root = paths.debian / f"{set_name}-{key_of(f'{name}={versions[name]}' for name in names)}"
    if not root.is_dir():
        _unpack(root, names, progress)
    return root


def _candidates(paths: Paths, set_name: str, names: Sequence[str]) -> dict[str, str]:
    """Candidate versions, asked again only when apt's lists or sources changed."""
    file = paths.debian / f".{set_name}.candidates.json"
    question = [apt.fingerprint(), *names]
    with suppress(OSError, ValueError, TypeError, KeyError):
        remembered = json.loads(file.read_text())
        if remembered["question"] == question:
            return {str(name): str(version) for name, version in remembered["answer"].items()}
    answer = apt.candidates(names)
    if len(answer) == len(names):
        file.write_text(json.dumps({"question": question, "answer": answer}))
    return answer


def _unpack(root: Path, names: Sequence[str], progress: Progress) -> None:
    """Download and unpack next to ``root``, then give it its name in one step."""
    always = apt.always_there()
    packages = {name: version for name, version in apt.closure(names).items() if name not in always}
    progress.step(f"Debian packages for {root.name}: fetching {len(packages)}")
    with partial_directory(root.parent, root.name) as work:
        downloads = make_directory(work / "downloads")
        apt.download(packages, downloads)
        tree = make_directory(work / "root")
        for package in sorted(downloads.glob("*.deb")):
            apt.unpack(package, tree)
        _link_alternatives(tree)
        manifest = {"names": list(names), "packages": packages}
        (tree / _MANIFEST).write_text(json.dumps(manifest, indent=1))
        tree.rename(root)
    progress.step(f"Debian packages for {root.name}: unpacked")


def _link_alternatives(tree: Path) -> None:
    for place, targets in _ALTERNATIVES.items():
        link = tree / place
        for target in targets:
            if not os.path.lexists(link) and os.path.lexists(link.parent / target):
                link.symlink_to(target)


def _earlier(paths: Paths, set_name: str, names: Sequence[str]) -> Path | None:
    """The newest tree unpacked from the same package names."""
    found: list[Path] = []
    for root in paths.debian.glob(f"{set_name}-*"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if json.loads((root / _MANIFEST).read_text())["names"] == list(names):
                found.append(root)
    return max(found, key=lambda root: root.stat().st_mtime, default=None)
