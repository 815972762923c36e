"""`python -m lab`: the lab by itself, for tests and for those who look inside."""

import typer

from lab import api, images
from lab.errors import LabError
from lab.paths import current
from lab.progress import Progress

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help="The one-machine lab.")
images_app = typer.Typer(no_args_is_help=True, help="Images of the lab.")
app.add_typer(images_app, name="images")


@app.command()
def prepare() -> None:
    """Build or find programs, charts and images; starts nothing."""
    paths = current()
    with api.exclusive(paths, "preparing"):
        api.prepare(paths, Progress())


@app.command()
def start() -> None:
    """Prepare and start the cluster, or repair it."""
    paths = current()
    with api.exclusive(paths, "start of the lab"):
        api.start(paths, Progress())


@app.command()
def stop() -> None:
    """Stop the cluster and keep its data; `make down` deletes it."""
    paths = current()
    with api.exclusive(paths, "stop of the lab"):
        api.stop(paths, Progress())


@app.command()
def status() -> None:
    """The cluster's components, failures first."""
    for part in api.status(current()):
        print(f"{'ok   ' if part.healthy else 'FAILS'} {part.name}: {part.detail}, restarts {part.restarts}")


@images_app.command()
def lock() -> None:
    """Rewrite the lab's image tags in versions.toml from the recipes."""
    changed = images.lock()
    print("\n".join(f"{name}: {tag}" for name, tag in changed.items()) or "all tags are up to date")


@images_app.command()
def resolve(name: str) -> None:
    """Rewrite the lock file of an image's Python packages; run `lock` afterwards."""
    print(images.resolve(name))


def main() -> None:
    """Entry point: failures as messages."""
    try:
        app()
    except LabError as error:
        raise SystemExit(f"error: {error}") from error
    except OSError as error:
        raise SystemExit(f"error: {error.strerror}: {error.filename}; see `make doctor`") from error


if __name__ == "__main__":
    main()
