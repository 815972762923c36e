"""The supervisor's judgement: when to start again, when a component hangs, how long logs get."""

import signal
from pathlib import Path

import pytest

from lab.cluster import probes
from lab.cluster.components import Component
from lab.cluster.supervisor import Process, Supervisor, backoff_seconds, bound_log, pod_processes
from tests.lab.cluster.shapes import make_cluster

COMPONENT = Component(name="kubelet", argv=("/nonexistent/kubelet",), probe="http://127.0.0.1:1/healthz")


def test_backoff_grows_and_is_bounded() -> None:
    assert [backoff_seconds(count) for count in (0, 1, 2, 6, 500)] == [0.5, 1.0, 2.0, 30.0, 30.0]


def test_quick_deaths_wait_longer_and_a_long_life_forgets_them() -> None:
    process = Process(COMPONENT, pid=5, started=100.0)
    process.died(1 << 8, 101.0)
    assert (process.pid, process.failures, process.due) == (0, 1, 102.0)
    assert process.detail == "ended with code 1"
    process.pid, process.started = 6, 102.0
    process.died(signal.SIGKILL, 103.0)
    assert (process.failures, process.due, process.detail) == (2, 105.0, "ended by signal 9")
    process.pid, process.started = 7, 105.0
    process.died(0, 500.0)
    assert (process.failures, process.due) == (0, 500.5)


def test_a_component_that_hangs_is_ended_but_one_that_starts_slowly_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr("os.kill", lambda pid, number: killed.append((pid, number)))
    monkeypatch.setattr(probes, "ask", lambda _: "no answer: timed out")
    slow = Process(COMPONENT, pid=5, started=0.0)
    slow.probe(1000.0)
    assert killed == []
    hung = Process(COMPONENT, pid=6, started=0.0, seen=100.0)
    hung.probe(159.0)
    assert killed == []
    hung.probe(161.0)
    assert killed == [(6, signal.SIGKILL)]
    assert not hung.healthy


def test_health_is_asked_less_often_once_it_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(address: str) -> str:
        asked.append(address)
        return ""

    monkeypatch.setattr(probes, "ask", ask)
    process = Process(COMPONENT, pid=5, started=0.0)
    for second in range(21):
        process.probe(float(second))
    assert len(asked) == 3
    assert process.healthy
    assert process.row() == {"name": "kubelet", "pid": 5, "healthy": True, "detail": "healthy", "restarts": 0}


def test_a_log_is_kept_once_and_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "kubelet.log"
    log.write_text("x" * 100)
    bound_log(log, 100)
    assert log.stat().st_size == 100
    with log.open("a") as writer:
        writer.write("y")
        writer.flush()
        bound_log(log, 100)
        writer.write("z")
    assert log.read_text() == "z"
    assert (tmp_path / "kubelet.log.1").stat().st_size == 101


def test_a_program_that_is_gone_is_told_and_tried_again(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    cluster.paths.run.mkdir(parents=True)
    cluster.paths.logs.mkdir()
    supervisor = Supervisor(cluster, processes=[Process(COMPONENT)])
    supervisor.turn(10.0)
    (process,) = supervisor.processes
    assert (process.pid, process.failures, process.due) == (0, 1, 11.0)
    assert process.detail.startswith("cannot be started")
    assert "cannot be started" in (cluster.paths.run / "components.json").read_text()


def test_only_pods_of_the_lab_are_ended(tmp_path: Path) -> None:
    for pid, line in ((1, "/lab/kubepods/a"), (2, "/lab/kubepods/a"), (3, "/lab/supervisor"), (4, "/")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(f"4:memory:{line}\n")
    assert pod_processes("/lab/", tmp_path) == [2]


def test_a_closed_port_is_no_health() -> None:
    assert probes.ask("http://127.0.0.1:1/healthz").startswith("no answer")
    assert probes.ask("unix:/nonexistent/socket").startswith("no answer")
