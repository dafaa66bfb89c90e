"""Networks in several parts: refused with the routers that are apart, or cut to the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.errors import entry
from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from forebay.topology.adjacency import Adjacency
    from forebay.topology.graph import Ints

_MOST_NAMED = 5


def keep_connected(adjacency: Adjacency, *, largest: bool) -> None:
    """Refuse a network in several parts, or keep its largest one alone.

    Raises
    ------
    ScenarioError
        There is no link; there are several parts, without ``largest``.
    """
    if not adjacency.source:
        raise refuse("there is no link", "write at least one link between two routers")
    label = _parts(adjacency)
    sizes = np.bincount(label)
    if len(sizes) == 1:
        return
    apart = np.flatnonzero(label != int(np.argmax(sizes)))
    named = _names(adjacency, apart)
    if not largest:
        wrong = f"it is in {len(sizes)} parts: no link leads from the largest to {named}"
        hint = f"join them, or write {entry('topology.largest_part', True)} to leave them out"
        raise refuse(wrong, hint)
    _remove(adjacency, set(apart.tolist()))
    adjacency.notes.append(f"left out, because no link leads there: {named}")


def lead_back(adjacency: Adjacency, *, both: bool) -> None:
    """Let directed links that stand once lead back too, or refuse a network of those alone.

    Raises
    ------
    ScenarioError
        No link has one back and some routers cannot be reached, without ``both``.
    """
    ends = list(zip(adjacency.source, adjacency.target, strict=True))
    there = set(ends)
    once = {place for place in adjacency.one_way if ends[place][::-1] not in there}
    if both:
        adjacency.one_way -= once
    elif once and len(once) == len(ends) and max(_parts(adjacency, "strong"), default=0):
        wrong = f"its {len(ends)} links have a direction, and each stands once: nothing comes back"
        hint = f"write {entry('topology.both_directions', True)} to let each go both ways"
        raise refuse(wrong, hint, "file")


def _parts(adjacency: Adjacency, connection: str = "weak") -> Ints:
    """Return the part of each router, shape (routers,); with "strong" by the links' directions."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(adjacency.names)
    ones = np.ones(len(adjacency.source))
    ends = (np.array(adjacency.source), np.array(adjacency.target))
    _, label = connected_components(
        coo_array((ones, ends), shape=(n, n)), directed=True, connection=connection
    )
    found: Ints = label
    return found


def _names(adjacency: Adjacency, routers: Ints) -> str:
    some = ", ".join(f'"{adjacency.names[each]}"' for each in routers[:_MOST_NAMED].tolist())
    more = len(routers) - _MOST_NAMED
    return some if more <= 0 else f"{some} and {more} more"


def _remove(adjacency: Adjacency, apart: set[int]) -> None:
    """Take routers out, with their links and demands."""
    kept = [each for each in range(len(adjacency.names)) if each not in apart]
    new = {router: number for number, router in enumerate(kept)}
    of_routers: tuple[list[Any], ...] = (adjacency.names, adjacency.hosts, adjacency.place)
    for column in of_routers:
        column[:] = [column[each] for each in kept]
    adjacency.demands = [
        (new[a], new[b], w) for a, b, w in adjacency.demands if a in new and b in new
    ]
    adjacency.keep_links([at for at, router in enumerate(adjacency.source) if router in new])
    adjacency.source[:] = [new[each] for each in adjacency.source]
    adjacency.target[:] = [new[each] for each in adjacency.target]
