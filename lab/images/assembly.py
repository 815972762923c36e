"""One archive from one recipe: Debian layer, Python layer, and a layer with the image's own files."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.images import oci
from lab.images.debian_root import ensure_root
from lab.images.python import install_wheels
from lab.images.recipe import Recipe

ROOT_USER = "root:x:0:0:root:/root:/usr/sbin/nologin\n"
ROOT_GROUP = "root:x:0:\n"


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What builds use besides the recipe.

    Args:
        images: Directory of the archives; roots and logs live below it.
        pip_cache: Directory of pip's own cache.
        imagetools: Root of the unpacked mmdebstrap package; unused by recipes without Debian packages.
        environment: Environment in which its programs run.
        programs: Tool name → built program.
    """

    images: Path
    pip_cache: Path
    imagetools: Path
    environment: Mapping[str, str]
    programs: Mapping[str, Path]


def assemble(recipe: Recipe, workshop: Workshop, work: Path, lock: int) -> Path:
    """Build the archive of a recipe in a working directory.

    Args:
        recipe: What the image is made of.
        workshop: Tools and directories.
        work: Empty directory; the caller removes it.
        lock: Lock descriptor the children inherit.

    Returns:
        The finished archive inside ``work``.

    Raises:
        LabError: Packages, wheels or programs cannot be had.
    """
    programs = {tool: _program(recipe, tool, workshop.programs) for tool in recipe.programs}
    layers = []
    logs = workshop.images / "logs"
    logs.mkdir(exist_ok=True)
    if recipe.packages:
        root = ensure_root(
            recipe,
            workshop.images / "roots",
            workshop.imagetools,
            workshop.environment,
            logs / f"{recipe.name}-debian.log",
        )
        layers.append(oci.write_layer(root, work / "debian.tar"))
    if recipe.requirements:
        log = logs / f"{recipe.name}-python.log"
        install_wheels(recipe, root, work / "python", cache=workshop.pip_cache, log=log, lock=lock)
        layers.append(oci.write_layer(work / "python", work / "python.tar"))
    _write_own(recipe, programs, work / "own")
    layers.append(oci.write_layer(work / "own", work / "own.tar"))
    archive = work / "image.tar"
    oci.write_archive(archive, layers, _config(recipe))
    with archive.open("rb") as content:
        os.fsync(content.fileno())
    return archive


def _config(recipe: Recipe) -> oci.ImageConfig:
    return oci.ImageConfig(
        reference=recipe.reference,
        user=recipe.user,
        entrypoint=recipe.entrypoint,
        command=recipe.command,
        workdir=recipe.workdir,
        env=recipe.env,
        labels=recipe.labels,
    )


def _write_own(recipe: Recipe, programs: Mapping[str, Path], root: Path) -> None:
    """Programs, files, directories, links, and the two accounts every image has."""
    root.mkdir()
    root.chmod(0o755)
    name, user = recipe.user_name, recipe.user
    _file(root, "/etc/passwd", f"{ROOT_USER}{name}:x:{user}:{user}:{name}:/tmp:/usr/sbin/nologin\n".encode())
    _file(root, "/etc/group", f"{ROOT_GROUP}{name}:x:{user}:\n".encode())
    _directory(root, "/tmp", 0o1777, 0)  # noqa: S108 - the image's own directory
    for directory in recipe.directories:
        _directory(root, directory.path, directory.mode, directory.owner)
    for tool, path in recipe.programs.items():
        target = _parents(root, path)
        shutil.copyfile(programs[tool], target)
        target.chmod(0o755)
    for file in recipe.files:
        _file(root, file.path, file.content, file.mode)
    for path, target_text in recipe.links.items():
        _parents(root, path).symlink_to(target_text)


def _program(recipe: Recipe, tool: str, programs: Mapping[str, Path]) -> Path:
    path = programs.get(tool)
    if path is None or not path.is_file():
        raise LabError(
            f"program {tool!r} of image {recipe.name!r} is not built",
            where=str(path or "toolchain"),
            why="the toolchain has to build it before the images",
            fix="run: make up",
        )
    return path


def _file(root: Path, path: str, content: bytes, mode: int = 0o644) -> None:
    target = _parents(root, path)
    target.write_bytes(content)
    target.chmod(mode)


def _directory(root: Path, path: str, mode: int, owner: int) -> None:
    target = _parents(root, path)
    target.mkdir(exist_ok=True)
    os.chown(target, owner, owner)
    target.chmod(mode)


def _parents(root: Path, path: str) -> Path:
    """Parent directories with the same mode whatever the umask."""
    here = root
    for part in path.strip("/").split("/")[:-1]:
        here /= part
        if not here.exists():
            here.mkdir()
            here.chmod(0o755)
    return root / path.strip("/")
