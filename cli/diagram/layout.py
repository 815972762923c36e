"""Where the boxes of a graph stand: columns by dependency, rows so that arrows cross little."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cli.diagram.graph import Graph

_ROUNDS = 12


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a box stands, in pixels; the corner is the upper left one."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Height of its middle."""
        return self.y + self.height / 2


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A placed graph.

    Args:
        places: URN → place.
        routes: Arrow's ends → points it runs through, from box to box.
        width: Of the whole, pixels.
        height: Of the whole, pixels.
    """

    places: Mapping[str, Place]
    routes: Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
    width: float
    height: float


def arrange(
    graph: Graph, sizes: Mapping[str, tuple[float, float]], *, gap_x: float, gap_y: float, lane: float
) -> Layout:
    """Place every box and route every arrow around the boxes between its ends.

    Args:
        graph: What to place.
        sizes: URN → width and height of its box.
        gap_x: Between columns.
        gap_y: Between rows.
        lane: Height kept free in each column an arrow passes through.
    """
    pairs = [(arrow.source, arrow.target) for arrow in graph.arrows]
    rank = _ranks([box.urn for box in graph.boxes], pairs)
    chains = {pair: _chain(pair, rank) for pair in pairs}
    columns = _columns(rank, chains)
    _untangle(columns, [link for chain in chains.values() for link in pairwise(chain)])
    size = {**{node: (0.0, lane) for column in columns for node in column}, **sizes}
    heights = [sum(size[node][1] for node in column) + gap_y * (len(column) - 1) for column in columns]
    total = max(heights, default=0.0)
    places: dict[str, Place] = {}
    x = 0.0
    for column, height in zip(columns, heights, strict=True):
        width = max((size[node][0] for node in column), default=0.0)
        y = (total - height) / 2
        for node in column:
            places[node] = Place(x=x, y=y, width=size[node][0] or width, height=size[node][1])
            y += size[node][1] + gap_y
        x += width + gap_x
    routes = {pair: _route(chain, places) for pair, chain in chains.items()}
    boxes = {box.urn: places[box.urn] for box in graph.boxes}
    return Layout(places=boxes, routes=routes, width=max(x - gap_x, 0.0), height=total)


def _ranks(urns: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Column of each box: right of everything it needs. A cycle, which no engine makes, ends the climb."""
    rank = dict.fromkeys(urns, 0)
    for _ in urns:
        moved = False
        for source, target in pairs:
            if rank[target] <= rank[source] < len(urns):
                rank[target], moved = rank[source] + 1, True
        if not moved:
            break
    needed = {source for source, _ in pairs}
    for source in needed:
        # As far right as its first reader lets it: short arrows.
        if not any(target == source for _, target in pairs):
            rank[source] = max(min(rank[target] for one, target in pairs if one == source) - 1, 0)
    return rank


def _chain(pair: tuple[str, str], rank: Mapping[str, int]) -> list[str]:
    source, target = pair
    between = range(rank[source] + 1, rank[target])
    return [source, *(f"{source}\0{target}\0{column}" for column in between), target]


def _columns(rank: Mapping[str, int], chains: Mapping[tuple[str, str], list[str]]) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for urn, column in rank.items():
        columns[column].append(urn)
    for chain in chains.values():
        for offset, node in enumerate(chain[1:-1], start=rank[chain[0]] + 1):
            columns[offset].append(node)
    return columns


def _untangle(columns: list[list[str]], links: Sequence[tuple[str, str]]) -> None:
    """Sort each column by the mean row of its neighbours, forth and back."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for left, right in links:
        before.setdefault(right, []).append(left)
        after.setdefault(left, []).append(right)
    for turn in range(_ROUNDS):
        forth = turn % 2 == 0
        for column in columns if forth else reversed(columns):
            row = {node: index / len(nodes) for nodes in columns for index, node in enumerate(nodes)}
            near = before if forth else after
            wanted = {
                node: sum(row[one] for one in near[node]) / len(near[node]) if near.get(node) else row[node]
                for node in column
            }
            column.sort(key=wanted.__getitem__)


def _route(chain: Sequence[str], places: Mapping[str, Place]) -> tuple[tuple[float, float], ...]:
    points = [(places[chain[0]].x + places[chain[0]].width, places[chain[0]].middle)]
    for node in chain[1:-1]:
        place = places[node]
        points += [(place.x, place.middle), (place.x + place.width, place.middle)]
    last = places[chain[-1]]
    return (*points, (last.x, last.middle))
