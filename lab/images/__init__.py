"""Images of the lab: OCI archives from Debian packages, wheels and Go programs, without a registry.

An archive is named by the hash of its recipe, so it is built once and again only when the recipe changes.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab import pins as pins_module
from lab.errors import LabError
from lab.images import python, recipe, tags
from lab.images.assembly import Workshop, assemble
from lab.images.locking import exclusive
from lab.images.recipe import Recipe
from lab.images.tags import lock
from lab.paths import Paths
from lab.progress import Progress
from lab.toolchain.debian import ensure_debian, run_environment

__all__ = ["ensure_images", "lock", "references", "resolve"]

# Other checkouts on the same machine may use the one before.
KEPT_ARCHIVES = 2


def references() -> dict[str, str]:
    """Image name → reference in the lab, for every image that has a recipe."""
    pinned = pins_module.load().images
    return {name: pinned[name] for name in recipe.names() if name in pinned}


def ensure_images(
    paths: Paths, programs: Mapping[str, Path], progress: Progress, names: Iterable[str] | None = None
) -> dict[str, Path]:
    """Build the images that are missing; safe beside a second build and after an interrupted one.

    It starts nothing and loads nothing into a cluster.

    Args:
        paths: Directories of the lab.
        programs: Tool name → built program, for recipes with programs.
        progress: Where steps are shown.
        names: Images wanted; all by default.

    Returns:
        Image name → OCI archive.

    Raises:
        LabError: A recipe is not well formed or not locked, or its parts cannot be had.
    """
    pins = pins_module.load()
    wanted = [recipe.load(name, pins) for name in (recipe.names() if names is None else names)]
    _require_locked(wanted, pins)
    archives = {item.name: paths.images / f"{item.name}-{item.key}.tar" for item in wanted}
    missing = [item for item in wanted if not archives[item.name].is_file()]
    if not missing:
        return archives
    workshop = _workshop(paths, programs, progress, missing)
    for item in missing:
        _build(item, archives[item.name], workshop, progress)
    return archives


def resolve(name: str) -> Path:
    """Rewrite the lock file of an image's Python packages from its requirements.

    Args:
        name: Image name.

    Returns:
        The lock file; the image's tag changes with it, so `lock` comes next.

    Raises:
        LabError: The image has no Python packages, or no consistent set exists.
    """
    target = recipe.RECIPES / f"{name}.lock"
    if not target.exists():
        target.touch()
    requirements = recipe.load(name, pins_module.load()).requirements
    target.write_text(python.resolve(requirements))
    return target


def _require_locked(wanted: Iterable[Recipe], pins: pins_module.Pins) -> None:
    stale = [item.name for item in wanted if pins.images.get(item.name) != item.reference]
    if stale:
        raise LabError(
            f"tags of images are not those of their recipes: {', '.join(stale)}",
            where=str(pins_module.VERSIONS_FILE),
            why="a recipe, its lock file or a version it uses was changed after the tag was written",
            fix=f"run: {tags.LOCK_COMMAND}",
        )


def _workshop(
    paths: Paths, programs: Mapping[str, Path], progress: Progress, missing: Iterable[Recipe]
) -> Workshop:
    paths.images.mkdir(parents=True, exist_ok=True)
    debian = any(item.packages for item in missing)
    imagetools = ensure_debian(paths, "imagetools", progress) if debian else paths.images
    return Workshop(
        images=paths.images,
        pip_cache=paths.cache / "pip",
        imagetools=imagetools,
        environment=run_environment(imagetools) if debian else {},
        programs=programs,
    )


def _build(item: Recipe, archive: Path, workshop: Workshop, progress: Progress) -> None:
    """Build one image under its lock; the archive appears complete or not at all."""
    work = archive.parent / f".{item.name}.partial"
    waiting = f"image {item.name}: another build of it runs, waiting"
    with exclusive(archive.parent / f".{item.name}.lock", lambda: progress.step(waiting)) as held:
        if archive.is_file():
            return
        progress.step(f"image {item.name}: building {item.reference}")
        try:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            with progress.heartbeat(f"image {item.name}: still building"):
                assemble(item, workshop, work, held).rename(archive)
        except OSError as error:
            raise LabError(
                f"image {item.name!r} could not be written",
                where=str(error.filename or work),
                why=error.strerror or str(error),
                fix="free disk space (make doctor shows it) or mend the path, then run the command again",
            ) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
        _prune(item.name, archive)


def _prune(name: str, newest: Path) -> None:
    """Keep the archives used last; older ones only fill the disk."""
    pattern = f"{name}-{'[0-9a-f]' * recipe.HASH_DIGITS}.tar"
    old = sorted(newest.parent.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in old[KEPT_ARCHIVES:]:
        path.unlink(missing_ok=True)
