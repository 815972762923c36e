"""First process of the node: starts the components, starts again what dies, tells how they do.

``enter <record>`` makes itself known and becomes the process that holds the namespaces; killing it, in
whatever way, ends everything in them. ``run <record>`` is the first process inside.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.cluster import cgroups, mounts, probes, views
from lab.cluster.components import Component, plan
from lab.cluster.processes import identify, write_atomically
from lab.cluster.records import Cluster, cluster_from_json

LOG_LIMIT_BYTES = 16 * 1024 * 1024
STARTING_PROBE_SECONDS = 0.5
STEADY_PROBE_SECONDS = 10.0
# A component that was healthy and has not answered for so long is ended and started again.
HUNG_SECONDS = 60.0
STABLE_SECONDS = 30.0
LONGEST_BACKOFF_SECONDS = 30.0
GRACE_SECONDS = 10.0


def backoff_seconds(failures: int) -> float:
    """The wait before the next start after so many quick deaths in a row."""
    return min(LONGEST_BACKOFF_SECONDS, 0.5 * 2.0 ** min(failures, 10))


@dataclass
class Process:
    """A component and how it does.

    Args:
        component: What it is.
        pid: Process id inside the node, 0 when not running.
        started: Monotonic time of the last start.
        restarts: Starts after the first.
        failures: Quick deaths in a row.
        due: Monotonic time from which it may be started.
        seen: Monotonic time of its last healthy answer since the last start, 0 for none.
        detail: What the last probe saw; empty when healthy.
        next_probe: Monotonic time of the next probe.
    """

    component: Component
    pid: int = 0
    started: float = 0.0
    restarts: int = -1
    failures: int = 0
    due: float = 0.0
    seen: float = 0.0
    detail: str = "not started yet"
    next_probe: float = 0.0

    @property
    def healthy(self) -> bool:
        """Whether it runs and its last probe was answered."""
        return bool(self.pid) and not self.detail

    def died(self, status: int, now: float) -> None:
        """Note the end of the process and when it may start again."""
        code = os.waitstatus_to_exitcode(status)
        self.failures = 0 if now - self.started > STABLE_SECONDS else self.failures + 1
        self.pid, self.due = 0, now + backoff_seconds(self.failures)
        self.detail = f"ended with code {code}" if code >= 0 else f"ended by signal {-code}"

    def probe(self, now: float) -> None:
        """Ask for health when it is time; end it when it hangs."""
        if not self.pid or now < self.next_probe:
            return
        self.detail = probes.ask(self.component.probe)
        if not self.detail:
            self.seen = now
        elif self.seen and now - self.seen > HUNG_SECONDS:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.next_probe = now + (STARTING_PROBE_SECONDS if self.detail else STEADY_PROBE_SECONDS)

    def row(self) -> dict[str, object]:
        """What ``status`` reads."""
        return {
            "name": self.component.name,
            "pid": self.pid,
            "healthy": self.healthy,
            "detail": self.detail or "healthy",
            "restarts": max(0, self.restarts),
        }


def say(text: str) -> None:
    """One line with the time into the supervisor's log."""
    print(time.strftime("%Y-%m-%d %H:%M:%S"), text, file=sys.stderr, flush=True)


