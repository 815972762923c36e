"""Control groups on recorded hosts: version 1 with an empty version 2 tree beside it, and version 2."""

import shutil
from pathlib import Path

import pytest

from lab.cluster import cgroups
from lab.errors import LabError

DATA = Path(__file__).parent / "data"
NAME = "gpu-platform-lab"
HYBRID = ("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "systemd", "unified")


def recorded(root: Path, kind: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    shutil.copy(DATA / kind / "mountinfo", root / "proc/self/mountinfo")
    shutil.copy(DATA / kind / "cgroups", root / "proc/cgroups")
    top = root / "sys/fs/cgroup"
    top.mkdir(parents=True)
    if kind == "v2":
        shutil.copy(DATA / kind / "cgroup.controllers", top)
        (top / "cgroup.subtree_control").write_text("")
    else:
        for name in HYBRID:
            (top / name).mkdir()
        (top / "cpuset/cpuset.cpus").write_text("0-1\n")
        (top / "cpuset/cpuset.mems").write_text("0\n")
    return top


def test_hybrid_host_is_version_one(tmp_path: Path) -> None:
    top = recorded(tmp_path, "hybrid")
    layout = cgroups.detect(tmp_path)
    assert (layout.version, layout.hybrid) == (1, True)
    assert layout.controllers == {name: top / name for name in HYBRID[:8]}
    assert layout.mounts == tuple(top / name for name in HYBRID)


def test_version_one_is_prepared_in_every_hierarchy_with_cpuset_filled(tmp_path: Path) -> None:
    top = recorded(tmp_path, "hybrid")
    layout = cgroups.detect(tmp_path)
    cgroups.prepare(layout, NAME)
    cgroups.prepare(layout, NAME)
    assert sorted(path.parent.name for path in top.glob(f"*/{NAME}")) == sorted(HYBRID)
    assert (top / "cpuset" / NAME / "cpuset.cpus").read_text() == "0-1\n"
    assert (top / "cpuset" / NAME / "cpuset.mems").read_text() == "0\n"


def test_version_one_moves_no_process(tmp_path: Path) -> None:
    top = recorded(tmp_path, "hybrid")
    layout = cgroups.detect(tmp_path)
    cgroups.prepare(layout, NAME)
    cgroups.enter(layout, NAME, 77)
    assert list(top.rglob("cgroup.procs")) == []


def test_version_two_host(tmp_path: Path) -> None:
    top = recorded(tmp_path, "v2")
    layout = cgroups.detect(tmp_path)
    assert (layout.version, layout.hybrid, layout.mounts) == (2, False, (top,))
    assert set(layout.controllers) == {"cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"}


def test_version_two_passes_controllers_on_and_puts_the_supervisor_in_a_leaf(tmp_path: Path) -> None:
    top = recorded(tmp_path, "v2")
    layout = cgroups.detect(tmp_path)
    cgroups.prepare(layout, NAME)
    wanted = "+cpuset +cpu +io +memory +hugetlb +pids +rdma +misc"
    assert (top / "cgroup.subtree_control").read_text() == wanted
    assert (top / NAME / "cgroup.subtree_control").read_text() == wanted
    cgroups.enter(layout, NAME, 77)
    assert (top / NAME / "supervisor/cgroup.procs").read_text() == "77"


def test_missing_controllers_are_named(tmp_path: Path) -> None:
    top = recorded(tmp_path, "v2")
    (top / "cgroup.controllers").write_text("cpu io\n")
    with pytest.raises(LabError, match="cpuset, memory, pids"):
        cgroups.detect(tmp_path)


def test_remove_takes_the_whole_tree_and_is_safe_to_repeat(tmp_path: Path) -> None:
    top = recorded(tmp_path, "hybrid")
    layout = cgroups.detect(tmp_path)
    for name in HYBRID:
        (top / name / NAME / "kubepods/burstable/pod1").mkdir(parents=True)
        (top / name / "kept").mkdir()
    assert len(cgroups.remains(layout, NAME)) == 4 * len(HYBRID)
    cgroups.remove(layout, NAME)
    cgroups.remove(layout, NAME)
    assert cgroups.remains(layout, NAME) == []
    assert len(list(top.glob("*/kept"))) == len(HYBRID)


def test_a_group_that_stays_is_reported(tmp_path: Path) -> None:
    top = recorded(tmp_path, "hybrid")
    layout = cgroups.detect(tmp_path)
    held = top / "memory" / NAME
    held.mkdir()
    # A file keeps the directory as a process would keep a real group.
    (held / "cgroup.procs").write_text("4711\n")
    with pytest.raises(LabError, match="4711"):
        cgroups.remove(layout, NAME, seconds=0)
