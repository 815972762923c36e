"""`catalog` and `explain`: the catalogue printed, searched and told, offline."""

import dataclasses
import datetime
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from cli.exits import Exit, Stop
from components.catalog import (
    FABRICS,
    GPUS,
    INSTANCES,
    MIG_GPUS,
    PRICES,
    SERVERS,
    TABLES,
    THRESHOLDS,
    XIDS,
    Market,
    Row,
    Table,
    nearest,
    quote,
)

_PROVENANCE = ("source", "date")
_WIDE = 400
_CELL = 90
# Figures that rows derive from others and people ask for.
_DERIVED = (
    "action",
    "drains",
    "minimum",
    "accepted",
    "memory_class",
    "gpu_memory_total_mib",
    "gpu_memory_gb",
    "gpu_power_watts",
    "heat_btu_per_hour",
    "price_class",
    "nvlink",
    "carries_multi_node_training",
)


def catalog(words: tuple[str, ...], *, as_json: bool) -> None:
    """Print the rows that hold every word, table by table; all rows without a word.

    Args:
        words: What to look for, in any case: in keys, figures, sources and names of tables.
        as_json: Whether to print JSON: one list of rows per table.
    """
    found = {table.noun: rows for table in TABLES if (rows := _matching(table, words))}
    if as_json:
        print(json.dumps({noun: [_plain(row) for row in rows] for noun, rows in found.items()}, indent=2))
    elif found:
        # Wider than the screen if need be: a cut key helps nobody, and `less -S` scrolls.
        console = Console(highlight=False, soft_wrap=True, width=_WIDE)
        for noun, rows in found.items():
            console.print(_grid(noun, rows))
        console.print("`explain KEY` tells one row with its source and what belongs to it.")
    if not found:
        _not_found(" ".join(words), as_json=as_json)


def explain(term: str, *, as_json: bool, today: datetime.date) -> None:
    """Tell everything about one thing of the catalogue: its row, source, and what belongs to it.

    A term is a key (``p5.48xlarge``), the beginning of one (``h100``, ``a100``), or a number of an XID.

    Args:
        term: What to explain, in any case.
        as_json: Whether to print JSON.
        today: The day prices are judged by.
    """
    rows = list(_named(term))
    if not rows:
        _not_found(term, as_json=as_json)
    told: list[dict[str, Any]] = [
        {"table": table.noun, "row": _plain(row), "belongs": _belongs(table, row, today)}
        for table, row in rows
    ]
    if as_json:
        print(json.dumps(told, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for one in told:
        facts = dict(one["row"])
        console.print(f"[bold]{escape(facts.pop('key'))}[/] ({one['table']})")
        for name, value in {**facts, **one["belongs"]}.items():
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                console.print(f"  {name}:", *(f"    {escape(_text(line))}" for line in value), sep="\n")
            else:
                console.print(f"  {name}: {escape(_text(value))}")


def _named(term: str) -> Iterator[tuple[Table[Row], Row]]:
    """The rows a term names: those with this key, else those whose key begins with it and a separator."""
    wanted = term.strip().lower()
    if wanted.isdigit() and f"xid-{wanted}" in XIDS:
        wanted = f"xid-{wanted}"
    known = [(table, row) for table in TABLES for row in table.values()]
    same = [(table, row) for table, row in known if row.key.lower() == wanted]
    begins = [
        (table, row) for table, row in known if row.key.lower().startswith((f"{wanted}-", f"{wanted}."))
    ]
    yield from same or (begins if wanted else [])


def _not_found(term: str, *, as_json: bool) -> None:
    keys = [row.key for table in TABLES for row in table.values()]
    near = nearest(term, keys)
    if as_json:
        print(json.dumps({"found": False, "term": term, "nearest": near}))
    else:
        hint = f"; did you mean {near!r}?" if near else ""
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            f"error: the catalogue has nothing for {escape(repr(term))}{hint}\n"
            "  list it with `make catalog`, or search it with `python -m cli catalog WORD`"
        )
    raise Stop(Exit.FAILED)


def _matching(table: Table[Row], words: tuple[str, ...]) -> list[Row]:
    texts = {row.key: f"{table.noun} {_text(_plain(row))}".lower() for row in table.values()}
    return [row for row in table.values() if all(word.lower() in texts[row.key] for word in words)]


def _plain(row: Row) -> dict[str, Any]:
    """Fields and derived figures of a row as JSON can hold them, provenance last."""
    fields = [field.name for field in dataclasses.fields(row)]  # type: ignore[arg-type]
    names = [name for name in fields if name not in _PROVENANCE]
    names += [name for name in _DERIVED if name not in fields and hasattr(row, name)]
    return {name: _simple(getattr(row, name)) for name in (*names, *_PROVENANCE)}


def _simple(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _simple(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _simple(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_simple(one) for one in value]
    return value


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_text(one) for one in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def _grid(noun: str, rows: list[Row]) -> Grid:
    """A table of the figures that fit one; the rest is what `explain` is for."""
    grid = Grid(title=f"{noun} ({len(rows)})", title_justify="left", box=None, pad_edge=False)
    plain = [_plain(row) for row in rows]
    columns = [
        name
        for name in plain[0]
        if name not in {"key", "source", *_DERIVED} and all(len(_text(row[name])) <= _CELL for row in plain)
    ]
    for name in ("key", *columns):
        grid.add_column(name, no_wrap=True)
    for row in plain:
        grid.add_row(row["key"], *(escape(_text(row[name])) for name in columns))
    return grid


def _belongs(table: Table[Row], row: Row, today: datetime.date) -> dict[str, Any]:
    """What other tables say about a row."""
    key = row.key
    if table.noun == GPUS.noun:
        return {
            "servers": [one.key for one in SERVERS.values() if one.gpu == key],
            "instances": [one.key for one in INSTANCES.values() if one.gpu == key],
            "mig": MIG_GPUS[key].max_counts if key in MIG_GPUS else "none",
            "thresholds": _thresholds(gpu=key),
        }
    if table.noun == INSTANCES.noun:
        prices = {market.value: str(quote(key, market, today=today)) for market in Market}
        others = [one.key for one in PRICES.values() if one.instance == key and one.region != "us-east-1"]
        return {"us_east_1_prices": prices, "other_prices": others}
    if table.noun == FABRICS.noun:
        users = [one.key for one in INSTANCES.values() if one.efa == key]
        return {"instances": users, "thresholds": _thresholds(fabric=key)}
    return {}


def _thresholds(gpu: str | None = None, fabric: str | None = None) -> dict[str, float]:
    return {
        row.key: row.minimum
        for row in THRESHOLDS.values()
        if (gpu and row.gpu == gpu) or (fabric and row.fabric == fabric)
    }
