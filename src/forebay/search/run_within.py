"""One run within a time limit: unchanged if it fits, else over a shorter window."""

from collections.abc import Callable
from dataclasses import replace

from forebay import laws
from forebay.engines.base import Engine
from forebay.laws.assumptions import SawtoothsOf
from forebay.outcome import Outcome
from forebay.outcome.settling import without_intervals
from forebay.progress import Progress
from forebay.scenario import Duration, Measure, Scenario
from forebay.search.budget import RESERVE, OutOfTime, TimeLimit, is_fixed, least_warmup, measure_of
from forebay.search.cost import Speed, TooLittleTime, in_words
from forebay.search.network_links import LINK_S, NetworkLoad
from forebay.words import Fact

_SHORTEST_S = 5.0


def predict_run(scenario: Scenario, seeds: int, speed: Speed) -> float:
    """Return the predicted seconds of ``seeds`` replications."""
    simulated = float(scenario.measure.warmup + scenario.measure.duration)
    return speed.wall_s(scenario, simulated, seeds)


def routed(
    engine: Engine, scenario: Scenario, speed: Speed, time: TimeLimit, progress: Progress | None
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
            why = Fact("too-little-time.routes", links=links)
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
    fixed = is_fixed(scenario)
    why = Fact("too-little-time.window-is-set" if fixed else "too-little-time.one-buffer")
    needs_s, in_network = time.spent_s + whole_s, scenario.topology is not None
    refused = TooLittleTime(why, needs_s, time.seconds, of_network=in_network)
    if fixed:
        raise refused
    measure = scenario.measure
    least_s = speed.wall_s(scenario, 0.0, seeds)
    share = max(0.0, RESERVE * left_s - least_s) / (whole_s - least_s)
    simulated = share * float(measure.warmup + measure.duration)
    warmup = min(float(measure.warmup), least_warmup(scenario))
    if simulated - warmup < _SHORTEST_S:
        raise refused
    update = Measure(warmup=Duration(warmup), duration=Duration(round(simulated - warmup, 1)))
    return scenario.with_measure(update)


_LONGER = 3.0
"""Ratio of the next warm-up, and window, to those that were too short, where no law says more."""
_LEAST = 1.5
"""Least such ratio: less is not worth another run."""
MOST_TRIES = 4
_LONGEST_S, _SPAN_S = 80_000.0, 100.0


def is_settled(outcome: Outcome) -> bool:
    """Whether all long flows of an outcome have settled, as far as is known."""
    return all(kind.settled is not False for kind in outcome.classes)


def longer(scenario: Scenario, sawtooths: SawtoothsOf | None) -> Measure:
    """Return the measurement that flows which have not settled need.

    It is what the sawtooths need, or three times the present one where that is no longer.
    """
    measure = scenario.measure
    warmup, window = float(measure.warmup), float(measure.duration)
    later_s = longer_s = 0.0
    if sawtooths is not None and scenario.topology is None:
        times = sawtooths(scenario, max(1, scenario.buffer_packets))
        later_s, longer_s = times.warmup_s, times.window_s
    if later_s <= _LEAST * warmup:
        later_s = max(_LONGER * warmup, least_warmup(scenario))
    longer_s = max(window, longer_s)
    return measure_of(later_s, longer_s, min(1.0, _LONGEST_S / (later_s + longer_s)))


def fitting(scenario: Scenario, wanted: Measure, most_s: float) -> Scenario | None:
    """Return the scenario with as much of a measurement as ``most_s`` simulated seconds hold.

    None if its warm-up would hardly be longer.
    """
    measure = scenario.measure
    whole_s = float(wanted.warmup + wanted.duration)
    share = min(1.0, most_s / whole_s)
    window_s = max(share * float(wanted.duration), float(measure.duration))
    shorter = measure_of(max(share * whole_s - window_s, 0.0), window_s)
    if shorter.warmup < _LEAST * measure.warmup:
        return None
    return scenario.with_measure(shorter)


def run_settled(
    run: Callable[[Scenario], Outcome],
    scenario: Scenario,
    left_s: Callable[[], float],
    seeds: int,
    speed: Speed,
    sawtooths: SawtoothsOf | None,
) -> Outcome:
    """Run, and again with a later and longer window while flows have not settled and time is left.

    Parameters
    ----------
    run : runs a scenario, and corrects the speed.
    left_s : seconds that are left.
    """
    outcome = run(scenario)
    tries = 0 if "measure" in scenario.model_fields_set else MOST_TRIES
    for _ in range(tries):
        if is_settled(outcome):
            break
        second_s = speed.wall_s(scenario, _SPAN_S, seeds) / _SPAN_S
        extended = fitting(scenario, longer(scenario, sawtooths), RESERVE * left_s() / second_s)
        if extended is None:
            break
        scenario = extended
        try:
            outcome = run(scenario)
        except OutOfTime:
            break
    return outcome


def settled_or_said(outcome: Outcome) -> Outcome:
    """Return the outcome, without intervals of what has not settled; it says what that needs."""
    return outcome if is_settled(outcome) else without_intervals(outcome, warmup_for(outcome.asked))


def warmup_for(scenario: Scenario) -> str:
    """Return the warm-up that flows which have not settled need, in words."""
    return in_words(float(longer(scenario, laws.assumptions.sawtooths_s).warmup))
