"""Measure long enough for the sawtooths of long flows, or state that the window is too short.

A few flows with large windows and long round trips take minutes from one loss to the next. A
shorter window measures a part of one sawtooth: its mean depends on where the window begins. Flows
whose slow start ended with losses climb for as long, and until then a link needs a larger buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from forebay.budget.cost import Speed, TooLittleTime, in_words, predict_search
from forebay.errors import setting
from forebay.scenario import Duration, Measure
from forebay.sizing.question import first_guess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.scenario import Scenario
    from forebay.sizing.question import LawLike

    class Times(Protocol):
        """Seconds that suit the sawtooths of a link at a buffer, all 0 if it has none.

        Attributes
        ----------
        warmup_s : until the windows have settled.
        window_s : enough sawtooths for a mean.
        period_s : one sawtooth.
        """

        @property
        def warmup_s(self) -> float: ...
        @property
        def window_s(self) -> float: ...
        @property
        def period_s(self) -> float: ...

    Sawtooths = Callable[[Scenario, int], Times]

_LONGEST_S = 80_000.0
"""A scenario runs for a day at most."""
_SHARE = 0.5
"""Share of the budget that a search over a longer window may take by prediction."""
_EARLY = 1.25
"""A warm-up this many times too short is named: the time of settling is not known better."""


def long_enough(measure: Measure, times: Times) -> Measure:
    """Return the measurement, lengthened for the sawtooths, up to a day in all."""
    warmup = max(float(measure.warmup), times.warmup_s)
    duration = max(float(measure.duration), times.window_s)
    return _measure(warmup, duration, min(1.0, _LONGEST_S / (warmup + duration)))


def lengthened(
    scenario: Scenario,
    sawtooths: Sawtooths,
    laws: Sequence[LawLike],
    speed: Speed,
    seeds: Sequence[int],
    budget_s: float,
    *,
    wholly: bool,
) -> Scenario:
    """Return the scenario with a warm-up and window for its sawtooths, as far as time allows.

    Those that the scenario sets are not changed.

    Parameters
    ----------
    wholly : no shorter ones will do, because smaller links replace a search that takes too long.

    Raises
    ------
    TooLittleTime
        A few flows, and no time for one sawtooth: a part of it says nothing about the buffer.
    """
    measure = scenario.measure
    if "measure" in scenario.model_fields_set:
        return scenario
    times = sawtooths(scenario, first_guess(scenario, laws))
    longer = long_enough(measure, times)
    if wholly:
        return scenario.model_copy(update={"measure": longer})
    wanted_s, usual_s = (float(each.warmup + each.duration) for each in (longer, measure))
    needs_s = predict_search(scenario, speed, len(seeds)) * wanted_s / usual_s
    share = min(1.0, _SHARE * budget_s / needs_s)
    duration = max(share * float(longer.duration), float(measure.duration))
    if times.window_s > times.period_s > duration and _would_run_whole(
        scenario, speed, seeds, budget_s
    ):
        why = f"its flows take {in_words(times.period_s)} from one loss to the next"
        raise TooLittleTime(why, needs_s / _SHARE, budget_s)
    warmup = max(share * float(longer.warmup), float(measure.warmup))
    return scenario.model_copy(update={"measure": _measure(warmup, duration)})


def _measure(warmup: float, duration: float, share: float = 1.0) -> Measure:
    return Measure(
        warmup=Duration(round(share * warmup, 1)), duration=Duration(round(share * duration, 1))
    )


def _would_run_whole(
    scenario: Scenario, speed: Speed, seeds: Sequence[int], budget_s: float
) -> bool:
    """Whether the usual windows fit; if not, the link is scaled down or refused anyway."""
    from forebay.budget.crossing import seeds_of_crossing
    from forebay.budget.ladder import crossing_s

    each = scenario.at_flows("low") if scenario.flows_uncertain else scenario
    return crossing_s(each, speed, len(seeds_of_crossing(seeds, speed.jobs))) <= budget_s


def too_short(scenario: Scenario, packets: int, sawtooths: Sawtooths | None) -> tuple[str, ...]:
    """Return notes if the scenario measures too early or too briefly for a buffer's sawtooths."""
    if sawtooths is None:
        return ()
    times, measure, notes = sawtooths(scenario, max(packets, 1)), scenario.measure, []
    warmup_s, window_s = float(measure.warmup), float(measure.duration)
    if _EARLY * warmup_s < times.warmup_s:
        longer = setting("measure.warmup", in_words(times.warmup_s))
        notes.append(
            f"each run warms up for {in_words(warmup_s)}, but the windows of its flows settle in "
            f"about {in_words(times.warmup_s)}: the answer may be too large; {longer} waits for "
            "them"
        )
    if window_s < times.window_s:
        longer = setting("measure.duration", in_words(times.window_s))
        notes.append(
            f"each run measures {in_words(window_s)}, {window_s / times.period_s:.2g} sawtooths of "
            f"a flow ({in_words(times.period_s)} each): the answer depends on where they begin; "
            f"{longer} measures {times.window_s / times.period_s:.0f}"
        )
    return tuple(notes)
