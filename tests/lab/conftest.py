"""Fixtures of the lab's tests."""

from pathlib import Path

import pytest

from tests.engine import Workspace, make_bin, make_workspace


@pytest.fixture(scope="session")
def engine_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine with the language host beside it."""
    return make_bin(tmp_path_factory.mktemp("engine") / "bin")


@pytest.fixture
def workspace(tmp_path: Path, engine_programs: Path) -> Workspace:
    """A project of the test's own."""
    return make_workspace(tmp_path / "workspace", engine_programs)
