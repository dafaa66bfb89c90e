"""Measure long enough for the sawtooths of long flows, or state that the window is too short.

A few flows with large windows and long round trips take minutes from one loss to the next. A
shorter window measures a part of one sawtooth: its mean depends on where the window begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.budget.cost import Speed, TooLittleTime, in_words, predict_search
from forebay.errors import setting
from forebay.scenario import Duration, Measure
from forebay.sizing.question import first_guess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.scenario import Scenario
    from forebay.sizing.question import LawLike

    Sawtooths = Callable[[Scenario, int], tuple[float, float]]
    """The window that measures enough sawtooths at a buffer, and one sawtooth, seconds."""

_LONGEST_S = 80_000.0
"""A scenario runs for a day at most."""
_SHARE = 0.5
"""Share of the budget that a search over a longer window may take by prediction."""


def lengthened(
    scenario: Scenario,
    sawtooths: Sawtooths,
    laws: Sequence[LawLike],
    speed: Speed,
    seeds: Sequence[int],
    budget_s: float,
) -> Scenario:
    """Return the scenario with a warm-up and window for its sawtooths, as far as time allows.

    Those that the scenario sets are not changed. The warm-up has one sawtooth, after slow start.

    Raises
    ------
    TooLittleTime
        A few flows, and no time for one sawtooth: a part of it says nothing about the buffer.
    """
    measure = scenario.measure
    window, period = sawtooths(scenario, first_guess(scenario, laws))
    if "measure" in scenario.model_fields_set:
        return scenario
    warmup, usual = float(measure.warmup) + period, float(measure.warmup + measure.duration)
    needs_s = predict_search(scenario, speed, len(seeds)) * (warmup + window) / usual
    share = min(1.0, _SHARE * budget_s / needs_s, _LONGEST_S / (warmup + window))
    measured = max(share * window, float(measure.duration))
    if window > period > measured and _would_run_whole(scenario, speed, seeds, budget_s):
        why = f"its flows take {in_words(period)} from one loss to the next"
        raise TooLittleTime(why, needs_s / _SHARE, budget_s)
    if share * window <= measure.duration:
        return scenario
    longer = Measure(
        warmup=Duration(round(max(share * warmup, float(measure.warmup)), 1)),
        duration=Duration(round(share * window, 1)),
    )
    return scenario.model_copy(update={"measure": longer})


def _would_run_whole(
    scenario: Scenario, speed: Speed, seeds: Sequence[int], budget_s: float
) -> bool:
    """Whether the usual windows fit; if not, the link is scaled down or refused anyway."""
    from forebay.budget.crossing import seeds_of_crossing
    from forebay.budget.ladder import crossing_s

    each = scenario.at_flows("low") if scenario.flows_uncertain else scenario
    return crossing_s(each, speed, len(seeds_of_crossing(seeds, speed.jobs))) <= budget_s


def too_short(scenario: Scenario, packets: int, sawtooths: Sawtooths | None) -> tuple[str, ...]:
    """Return a note if the scenario's window has too few sawtooths at a buffer."""
    window, period = (0.0, 0.0) if sawtooths is None else sawtooths(scenario, max(packets, 1))
    measured_s = float(scenario.measure.duration)
    if measured_s >= window:
        return ()
    longer = setting("measure.duration", in_words(window))
    return (
        f"each run measures {in_words(measured_s)}, {measured_s / period:.2g} sawtooths of a flow "
        f"({in_words(period)} each): the answer depends on where they begin; {longer} measures "
        f"{window / period:.0f}",
    )
