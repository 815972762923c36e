"""Pulumi as a user expects it: one ``bin`` directory, one PULUMI_HOME, and the variables that select them."""

import filecmp
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lab import pins
from lab.paths import STATE_VARIABLE, Paths
from lab.plugins.guard import LAB_VARIABLE
from lab.plugins.install import install as install_standins
from lab.progress import Progress
from lab.toolchain.cache import locked, make_directory
from lab.toolchain.language import launcher

# Published on purpose: it keeps the dev stack's secrets out of casual sight and lets every checkout open the
# committed salt. Every other environment has a passphrase or a key service of its own.
DEV_PASSPHRASE = "gpu-platform-dev-is-not-secret"  # noqa: S105

_PLUGIN = "pulumi-resource-"
_LINKED = ("kubectl", "helm")


def bin_directory(paths: Paths) -> Path:
    """Directory of ``pulumi``, ``kubectl``, ``helm`` and the Python language host."""
    return paths.state / "bin"


def install(paths: Paths, programs: Mapping[str, Path], progress: Progress) -> None:
    """Lay out ``bin`` and PULUMI_HOME so that plain ``pulumi`` finds everything without a warning.

    Safe to repeat and to run twice at once; a program that is already in place is not touched. Stand-in
    plug-ins are installed whether or not the user has the official ones: what one made, the other
    must not take over.

    Args:
        paths: The lab's directories.
        programs: What ``ensure_tools`` returned; of its programs, those not given are left out.
        progress: Told when something is put in place.
    """
    make_directory(paths.state)
    with locked(paths.state / ".install.lock"):
        changed = [name for name in _LINKED if name in programs and _link(paths, name, programs[name])]
        if "pulumi" in programs and _install_pulumi(paths, programs["pulumi"]):
            changed.append("pulumi")
        changed += [
            name for name in programs if name.startswith(_PLUGIN) and _plugin(paths, name, programs[name])
        ]
        install_standins(make_directory(paths.pulumi_home))
        make_directory(paths.backend)
        paths.backend.chmod(0o700)
    if changed:
        progress.step(f"put in place: {', '.join(changed)}")


def pulumi_environment(paths: Paths) -> dict[str, str]:
    """Variables for every run of ``pulumi``, to be laid over a process's own environment.

    Plug-ins come from the lab's PULUMI_HOME only, nothing is downloaded, and the state is in the lab's
    file backend.
    """
    return {
        "PATH": os.pathsep.join([str(bin_directory(paths)), os.environ.get("PATH", os.defpath)]),
        LAB_VARIABLE: "1",
        STATE_VARIABLE: str(paths.state),
        "PULUMI_HOME": str(paths.pulumi_home),
        "PULUMI_BACKEND_URL": f"file://{paths.backend}",
        "PULUMI_CONFIG_PASSPHRASE": DEV_PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
    }


def _install_pulumi(paths: Paths, program: Path) -> bool:
    """Put the engine in place with its language host beside it.

    The engine looks for the host beside its own file, links resolved. An official release has one there
    and is linked; a built engine becomes a file of its own beside the launcher.
    """
    host = bin_directory(paths) / launcher.NAME
    if (program.resolve().parent / launcher.NAME).exists():
        host.unlink(missing_ok=True)
        return _link(paths, "pulumi", program)
    make_directory(host.parent)
    launcher.write(host, launcher.MODULE)
    return _copy(program, host.parent / "pulumi")


def _plugin(paths: Paths, name: str, program: Path) -> bool:
    """Link a built plug-in into PULUMI_HOME, where its directory's name states the version."""
    version = pins.load().tools[name].version.removeprefix("v")
    directory = paths.pulumi_home / "plugins" / f"resource-{name.removeprefix(_PLUGIN)}-v{version}"
    Path(f"{directory}.partial").unlink(missing_ok=True)  # the engine takes it for a broken download
    return _replace_link(make_directory(directory) / name, program)


def _link(paths: Paths, name: str, program: Path) -> bool:
    return _replace_link(make_directory(bin_directory(paths)) / name, program)


def _replace_link(link: Path, target: Path) -> bool:
    if link.is_symlink() and link.readlink() == target:
        return False
    draft = link.with_name(f".{link.name}.draft")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(link)
    return True


def _copy(program: Path, place: Path) -> bool:
    """A file of its own with the program's content: a hard link where the disk is the same, else a copy."""
    if place.is_file() and not place.is_symlink() and _same(program, place):
        return False
    draft = place.with_name(f".{place.name}.draft")
    draft.unlink(missing_ok=True)
    try:
        draft.hardlink_to(program)
    except OSError:
        shutil.copy2(program, draft)
    draft.replace(place)
    return True


def _same(one: Path, other: Path) -> bool:
    """The same file, or a copy that kept size and time; contents are read only if those are not decisive."""
    return one.samefile(other) or filecmp.cmp(one, other, shallow=True)
