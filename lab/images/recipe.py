"""What an image is made of: one TOML file per image, read into records and named by its hash."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.pins import Pins, Tool

RECIPES = Path(__file__).parent / "recipes"
REPOSITORY_PREFIX = "gpu-platform.lab"
# Raised when the builder writes other bytes for the same recipe, so that no old archive passes for a new one.
FORMAT = "1"
HASH_DIGITS = 12
# Debian's roots have these as links into /usr; a real directory in an upper layer would hide the link.
MERGED = ("/bin/", "/sbin/", "/lib/", "/lib64/")


@dataclass(frozen=True, kw_only=True)
class File:
    """A file written into the image.

    Args:
        path: Absolute path in the image.
        content: Its bytes.
        mode: Permission bits.
    """

    path: str
    content: bytes
    mode: int


@dataclass(frozen=True, kw_only=True)
class Directory:
    """A directory made in the image.

    Args:
        path: Absolute path in the image.
        mode: Permission bits.
        owner: Numeric uid and gid.
    """

    path: str
    mode: int
    owner: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides the bytes of one image.

    Args:
        name: Image name, the key of ``[images.*]`` in ``versions.toml``.
        version: Version part of the tag: the given one, or that of the first program.
        user: Numeric uid and gid the image runs as; never 0.
        user_name: Name of that uid in ``/etc/passwd``.
        entrypoint: Program and arguments always used.
        command: Default arguments.
        workdir: Working directory.
        env: Environment variables.
        labels: Image labels.
        packages: Debian packages, with their dependencies; empty for a root without Debian.
        exclude: Path patterns of Debian packages left out.
        requirements: Exact Python requirements; the lock file beside the recipe holds all with hashes.
        strip: Globs below the Python packages removed after the installation.
        programs: Tool of ``versions.toml`` → absolute path in the image.
        files: Files written into the image.
        directories: Directories made in the image.
        links: Absolute path → target of a symbolic link.
        lock: Text of the lock file; empty without Python packages.
        tools: The used tools with their versions.
        release: Debian release of the packages.
    """

    name: str
    version: str
    user: int
    user_name: str
    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    workdir: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    strip: tuple[str, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    directories: tuple[Directory, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    lock: str = ""
    tools: tuple[Tool, ...] = ()
    release: str = ""

    @property
    def key(self) -> str:
        """First hex digits of the hash over everything above and the builder's format."""
        text = json.dumps([FORMAT, asdict(self)], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]

    @property
    def reference(self) -> str:
        """The image reference this recipe must have in ``versions.toml``."""
        return f"{REPOSITORY_PREFIX}/{self.name}:{self.version}-{self.key}"


def names(recipes: Path = RECIPES) -> tuple[str, ...]:
    """Names of all recipes, sorted."""
    return tuple(sorted(path.stem for path in recipes.glob("*.toml")))


def load(name: str, pins: Pins, recipes: Path = RECIPES) -> Recipe:
    """Read one recipe with its lock file, its source files and the pins it uses.

    Args:
        name: Image name.
        pins: Pins of ``versions.toml``.
        recipes: Directory of the recipe files.

    Raises:
        LabError: The recipe is missing or not well formed; all problems at once.
    """
    path = recipes / f"{name}.toml"
    if not path.is_file():
        raise LabError(
            f"no recipe for image {name!r}",
            where=str(path),
            why="the file does not exist",
            fix=f"use one of: {', '.join(names(recipes))}",
        )
    try:
        data = tomllib.loads(path.read_text())
        recipe = _recipe(name, data, pins, recipes)
        problems = _problems(recipe)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, OSError) as error:
        problems = [f"{type(error).__name__}: {error}"]
    if problems:
        raise LabError(
            f"recipe of image {name!r} is not well formed",
            where=str(path),
            why="; ".join(problems),
            fix="correct the recipe, then run: python -m lab images lock",
        )
    return recipe


def _recipe(name: str, data: Mapping[str, Any], pins: Pins, recipes: Path) -> Recipe:
    """Translate the parsed file field by field; an unknown key is an unexpected argument of the record."""
    data = dict(data)
    debian, python = data.pop("debian", {}), data.pop("python", {})
    programs = data.pop("programs", {})
    tools = tuple(pins.tools[tool] for tool in programs)
    version = data.pop("version", None) or (tools[0].version.removeprefix("v") if tools else "")
    lock = (recipes / f"{name}.lock").read_text() if python else ""
    return Recipe(
        name=name,
        version=version,
        entrypoint=tuple(data.pop("entrypoint")),
        command=tuple(data.pop("command", ())),
        packages=tuple(debian.get("packages", ())),
        exclude=tuple(debian.get("exclude", ())),
        requirements=tuple(python.get("requirements", ())),
        strip=tuple(python.get("strip", ())),
        programs=programs,
        files=tuple(_file(row, recipes) for row in data.pop("files", ())),
        directories=tuple(Directory(**row) for row in data.pop("directories", ())),
        lock=lock,
        tools=tools,
        release=pins.debian_release,
        **data,
    )


def _file(row: Mapping[str, Any], recipes: Path) -> File:
    """Content is given inline or as a file beside the recipe."""
    content = row["content"].encode() if "content" in row else (recipes / row["source"]).read_bytes()
    return File(path=row["path"], content=content, mode=row.get("mode", 0o644))


def _problems(recipe: Recipe) -> list[str]:
    """Every rule the record's types cannot hold."""
    problems = []
    if not recipe.version:
        problems.append("version: empty; give one, or a program whose version is used")
    if not 0 < recipe.user < 2**31:
        problems.append(f"user: {recipe.user}; give a numeric uid above 0, images never run as root")
    if not (recipe.entrypoint or recipe.command):
        problems.append("entrypoint, command: both empty; name the program")
    if recipe.requirements and not recipe.packages:
        problems.append("python: needs [debian] packages with the interpreter")
    unpinned = [text for text in recipe.requirements if "==" not in text]
    if unpinned:
        problems.append(f"python.requirements: {', '.join(unpinned)}; pin each with ==")
    written = [*recipe.programs.values(), *recipe.links]
    written += [file.path for file in recipe.files]
    written += [directory.path for directory in recipe.directories]
    problems += [f"path {path!r}: must be absolute, without '..'" for path in written if not _absolute(path)]
    if recipe.packages:
        hidden = [path for path in written if path.startswith(MERGED)]
        problems += [f"path {path!r}: would hide Debian's link; use /usr{path}" for path in hidden]
    return problems


def _absolute(path: str) -> bool:
    return path.startswith("/") and ".." not in path.split("/") and path != "/"


def _plain(value: object) -> str:
    """Bytes as hex; anything else has no place in a recipe."""
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} in a recipe")
