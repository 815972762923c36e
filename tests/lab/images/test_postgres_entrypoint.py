"""The entrypoint of the database image, with stand-ins for PostgreSQL's programs that tell what they got."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.images.recipe import RECIPES

ENTRYPOINT = RECIPES / "postgres-entrypoint.sh"
INITDB = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        -D) data=$2 && shift ;;
        --pwfile=*) password=$(cat "${1#--pwfile=}") ;;
        --*) echo "$1" >>"$LOG" ;;
    esac
    shift
done
[ "$password" = s3cret ] || exit 9
mkdir "$data" && echo begun >"$data/half"
[ -z "${SLOW_INITDB:-}" ] || { echo initialising >>"$LOG"; sleep "$SLOW_INITDB"; }
echo 15 >"$data/PG_VERSION"
echo "local all all scram-sha-256" >"$data/pg_hba.conf"
"""
# Python, because a shell in the background cannot take back that SIGINT is ignored, as the real server does.
POSTGRES = f"""#!{sys.executable} -I
import os, signal, sys, time
def tell(text): open(os.environ["LOG"], "a").write(text + "\\n")
def stop(text, code): tell("server: " + text) or sys.exit(code)
if sys.argv[1] == "--single":
    sys.exit(any(tell("single: " + line.rstrip()) for line in sys.stdin))
signal.signal(signal.SIGINT, lambda *_: stop("fast shutdown", 0))
signal.signal(signal.SIGTERM, lambda *_: stop("smart shutdown", 7))
tell("server: " + " ".join(sys.argv[1:]))
time.sleep(float(os.environ.get("SERVER_SECONDS", "0")))
sys.exit(int(os.environ.get("SERVER_STATUS", "0")))
"""
PROGRAMS = {"initdb": INITDB, "postgres": POSTGRES}
Run = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Starts the entrypoint with its own volume and the stand-ins."""
    (tmp_path / "bin").mkdir()
    for name, text in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "password").write_text("s3cret\n")

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        environment = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "LOG": str(tmp_path / "log"),
            "PGDATA": str(tmp_path / "volume" / "pgdata"),
            "POSTGRES_PASSWORD_FILE": str(tmp_path / "password"),
        }
        command = ["sh", str(ENTRYPOINT), *arguments]
        return subprocess.Popen(command, env=environment | variables, stderr=subprocess.PIPE, text=True)

    return start


def log(tmp_path: Path) -> list[str]:
    path = tmp_path / "log"
    return path.read_text().splitlines() if path.exists() else []


def wait_for(tmp_path: Path, line: str) -> None:
    deadline = time.monotonic() + 10
    while line not in "\n".join(log(tmp_path)):
        assert time.monotonic() < deadline, f"no {line!r} in {log(tmp_path)}"
        time.sleep(0.01)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=20)
    return process.returncode, errors


def test_the_first_start_makes_the_data_and_later_ones_use_it(run: Run, tmp_path: Path) -> None:
    variables = {"POSTGRES_USER": "owner", "POSTGRES_DB": "main", "POSTGRES_EXTRA_DATABASES": "auth, more-1"}
    code, errors = finish(run("postgres", **variables))
    assert code == 0
    assert "new data in" in errors
    first = log(tmp_path)
    data = tmp_path / "volume" / "pgdata"
    assert first[:-1] == [
        "--username=owner",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        'single: CREATE DATABASE "main"',
        'single: CREATE DATABASE "auth"',
        'single: CREATE DATABASE "more-1"',
    ]
    assert first[-1].startswith(f"server: -D {data} -c listen_addresses=* -c unix_socket_directories=/")
    rules = (data / "pg_hba.conf").read_text().splitlines()
    assert [rule.split()[-1] for rule in rules] == ["scram-sha-256", "scram-sha-256"]
    (tmp_path / "password").unlink()
    code, errors = finish(run("-c", "max_connections=33", **variables))
    assert (code, errors) == (0, "")
    (line,) = log(tmp_path)[len(first) :]
    assert line.endswith(" -c max_connections=33")


def test_a_kill_while_the_data_is_made_leaves_nothing_that_passes_for_data(run: Run, tmp_path: Path) -> None:
    killed = run(SLOW_INITDB="1")
    wait_for(tmp_path, "initialising")
    killed.kill()
    killed.wait()
    assert not (tmp_path / "volume" / "pgdata").exists()
    time.sleep(1.2)  # the stand-in is no child of a container here and ends by itself
    assert finish(run())[0] == 0
    assert [path.name for path in (tmp_path / "volume").iterdir()] == ["pgdata"]
    assert (tmp_path / "volume" / "pgdata" / "PG_VERSION").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_is_a_fast_shutdown(run: Run, tmp_path: Path, number: signal.Signals) -> None:
    server = run(SERVER_SECONDS="20")
    wait_for(tmp_path, "server: -D")
    time.sleep(0.2)
    server.send_signal(number)
    assert finish(server)[0] == 0
    assert log(tmp_path)[-1] == "server: fast shutdown"


def test_the_status_of_the_server_is_passed_on(run: Run) -> None:
    assert finish(run(SERVER_STATUS="3"))[0] == 3


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"POSTGRES_PASSWORD_FILE": ""}, "POSTGRES_PASSWORD_FILE is not set; name a file"),
        ({"POSTGRES_PASSWORD_FILE": "/nowhere"}, "/nowhere: no such file, or it is empty"),
        ({"POSTGRES_DB": 'x";DROP'}, "database name 'x\";DROP': use letters, digits, _ and - only"),
    ],
)
def test_what_cannot_start_is_told_and_leaves_no_data(
    run: Run, tmp_path: Path, variables: dict[str, str], message: str
) -> None:
    code, errors = finish(run(**variables))
    assert code == 1
    assert message in errors
    assert not (tmp_path / "volume" / "pgdata").exists()


def test_files_that_are_no_database_are_not_touched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "volume" / "pgdata").mkdir(parents=True)
    (tmp_path / "volume" / "pgdata" / "mine").touch()
    code, errors = finish(run())
    assert code == 1
    assert "holds files but no database" in errors
    assert (tmp_path / "volume" / "pgdata" / "mine").exists()


def test_another_command_runs_instead_of_the_server(run: Run, tmp_path: Path) -> None:
    assert finish(run("sh", "-c", "exit 5"))[0] == 5
    assert log(tmp_path) == []