def bound_log(path: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
    """Keep a log below its limit: the full one is kept once as ``.1``."""
    if path.exists() and path.stat().st_size > limit_bytes:
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
        # Writers append, so they go on at the new end.
        os.truncate(path, 0)


@dataclass
class Supervisor:
    """The loop over all processes.

    Args:
        cluster: What to run.
        stopping: Set by the signal that asks for an orderly end.
    """

    cluster: Cluster
    processes: list[Process] = field(default_factory=list)
    stopping: bool = False
    told: str = ""
    logs_checked: float = 0.0

    def run(self) -> None:
        """Run until asked to stop."""
        wake, signalled = os.pipe()
        os.set_blocking(signalled, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(signalled)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.processes = [Process(component) for component in plan(self.cluster)]
        while not self.stopping:
            # A full disk or a program that is being replaced must not end the node.
            with contextlib.suppress(OSError):
                self.turn(time.monotonic())
            settled = all(process.healthy for process in self.processes)
            select.select([wake], [], [], 2.0 if settled else 0.2)
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
        self._end()

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def turn(self, now: float) -> None:
        """Reap, probe, start, tell."""
        self._reap(now)
        for process in self.processes:
            process.probe(now)
        healthy = {process.component.name for process in self.processes if process.healthy}
        for process in self.processes:
            if not process.pid and now >= process.due and healthy.issuperset(process.component.after):
                self._start(process, now)
        if now - self.logs_checked > 60:
            self.logs_checked = now
            for process in self.processes:
                bound_log(self._log(process))
        text = json.dumps([process.row() for process in self.processes], indent=1)
        if text != self.told:
            write_atomically(self.cluster.paths.run / "components.json", text)
            self.told = text

    def _reap(self, now: float) -> None:
        # As first process it also inherits every orphan of the node.
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for process in self.processes:
                if process.pid == pid:
                    process.died(status, now)
                    say(f"{process.component.name} {process.detail}")

    def _log(self, process: Process) -> Path:
        return self.cluster.paths.logs / f"{process.component.name}.log"

    def _start(self, process: Process, now: float) -> None:
        log = self._log(process)
        bound_log(log)
        argv = list(process.component.argv)
        try:
            process.pid = os.posix_spawn(
                argv[0],
                argv,
                views.environment(self.cluster),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setpgroup=0,
                setsigdef=[signal.SIGPIPE],
            )
        except OSError as error:
            process.failures += 1
            process.due = now + backoff_seconds(process.failures)
            process.detail = f"cannot be started: {error}"
            return
        process.started, process.seen, process.next_probe = now, 0.0, now
        process.restarts += 1
        process.detail = "starting"
        say(f"{process.component.name} started, restarts: {process.restarts}")

    def _end(self) -> None:
        """End in order: what starts pods, then the pods, then what they may need, the database last."""
        order = (("kubelet", "kube-controller-manager", "kube-scheduler", "kwok"), ("pods",),
                 ("kube-apiserver", "kube-proxy", "kube-router", "containerd"), ("etcd",))  # fmt: skip
        for names in order:
            pids = [p.pid for p in self.processes if p.component.name in names and p.pid]
            if names == ("pods",):
                pids = pod_processes(f"/{self.cluster.network.name}/")
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            say(f"ending {', '.join(names)}: {len(pids)} processes")
            deadline = time.monotonic() + GRACE_SECONDS
            while any(_exists(pid) for pid in pids) and time.monotonic() < deadline:
                with contextlib.suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                time.sleep(0.05)


def pod_processes(cgroup: str, proc: Path = Path("/proc")) -> list[int]:
    """Processes of the node whose cgroup lies below the lab's, but for the supervisor's own leaf."""
    found = []
    for entry in proc.iterdir():
        if not entry.name.isdigit() or entry.name == "1":
            continue
        with contextlib.suppress(OSError):
            if f"{cgroup}kubepods" in (entry / "cgroup").read_text():
                found.append(int(entry.name))
    return sorted(found)


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def enter(record: Path) -> None:
    """Make this process known, then become the holder of the node's namespaces."""
    cluster = cluster_from_json(record.read_text())
    descriptor = os.open(cluster.paths.run / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
    # Held by the holder and the first process inside until the last of them ends.
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.set_inheritable(descriptor, True)
    me = identify(os.getpid())
    if me is not None:
        write_atomically(cluster.paths.run / "supervisor.json", me.to_json())
    # The pid and start time stay the same through the exec.
    argv = [
        "nsenter", f"--net=/run/netns/{cluster.network.name}",
        "unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc",
        sys.executable, "-m", "lab.cluster.supervisor", "run", str(record),
    ]  # fmt: skip
    os.execvp(argv[0], argv)  # noqa: S606 - the whole point: no shell, same pid


def main(arguments: list[str]) -> int:
    """Entry point of both stages."""
    stage, record = arguments[0], Path(arguments[1])
    os.umask(0o022)
    if stage == "enter":
        enter(record)
    cluster = cluster_from_json(record.read_text())
    socket.sethostname(cluster.network.name)
    layout = cgroups.detect()
    cgroups.enter(layout, cluster.network.name, os.getpid())
    mounts.prepare(cluster)
    Supervisor(cluster).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
