"""Networks in several parts: refused with the routers that are apart, or cut to the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.errors import entry
from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from forebay.topology.graph import Ints
    from forebay.topology.wiring import Wiring

_MOST_NAMED = 5


def keep_connected(wiring: Wiring, *, largest: bool) -> None:
    """Refuse a network in several parts, or keep its largest one alone.

    Raises
    ------
    ScenarioError
        There is no link; there are several parts, without ``largest``.
    """
    if not wiring.source:
        raise refuse("there is no link", "write at least one link between two routers")
    label = _parts(wiring)
    sizes = np.bincount(label)
    if len(sizes) == 1:
        return
    apart = np.flatnonzero(label != int(np.argmax(sizes)))
    named = _names(wiring, apart)
    if not largest:
        wrong = f"it is in {len(sizes)} parts: no link leads from the largest to {named}"
        hint = f"join them, or write {entry('topology.largest_part', True)} to leave them out"
        raise refuse(wrong, hint)
    _remove(wiring, set(apart.tolist()))
    wiring.notes.append(f"left out, because no link leads there: {named}")


def _parts(wiring: Wiring) -> Ints:
    """Return the part of each router, shape (routers,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(wiring.names)
    ones = np.ones(len(wiring.source))
    ends = (np.array(wiring.source), np.array(wiring.target))
    _, label = connected_components(coo_array((ones, ends), shape=(n, n)), directed=False)
    found: Ints = label
    return found


def _names(wiring: Wiring, routers: Ints) -> str:
    some = ", ".join(f'"{wiring.names[each]}"' for each in routers[:_MOST_NAMED].tolist())
    more = len(routers) - _MOST_NAMED
    return some if more <= 0 else f"{some} and {more} more"


def _remove(wiring: Wiring, apart: set[int]) -> None:
    """Take routers out, with their links and demands."""
    kept = [each for each in range(len(wiring.names)) if each not in apart]
    new = {router: number for number, router in enumerate(kept)}
    of_routers: tuple[list[Any], ...] = (wiring.names, wiring.hosts, wiring.place)
    for column in of_routers:
        column[:] = [column[each] for each in kept]
    wiring.demands = [(new[a], new[b], w) for a, b, w in wiring.demands if a in new and b in new]
    wiring.keep_links([at for at, router in enumerate(wiring.source) if router in new])
    wiring.source[:] = [new[each] for each in wiring.source]
    wiring.target[:] = [new[each] for each in wiring.target]
