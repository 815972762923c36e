"""Long steps say that they still run."""

import time

from lab.progress import Progress


def test_a_long_step_says_how_long_it_runs_and_stops_when_it_ends() -> None:
    lines: list[str] = []
    progress = Progress(write=lines.append)
    progress.enter("images")
    with progress.heartbeat("image mlflow: still building", every_seconds=0.05):
        deadline = time.monotonic() + 5
        while len(lines) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    told = len(lines)
    assert told >= 2
    assert lines[0].endswith("images: image mlflow: still building, 0 s so far")
    time.sleep(0.15)
    assert len(lines) == told


def test_a_short_step_says_nothing_more() -> None:
    lines: list[str] = []
    with Progress(write=lines.append).heartbeat("x"):
        pass
    assert lines == []
