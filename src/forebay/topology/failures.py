"""Links that are down: taken out of a network before anything is routed over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.topology.graph import numbered, refuse

if TYPE_CHECKING:
    from forebay.topology.graph import Adjacency

_MOST_NAMED = 5


def take_down(names: Sequence[str], adjacency: Adjacency) -> None:
    """Take the links of these names out, both directions of each.

    Raises
    ------
    ScenarioError
        There is no link of a name.
    """
    if not names:
        return
    wire_of = _wires(adjacency)
    down: set[int] = set()
    for index, name in enumerate(names):
        if name not in wire_of:
            some = ", ".join(list(wire_of)[:_MOST_NAMED])
            wrong = f'there is no link "{name[:60]}" between routers'
            raise refuse(wrong, f"write one such as {some}", f"failed.{index}")
        down.add(wire_of[name])
    adjacency.keep_links([place for place in range(len(adjacency.source)) if place not in down])


def wire_names(adjacency: Adjacency) -> list[str]:
    """Return one name of each link, the one in its own direction."""
    named = {wire: name for name, wire in reversed(_wires(adjacency).items())}
    return [named[wire] for wire in sorted(named)]


def _wires(adjacency: Adjacency) -> dict[str, int]:
    """Return the place of each link by its name in answers, which has a direction."""
    ends = list(zip(adjacency.source, adjacency.target, strict=True))
    back = [place for place in range(len(ends)) if place not in adjacency.one_way]
    wires = [*range(len(ends)), *back]
    pairs = [*ends, *(ends[place][::-1] for place in back)]
    names = numbered(f"{adjacency.names[a]}->{adjacency.names[b]}" for a, b in pairs)
    return dict(zip(names, wires, strict=True))
