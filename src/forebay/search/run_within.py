"""One run within a time limit: unchanged if it fits, else over a shorter window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.scenario import Duration, Measure
from forebay.search.budget import RESERVE
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.network_links import LINK_S, NetworkLoad
from forebay.search.windows import is_fixed, least_warmup

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.search.budget import TimeLimit

_SHORTEST_S = 5.0
_ONE_BUFFER = "a run needs this one buffer, which no smaller link has"


def predict_run(scenario: Scenario, seeds: int, speed: Speed) -> float:
    """Return the predicted seconds of ``seeds`` replications."""
    simulated = float(scenario.measure.warmup + scenario.measure.duration)
    return speed.wall_s(scenario, simulated, seeds)


def routed(
    engine: Engine,
    scenario: Scenario,
    speed: Speed,
    time: TimeLimit,
    progress: Progress | None,
) -> tuple[Speed, float]:
    """Route a scenario's network, if it has one.

    Returns
    -------
    Speed, float
        The speed with the network's price, and the seconds that come after a run's packets.

    Raises
    ------
    TooLittleTime
        The network alone takes longer, which is known before its routes are searched for.
    OutOfTime
        The time ended while it was routed.
    """
    route = engine.capabilities.route
    if scenario.topology is None or route is None:
        return speed, 0.0

    def afford(links: int, routes_s: float) -> None:
        least_s = speed.factor * (routes_s + LINK_S * links) + time.spent_s
        if least_s > time.seconds:
            why = f"its routes and its {links} links alone take that long"
            raise TooLittleTime(why, least_s, time.seconds, of_network=True)

    traffic = route(scenario, progress=time.ending(progress), afford=afford)
    priced = replace(speed, price=NetworkLoad(scenario, traffic).price)
    return priced, speed.factor * LINK_S * traffic.links


def fitted(scenario: Scenario, time: TimeLimit, seeds: int, speed: Speed) -> Scenario:
    """Return the scenario with a warm-up and a window that fit into the time that is left.

    A window that the scenario sets is not changed. A run, unlike a sizing, simulates one given
    buffer, which no smaller link has.

    Raises
    ------
    TooLittleTime
        Even the shortest ones do not fit.
    """
    left_s, whole_s = time.left_s, predict_run(scenario, seeds, speed)
    if whole_s <= left_s:
        return scenario
    refused = TooLittleTime(
        "the scenario sets how long is measured" if is_fixed(scenario) else _ONE_BUFFER,
        time.spent_s + whole_s, time.seconds, of_network=scenario.topology is not None,
    )  # fmt: skip
    if is_fixed(scenario):
        raise refused
    measure = scenario.measure
    least_s = speed.wall_s(scenario, 0.0, seeds)
    share = max(0.0, RESERVE * left_s - least_s) / (whole_s - least_s)
    simulated = share * float(measure.warmup + measure.duration)
    warmup = min(float(measure.warmup), least_warmup(scenario))
    if simulated - warmup < _SHORTEST_S:
        raise refused
    update = Measure(warmup=Duration(warmup), duration=Duration(round(simulated - warmup, 1)))
    return scenario.model_copy(update={"measure": update})
