"""Measure long enough for the sawtooths of long flows, or state that the window is too short.

A few flows with large windows and long round trips take minutes from one loss to the next. A
shorter window measures a part of one sawtooth: its mean depends on where the window begins. Flows
whose slow start ended with losses climb for as long, and until then a link needs a larger buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import setting
from forebay.scenario import Duration, Measure
from forebay.search.cost import in_words

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.problem import Sawtooths, SawtoothTimes

_LONGEST_S = 80_000.0
"""A scenario runs for a day at most."""
_EARLY = 1.25
"""A warm-up this many times too short is named: the time of settling is not known better."""


def long_enough(measure: Measure, times: SawtoothTimes) -> Measure:
    """Return the measurement, lengthened for the sawtooths, up to a day in all."""
    warmup = max(float(measure.warmup), times.warmup_s)
    duration = max(float(measure.duration), times.window_s)
    return measure_of(warmup, duration, min(1.0, _LONGEST_S / (warmup + duration)))


def measure_of(warmup: float, duration: float, share: float = 1.0) -> Measure:
    """Return a share of a warm-up and a window, to a tenth of a second, which a window has."""
    window = max(round(share * duration, 1), 0.1)
    return Measure(warmup=Duration(round(share * warmup, 1)), duration=Duration(window))


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


def measures_too_short(scenario: Scenario, packets: int, sawtooths: Sawtooths) -> bool:
    """Whether the scenario measures too early or too briefly for the sawtooths at a buffer."""
    times = sawtooths(scenario, packets)
    return scenario.measure.warmup < times.warmup_s or scenario.measure.duration < times.window_s
