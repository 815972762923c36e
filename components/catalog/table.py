"""A table of catalogue rows that answers a wrong key with the nearest right one."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar


class Row(Protocol):
    """What every row of the catalogue has: a key, a public source, and the day of the figures (ISO 8601)."""

    @property
    def key(self) -> str:
        """Unique key."""

    @property
    def source(self) -> str:
        """Where the figures come from."""

    @property
    def date(self) -> str:
        """Day of the figures."""


RowT_co = TypeVar("RowT_co", bound=Row, covariant=True)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name most similar to ``name``: one that begins with it, else one spelt like it, else None."""
    wanted, names = str(name).lower(), tuple(known)
    begins = [candidate for candidate in names if wanted and candidate.startswith(wanted)]
    close = begins or difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    return close[0] if close else None


class UnknownKeyError(KeyError):
    """A key the catalogue does not have.

    Args:
        noun: What was looked up, e.g. ``server``.
        key: The key asked for.
        nearest: The most similar known key, or None.
        known: Every known key.
    """

    def __init__(self, noun: str, key: object, nearest: str | None, known: tuple[str, ...]) -> None:
        self.noun, self.key, self.nearest, self.known = noun, key, nearest, known
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        self.message = f"unknown {noun} {key!r}{hint} Known: {', '.join(known)}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class Table(Mapping[str, RowT_co]):
    """Rows by key, in the order given; read only.

    Args:
        noun: What a row is, for messages.
        rows: The rows.

    Raises:
        ValueError: Two rows share a key.
    """

    def __init__(self, noun: str, rows: Iterable[RowT_co]) -> None:
        self.noun = noun
        self._rows: dict[str, RowT_co] = {}
        for row in rows:
            if row.key in self._rows:
                raise ValueError(f"two rows of the {noun} table have the key {row.key!r}")
            self._rows[row.key] = row

    def __getitem__(self, key: str) -> RowT_co:
        try:
            return self._rows[key]
        except KeyError:
            raise UnknownKeyError(self.noun, key, self.nearest(key), tuple(self._rows)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def nearest(self, key: str) -> str | None:
        """The known key most similar to ``key``, or None when nothing is close."""
        return nearest(key, self._rows)
