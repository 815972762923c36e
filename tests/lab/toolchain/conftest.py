"""Directories of a lab that is not this machine's, and programs that only record how they were called."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.paths import Paths
from lab.progress import Progress


@dataclass
class Programs:
    """A directory in front of PATH with made-up programs."""

    directory: Path

    def write(self, name: str, script: str) -> Path:
        program = self.directory / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program


@dataclass
class Recorder:
    """Progress whose lines are kept."""

    lines: list[str] = field(default_factory=list)

    def progress(self) -> Progress:
        return Progress(write=self.lines.append)

    def text(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(cache=tmp_path / "cache", state=tmp_path / "state")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    directory = tmp_path / "programs"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return Programs(directory)
