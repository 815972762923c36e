"""Debian sets with an apt and a dpkg that only pretend, and with this machine's own answers recorded."""

import json
from pathlib import Path

import pytest

from lab import pins
from lab.errors import LabError
from lab.paths import Paths
from lab.toolchain import apt
from lab.toolchain.debian import ensure_debian, run_environment

from .conftest import Programs, Recorder

POLICY = """mmdebstrap:
  Installed: (none)
  Candidate: 1.3.5-7
  Version table:
     1.3.5-7 500
        500 mirror bookworm/main amd64 Packages
ghost:
  Installed: (none)
  Candidate: (none)
  Version table:
libc6:
  Installed: 2.36-9+deb12u10
  Candidate: 2.36-9+deb12u14
"""
SIMULATION = """Reading package lists...
Inst libssl3 (3.0.17-1~deb12u2 Debian:12.15/oldstable [amd64])
Inst runc (1.1.5+ds1-1+deb12u1 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64])
Inst libc6:i386 (2.36-9 Debian:12.15/oldstable [i386]) [foreign]
Conf runc (1.1.5+ds1-1+deb12u1 Debian:12.15/oldstable [amd64])
"""
FAKE_CACHE = """
[ -e "$FAKE/offline" ] && exit 100
for n in "$@"; do [ "$n" = policy ] || printf "%s:\\n  Candidate: %s\\n" "$n" "$(cat $FAKE/version)"; done
"""
# Everything depends on libc6, which is essential, and on libextra, which is not.
FAKE_GET = """
echo "apt-get $*" >> "$FAKE/calls"
case "$*" in
*simulate*apt) echo "Inst libc6 (2.36 x [amd64])"; echo "Inst perl (5.36 x [amd64])" ;;
*simulate*) for n in libc6 libextra perl etcd-server; do echo "Inst $n (1.0 x [amd64])"; done ;;
*download*)
  [ -e "$FAKE/broken" ] && { echo "E: Failed to fetch etcd-server" >&2; exit 100; }
  while [ "$1" != download ]; do shift; done; shift
  for n in "$@"; do touch "${n%%=*}.deb"; done ;;
*update*) touch "$FAKE/lists/x_Packages" ;;
esac
"""
FAKE_DPKG = """
name=$(basename "$2" .deb); mkdir -p "$3/usr/sbin"; echo "$name" > "$3/usr/sbin/$name"
[ "$name" != etcd-server ] || ln -s xtables-nft-multi "$3/usr/sbin/iptables-nft"
"""


class Host:
    """A made-up Debian machine."""

    def __init__(self, programs: Programs, root: Path) -> None:
        self.root = root
        (root / "lists").mkdir(parents=True)
        (root / "lists" / "x_Packages").touch()
        self.candidate("3.4")
        programs.write("apt-cache", FAKE_CACHE)
        programs.write("apt-get", FAKE_GET)
        programs.write("dpkg", FAKE_DPKG)
        programs.write("dpkg-query", "echo libc6 yes installed; echo perl no not-installed")

    def candidate(self, version: str) -> None:
        (self.root / "version").write_text(version)

    def set(self, state: str) -> None:
        (self.root / state).touch()

    def calls(self, word: str) -> list[str]:
        file = self.root / "calls"
        return [line for line in file.read_text().splitlines() if word in line] if file.exists() else []


