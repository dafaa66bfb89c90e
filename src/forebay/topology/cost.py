"""The expected time and memory of a network's routes and steady state, from a few of its pairs.

The times are of one core, from provider networks and fat trees of 250,000 to 4,000,000 paths.
The number of the solver's steps is not known beforehand: its time is that of about 35 steps.
"""

from __future__ import annotations

from dataclasses import dataclass

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
