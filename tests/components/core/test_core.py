"""Names, ownership, argument errors and the options of children."""

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import (
    ArgsError,
    Component,
    Problem,
    check_dns_label,
    check_not_empty,
    check_port,
    check_positive,
    dns_label,
    raise_problems,
)
from components.kube import CustomObject
from tests.harness import run
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP

PARTS = st.lists(st.from_regex(r"[a-z0-9]{1,40}", fullmatch=True), min_size=1, max_size=4)


def test_ownership_says_the_cost_set_in_labels_and_the_contact_in_an_annotation() -> None:
    assert OWNERSHIP.labels() == LABELS
    assert OWNERSHIP.annotations() == ANNOTATIONS


@given(PARTS)
def test_every_name_is_a_dns_label_and_short_ones_stay_readable(parts: list[str]) -> None:
    name = dns_label(*parts)
    assert check_dns_label("name", name) == []
    if len("-".join(parts)) <= 63:
        assert name == "-".join(parts)


def test_long_names_that_differ_at_the_end_stay_different() -> None:
    assert dns_label("a" * 70, "x") != dns_label("a" * 70, "y")


@pytest.mark.parametrize("bad", ["", "A", "ü", "-a", "a-", "a_b", "a" * 64, "a.b"])
def test_a_name_kubernetes_would_refuse_is_a_problem(bad: str) -> None:
    (problem,) = check_dns_label("pool", bad)
    assert (problem.path, problem.value) == ("pool", repr(bad))


def test_a_name_part_that_is_no_dns_label_is_refused() -> None:
    with pytest.raises(ValueError, match="not a DNS label"):
        dns_label("Upper")


@pytest.mark.parametrize(("value", "problems"), [(1, 0), (0, 1), (-3, 1)])
def test_counts_start_at_one(value: int, problems: int) -> None:
    assert len(check_positive("nodes", value)) == problems


@pytest.mark.parametrize(("value", "problems"), [(1, 0), (65535, 0), (0, 1), (65536, 1)])
def test_ports_have_their_range(value: int, problems: int) -> None:
    assert len(check_port("port", value)) == problems


def test_something_empty_is_a_problem() -> None:
    assert len(check_not_empty("ports", (), "a port")) == 1
    assert check_not_empty("ports", (1,), "a port") == []


def test_all_problems_are_told_at_once_with_path_value_accepted_and_fix() -> None:
    problems = [Problem(path=p, value="0", accepted="1 or more", fix="raise it") for p in ("nodes", "gpus")]
    with pytest.raises(ArgsError) as caught:
        raise_problems("pool 'a'", problems)
    assert str(caught.value) == (
        "pool 'a': 2 problem(s)\n"
        "  - nodes: got 0; accepted: 1 or more; fix: raise it\n"
        "  - gpus: got 0; accepted: 1 or more; fix: raise it"
    )
    with pytest.raises(ArgsError, match="1 problem"):
        raise_problems("pool 'a'", problems[:1])
    raise_problems("pool 'a'", [])


class _Pair(Component):
    TYPE = "gpuplatform:test:Pair"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
        first = CustomObject(f"{name}-first", manifest, self.child())
        options = self.child(
            depends_on=[first],
            protect=True,
            retain_on_delete=True,
            ignore_changes=["data"],
            replace_on_changes=["type"],
            delete_before_replace=True,
            additional_secret_outputs=["data"],
            old_names=["old"],
        )
        CustomObject(f"{name}-second", manifest, options)
        self.finish({})


def test_a_child_gets_its_parent_and_exactly_the_options_asked_for() -> None:
    recording = run(lambda: _Pair("pair") and None)
    plain = recording.one("kubernetes:core/v1:Secret", "pair-first")
    full = recording.one("kubernetes:core/v1:Secret", "pair-second")
    assert plain.parent == full.parent == "pair"
    assert plain.options == type(plain.options)()
    assert full.options == type(plain.options)(
        protect=True,
        retain_on_delete=True,
        ignore_changes=("data",),
        replace_on_changes=("type",),
        delete_before_replace=True,
        depends_on=("pair-first",),
        aliases=("old",),
        additional_secret_outputs=("data",),
    )


def test_options_of_the_caller_stay_with_the_component() -> None:
    opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="former")], ignore_changes=["x"])
    recording = run(lambda: _Pair("pair", opts) and None)
    assert recording.one("gpuplatform:test:Pair", "pair").options.aliases == ("former",)
    child = recording.one("kubernetes:core/v1:Secret", "pair-first").options
    assert (child.aliases, child.ignore_changes) == ((), ())
