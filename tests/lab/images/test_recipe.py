"""Recipes: the delivered ones, what their hash covers, and what is refused."""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import pins
from lab.errors import LabError
from lab.images import recipe
from lab.images.recipe import Recipe

MINIMAL = """
version = "1"
user = 10001
user_name = "app"
entrypoint = ["/app"]
"""
NAMES = (
    *("alertmanager", "coredns", "gpu-telemetry", "kueue", "local-path-provisioner", "login-proxy", "mlflow"),
    *("object-store", "pause", "postgres", "prometheus", "prometheus-config-reloader", "prometheus-operator"),
    "training",
)
PIN = re.compile(r"^[a-z0-9._-]+==[^\s=]+ --hash=sha256:[0-9a-f]{64}$")


def write(directory: Path, text: str, name: str = "sample") -> Path:
    (directory / f"{name}.toml").write_text(text)
    return directory


def load(directory: Path, text: str) -> Recipe:
    return recipe.load("sample", pins.load(), write(directory, text))


def test_every_image_of_the_lab_has_a_recipe() -> None:
    assert recipe.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_delivered_recipes_are_well_formed_and_never_root(name: str) -> None:
    loaded = recipe.load(name, pins.load())
    assert loaded.user in (10001, 65532, 65534)
    assert not loaded.lock or loaded.requirements
    assert loaded.reference == f"gpu-platform.lab/{name}:{loaded.version}-{loaded.key}"


def test_versions_of_program_images_are_those_of_their_programs() -> None:
    tools = pins.load().tools
    for name, tool in (
        ("kueue", "kueue"),
        ("object-store", "versitygw"),
        ("coredns", "coredns"),
        ("prometheus", "prometheus"),
    ):
        assert f"v{recipe.load(name, pins.load()).version}" == tools[tool].version


def test_the_lock_names_every_package_once_with_its_hash() -> None:
    loaded = recipe.load("mlflow", pins.load())
    lines = loaded.lock.splitlines()
    assert [line for line in lines if not PIN.match(line)] == []
    locked = [line.split(" ")[0] for line in lines]
    assert len({pin.partition("==")[0] for pin in locked}) == len(locked)
    assert set(loaded.requirements) <= set(locked), "run: python -m lab images resolve mlflow"


def test_the_key_depends_on_everything_in_the_recipe(tmp_path: Path) -> None:
    tool = pins.load().tools["kueue"]
    base = load(tmp_path, MINIMAL)
    changed = {
        "name": "other",
        "version": "2",
        "user": 5,
        "user_name": "other",
        "entrypoint": ("/other",),
        "command": ("x",),
        "workdir": "/x",
        "env": {"A": "1"},
        "labels": {"a": "1"},
        "packages": ("libc6",),
        "exclude": ("/x/*",),
        "requirements": ("a==1",),
        "strip": ("x",),
        "programs": {"kueue": "/manager"},
        "files": (recipe.File(path="/x", content=b"x", mode=0o644),),
        "directories": (recipe.Directory(path="/x", mode=0o755, owner=0),),
        "links": {"/x": "y"},
        "lock": "a==1",
        "tools": (tool,),
        "release": "trixie",
    }
    assert set(changed) == {field.name for field in dataclasses.fields(Recipe)}, "a field the hash test lacks"
    keys = [dataclasses.replace(base, **{name: value}).key for name, value in changed.items()]  # type: ignore[arg-type]
    assert len({base.key, *keys}) == len(keys) + 1


def test_the_key_depends_on_tool_versions_file_contents_and_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MINIMAL + '[programs]\nkueue = "/manager"\n[[files]]\npath = "/run.sh"\nsource = "run.sh"\n'
    (tmp_path / "run.sh").write_text("one")
    base = load(tmp_path, text)
    present = pins.load()
    newer = {**present.tools, "kueue": dataclasses.replace(present.tools["kueue"], version="v9")}
    assert recipe.load("sample", dataclasses.replace(present, tools=newer), tmp_path).key != base.key
    unrelated = {**present.tools, "helm": dataclasses.replace(present.tools["helm"], version="v9")}
    assert recipe.load("sample", dataclasses.replace(present, tools=unrelated), tmp_path).key == base.key
    (tmp_path / "run.sh").write_text("two")
    assert load(tmp_path, text).key != base.key
    (tmp_path / "run.sh").write_text("one")
    before = base.key
    monkeypatch.setattr(recipe, "FORMAT", "next")
    assert base.key != before


def drop(key: str) -> Callable[[str], str]:
    return lambda text: "\n".join(line for line in text.splitlines() if not line.startswith(key))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.replace("user = 10001", "user = 0"), "user: 0; give a numeric uid above 0"),
        (drop("version"), "version: empty"),
        (drop("user_name"), "user_name"),
        (lambda t: t.replace('["/app"]', "[]"), "both empty; name the program"),
        (lambda t: t + 'colour = "red"', "colour"),
        (lambda t: t + '[programs]\nnobody = "/x"', "nobody"),
        (lambda t: t + '[links]\n"relative" = "x"', "path 'relative': must be absolute"),
        (lambda t: t + '[links]\n"/a/../b" = "x"', "without '..'"),
        (lambda t: t + '[debian]\npackages = ["libc6"]\n[links]\n"/bin/sh" = "x"', "use /usr/bin/sh"),
        (lambda t: t + '[[files]]\npath = "/x"\nsource = "missing"', "missing"),
        (lambda t: t + "[broken", "TOMLDecodeError"),
    ],
)
def test_a_recipe_that_cannot_be_built_is_refused(
    tmp_path: Path, change: Callable[[str], str], match: str
) -> None:
    with pytest.raises(LabError, match="recipe of image 'sample' is not well formed") as caught:
        load(tmp_path, change(MINIMAL))
    assert match in caught.value.why


def test_python_packages_need_exact_pins_and_an_interpreter(tmp_path: Path) -> None:
    (tmp_path / "sample.lock").write_text("a==1\n")
    with pytest.raises(LabError) as caught:
        load(tmp_path, MINIMAL + '[python]\nrequirements = ["a>=1", "b==2"]')
    assert "python: needs [debian] packages" in caught.value.why
    assert "python.requirements: a>=1; pin each with ==" in caught.value.why


def test_an_unknown_image_names_the_known_ones() -> None:
    with pytest.raises(LabError, match="no recipe for image 'mlfow'") as caught:
        recipe.load("mlfow", pins.load())
    assert "mlflow" in caught.value.fix
