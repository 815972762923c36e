"""A real cluster: what works in it, what comes back after a kill, what it leaves behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.cluster import Network, down, up
from lab.cluster.lock import lab_lock
from lab.errors import LabError
from lab.progress import Progress
from tests.lab.cluster.conftest import NETWORK, STATE, Lab, remains
from tests.lab.cluster.workload import NAMESPACE, default_deny, simulated_node, workload

pytestmark = [pytest.mark.kube, pytest.mark.timeout(600), pytest.mark.xdist_group("own-cluster")]
Eventually = Callable[[Callable[[], bool], float], None]


def fetch(url: str) -> str:
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=3) as answer:
            return str(answer.read().decode())
    except OSError as error:
        return f"failed: {error}"


@pytest.fixture(scope="module")
def web(lab: Lab) -> Lab:
    lab.kubectl("apply", "-f", "-", stdin=workload(lab.image))
    lab.kubectl("rollout", "status", "deployment/web", "-n", NAMESPACE, "--timeout=90s")
    return lab


def page_of_service(lab: Lab) -> str:
    address = lab.kubectl("get", "service", "web", "-n", NAMESPACE, "-o", "jsonpath={.spec.clusterIP}")
    return fetch(f"http://{address}/")


def test_everything_is_healthy_and_counted(lab: Lab) -> None:
    found = lab.status()
    assert len(found) == 17
    assert [one.name for one in found.values() if not one.healthy] == []
    assert all(Path(f"/proc/{one.pid}").exists() for one in found.values() if one.pid)
    assert len({one.pid for one in found.values() if one.pid}) == 10


def test_up_again_changes_nothing_and_is_quick(lab: Lab) -> None:
    before = {name: one.pid for name, one in lab.status().items()}
    started = time.monotonic()
    lab.up()
    assert time.monotonic() - started < 20
    assert {name: one.pid for name, one in lab.status().items()} == before


def test_the_host_reaches_the_service_and_the_pod(web: Lab) -> None:
    assert page_of_service(web) == "first\n"
    address = web.kubectl("get", "pod", "-n", NAMESPACE, "-o", "jsonpath={.items[0].status.podIP}")
    assert fetch(f"http://{address}:8080/") == "first\n"


def test_logs_exec_and_names(web: Lab) -> None:
    assert "serving" in web.kubectl("logs", "deployment/web", "-n", NAMESPACE)
    run = ("exec", "deployment/web", "-n", NAMESPACE, "--", "/bin/sh", "-c")
    assert web.kubectl(*run, "busybox wget -qO- http://web") == "first\n"
    answer = web.kubectl(*run, "busybox nslookup host.gpu-platform.lab")
    assert NETWORK.host_address in answer
    assert "NXDOMAIN" in web.kubectl(*run, "busybox nslookup example.org || true")


def test_port_forward(web: Lab, eventually: Eventually) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(web.programs.go["kubectl"]), f"--kubeconfig={web.paths.kubeconfig}"]
    command += ["port-forward", "service/web", "-n", NAMESPACE, f"{port}:80"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: fetch(f"http://127.0.0.1:{port}/") == "first\n", 20)
        finally:
            process.terminate()


@pytest.mark.usefixtures("web")
def test_claims_lie_on_separate_directories_of_the_state() -> None:
    volumes = STATE / "cluster/volumes"
    assert [path.name for path in volumes.glob("standard/*/*")] == ["index.html"]
    assert [path.name for path in volumes.glob("fast/*/*")] == ["mark"]


def test_simulated_nodes_live_on_leases(lab: Lab, eventually: Eventually) -> None:
    lab.kubectl("apply", "-f", "-", stdin=simulated_node())
    eventually(lambda: ready_of(lab, "sim-0") == "True", 20)
    lease = lab.kubectl("get", "lease", "sim-0", "-n", "kube-node-lease", "-o", "json")
    assert json.loads(lease)["spec"]["leaseDurationSeconds"] == 40


def ready_of(lab: Lab, node: str) -> str:
    conditions = json.loads(lab.kubectl("get", "node", node, "-o", "json"))["status"].get("conditions", [])
    return next((str(row["status"]) for row in conditions if row["type"] == "Ready"), "")


def test_access_is_refused_where_it_should_be(lab: Lab) -> None:
    def answer(url: str) -> int:
        done = subprocess.run(
            ["curl", "-sk", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", url],
            check=False,
            capture_output=True,
            text=True,
        )
        return int(done.stdout)

    assert answer(f"{NETWORK.api_url}/readyz") == 200
    assert answer(f"{NETWORK.api_url}/version") == 401
    assert answer(f"https://{NETWORK.node_address}:10250/pods") == 401
    with socket.socket() as etcd:
        etcd.settimeout(1)
        assert etcd.connect_ex((NETWORK.node_address, 2379)) != 0
    assert lab.paths.kubeconfig.stat().st_mode & 0o777 == 0o600
    with pytest.raises(AssertionError, match="violates PodSecurity"):
        lab.kubectl("run", "bad", "--image=x", "--privileged", "-n", "kube-system")


def test_secrets_are_encrypted_in_the_database(lab: Lab) -> None:
    mark = "clear-text-mark-" + os.urandom(8).hex()
    lab.kubectl("create", "secret", "generic", "marked", f"--from-literal=value={mark}")
    time.sleep(0.5)
    data = b"".join(path.read_bytes() for path in (STATE / "cluster/etcd").rglob("*") if path.is_file())
    assert b"/registry/secrets/default/marked" in data
    assert mark.encode() not in data


def test_the_host_keeps_its_settings_and_namespaces(lab: Lab) -> None:
    first = next(one.pid for one in lab.status().values() if one.name == "etcd")
    for kind in ("net", "mnt", "pid", "uts", "ipc"):
        assert Path(f"/proc/{first}/ns/{kind}").readlink() != Path(f"/proc/self/ns/{kind}").readlink()
    assert "mounts" not in remains()
    assert not Path("/var/lib/kubelet/config").exists()


def test_network_policies_are_enforced(web: Lab, eventually: Eventually) -> None:
    lookup = "timeout 3 busybox nslookup host.gpu-platform.lab > /dev/null && echo found || echo none"
    command = ("exec", "deployment/web", "-n", NAMESPACE, "--", "/bin/sh", "-c", lookup)

    def serves() -> bool:
        return page_of_service(web) == "first\n"

    def finds_names() -> bool:
        return web.kubectl(*command).split() == ["found"]

    assert serves()
    assert finds_names()
    web.kubectl("apply", "-f", "-", stdin=default_deny("Ingress"))
    eventually(lambda: not serves(), 30)
    assert finds_names()
    web.kubectl("apply", "-f", "-", stdin=default_deny("Egress"))
    eventually(lambda: not finds_names(), 30)
    web.kubectl("delete", "networkpolicy", "--all", "-n", NAMESPACE)
    eventually(lambda: serves() and finds_names(), 30)


@pytest.mark.parametrize("name", ["kube-apiserver", "kubelet", "containerd", "etcd", "kwok", "kube-router"])
def test_a_killed_component_is_started_again(web: Lab, eventually: Eventually, name: str) -> None:
    before = web.status()[name]
    os.kill(before.pid, signal.SIGKILL)

    def back() -> bool:
        now = web.status()
        return now[name].pid not in (0, before.pid) and all(one.healthy for one in now.values())

    eventually(back, 90)
    assert web.status()[name].restarts == before.restarts + 1
    assert page_of_service(web) == "first\n"


def test_a_second_operation_at_once_is_refused(lab: Lab) -> None:
    with lab_lock(lab.paths, "make up"):
        script = (
            "import sys; from pathlib import Path; from lab.cluster import down; from lab.paths import Paths;"
            "from lab.progress import Progress; from lab.errors import LabError\n"
            "try: down(Paths(cache=Path('/nonexistent'), state=Path(sys.argv[1])), Progress())\n"
            "except LabError as error: print(error); sys.exit(3)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(STATE)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
    assert done.returncode == 3
    assert re.search(rf"make up runs since .* as process {os.getpid()} ", done.stdout)
    assert all(one.healthy for one in lab.status().values())


def test_names_of_a_living_lab_are_not_taken(lab: Lab, tmp_path: Path) -> None:
    other = type(lab.paths)(cache=lab.paths.cache, state=tmp_path)
    quiet = Progress(write=lambda _: None)
    with pytest.raises(LabError, match="another lab uses the same names"):
        down(other, quiet, network=NETWORK)
    taken = Network(name="gpu-platform-tst2", link="gpu-test1", nodes="10.234.0.0/25")
    with pytest.raises(LabError, match=f"10.234.0.0/24 dev {NETWORK.link}"):
        up(other, lab.programs, quiet, lab.archives, network=taken)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
    assert all(one.healthy for one in lab.status().values())


def test_a_killed_supervisor_is_told_and_repaired_with_data(web: Lab) -> None:
    os.kill(web.status()["supervisor"].pid, signal.SIGKILL)
    time.sleep(1)
    assert "processes" not in remains()
    (line,) = web.status().values()
    assert (line.name, line.healthy) == ("supervisor", False)
    web.up()
    web.kubectl("rollout", "status", "deployment/web", "-n", NAMESPACE, "--timeout=90s")
    assert page_of_service(web) == "first\n"


def test_lost_routes_are_told_and_repaired(web: Lab) -> None:
    subprocess.run(["ip", "route", "delete", NETWORK.services], check=True)
    assert not web.status()["network"].healthy
    web.up()
    assert page_of_service(web) == "first\n"


def test_stop_leaves_nothing_running_and_a_new_start_has_the_data(web: Lab) -> None:
    web.down(keep_data=True)
    assert remains() == {}
    web.up()
    web.kubectl("rollout", "status", "deployment/web", "-n", NAMESPACE, "--timeout=90s")
    assert page_of_service(web) == "first\n"


def test_down_leaves_nothing_and_is_safe_to_repeat(lab: Lab) -> None:
    """Last: the session's cluster ends here, and the fixture's own end proves that `down` can be repeated."""
    lab.down()
    lab.down()
    assert remains() == {}
    assert not (STATE / "cluster").exists()
    assert not lab.paths.kubeconfig.exists()
    left: list[Any] = sorted(path.name for path in (STATE / "run").iterdir())
    assert left == ["lab.lock"]
