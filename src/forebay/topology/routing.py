"""Shortest paths with ECMP, as arrays, and what their time and memory will be.

Routers with only one neighbour are removed repeatedly, and the paths out of these trees followed
for all pairs at once; shortest paths are searched only between the routers that remain. Times are
of one core, from 250,000 to 4,000,000 paths; that of the solver is of about 35 steps.
"""

import time
from dataclasses import dataclass

import numpy as np

from forebay.progress import Progress
from forebay.scenario import ScenarioError
from forebay.topology.graph import BETWEEN, Floats, Graph, Ints

_ROUTE_S, _EQUATIONS_S, _SOLVE_S = 0.15e-6, 0.35e-6, 10e-6
"""Seconds for each cell: a link of a path."""
CELL = 400.0
"""Bytes that a cell takes while a steady state is solved for."""


@dataclass(frozen=True, slots=True)
class NetworkCost:
    """Expected time and memory, before the routes are searched for.

    Attributes
    ----------
    pairs : number of pairs of routers.
    paths : number of paths, each of equal connections.
    cells : number of links of all paths together.
    search_s : seconds of the search for the shortest paths that do not depend on their number.
    """

    pairs: int
    paths: float
    cells: float
    search_s: float

    @property
    def routes_s(self) -> float:
        """CPU seconds until all routes are found."""
        return self.search_s + self.cells * _ROUTE_S

    @property
    def seconds(self) -> float:
        """CPU seconds until the answer."""
        return self.routes_s + self.cells * (_EQUATIONS_S + _SOLVE_S)

    @property
    def octets(self) -> float:
        """Bytes beyond those of the routers and links."""
        return CELL * self.cells

    def pairs_within(self, octets: float) -> int:
        """Return how many pairs take so many bytes, to one digit, rounded down."""
        fit = int(self.pairs * octets / max(self.octets, 1.0))
        digits = int(10 ** (len(str(max(fit, 1))) - 1))
        return max(fit // digits * digits, 1)


_BATCH_CELLS, _REPORT_CELLS = 20_000_000, 200_000  # distances that are searched for at once
_EQUAL = 1e-9
_TRIED = 8  # combinations of choices for each path that may be kept
_MOST_WAYS = 1e9
_TRIED_ENDS, _TRIED_PAIRS = 8, 2000
_ACCESS_HOPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Links between routers that a pair's connections cross; a pair may have several paths.

    Attributes
    ----------
    pair : shape (paths,), index of the pair.
    share : shape (paths,), share of the pair's connections; sums to 1 in a pair.
    links : shape (hops, paths), -1 beyond the last.
    """

    pair: Ints
    share: Floats
    links: Ints


def route(
    graph: Graph,
    source: Ints,
    target: Ints,
    metric: str,
    most: int,
    progress: Progress | None = None,
) -> Paths:
    """Route every pair of routers; source and target differ.

    Raises ScenarioError: there is no path between two of them.
    """
    weight = _weights(graph, metric)
    tree = _peel(graph)
    climb = _climb(tree, source, target)
    middle = _search(graph, weight, tree.alive, climb.here, climb.there, most, progress)
    return _join(climb, middle)


def estimate_cost(graph: Graph, source: Ints, target: Ints, metric: str, most: int) -> NetworkCost:
    """Estimate what `route` will take, from some pairs that end at a few of the routers."""
    weight, tree = _weights(graph, metric), _peel(graph)
    climb = _climb(tree, source, target)
    ends = np.unique(climb.there[climb.here != climb.there])
    few = ends[:: max(1, len(ends) // _TRIED_ENDS)][:_TRIED_ENDS]
    tried = np.flatnonzero(np.isin(climb.there, few) | (climb.here == climb.there))
    tried = tried[:: max(1, len(tried) // _TRIED_PAIRS)]
    part = _Climb(
        climb.here[tried], climb.there[tried],
        [row[tried] for row in climb.before], [row[tried] for row in climb.after],
    )  # fmt: skip
    begun = time.process_time()
    sample = _join(part, _search(graph, weight, tree.alive, part.here, part.there, most))
    spent_s = time.process_time() - begun
    paths = len(sample.pair) * len(source) / max(len(tried), 1)
    cells = paths * (sample.links.shape[0] + _ACCESS_HOPS)
    return NetworkCost(len(source), paths, cells, spent_s * len(ends) / max(len(few), 1))


def _weights(graph: Graph, metric: str) -> Floats:
    if metric == "delay":
        return graph.delay_s + 1e-9  # 1 ns for each hop, so that links without delay are not free
    if metric == "inverse-rate":
        return np.asarray(graph.rate_bps.max() / graph.rate_bps)
    return np.ones(graph.links)


@dataclass(frozen=True, slots=True)
class _Tree:
    """For removed routers: the only neighbour, the links in both directions, the depth."""

    parent: Ints
    up: Ints
    down: Ints
    depth: Ints
    alive: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def _peel(graph: Graph) -> _Tree:
    """Remove routers with one neighbour and one link in each direction, round by round."""
    n = len(graph.names)
    links = np.flatnonzero(graph.kind == BETWEEN)
    source, target = graph.source[links], graph.target[links]
    parent, up, down = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    round_of, alive, round_ = np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool), 0
    while True:
        kept = alive[source] & alive[target]
        links, source, target = links[kept], source[kept], target[kept]
        out = np.bincount(source, minlength=n)
        leaf = alive & (out == 1) & (np.bincount(target, minlength=n) == 1)
        to, back = np.full(n, -1), np.full(n, -1)
        to[source], back[target] = target, source
        leaf &= (to == back) & (to >= 0)
        pair = leaf & leaf[to]  # the last two routers of a tree: the first one stays
        leaf &= ~(pair & (np.arange(n) < to))
        if not leaf.any():
            break
        round_ += 1
        parent[leaf] = to[leaf]
        ups, downs = leaf[source], leaf[target]
        up[source[ups]], down[target[downs]] = links[ups], links[downs]
        round_of[leaf] = round_
        alive &= ~leaf
    depth = np.zeros(n, dtype=np.int64)
    for number in range(round_, 0, -1):
        here = np.flatnonzero(round_of == number)
        depth[here] = depth[parent[here]] + 1
    return _Tree(parent, up, down, depth, alive)


@dataclass(frozen=True, slots=True)
class _Climb:
    """The parts of all pairs' paths inside the trees; ``after`` is in order from the far end."""

    here: Ints
    there: Ints
    before: list[Ints]
    after: list[Ints]


def _climb(tree: _Tree, source: Ints, target: Ints) -> _Climb:
    here, there = source.copy(), target.copy()
    before: list[Ints] = []
    after: list[Ints] = []
    while True:
        apart = here != there
        rise = apart & (tree.depth[here] > 0) & (tree.depth[here] >= tree.depth[there])
        fall = apart & (tree.depth[there] > 0) & (tree.depth[there] > tree.depth[here])
        if not (rise.any() or fall.any()):
            return _Climb(here, there, before, after)
        before.append(np.where(rise, tree.up[here], -1))
        after.append(np.where(fall, tree.down[there], -1))
        here = np.where(rise, tree.parent[here], here)
        there = np.where(fall, tree.parent[there], there)


def _search(
    graph: Graph,
    weight: Floats,
    alive: np.ndarray,
    here: Ints,
    there: Ints,
    most: int,
    progress: Progress | None = None,
) -> Paths:
    """Return paths of every pair between routers that were not removed."""
    from scipy.sparse.csgraph import dijkstra

    links = np.flatnonzero((graph.kind == BETWEEN) & alive[graph.source] & alive[graph.target])
    links = links[np.argsort(graph.source[links], kind="stable")]
    number = np.cumsum(alive) - 1
    n = int(alive.sum())
    source, target, cost = number[graph.source[links]], number[graph.target[links]], weight[links]
    apart = here != there
    key = number[here] * n + number[there]
    wanted, back = np.unique(key[apart], return_inverse=True)
    ends, begins = np.unique(wanted % n, return_inverse=True)
    least = _cheapest(cost, target, source, n)
    order = np.argsort(begins, kind="stable")
    cuts = np.searchsorted(begins[order], np.arange(len(ends) + 1))
    walks: list[tuple[Ints, Floats, Ints]] = []
    step = max(1, (_BATCH_CELLS if progress is None else _REPORT_CELLS) // max(n, 1))
    for first in range(0, len(ends), step):
        batch = ends[first : first + step]
        distance = np.atleast_2d(dijkstra(least, indices=batch))
        for row, end in enumerate(batch):
            mine = order[cuts[first + row] : cuts[first + row + 1]]
            starts = wanted[mine] // n
            _reached(graph, alive, distance[row], starts, int(end))
            pair, share, steps = _walk(source, target, cost, distance[row], starts, int(end), most)
            walks.append((mine[pair], share, np.where(steps >= 0, links[steps], -1)))
        if progress is not None:
            progress(min(first + step, len(ends)) / len(ends))
    wanted_of = np.full(len(apart), -1, dtype=np.int64)
    wanted_of[apart] = back
    return _to_pairs(walks, wanted_of, len(wanted))


def _cheapest(cost: Floats, row: Ints, column: Ints, n: int) -> object:
    """Keep the cheapest of parallel links, because a sparse matrix would add them up."""
    from scipy.sparse import csr_array

    order = np.lexsort((cost, column, row))
    _, first = np.unique(row[order] * n + column[order], return_index=True)
    kept = order[first]
    return csr_array((cost[kept], (row[kept], column[kept])), shape=(n, n))


def _reached(graph: Graph, alive: np.ndarray, distance: Floats, starts: Ints, end: int) -> None:
    lost = starts[~np.isfinite(distance[starts])]
    if len(lost):
        routers = np.flatnonzero(alive)
        here, there = graph.names[routers[lost[0]]], graph.names[routers[end]]
        raise ScenarioError("topology.no-path", field="topology.links", here=here, there=there)


def _walk(
    source: Ints, target: Ints, cost: Floats, distance: Floats, starts: Ints, end: int, most: int
) -> tuple[Ints, Floats, Ints]:
    """Follow shortest paths to one end from several starts; ``source`` is sorted.

    The digits of k are the choices of the k-th path of a start among equally good links, so all
    paths differ. Paths of one start may have different numbers of choices: k goes up to the
    largest product of them, and a k that a path does not use up is no path. Returns start, share,
    and links by hop.
    """
    reach = distance[target] + cost
    # Routers that cannot reach the end have an infinite distance, and are not starts.
    equal = np.abs(reach - distance[source]) <= _EQUAL * (1.0 + distance[source])
    # A link that costs less than that counts as one in both directions; only one of them leads on.
    good = np.flatnonzero(equal & (distance[target] < distance[source]))
    choices = np.bincount(source[good], minlength=len(distance))
    begin = np.concatenate([[0], np.cumsum(choices)[:-1]])
    ways = _ways(target[good], choices)[starts]
    copies = np.minimum(ways, most * _TRIED).astype(np.int64)
    who = np.repeat(np.arange(len(starts)), copies)
    digits = np.arange(len(who)) - np.repeat(np.cumsum(copies) - copies, copies)
    steps, share, left = _follow(good, begin, choices, target, starts[who], digits, end)
    kept = _first(who, left == 0, most)
    who, share, steps = who[kept], share[kept], steps[:, kept]
    return who, share / np.bincount(who, weights=share, minlength=len(starts))[who], steps


def _ways(ahead: Ints, choices: Ints) -> Floats:
    """Return the largest product of choices on a path from each router, shape (routers,).

    ``ahead`` has the routers after each good link, sorted by the router before it.
    """
    ways = np.ones(len(choices))
    if not len(ahead) or choices.max() == 1:
        return ways
    some = choices > 0
    begin = (np.cumsum(choices) - choices)[some]
    while True:
        more = ways.copy()
        more[some] = choices[some] * np.maximum.reduceat(ways[ahead], begin)
        more = np.minimum(more, _MOST_WAYS)
        if np.array_equal(more, ways):
            return ways
        ways = more


def _first(who: Ints, kept: np.ndarray, most: int) -> np.ndarray:
    """Keep the first ``most`` of each start's paths; ``who`` is sorted."""
    number = np.cumsum(kept)
    before = np.concatenate([[0], number])[np.searchsorted(who, who)]
    return np.asarray(kept & (number - before <= most))


def _follow(
    good: Ints, begin: Ints, choices: Ints, target: Ints, starts: Ints, digits: Ints, end: int
) -> tuple[Ints, Floats, Ints]:
    """Return links by hop, share by equal splits at each hop, and remaining digits."""
    at, left = starts.copy(), digits.copy()
    share = np.ones(len(at))
    steps: list[Ints] = []
    while (moving := at != end).any():
        open_ = np.where(moving, choices[at], 1)
        pick = np.where(moving, begin[at] + left % open_, 0)
        left //= open_
        share /= open_
        link = np.where(moving, good[pick], -1)
        steps.append(link)
        at = np.where(moving, target[link], at)
    shape = (0, len(starts))
    return np.array(steps) if steps else np.zeros(shape, np.int64), share, left


def _to_pairs(walks: list[tuple[Ints, Floats, Ints]], wanted_of: Ints, count: int) -> Paths:
    """Copy the paths between distinct routers to every pair that uses them."""
    hops = max((steps.shape[0] for *_, steps in walks), default=0)
    none = np.full((hops, 1), -1)
    padded = (
        np.pad(steps, ((0, hops - steps.shape[0]), (0, 0)), constant_values=-1)
        for *_, steps in walks
    )
    steps = np.concatenate([none, *padded], axis=1)
    way = np.concatenate([[-1], *(walk[0] for walk in walks)]).astype(np.int64)
    share = np.concatenate([[1.0], *(walk[1] for walk in walks)])
    order = np.argsort(way, kind="stable")  # the empty path first, then by number
    counts = np.bincount(way + 1, minlength=count + 1)
    begin = np.cumsum(counts) - counts
    mine = counts[wanted_of + 1]
    pair = np.repeat(np.arange(len(wanted_of)), mine)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(mine) - mine, mine)
    chosen = order[np.repeat(begin[wanted_of + 1], mine) + within]
    return Paths(pair, share[chosen], steps[:, chosen])


def _join(climb: _Climb, middle: Paths) -> Paths:
    rows = [hop[middle.pair] for hop in climb.before]
    rows += list(middle.links)
    rows += [hop[middle.pair] for hop in reversed(climb.after)]
    return Paths(middle.pair, middle.share, packed(np.array(rows, dtype=np.int64)))


def packed(links: Ints) -> Ints:
    """Move the real links of each column up, in their order, with -1 after them."""
    hops = int((links >= 0).sum(axis=0).max(initial=0))
    moved = np.full((hops, links.shape[1]), -1, dtype=np.int64)
    place = np.zeros(links.shape[1], dtype=np.int64)
    for row in links:  # one row at a time, so that Ctrl-C need not wait for all
        real = np.flatnonzero(row >= 0)
        moved[place[real], real] = row[real]
        place[real] += 1
    return moved
