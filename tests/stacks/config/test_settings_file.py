"""Settings read from a file: lines, what surrounds them, syntax; and the committed files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.config import Settings, SettingsError, Versions, load_file, settings_file
from stacks.config.schema import SCHEMA_FILE, render
from stacks.config.versions import read
from stacks.machine import DEFAULT_STATE

REPOSITORY = Path(__file__).resolve().parents[3]
GOOD = """\
# yaml-language-server: $schema=./stacks/config/schema.json
encryptionsalt: v1:abc=:v1:def
config:
  kubernetes:context: x
  gpu-platform:own: {secure: v1:abc}
  gpu-platform:settings:
    kind: dev
    ownership:
      owner: ml
      project: gp
      cost_centre: rnd
      contact: ml@example.com
    cluster: {source: lab}
    pools:
      a100:
        server: dgx-a100-80
        nodes: 4
        fabric: infiniband-hdr
    storage:
      datasets: {size_gib: 5}
      checkpoints: {size_gib: 5}
      object_store: {size_gib: 5}
      database: {size_gib: 2}
"""


def _load(tmp_path: Path, text: str, versions: Versions) -> Settings:
    path = settings_file(tmp_path, "dev")
    path.write_text(text, encoding="utf-8")
    return load_file(path, "dev", versions)


def _told(tmp_path: Path, text: str, versions: Versions) -> list[tuple[int | None, str]]:
    with pytest.raises(SettingsError) as caught:
        _load(tmp_path, text, versions)
    assert str(caught.value).startswith("Pulumi.dev.yaml: ")
    return [(problem.line, problem.path) for problem in caught.value.problems]


def test_the_committed_dev_file_is_good() -> None:
    settings = load_file(settings_file(REPOSITORY, "dev"), "dev", read(DEFAULT_STATE))
    assert (settings.environment, settings.kind, settings.cluster.source) == ("dev", "dev", "lab")
    assert {"a100", "h100"} <= set(settings.pools)


def test_the_committed_dev_file_names_the_schema() -> None:
    first = settings_file(REPOSITORY, "dev").read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=./stacks/config/schema.json"


def test_a_good_file(tmp_path: Path, versions: Versions) -> None:
    assert _load(tmp_path, GOOD, versions).pools["a100"].nodes == 4


def test_lines_are_those_of_the_file(tmp_path: Path, versions: Versions) -> None:
    text = (
        GOOD.replace("nodes: 4", "nodes: 0")
        .replace("      owner: ml\n", "")
        .replace("size_gib: 2", "size: 2")
    )
    assert _told(tmp_path, text, versions) == [
        (8, "ownership.owner"),
        (16, "pools.a100.nodes"),
        (22, "storage.database.size_gib"),
        (22, "storage.database.size"),
    ]
    with pytest.raises(
        SettingsError, match=r"\n  - line 16, pools\.a100\.nodes: got 0; accepted: a whole number"
    ):
        load_file(settings_file(tmp_path, "dev"), "dev", versions)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("config:", "confg:", [(None, "(settings)"), (3, "confg")]),
        (
            "gpu-platform:settings:",
            "gpu-platform:setings:",
            [(3, "(settings)"), (6, "config.gpu-platform:setings")],
        ),
        ("gpu-platform:settings:", "settings:", [(3, "(settings)"), (6, "config.settings")]),
        ("{secure: v1:abc}", "plain", [(5, "config.gpu-platform:own")]),
        ("nodes: 4", "nodes: 4\n        nodes: 5", [(18, "(file)")]),
        ("pools:", "pools: [", [(16, "(file)")]),
        ("kind: dev", "\tkind: dev", [(7, "(file)")]),
        (GOOD, "", [(None, "(file)")]),
        (GOOD, "just text", [(None, "(file)")]),
        (GOOD, "config:\n", [(None, "(settings)")]),
    ],
)
def test_what_surrounds_the_settings(
    tmp_path: Path, versions: Versions, old: str, new: str, told: list[tuple[int | None, str]]
) -> None:
    assert old in GOOD
    assert _told(tmp_path, GOOD.replace(old, new, 1), versions) == told


def test_bytes_that_are_no_text(tmp_path: Path, versions: Versions) -> None:
    path = settings_file(tmp_path, "dev")
    path.write_bytes(b"config: \xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_file(path, "dev", versions)


def test_a_missing_file_names_the_nearest(tmp_path: Path, versions: Versions) -> None:
    settings_file(tmp_path, "dev").write_text(GOOD, encoding="utf-8")
    with pytest.raises(
        SettingsError, match=r"no file Pulumi\.dew\.yaml; accepted: .*: dev; fix: did you mean 'dev'"
    ):
        load_file(settings_file(tmp_path, "dew"), "dew", versions)


def test_a_syntax_error_repeats_nothing_of_the_file(tmp_path: Path, versions: Versions) -> None:
    text = GOOD.replace("kind: dev", "password: hunter2: [")
    with pytest.raises(SettingsError) as caught:
        _load(tmp_path, text, versions)
    assert "hunter2" not in str(caught.value)


def test_the_committed_schema_is_the_models() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == render(), "run `make schema`"


def test_the_schema_completes_and_explains() -> None:
    schema = json.loads(render())
    config = schema["properties"]["config"]["properties"]
    assert list(config) == ["gpu-platform:settings"]
    assert set(schema["properties"]) == {
        "config",
        "encryptionsalt",
        "encryptedkey",
        "secretsprovider",
        "environment",
    }
    definitions = schema["$defs"]
    assert "dgx-h100" in definitions["PoolSettings"]["properties"]["server"]["enum"]
    assert "infiniband-ndr" in definitions["PoolSettings"]["properties"]["fabric"]["enum"]
    for name, definition in definitions.items():
        assert definition["additionalProperties"] is False, name
        assert definition["description"], name
        for key, described in definition["properties"].items():
            assert described.get("description") or described.get("$ref"), f"{name}.{key}"


@pytest.mark.parametrize("module", ["stacks.config", "stacks.config.schema"])
def test_reading_settings_needs_no_pulumi(module: str) -> None:
    code = f"import sys, {module}; print([one for one in sys.modules if one.startswith('pulumi')])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY, timeout=60
    )
    assert result.stdout.strip() == "[]"
