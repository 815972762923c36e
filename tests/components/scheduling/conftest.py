"""Where the pinned Kueue chart lies when the toolchain has fetched it."""

from pathlib import Path

import pytest

from lab import paths, pins


@pytest.fixture(scope="session")
def kueue_chart() -> Path:
    """The chart's directory; the test is skipped where the Go module was never fetched."""
    chart = pins.load().charts["kueue"]
    module = paths.current().go / "mod" / f"{chart.upstream}@v{chart.version}"
    directory = module / chart.path
    if not directory.is_dir():
        pytest.skip(f"{chart.upstream} v{chart.version} is not in the module cache; `make up` fetches it")
    return directory
