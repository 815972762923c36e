"""The lab's own cgroups on version 1, 2 and hybrid hosts. Not done here: limits, which the kubelet sets.

Every function takes the root of the file system it reads and writes, so that recorded hosts can be tested.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError

WHERE = "cgroups of the lab"
# Without one of these the kubelet ends at once or cannot bound its pods.
REQUIRED_V1 = ("cpu", "cpuacct", "cpuset", "memory", "pids")
REQUIRED_V2 = ("cpu", "cpuset", "memory", "pids")
LEAF = "supervisor"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the host mounts.

    Args:
        version: 1 or 2: which one carries the controllers.
        hybrid: Whether version 1 carries them while a version 2 tree is mounted beside it.
        controllers: Controller → directory of its hierarchy; on version 2 all name the same one.
        mounts: Every hierarchy, named ones and an empty version 2 tree included.
    """

    version: int
    hybrid: bool
    controllers: Mapping[str, Path]
    mounts: tuple[Path, ...]


def detect(root: Path = Path("/")) -> Layout:
    """Read the layout from ``/proc/self/mountinfo`` and ``/sys/fs/cgroup`` below a root.

    Raises:
        LabError: No cgroups are mounted, or controllers the kubelet needs are missing.
    """
    first: dict[Path, tuple[str, str]] = {}
    for line in (root / "proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            first.setdefault(root / before.split()[4].lstrip("/"), (kind, options))
    version_one = {
        controller: mount
        for mount, (kind, options) in first.items()
        if kind == "cgroup"
        for controller in options.split(",")
        if controller in _known_controllers(root)
    }
    unified = [mount for mount, (kind, _) in first.items() if kind == "cgroup2"]
    if version_one:
        layout = Layout(version=1, hybrid=bool(unified), controllers=version_one, mounts=tuple(first))
    else:
        available = (unified[0] / "cgroup.controllers").read_text().split() if unified else []
        layout = Layout(
            version=2, hybrid=False, controllers=dict.fromkeys(available, unified[0]) if unified else {},
            mounts=tuple(unified),
        )  # fmt: skip
    _check(layout)
    return layout


def _known_controllers(root: Path) -> set[str]:
    lines = (root / "proc/cgroups").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def _check(layout: Layout) -> None:
    required = REQUIRED_V1 if layout.version == 1 else REQUIRED_V2
    missing = [name for name in required if name not in layout.controllers]
    if missing:
        raise LabError(
            "the kernel does not offer the control groups Kubernetes needs",
            where=WHERE,
            why=f"not mounted or not enabled: {', '.join(missing)}",
            fix="enable them (kernel command line cgroup_enable=…), or mount cgroups, then run make doctor",
        )


def prepare(layout: Layout, name: str) -> None:
    """Make the lab's cgroup in every hierarchy, ready for the kubelet to put pods below it."""
    if layout.version == 2:
        _prepare_v2(layout, name)
        return
    # In named hierarchies too: the kubelet wants its root in every one.
    for mount in layout.mounts:
        directory = mount / name
        directory.mkdir(exist_ok=True)
        if mount == layout.controllers["cpuset"]:
            # A new cpuset is empty, and no process can enter an empty one.
            for setting in ("cpuset.cpus", "cpuset.mems"):
                target = directory / setting
                if not (target.exists() and target.read_text().strip()):
                    target.write_text((mount / setting).read_text())


def _prepare_v2(layout: Layout, name: str) -> None:
    top = layout.mounts[0]
    wanted = " ".join(f"+{controller}" for controller in layout.controllers)
    (top / "cgroup.subtree_control").write_text(wanted)
    (top / name).mkdir(exist_ok=True)
    (top / name / LEAF).mkdir(exist_ok=True)
    # Only a cgroup without processes of its own may pass controllers on: the supervisor goes to the leaf.
    (top / name / "cgroup.subtree_control").write_text(wanted)


def enter(layout: Layout, name: str, pid: int) -> None:
    """Move a process, and so all it starts, to the lab's leaf; on version 1 it stays where it was started.

    Version 2 needs it: the session's own cgroup may be killed at logout and cannot pass controllers on.
    """
    if layout.version == 2:
        (layout.mounts[0] / name / LEAF / "cgroup.procs").write_text(str(pid))


def remains(layout: Layout, name: str) -> list[Path]:
    """The lab's cgroups that exist, deepest first."""
    found: list[Path] = []
    for mount in layout.mounts:
        for directory, _, _ in os.walk(mount / name, topdown=False):
            found.append(Path(directory))
    return found


def remove(layout: Layout, name: str, seconds: float = 10) -> None:
    """Remove the lab's cgroups; ended processes may take a moment to leave them.

    Raises:
        LabError: Something still lives in one of them.
    """
    deadline = time.monotonic() + seconds
    while left := remains(layout, name):
        for directory in left:
            try:
                directory.rmdir()
            except OSError as error:
                if time.monotonic() > deadline:
                    raise LabError(
                        "a control group of the lab cannot be removed",
                        where=str(directory),
                        why=f"{error.strerror}; processes in it: {_processes(directory)}",
                        fix="end those processes, then run make down again",
                    ) from error
        if remains(layout, name):
            time.sleep(0.1)


def _processes(directory: Path) -> str:
    try:
        return (directory / "cgroup.procs").read_text().replace("\n", " ").strip() or "none"
    except OSError:
        return "unknown"
