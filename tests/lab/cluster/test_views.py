"""Programs that are missing are told before anything is touched; the C library is never doubled."""

from pathlib import Path

import pytest

from lab.cluster import mounts, views
from lab.errors import LabError
from tests.lab.cluster.shapes import make_cluster


@pytest.mark.parametrize(
    "name", ["libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "libm.so.6", "libnss_files.so.2"]
)
def test_c_library(name: str) -> None:
    assert views.is_c_library(name)


@pytest.mark.parametrize("name", ["libseccomp.so.2", "libcap.so.2", "libcrypto.so.3", "libnftnl.so.11"])
def test_other_libraries(name: str) -> None:
    assert not views.is_c_library(name)


def test_everything_missing_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        views.check_programs(make_cluster(tmp_path).programs)
    for name in ("kubelet", "kwok", "usr/bin/etcd", "usr/lib/cni/bridge", "KWOK's stage files"):
        assert name in caught.value.why


def test_own_programs_come_before_the_hosts() -> None:
    environment = views.environment(make_cluster())
    path = environment["PATH"].split(":")
    assert path[:2] == ["/lab/state/cluster/programs/bin", "/lab/debian/usr/sbin"]
    assert path[-1] == "/bin"
    assert environment["LD_LIBRARY_PATH"] == "/lab/state/cluster/programs/lib"


@pytest.mark.parametrize("state", ["/run/lab", "/proc/lab", "/sys/lab"])
def test_a_state_directory_the_node_would_hide_is_refused(state: str) -> None:
    with pytest.raises(LabError, match=state):
        mounts.check_state(Path(state))
    mounts.check_state(Path("/var/lib/gpu-platform"))
