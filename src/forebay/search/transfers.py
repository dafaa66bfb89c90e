"""Whether enough transfers were drawn for what rests on the rare large ones.

Of transfers that come and go, few large ones may carry most of the bytes and nearly all losses. The
load that they offer is known. Where the load that was drawn is off it, so are the losses, and no
interval over the seeds shows it: what is rare is missing in most of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import setting
from forebay.scenario import Short, Transfers
from forebay.search.cost import in_words, predict_search
from forebay.search.sawtooths import measure_of
from forebay.search.stopping import RESERVE

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Session

_OFF = 0.15
"""Largest distance of the drawn load's interval from the offered load, as a share of that.

40 seeds of 40 s drew 9 % less to 6 % more than a load of 0.48 on 14 Mbit/s (Pareto, shape 1.3, mean
60 kB): there 20 seeds, 33 to 47 % of the link, had found 0.03 % lost where 1 % is.
"""
_MOST_LONGER, _LEAST_LONGER = 100.0, 1.5


def too_few(problem: Problem, found: SizeResult) -> str | None:
    """Return why the transfers of the run that decides are too few; None if they are enough.

    Also None with flows that last, which decide then, and where no goal rests on rare transfers.
    """
    there, scenario = found.there, problem.scenario
    open_ = [group for group in scenario.traffic if isinstance(group, Short | Transfers)]
    alone = len(open_) == len(scenario.traffic) > 0
    if there is None or not alone or not _rests_on_them(problem):
        return None
    offered = sum(each.offered(float(scenario.link.capacity)) for each in open_)
    drawn = _drawn(there.outcome)
    if drawn is None or offered <= 0.0:
        return None
    low, high = drawn
    if max(offered - low, high - offered) <= _OFF * offered:
        return None
    window = in_words(4 * float(scenario.measure.duration))
    return (
        f"its transfers offer {offered / 1e6:.4g} Mbit/s, and {low / 1e6:.4g} to {high / 1e6:.4g} "
        "were drawn: too few of the large ones, which lose most; "
        f"{setting('measure.duration', window)} draws more"
    )


def _rests_on_them(problem: Problem) -> bool:
    names = {goal.kind.name for goal in problem.goals}
    return any("loss" in name or "fct" in name or "delay" in name for name in names)


def _drawn(outcome: Outcome) -> tuple[float, float] | None:
    """Return both ends of what all classes sent, bit/s; None where no interval is known."""
    each = [kind.throughput_bps for kind in outcome.classes]
    known = [(m.low, m.high) for m in each if m is not None]
    if len(known) < len(each) or any(low is None or high is None for low, high in known):
        return None
    return sum(low or 0.0 for low, _ in known), sum(high or 0.0 for _, high in known)


def with_more(problem: Problem, session: Session) -> Problem | None:
    """Return the problem with the longest window whose search fits; None if it hardly grows."""
    scenario, measure = problem.scenario, problem.scenario.measure
    search_s = predict_search(scenario, session.speed, len(session.options.seeds))
    times = min(_MOST_LONGER, RESERVE * session.time.left_s / max(search_s, 1e-9))
    if times < _LEAST_LONGER:
        return None
    longer = measure_of(float(measure.warmup), times * float(measure.duration))
    return problem.of(scenario.model_copy(update={"measure": longer}))
