"""What a program registered, and the assertions on it."""

import difflib
import pprint
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Stands for a value only the real provider could give.
UNKNOWN = "<unknown>"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Resource options as the engine would receive them; dependencies are logical names.

    Args:
        protect: Deletion refused; None when neither set nor inherited.
        retain_on_delete: Object left in place.
        ignore_changes: Input paths ignored.
        replace_on_changes: Input paths that replace.
        delete_before_replace: None when not set.
        depends_on: Logical names, sorted, of explicit and implicit dependencies.
        aliases: Former names.
        additional_secret_outputs: Outputs encrypted in state.
        hooks: Hook kind → names.
        provider: Reference of the explicit provider, empty for none.
    """

    protect: bool | None = None
    retain_on_delete: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    depends_on: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    provider: str = ""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One registered resource.

    Args:
        type: Type token.
        name: Logical name.
        inputs: All inputs, secrets in the clear.
        secret_paths: Where secrets are in the inputs, e.g. ``data.password``.
        parent: Logical name of the parent; None directly below the stack.
        options: Its options.
    """

    type: str
    name: str
    inputs: Mapping[str, Any]
    secret_paths: tuple[str, ...]
    parent: str | None
    options: Options


class Recording:
    """All resources of one run, in the order of their registration."""

    def __init__(self) -> None:
        self.resources: list[Recorded] = []
        self.outputs: Any = None

    def of_type(self, type_: str) -> list[Recorded]:
        """Resources of one type."""
        return [resource for resource in self.resources if resource.type == type_]

    def one(self, type_: str, name: str) -> Recorded:
        """The one resource of this type and name.

        Raises:
            AssertionError: There is none, or more than one; lists what there is.
        """
        found = [resource for resource in self.resources if (resource.type, resource.name) == (type_, name)]
        if len(found) != 1:
            there = "\n".join(sorted(f"  {resource.type} {resource.name}" for resource in self.resources))
            raise AssertionError(f"{len(found)} resources {type_} {name!r}; registered:\n{there}")
        return found[0]

    def assert_resource(
        self, type_: str, name: str, inputs: Mapping[str, Any], *, parent: str | None = None
    ) -> Recorded:
        """Compare every input of one resource, and its parent when given; returns it for its options."""
        found = self.one(type_, name)
        _assert_same(f"inputs of {type_} {name!r}", found.inputs, inputs)
        if parent is not None:
            _assert_same(f"parent of {type_} {name!r}", found.parent, parent)
        return found

    def assert_counts(self, counts: Mapping[str, int]) -> None:
        """Seal the run: exactly these types, exactly this often."""
        found = Counter(resource.type for resource in self.resources)
        _assert_same("resource counts", dict(sorted(found.items())), dict(sorted(counts.items())))

    def assert_secrets(self, *paths: tuple[str, str]) -> None:
        """Exactly these inputs are secret: pairs of logical name and path."""
        found = {(resource.name, path) for resource in self.resources for path in resource.secret_paths}
        _assert_same("secret inputs", sorted(found), sorted(paths))

    def assert_no_clear(self, *values: str) -> None:
        """None of these values is in an input outside the marked secrets, nor in a name."""
        for resource in self.resources:
            texts = [resource.name, *_clear_texts(resource.inputs, "", set(resource.secret_paths))]
            for value in values:
                assert not any(value in text for text in texts), (
                    f"a secret is in the clear in {resource.name}"
                )


def _assert_same(what: str, found: Any, expected: Any) -> None:
    """A difference line by line; pytest rewrites the assertions of test files only."""
    if found != expected:
        wanted, there = (pprint.pformat(value, width=100).splitlines() for value in (expected, found))
        lines = difflib.unified_diff(wanted, there, "expected", "found", lineterm="")
        raise AssertionError("\n".join((f"{what} differ", *lines)))


def _clear_texts(value: Any, path: str, secret_paths: set[str]) -> list[str]:
    if path in secret_paths:
        return []
    if isinstance(value, Mapping):
        return [
            text
            for key, inner in value.items()
            for text in (key, *_clear_texts(inner, f"{path}.{key}".lstrip("."), secret_paths))
        ]
    if isinstance(value, list):
        return [
            text
            for index, inner in enumerate(value)
            for text in _clear_texts(inner, f"{path}[{index}]", secret_paths)
        ]
    return [str(value)]
