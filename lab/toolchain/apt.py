"""What this machine's apt says: candidate versions, dependency closures, downloads. Installs nothing."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.errors import LabError
from lab.process import run
from lab.progress import Progress

LISTS = Path("/var/lib/apt/lists")
_CONFIGURATION = (
    LISTS,
    *(Path("/etc/apt") / name for name in ("sources.list", "sources.list.d", "preferences", "preferences.d")),
)
_SECONDS = 600
# Resolve as if nothing were installed, so that the closure does not depend on what this host happens to have.
_EMPTY_STATUS = ("-o", "Dir::State::status=/dev/null")
_QUIET = ("-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2")
_NEXT = "make the Debian mirror of /etc/apt reachable, run `apt-get update`, then this command again"


def fingerprint() -> str:
    """Changes whenever the package lists or apt's sources and preferences do."""
    return " ".join(f"{path}:{path.stat().st_mtime_ns}" for path in _CONFIGURATION if path.exists())


def candidates(names: Sequence[str]) -> dict[str, str]:
    """Package → version apt would install; a package apt does not know is absent."""
    return parse_policy(_apt(["apt-cache", "policy", *names]))


def parse_policy(text: str) -> dict[str, str]:
    """Candidates in the output of ``apt-cache policy``."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            name = line.rstrip(":").split(":", 1)[0]
        elif (match := re.match(r"\s+Candidate:\s+(\S+)", line)) and match.group(1) != "(none)":
            found[name] = match.group(1)
    return found


def update(progress: Progress) -> None:
    """Fetch the package lists of a machine that has none."""
    progress.step("fetching the package lists of apt")
    _apt(["apt-get", *_QUIET, "update"])


def closure(names: Sequence[str]) -> dict[str, str]:
    """The packages and all they depend on: name → version."""
    text = _apt(["apt-get", *_EMPTY_STATUS, "install", "--simulate", "--no-install-recommends", *names])
    return parse_simulation(text)


def parse_simulation(text: str) -> dict[str, str]:
    """Packages in the output of ``apt-get install --simulate``."""
    found = re.findall(r"^Inst (\S+) \((\S+) ", text, re.MULTILINE)
    return {name.split(":", 1)[0]: version for name, version in found}


def always_there() -> frozenset[str]:
    """Installed packages every Debian system keeps: the essential ones, apt, and what they depend on.

    They stay out of unpacked sets: a second C library beside the host's breaks programs.
    """
    listing = _apt(["dpkg-query", "-W", "-f", "${Package} ${Essential} ${db:Status-Status}\n"])
    rows = [line.split() for line in listing.splitlines()]
    installed = {row[0] for row in rows if row[-1] == "installed"}
    essential = sorted(row[0] for row in rows if row[1] == "yes")
    return frozenset(closure([*essential, "apt"])) & installed


def download(versions: Mapping[str, str], directory: Path) -> None:
    """Download exact versions of packages into a directory; apt checks their hashes."""
    wanted = [f"{name}={version}" for name, version in sorted(versions.items())]
    _apt(["apt-get", *_QUIET, "download", *wanted], cwd=directory)


def unpack(package: Path, root: Path) -> None:
    """Unpack one package below a directory; its maintainer scripts do not run."""
    _apt(["dpkg", "-x", str(package), str(root)])


def _apt(argv: list[str], cwd: Path | None = None) -> str:
    """Run a program of apt or dpkg in the C locale."""
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = run(argv, env=environment, cwd=cwd, timeout_seconds=_SECONDS)
    except FileNotFoundError as error:
        raise LabError(
            f"{argv[0]} is not on this machine",
            where="Debian packages",
            why="the node's programs are Debian packages, unpacked with the machine's own apt and dpkg",
            fix="use Debian 12; `make doctor` lists what else is untested",
        ) from error
    except subprocess.TimeoutExpired as error:
        why = f"no end within {_SECONDS} s"
        raise LabError(f"{argv[0]} hangs", where="Debian packages", why=why, fix=_NEXT) from error
    if done.returncode:
        why = "\n         ".join(done.stderr.strip().splitlines()[-8:]) or f"exit code {done.returncode}"
        raise LabError(f"{argv[0]} failed", where=" ".join(argv)[:200], why=why, fix=_NEXT)
    return done.stdout
