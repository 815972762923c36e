"""The dev environment for the tests: brought up once, taken down again where this run brought it up."""

from collections.abc import Iterator

import pytest

from lab import api
from lab.paths import current
from tests.integration.support import cli


@pytest.fixture(scope="session")
def environment() -> Iterator[None]:
    """The dev environment, up and answering."""
    was_up = any(part.healthy for part in api.status(current()))
    cli("up")
    yield
    if not was_up:
        cli("down")
