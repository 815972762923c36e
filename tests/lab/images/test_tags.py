"""Tags in ``versions.toml``: those of the recipes, and rewritten without touching anything else."""

import shutil
from pathlib import Path

import pytest

from lab import images, pins
from lab.errors import LabError
from lab.images import tags

TEXT = """# top
[images.one]
supported = "registry/one:1" # stays
lab = "gpu-platform.lab/one:1" # a comment

[images.one-more]
supported = "registry/more:1"
lab = ""

[images.last]
lab = "x"
"""


def test_the_file_has_the_tags_of_the_recipes() -> None:
    assert images.references() == tags.computed(pins.load()), f"run: {tags.LOCK_COMMAND}"


def test_only_the_given_tags_change() -> None:
    new = tags.rewrite(TEXT, {"one": "new/one:2", "one-more": "new/more:2"})
    assert new == TEXT.replace('"gpu-platform.lab/one:1"', '"new/one:2"').replace('""', '"new/more:2"')


def test_an_image_without_a_lab_line_is_named() -> None:
    with pytest.raises(LabError, match="image 'two' has no lab tag"):
        tags.rewrite(TEXT, {"two": "x"})


def test_a_lab_line_of_the_next_table_is_not_taken() -> None:
    with pytest.raises(LabError, match="image 'bare' has no lab tag"):
        tags.rewrite('[images.bare]\nsupported = "x"\n\n' + TEXT, {"bare": "x"})


def test_locking_restores_stale_tags_and_is_then_a_no_op(tmp_path: Path) -> None:
    versions = tmp_path / "versions.toml"
    present = pins.VERSIONS_FILE.read_text()
    versions.write_text(present.replace(images.references()["pause"], "gpu-platform.lab/pause:old"))
    assert images.lock(versions) == {}, "the pins of this process were current"
    assert versions.read_text() == present
    before = versions.stat().st_mtime_ns
    images.lock(versions)
    assert versions.stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["versions.toml"]
    shutil.rmtree(tmp_path)
