"""Notes for the user on an answer within a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.budget.cost import in_words
from forebay.budget.ladder import predict
from forebay.budget.sawtooths import too_short
from forebay.errors import option
from forebay.sizing.knob import notes_of as notes_of_knob

if TYPE_CHECKING:
    from forebay.budget.ladder import Climb
    from forebay.budget.sawtooths import Sawtooths
    from forebay.outcome import Buffer
    from forebay.sizing.question import Question

_STEP = 4.0
_RESERVE = 1.5
"""Ratio of the time that surely is enough for the link itself to the predicted time."""
_LONGER = 1.25


def notes_of(
    question: Question, state: Climb, buffer: Buffer, sawtooths: Sawtooths | None
) -> tuple[str, ...]:
    """Return notes on the interval, the benefit of more time, and a governing law outside it."""
    knob, largest = question.trials.knob, state.rungs[0]
    return (
        f"between {buffer.low} and {buffer.high} packets (95 %); {_more(state)}",
        *_too_wide(buffer),
        *_cut(state),
        *_smaller_windows(state),
        *too_short(largest.link.scenario, round(largest.found.packets), sawtooths),
        *_against_the_law(question, buffer),
        *notes_of_knob(question.scenario, question.engine, knob),
    )


def _more(state: Climb) -> str:
    """Return the effect of more time on the interval."""
    more = option("budget", in_words(_STEP * state.budget_s))
    if state.rungs[0].factor == 1.0:
        return f"{more} makes the range about half as wide"
    whole_s = predict(state, state.scenario)
    enough_s = _RESERVE * whole_s
    if enough_s <= _STEP * state.budget_s:
        enough = option("budget", in_words(max(enough_s, _LONGER * state.budget_s)))
        return f"{enough} simulates the link itself, which narrows the range"
    return (
        f"{more} simulates a link up to {_STEP:g} times larger, which narrows the range; the link "
        f"itself takes about {in_words(whole_s)} here"
    )


def _too_wide(buffer: Buffer) -> list[str]:
    """State what to set where the range says little."""
    if not buffer.is_guess:
        return []
    return [
        "this range is too wide to choose a buffer by; to be sure of the goals, set its upper end, "
        f"{buffer.high} packets"
    ]


def _smaller_windows(state: Climb) -> list[str]:
    """State how well smaller windows predict: rows 17 to 27 of docs/explanation/scaled-links.md."""
    if not state.path.shrinks_windows or state.rungs[0].factor == 1.0:
        return []
    return [
        "flows have smaller windows on the links simulated: of 11 such links that were also "
        "simulated whole, 9 were in the range, and only 5 within 15 % of the answer"
    ]


def _cut(state: Climb) -> list[str]:
    """Name the link that the end of the time stopped; the answer does not use it."""
    if state.cut is None:
        return []
    link = "the link itself" if state.cut == 1.0 else f"a link {state.cut:.3g} times smaller"
    return [f"{link} was started but did not end in time: the answer does not use it"]


def _against_the_law(question: Question, buffer: Buffer) -> list[str]:
    """Report a governing law whose range lies outside the answer's interval."""
    governs = question.governs
    named = [law for law in question.laws if governs is not None and law.law == governs.law]
    if not named or named[0].packets is None:
        return []
    low, high = named[0].packets_between or (named[0].packets, named[0].packets)
    if high >= buffer.low and low <= buffer.high:
        return []
    way = "more" if low > buffer.high else "less"
    return [
        f"{named[0].law}, which governs here, needs {way}: its {named[0].packets:.0f} packets are "
        f"outside that interval"
    ]