@pytest.fixture
def host(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    root = tmp_path / "host"
    monkeypatch.setenv("FAKE", str(root))
    monkeypatch.setattr(apt, "LISTS", root / "lists")
    # each question is a new one, as after `apt-get update`
    counter = iter(range(1000))
    monkeypatch.setattr(apt, "fingerprint", lambda: str(next(counter)))
    return Host(programs, root)


def test_policy_and_simulation_are_read_as_apt_writes_them() -> None:
    assert apt.parse_policy(POLICY) == {"mmdebstrap": "1.3.5-7", "libc6": "2.36-9+deb12u14"}
    assert apt.parse_simulation(SIMULATION) == {
        "libssl3": "3.0.17-1~deb12u2",
        "runc": "1.1.5+ds1-1+deb12u1",
        "libc6": "2.36-9",
    }


def test_a_set_is_unpacked_once_without_what_every_debian_has(
    paths: Paths, recorder: Recorder, host: Host
) -> None:
    root = ensure_debian(paths, "node", recorder.progress())
    assert sorted(file.name for file in (root / "usr/sbin").iterdir()) == [
        "etcd-server",
        "iptables",
        "iptables-nft",
        "libextra",
        "perl",
    ]
    assert (root / "usr/sbin/iptables").readlink() == Path("iptables-nft")
    manifest = json.loads((root / ".packages.json").read_text())
    assert manifest["names"] == list(pins.load().debian_sets["node"])
    assert manifest["packages"] == {"libextra": "1.0", "perl": "1.0", "etcd-server": "1.0"}
    assert ensure_debian(paths, "node", recorder.progress()) == root
    assert len(host.calls("download")) == 1
    assert host.calls("update") == []
    assert not list(paths.debian.glob(".*.partial"))


def test_a_new_candidate_makes_a_new_tree_and_keeps_the_old(
    paths: Paths, recorder: Recorder, host: Host
) -> None:
    old = ensure_debian(paths, "node", recorder.progress())
    host.candidate("3.5")
    new = ensure_debian(paths, "node", recorder.progress())
    assert old != new
    assert old.is_dir()


@pytest.mark.parametrize("state", ["offline", "broken"])
def test_without_a_mirror_the_earlier_tree_is_used(
    paths: Paths, recorder: Recorder, host: Host, state: str
) -> None:
    host.set(state)
    with pytest.raises(LabError, match=r"failed(.|\n)*apt-get update"):
        ensure_debian(paths, "node", recorder.progress())
    assert not list(paths.debian.glob("node-*"))
    (host.root / state).unlink()
    root = ensure_debian(paths, "node", recorder.progress())
    host.candidate("3.5")
    host.set(state)
    assert ensure_debian(paths, "node", recorder.progress()) == root
    assert "using the packages unpacked earlier" in recorder.text()
    with pytest.raises(LabError):
        ensure_debian(paths, "imagetools", recorder.progress())


def test_a_machine_without_package_lists_fetches_them_first(
    paths: Paths, recorder: Recorder, host: Host, programs: Programs
) -> None:
    (host.root / "lists" / "x_Packages").unlink()
    programs.write("apt-cache", f'[ -e "$FAKE/lists/x_Packages" ] || exit 0; {FAKE_CACHE}')
    assert ensure_debian(paths, "imagetools", recorder.progress()).is_dir()
    assert len(host.calls("update")) == 1
    assert "fetching the package lists" in recorder.text()


def test_packages_apt_does_not_know_and_unknown_sets_are_told(
    paths: Paths, recorder: Recorder, host: Host, programs: Programs
) -> None:
    programs.write("apt-cache", "exit 0")
    with pytest.raises(LabError, match=r"apt does not know mmdebstrap(.|\n)*bookworm"):
        ensure_debian(paths, "imagetools", recorder.progress())
    with pytest.raises(
        LabError, match=r"no set of Debian packages is named 'nodes'(.|\n)*imagetools, monitoring, node"
    ):
        ensure_debian(paths, "nodes", recorder.progress())
    assert host.calls("") == []


def test_a_system_without_apt_is_told(
    paths: Paths, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match=r"apt-cache is not on this machine(.|\n)*make doctor"):
        ensure_debian(paths, "node", recorder.progress())


def test_the_environment_of_a_tree_names_only_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/host")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for part in ("usr/share/perl/5.36.0", "usr/lib/x86_64-linux-gnu/perl/5.36.0", "usr/share/perl5"):
        (tmp_path / part).mkdir(parents=True)
    environment = run_environment(tmp_path)
    assert environment == {
        "PATH": ":".join(f"{tmp_path}/{part}" for part in ("usr/sbin", "usr/bin", "sbin", "bin")) + ":/host",
        "LD_LIBRARY_PATH": f"{tmp_path}/usr/lib/x86_64-linux-gnu:{tmp_path}/lib/x86_64-linux-gnu",
        "PERL5LIB": f"{tmp_path}/usr/share/perl/5.36.0:{tmp_path}/usr/lib/x86_64-linux-gnu/perl/5.36.0"
        f":{tmp_path}/usr/share/perl5",
    }
    (tmp_path / "usr/lib/x86_64-linux-gnu/xtables").mkdir()
    assert run_environment(tmp_path)["XTABLES_LIBDIR"] == f"{tmp_path}/usr/lib/x86_64-linux-gnu/xtables"
