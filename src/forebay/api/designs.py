"""Two designs of a network beside each other: as they are, with each link down, and grown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from forebay.api.single_failures import Failure, Foreseen, severity, topology_of, with_link_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.progress import Progress
    from forebay.scenario import Scenario

_NUMBERED = re.compile(r"(.*?)(#\d+)?", re.DOTALL)


class Side(NamedTuple):
    """What one design does in one state; ``state`` is None if it does not have the link."""

    state: Failure | None

    @property
    def is_overloaded(self) -> bool:
        """Whether a link is offered more than it carries, or the network is in parts."""
        state = self.state
        return state is not None and (state.error is not None or (state.offered_load or 0.0) > 1)


class State(NamedTuple):
    """The link that is down, "" for none, and both designs without it."""

    link: str
    sides: tuple[Side, Side]


class Contrast(NamedTuple):
    """Both designs at one demand.

    Attributes
    ----------
    growth : factor on the demand of both.
    demand_bps : demand of each design, bit/s; None where only greedy connections come.
    rows : with all links, then each failure, the worst first.
    """

    growth: float
    demand_bps: tuple[float | None, float | None]
    rows: tuple[State, ...]

    def overloaded(self, which: int) -> tuple[int, int]:
        """In how many single failures of a design (0 or 1) a link is overloaded, of how many."""
        sides = [row.sides[which] for row in self.rows[1:] if row.sides[which].state is not None]
        return sum(side.is_overloaded for side in sides), len(sides)


def compare_designs(
    first: Scenario,
    second: Scenario,
    *,
    growth: float | None = None,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Contrast]:
    """Solve both networks as they are and with each link of either down alone.

    A link is the same in both if it joins routers of the same names.

    Parameters
    ----------
    growth : factor on the demand, such as 1.5: everything is solved again with it.
    expect : called once with the predicted seconds of all, at the latest after the first network.

    Raises
    ------
    ScenarioError
        A network is invalid as it is; a growth without offered load.
    """
    factors = [1.0] if growth is None else [1.0, growth]
    names = [_names(each) for each in (first, second)]
    steps = len(factors) * sum(1 + len(each) for each in names)
    done = 0
    first_solved = Foreseen(steps, expect)

    def told() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / steps)

    found = []
    for factor in factors:
        grown = [_grown(each, factor) for each in (first, second)]
        demands = _demand(grown[0]), _demand(grown[1])
        states = [
            {"": with_link_down(each, "", first_solved)} | _down(each, known, told)
            for each, known in zip(grown, names, strict=True)
        ]
        for _ in grown:
            told()
        found.append(Contrast(factor, demands, _rows(*states)))
    return found


def _grown(scenario: Scenario, factor: float) -> Scenario:
    if factor == 1.0:
        return scenario
    whole = factor * topology_of(scenario).demand_growth
    return scenario.replace({"topology.demand_growth": whole})


def _names(scenario: Scenario) -> dict[str, str]:
    """Return the name of each link by what it is called in both designs."""
    from forebay.topology.building import wired
    from forebay.topology.failures import wire_names

    return {_either_way(name): name for name in wire_names(wired(topology_of(scenario)))}


def _either_way(name: str) -> str:
    """Return a link's name in either direction; the number of a parallel one stays last."""
    ends, number = _NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr]
    return "->".join(sorted(ends.split("->"))) + (number or "")


def _down(
    scenario: Scenario, names: dict[str, str], told: Callable[[], None]
) -> dict[str, Failure]:
    found = {}
    for same, name in names.items():
        found[same] = with_link_down(scenario, name)
        told()
    return found


def _rows(first: dict[str, Failure], second: dict[str, Failure]) -> tuple[State, ...]:
    """Return the state with all links, then each failure, the worst of both designs first."""
    every = sorted(
        (first | second).keys() - {""},
        key=lambda name: (
            min(severity(side[name]) for side in (first, second) if name in side),
            name,
        ),
    )
    return tuple(
        State(_own_name(name, first, second), (Side(first.get(name)), Side(second.get(name))))
        for name in ("", *every)
    )


def _own_name(name: str, *sides: dict[str, Failure]) -> str:
    return next(side[name].link for side in sides if name in side)


def _demand(scenario: Scenario) -> float | None:
    from forebay.topology.building import connected, offered_bps

    topology = topology_of(scenario)
    return offered_bps(topology, connected(topology))
