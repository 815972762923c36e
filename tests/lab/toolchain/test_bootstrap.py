"""The virtualenv of a made-up checkout, from wheels made here: no registry is asked."""

import ast
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from lab import bootstrap

SOURCE = Path(bootstrap.__file__)
# The interpreter below this virtualenv, as `make` would start it.
SYSTEM_PYTHON = Path(sys.base_prefix) / "bin" / "python3"


def _wheel(directory: Path, name: str, version: str, requires: str = "") -> None:
    """A wheel with one module that holds its version."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    if requires:
        metadata += f"Requires-Dist: {requires}\n"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)


class Checkout:
    """A checkout that holds nothing but the bootstrap and the requirements."""

    def __init__(self, root: Path) -> None:
        self.root = root / "checkout"
        self.wheels = root / "wheels"
        self.cache = root / "cache"
        self.python = self.root / ".venv" / "bin" / "python"
        (self.root / "lab").mkdir(parents=True)
        self.wheels.mkdir()
        (self.root / "lab" / "bootstrap.py").write_bytes(SOURCE.read_bytes())
        self.write("requirements.txt", "alpha==1.0\n")
        self.write("requirements-dev.txt", "-r requirements.txt\n")
        self.write("constraints.txt", "alpha==1.0\nbeta==1.0\n")
        for version in ("1.0", "2.0"):
            _wheel(self.wheels, "alpha", version, "beta")
            _wheel(self.wheels, "beta", version)
            _wheel(self.wheels, "gamma", version)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment |= {
            "GPU_PLATFORM_CACHE": str(self.cache),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        argv = [str(SYSTEM_PYTHON), "lab/bootstrap.py", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, cwd=self.root, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments: str) -> tuple[int, str]:
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output + errors

    def versions(self) -> dict[str, str]:
        listing = subprocess.run(
            [str(self.python), "-m", "pip", "freeze"], capture_output=True, text=True, check=True
        ).stdout
        return dict(line.split("==") for line in listing.splitlines())


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_made_once_then_silent_then_exactly_what_new_pins_say_or_told(checkout: Checkout) -> None:
    code, output = checkout.run()
    assert code == 0
    assert "making .venv with Python" in output
    assert "virtualenv ready after" in output
    assert checkout.versions() == {"alpha": "1.0", "beta": "1.0"}
    started = time.monotonic()
    assert checkout.run() == (0, "")
    assert time.monotonic() - started < 1
    assert sorted(entry.name for entry in checkout.root.iterdir() if entry.is_file()) == [
        "constraints.txt",
        "requirements-dev.txt",
        "requirements.txt",
    ]

    checkout.write("requirements.txt", "gamma==2.0\n")
    checkout.write("constraints.txt", "gamma==2.0\n")
    code, output = checkout.run()
    assert code == 0
    assert "making .venv" not in output
    assert "removing 2 packages" in output
    assert checkout.versions() == {"gamma": "2.0"}

    checkout.write("requirements.txt", "alpha==3.0\n")
    checkout.write("constraints.txt", "")
    code, output = checkout.run()
    assert code == 1
    assert "error: the Python packages cannot be installed\n  where: requirements-dev.txt" in output
    assert "No matching distribution found for alpha==3.0" in output
    assert "Traceback" not in output
    checkout.write("requirements.txt", "beta==2.0\n")
    checkout.write("constraints.txt", "beta==2.0\n")
    assert checkout.run()[0] == 0
    assert checkout.versions() == {"beta": "2.0"}


def test_a_virtualenv_shared_by_a_link_is_left_alone(checkout: Checkout) -> None:
    shared = checkout.root.parent / "shared"
    shared.mkdir()
    (shared / "mark").write_text("in use")
    (checkout.root / ".venv").symlink_to(shared)
    code, output = checkout.run()
    assert code == 1
    assert "is a link" in output
    assert "rm .venv" in output
    assert (shared / "mark").read_text() == "in use"


def test_the_lock_is_resolved_afresh(checkout: Checkout) -> None:
    checkout.write("requirements.txt", "alpha\n")
    assert checkout.run("--lock")[0] == 0
    lines = (checkout.root / "constraints.txt").read_text().splitlines()
    assert lines == [bootstrap.HEADER.strip(), "alpha==2.0", "beta==2.0"]
    assert not (checkout.root / ".venv").exists()


def test_two_runs_at_once_and_one_killed_converge(checkout: Checkout) -> None:
    first = checkout.start()
    unfinished = checkout.root / ".venv" / bootstrap.UNFINISHED
    while not unfinished.exists():
        assert first.poll() is None
        time.sleep(0.01)
    second = checkout.start()
    assert second.stderr is not None
    assert "another run prepares this checkout's .venv; waiting" in second.stderr.readline()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    output, errors = second.communicate(timeout=120)
    assert second.returncode == 0, output + errors
    assert "an earlier run was interrupted; starting over" in errors
    assert checkout.versions() == {"alpha": "1.0", "beta": "1.0"}
    assert not unfinished.exists()
    assert checkout.run() == (0, "")


def test_a_cache_that_cannot_be_written_and_a_missing_file_are_told(checkout: Checkout) -> None:
    checkout.cache.write_text("a file")
    code, output = checkout.run()
    assert code == 1
    assert "GPU_PLATFORM_CACHE" in output
    (checkout.root / "constraints.txt").unlink()
    code, output = checkout.run()
    assert code == 1
    assert "next:  git checkout -- constraints.txt" in output


@pytest.mark.parametrize(
    ("output", "fix"),
    [
        ("WARNING: Retrying (Retry(total=1)) after connection broken\nERROR: No matching", "index reachable"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "free space"),
        ("ERROR: ResolutionImpossible", "make lock"),
        ("", "make lock"),
    ],
)
def test_what_pip_says_leads_to_a_fix(output: str, fix: str) -> None:
    text = str(bootstrap.pip_failure(output))
    assert fix in text
    assert all(f"  {part}:" in text for part in ("where", "why", "next"))


def test_an_old_python_can_read_the_script_and_is_refused() -> None:
    ast.parse(SOURCE.read_text(), feature_version=(3, 7))
    with pytest.raises(bootstrap.BootstrapError, match=r"Python 3\.9\.2 is too old(.|\n)*python3-venv"):
        bootstrap.check_python((3, 9, 2))
    bootstrap.check_python((3, 11, 0))
    bootstrap.check_python((4, 0, 0))


def test_a_python_without_venv_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(bootstrap.BootstrapError, match=r"venv module is missing(.|\n)*python3-venv"):
        bootstrap.make_virtualenv(str(tmp_path / ".venv"))


def test_names_of_pins_are_compared_normalised() -> None:
    assert bootstrap.pinned_name("Ruamel_YAML.Clib==0.2") == "ruamel-yaml-clib"
