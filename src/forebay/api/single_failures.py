"""All single failures of a network: which link then is worst, and who suffers."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from forebay.api.networks import solve
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.outcome import Metric
    from forebay.progress import Progress
    from forebay.scenario import Scenario, Topology

_LEAST_LOSS = 1e-12
_MORE = 1.05
"""Offered load over that without a failure from which on a failure counts where it is above 1."""


class Failure(NamedTuple):
    """A network with one link down: its worst link, and who loses most.

    ``link`` is down in both directions; "" if none is. ``worst`` is the link that is offered most
    if that is more than it carries, else the one that loses most, or is offered or used most. A
    link that is offered more than it carries without any failure counts only where it gets worse.
    ``sufferers`` are the ends of the path that loses most, "" where none loses; ``error`` is one
    line where the network has no answer.
    """

    link: str
    worst: str = ""
    offered_load: float | None = None
    utilization: float = 0.0
    loss_rate: float = 0.0
    sufferers: str = ""
    error: str | None = None


class Foreseen:
    """Tells once how long ``steps`` networks take: predicted for a large one, else measured."""

    def __init__(self, steps: int, expect: Callable[[float], None] | None) -> None:
        self._steps, self._expect = steps, expect
        self._begun = monotonic()

    def __call__(self, seconds: float) -> None:
        """Tell the seconds of all from those of one, unless they were told."""
        if self._expect is not None:
            self._expect(self._steps * seconds)
        self._expect = None

    def ended(self) -> None:
        """Tell by the time since the first one began."""
        self(monotonic() - self._begun)


def single_failures(
    scenario: Scenario,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Failure]:
    """Solve a network as it is, then with each link between routers down, one at a time.

    The network as it is comes first, then the worst failure.

    Parameters
    ----------
    expect : called once with the predicted seconds of all, at the latest after the first failure.

    Raises
    ------
    ScenarioError
        There is no network, or it is invalid as it is.
    """
    from forebay.topology.building import wired
    from forebay.topology.failures import wire_names

    names = wire_names(wired(topology_of(scenario)))
    found, before = [], Load()
    as_it_is = with_link_down(scenario, "", Foreseen(1 + len(names), expect), before)
    for place, name in enumerate(names):
        found.append(with_link_down(scenario, name, before=before))
        if progress is not None:
            progress((place + 1) / len(names))
    return [as_it_is, *sorted(found, key=severity)]


class Load(dict[str, tuple[float, float, float, float]]):
    """By link: offered load above 1, loss, offered load and utilization; of no failure."""


def topology_of(scenario: Scenario) -> Topology:
    """Return the topology. Raises ScenarioError if there is none."""
    if scenario.topology is None:
        from forebay.scenario import ScenarioError

        wrong, hint = "there is no network in the scenario", "write a [topology]"
        raise ScenarioError("missing", wrong, hint, field="topology")
    return scenario.topology


def severity(failure: Failure) -> tuple[bool, float, float, float]:
    """Sort networks that fall apart first, then by loss, offered load and utilization."""
    offered = failure.offered_load or 0.0
    return failure.error is None, -failure.loss_rate, -offered, -failure.utilization


def with_link_down(
    scenario: Scenario, name: str, first: Foreseen | None = None, before: Load | None = None
) -> Failure:
    """Solve a network without one link; with all of them for "". ``first`` is told of its time.

    ``before`` is filled by the network without a failure, and the others are told by what changes.
    """
    from forebay.engines.fixed_point.errors import NoSteadyState

    down = (*topology_of(scenario).failed, *([name] if name else []))
    try:
        answer = solve(scenario.replace({"topology.failed": list(down)}), expect=first)
    except (ScenarioError, NoSteadyState) as error:
        return Failure(name, error=str(error).partition("; ")[0])
    if first is not None:
        first.ended()
    links = answer.outcome.links
    values = {
        each: (
            max(link.offered_load or 0.0, 1.0),
            _lost(link.loss_rate),
            link.offered_load or 0.0,
            link.utilization.value if link.utilization else 0.0,
        )
        for each, link in links.items()
    }
    known = {} if before is None or not name else before
    if before is not None and not name:
        before.update(values)

    told = {
        each: now
        for each, now in values.items()
        if known.get(each, (1.0,))[0] <= 1.0 or not 1.0 < now[0] <= _MORE * known[each][0]
    }
    worst = max(told or values, key=lambda each: values[each])
    _, lost, _, used = values[worst]
    ends = answer.most_lossy_path() if lost else ""
    return Failure(name, worst, links[worst].offered_load, used, lost, ends)


def _lost(rate: Metric | None) -> float:
    """Return a loss rate, below 1e-12 none."""
    return 0.0 if rate is None or rate.value < _LEAST_LOSS else rate.value
