"""Notes for the user on an answer from a scaling study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import option
from forebay.search.cost import in_words
from forebay.search.parameter import notes_of as notes_of_parameter
from forebay.search.problem import costs_little, most_by_delay
from forebay.search.sawtooths import too_short
from forebay.search.stopping import SURE
from forebay.search.strategies.scaling.law_band import band, note_of
from forebay.search.strategies.scaling.rule import bucket_packets

if TYPE_CHECKING:
    from forebay.outcome import Buffer
    from forebay.search.problem import Problem
    from forebay.search.strategies.scaling.study import ScalingStudy

_STEP = 4.0
_LONGER = 1.25


def notes_of(problem: Problem, study: ScalingStudy, buffer: Buffer) -> tuple[str, ...]:
    """Return notes on the interval, the benefit of more time, and a governing law outside it."""
    top, sawtooths = study.levels[0], problem.law_context.sawtooths
    alone = buffer.low == buffer.high == 1 and study.levels[0].factor == 1.0  # no range to narrow
    between = f"between {buffer.low} and {buffer.high} packets (95 %); {_more(study)}"
    return (
        *(() if alone else (between,)),
        *_too_wide(problem, buffer),
        *_narrowed(problem, study, buffer),
        *_cut(study),
        *_without_bucket(problem, study),
        *_smaller_windows(study),
        *too_short(top.link, round(top.found.packets), sawtooths),
        *_against_the_law(problem, buffer),
        *notes_of_parameter(problem.scenario, problem.engine, problem.parameter),
    )


def _more(study: ScalingStudy) -> str:
    """Return the effect of more time on the interval."""
    more = option("budget", in_words(_STEP * study.time.seconds))
    if study.levels[0].factor == 1.0:
        return f"{more} makes the range about half as wide"
    whole_s = study.predict(study.problem.scenario)
    enough_s = SURE * whole_s
    if enough_s <= _STEP * study.time.seconds:
        enough = option("budget", in_words(max(enough_s, _LONGER * study.time.seconds)))
        return f"{enough} simulates the link itself, which narrows the range"
    return (
        f"{more} simulates a link up to {_STEP:g} times larger, which narrows the range; the link "
        f"itself takes about {in_words(whole_s)} here"
    )


def _too_wide(problem: Problem, buffer: Buffer) -> list[str]:
    """State what to set where the range says little, within the goals."""
    if not buffer.is_guess or costs_little(problem, buffer.high):
        return []
    wide, most = "this range is too wide to choose a buffer by", most_by_delay(problem)
    if most is not None and most < buffer.high:
        return [f"{wide}; beyond {most} packets the goals on the delay are not assured"]
    return [f"{wide}; of these sizes, {buffer.high} packets are the surest to meet the goals"]


def _narrowed(problem: Problem, study: ScalingStudy, buffer: Buffer) -> list[str]:
    return [] if study.levels[0].factor == 1.0 else note_of(problem, buffer.low, buffer.high)


def _smaller_windows(study: ScalingStudy) -> list[str]:
    """State how well smaller windows predict: rows 17 to 27 of docs/explanation/scaled-links.md."""
    if not study.rule.shrinks_windows or study.levels[0].factor == 1.0:
        return []
    return [
        "flows have smaller windows on the links simulated: of 11 such links that were also "
        "simulated whole, 9 were in the range, and only 5 within 15 % of the answer"
    ]


def _cut(study: ScalingStudy) -> list[str]:
    """Name the link that the end of the time stopped; the answer does not use it."""
    if study.cut is None:
        return []
    link = "the link itself" if study.cut == 1.0 else f"a link {study.cut:.3g} times smaller"
    return [f"{link} was started but did not end in time: the answer does not use it"]


def _without_bucket(problem: Problem, study: ScalingStudy) -> list[str]:
    """State what the burst of a shaper, which smaller links do not have, may save."""
    saves = bucket_packets(problem.scenario)
    if not saves or study.levels[0].factor == 1.0:
        return []
    return [
        "the links simulated have no token bucket: the burst of the shaper may save up to "
        f"{saves} packets, and the lower end of the range counts with that"
    ]


def _against_the_law(problem: Problem, buffer: Buffer) -> list[str]:
    """Report a governing law whose range lies outside the answer's interval."""
    context = problem.law_context
    governs = context.governs
    named = [law for law in context.results if governs is not None and law.law == governs.law]
    if not named or named[0].packets is None or band(problem) is not None:
        return []  # with a band, the interval is compared with that
    low, high = named[0].packets_between or (named[0].packets, named[0].packets)
    if high >= buffer.low and low <= buffer.high:
        return []
    way = "more" if low > buffer.high else "less"
    return [
        f"{named[0].law}, which governs here, needs {way}: its {named[0].packets:.0f} packets are "
        f"outside that interval"
    ]
