"""Reading unchecked settings: a value of the wrong type is as good as absent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stacks.config.problems import Location, SettingProblem, shown


@dataclass(frozen=True)
class View:
    """A place in the raw settings that answers only with values of the type asked for.

    So checks that compare several values run even where others are wrong, and all problems come at once.

    Args:
        raw: What stands there.
        location: Where it stands.
    """

    raw: object
    location: Location = ()

    def at(self, *keys: str) -> "View":
        """The place below, whether or not it exists."""
        view = self
        for key in keys:
            inner = view.raw.get(key) if isinstance(view.raw, Mapping) else None
            view = View(inner, (*view.location, key))
        return view

    def entries(self) -> Iterator[tuple[str, "View"]]:
        """The named places below, in order."""
        if isinstance(self.raw, Mapping):
            for key in self.raw:
                if isinstance(key, str):
                    yield key, self.at(key)

    @property
    def text(self) -> str | None:
        """The value, if it is text."""
        return self.raw if isinstance(self.raw, str) else None

    @property
    def number(self) -> int | None:
        """The value, if it is a whole number above zero."""
        whole = isinstance(self.raw, int) and not isinstance(self.raw, bool)
        return self.raw if whole and isinstance(self.raw, int) and self.raw > 0 else None

    def number_or(self, default: int) -> int | None:
        """The value, if it is a whole number above zero; the default where there is none."""
        return default if self.raw is None else self.number

    def flag(self, default: bool) -> bool | None:
        """The value, if it is true or false; the default where there is none."""
        if self.raw is None:
            return default
        return self.raw if isinstance(self.raw, bool) else None

    def problem(self, accepted: str, fix: str, value: str | None = None) -> SettingProblem:
        """A problem at this place."""
        return SettingProblem(
            location=self.location, value=value or shown(self.raw, self.location), accepted=accepted, fix=fix
        )
