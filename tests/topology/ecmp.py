"""Loads of links by hand: equal splits over the shortest next hops, at each router."""

from collections import defaultdict

Link = tuple[str, str]


def distances(links: set[Link], to: str) -> dict[str, int]:
    """Return the hops from each router to one."""
    found, edge = {to: 0}, [to]
    while edge:
        ahead = []
        for there in edge:
            for a, b in links:
                if b == there and a not in found:
                    found[a] = found[there] + 1
                    ahead.append(a)
        edge = ahead
    return found


def loads(links: set[Link], demands: dict[Link, float]) -> dict[Link, float]:
    """Return what each directed link carries, in the unit of the demands."""
    carried: dict[Link, float] = defaultdict(float)
    for to in {b for _, b in demands}:
        hops = distances(links, to)
        held = defaultdict(float, {a: load for (a, b), load in demands.items() if b == to})
        for router in sorted(hops, key=lambda name: -hops[name]):
            nearer = [b for a, b in links if a == router and hops.get(b, 99) == hops[router] - 1]
            for each in nearer:
                carried[router, each] += held[router] / len(nearer)
                held[each] += held[router] / len(nearer)
    return dict(carried)
