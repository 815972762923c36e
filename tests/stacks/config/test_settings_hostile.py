"""Files too large, too deep or ambiguous: refused with line and fix, in far less than five seconds."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stacks.config import SettingProblem, SettingsError, Versions, cluster_source, load_file, settings_file
from tests.stacks.config.test_settings_file import GOOD

# The promise of `make validate` is five seconds with Python's start; this leaves room for a busy machine.
BOUND_SECONDS = 3.0
BOMB = "\n".join(
    [
        f"a0: &a0 [{', '.join('x' * 9)}]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)),
    ]
)


def _refused(tmp_path: Path, text: str, versions: Versions) -> tuple[SettingProblem, ...]:
    path = settings_file(tmp_path, "dev")
    path.write_text(text, encoding="utf-8")
    started = time.monotonic()
    with pytest.raises(SettingsError) as caught:
        load_file(path, "dev", versions)
    assert time.monotonic() - started < BOUND_SECONDS
    assert len(str(caught.value)) < 2000, "the message must not repeat the file"
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"{GOOD}# {'x' * 30_000_000}", f"{len(GOOD) + 30_000_002} bytes"),
        ("config: " + "[" * 100_000, "more than 20 levels"),
        ("config: " + "{a: " * 600 + "1" + "}" * 600, "more than 20 levels"),
        ("\n".join(f"{' ' * n}a:" for n in range(300)), "more than 20 levels"),
        (BOMB, "more than 50000 values with every alias written out"),
        ("a: &a [*a]", "an alias inside or before its value"),
        ("a: *b\nb: &b 1", "an alias inside or before its value"),
        (GOOD.replace("nodes: 4", f"nodes: {'9' * 5000}"), "a number of 5000 characters"),
        (GOOD.replace("nodes: 4", f"nodes: -{'9' * 20}"), "a number of 21 characters"),
        (GOOD.replace("nodes: 4", "nodes: 4\0"), "the character U+0000"),
        (GOOD.replace("nodes: 4", "nodes: !!int '4'"), "a ! tag"),
        (GOOD.replace("nodes: 4", "nodes: !!python/object/apply:os.system ['true']"), "a ! tag"),
        (f"%YAML 1.1\n---\n{GOOD}", "a % directive"),
        (GOOD.replace("pools:", "? {a: b}\n    : 1\n    pools:"), "a mapping, list or alias as a key"),
        (GOOD.replace("pools:", "[a, b]: 1\n    pools:"), "a mapping, list or alias as a key"),
        (GOOD.replace("a100:", "100:"), "100 as a key, which is no name"),
        (GOOD.replace("a100:", ":"), "nothing as a key, which is no name"),
        (GOOD.replace("a100:", "true:"), "true as a key, which is no name"),
        (GOOD.replace("nodes: 4", "<<: {nodes: 4}"), "the merge key <<, which YAML 1.2 dropped"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_a_hostile_file_is_refused_at_once(tmp_path: Path, versions: Versions, text: str, value: str) -> None:
    (problem,) = _refused(tmp_path, text, versions)
    assert (problem.path, problem.value) == ("(file)", value)
    assert problem.accepted
    assert problem.fix


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("010", "010, which parsers read differently (010 is 8 to Pulumi)"),
        ("-07", "-07, which"),
        ("0o10", "0o10, which"),
        ("0x1F", "0x1F, which"),
        ("0b11", "0b11, which"),
        ("0_8", "0_8, which"),
        ("1_000", "1_000, which"),
        ("1:30", "1:30 without quotes, which some parsers read to base 60"),
        ("190:20:30", "190:20:30 without quotes"),
        ("2026-11-30", "2026-11-30 without quotes, a date to some parsers"),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z without quotes, a date"),
        *(
            (word, f"{word} without quotes, a switch to some")
            for word in ("yes", "No", "ON", "off", "y", "N")
        ),
    ],
)
def test_what_parsers_read_differently_is_refused(
    tmp_path: Path, versions: Versions, written: str, told: str
) -> None:
    (problem,) = _refused(tmp_path, GOOD.replace("nodes: 4", f"nodes: {written}"), versions)
    assert (problem.line, problem.path) == (17, "(file)")
    assert problem.value.startswith(told)
    assert f'"{written}"' in problem.fix


def test_every_ambiguity_is_told_at_once(tmp_path: Path, versions: Versions) -> None:
    text = GOOD.replace("nodes: 4", "nodes: 04").replace("size_gib: 2", "size_gib: 0x2")
    assert [problem.line for problem in _refused(tmp_path, text, versions)] == [17, 23]


def test_text_in_quotes_is_no_ambiguity(tmp_path: Path, versions: Versions) -> None:
    path = settings_file(tmp_path, "dev")
    path.write_text(GOOD.replace("owner: ml", 'owner: "on"').replace("project: gp", "project: '010'"))
    settings = load_file(path, "dev", versions)
    assert (settings.ownership.owner, settings.ownership.project) == ("on", "010")


def test_an_anchor_may_be_used_again(tmp_path: Path, versions: Versions) -> None:
    path = settings_file(tmp_path, "dev")
    text = GOOD.replace("datasets: {size_gib: 5}", "datasets: {size_gib: &size 7}")
    path.write_text(text.replace("checkpoints: {size_gib: 5}", "checkpoints: {size_gib: *size}"))
    assert load_file(path, "dev", versions).storage.checkpoints.size_gib == 7


def test_a_secret_that_is_ambiguous_is_not_repeated(tmp_path: Path, versions: Versions) -> None:
    (problem,) = _refused(tmp_path, GOOD.replace("nodes: 4", "password: 0123456"), versions)
    assert "0123456" not in str(problem)


def test_no_plain_file_is_read(tmp_path: Path, versions: Versions) -> None:
    settings_file(tmp_path, "dev").symlink_to("/dev/zero")
    with pytest.raises(SettingsError, match="no plain file"):
        load_file(settings_file(tmp_path, "dev"), "dev", versions)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (GOOD, "lab"),
        (GOOD.replace("source: lab", "source: kubeconfig, context: x"), "kubeconfig"),
        (GOOD.replace("nodes: 4", "nodes: oh"), "lab"),
        (BOMB, None),
        ("", None),
    ],
    ids=["lab", "kubeconfig", "bad elsewhere", "bomb", "empty"],
)
def test_the_cluster_is_known_however_wrong_the_rest_is(
    tmp_path: Path, text: str, source: str | None
) -> None:
    path = settings_file(tmp_path, "dev")
    path.write_text(text)
    assert cluster_source(path) == source


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("section", "value", "told"),
    [
        ("pools", _nested(500), "more than 16 levels"),
        ("contact", "a\0b", r"'a\x00b'"),
        ("contact", "x" * 9000, "9000 characters"),
        ("contact", 10**400, "a number above 2^53"),
        ("contact", {3: 4}, "3 as a key"),
        ("contact", {"k" * 9000: 4}, "a key of 9000 characters"),
    ],
)
def test_values_out_of_bounds_are_refused_from_the_engine_too(
    good: dict[str, Any],
    problems: Callable[..., tuple[SettingProblem, ...]],
    section: str,
    value: object,
    told: str,
) -> None:
    (good if section == "pools" else good["ownership"])[section] = value
    (problem,) = problems(good)
    assert problem.value == told
    assert len(str(problem)) < 400


SECRET = "wJalrXUtnFEMI"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("aws:secretKey", SECRET),
        ("aws:accessKey", SECRET),
        ("aws:token", SECRET),
        ("azure-native:clientSecret", SECRET),
        ("kubernetes:kubeconfig", '"apiVersion: v1\\nclient-key-data: wJalrXUtnFEMI"'),
        ("kubernetes:kubeconfig", "{users: [{name: wJalrXUtnFEMI}]}"),
        ("other:anything", "{auth: {password: wJalrXUtnFEMI}}"),
        ("other:url", "https://me:wJalrXUtnFEMI@example.com"),
    ],
)
def test_a_provider_key_in_the_clear_is_refused(
    tmp_path: Path, versions: Versions, key: str, value: str
) -> None:
    text = GOOD.replace("  kubernetes:context: x", f"  {key}: {value}")
    (problem,) = _refused(tmp_path, text, versions)
    assert (problem.line, problem.path) == (4, f"config.{key}")
    assert f"pulumi config set --secret {key}" in problem.fix
    assert SECRET not in str(problem)


@pytest.mark.parametrize(
    "line",
    [
        "aws:region: eu-central-1",
        "aws:skipCredentialsValidation: true",
        "aws:sharedCredentialsFiles: [~/.aws/credentials]",
        "kubernetes:kubeconfig: /etc/kube/config",
        "kubernetes:kubeconfig: {secure: v1:abc}",
        "aws:secretKey: {secure: v1:abc}",
        "other:auth: {password: {secure: v1:abc}}",
    ],
)
def test_a_provider_key_without_a_secret_is_none_of_ours(
    tmp_path: Path, versions: Versions, line: str
) -> None:
    path = settings_file(tmp_path, "dev")
    path.write_text(GOOD.replace("  kubernetes:context: x", f"  {line}"))
    load_file(path, "dev", versions)
