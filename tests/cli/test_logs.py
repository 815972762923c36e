"""Which log, and which lines of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from cli.context import Context
from cli.logs import logs, younger
from lab.errors import LabError
from lab.paths import Paths

NOW = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)


class Place:
    """A lab with logs and no stack."""

    env = "dev"
    on_lab = True

    def __init__(self, root: Path) -> None:
        self.paths = Paths(cache=root / "cache", state=root)
        self.paths.logs.mkdir()

    def outputs(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def place(tmp_path: Path) -> Context:
    return cast("Context", Place(tmp_path))


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ('{"level":"info","ts":"2026-01-01T00:04:00.1Z","msg":"etcd"}', True),
        ('{"level":"info","ts":"2025-12-31T23:00:00.1Z","msg":"etcd"}', False),
        ("I0101 00:01:00.123456   32 klog.go:1] this year", True),
        ("W1231 23:59:59.000000   32 klog.go:1] last year, six minutes ago", True),
        ("E1231 20:00:00.000000   32 klog.go:1] last year, hours ago", False),
        ('time="2026-01-01T00:04:30Z" level=info msg=containerd', True),
        ("2026-01-01 00:03:00 kwok started", True),
        ("no time of its own", False),
        ("I1399 99:99:99.0 no such time", False),
    ],
)
def test_lines_by_their_own_time(line: str, kept: bool) -> None:
    assert list(younger([line], now=NOW, age=timedelta(minutes=10))) == ([line] if kept else [])


def test_a_line_without_a_time_goes_with_the_one_before_it() -> None:
    lines = ["I1231 10:00:00.0 old", "  of old", "I0101 00:04:00.0 new", "  of new"]
    assert list(younger(lines, now=NOW, age=timedelta(minutes=10))) == lines[2:]


def test_the_end_of_a_components_log(place: Context, capsys: pytest.CaptureFixture[str]) -> None:
    (place.paths.logs / "etcd.log").write_text("one\ntwo\nthree\n")
    logs(place, "etcd", follow=False, since=None, tail=2)
    assert capsys.readouterr().out == "two\nthree\n"
    logs(place, "etcd", follow=False, since=None, tail=-1)
    assert capsys.readouterr().out == "one\ntwo\nthree\n"
    logs(place, "etcd", follow=False, since=None, tail=0)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["nothing", "../secret", "/etc/passwd", ""])
def test_an_unknown_name_is_refused_with_those_there_are(place: Context, name: str) -> None:
    (place.paths.logs / "etcd.log").write_text("")
    (place.paths.state / "secret.log").write_text("")
    with pytest.raises(LabError, match="use one of: etcd"):
        logs(place, name, follow=False, since=None, tail=5)


@pytest.mark.parametrize("since", ["10", "m", "1w", "-5m", "1.5h", "5m ", ""])
def test_a_span_that_is_none_is_refused(place: Context, since: str) -> None:
    (place.paths.logs / "etcd.log").write_text("")
    with pytest.raises(LabError, match="30s, 10m, 2h or 1d"):
        logs(place, "etcd", follow=False, since=since, tail=5)
