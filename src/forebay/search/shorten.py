"""Measure a link of short round trips for less time, where its usual runs do not fit.

The usual warm-up and window suit round trips of tens of milliseconds. Flows of 0.2 ms go through
hundreds of sawtooths in a second, so that far shorter runs know as much. What does not shrink with
the round trip limits this: retransmission timeouts, and the packets that a loss rate needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from forebay.outcome.settling import models_settle_s
from forebay.scenario import Duration, Long, Short, Udp
from forebay.scenario.distribution import Distribution
from forebay.search.cost import in_words, packets_per_second
from forebay.search.sawtooths import measure_of

if TYPE_CHECKING:
    from forebay.scenario import Measure, Scenario, Traffic
    from forebay.search.problem import Problem, SawtoothTimes

_TIMEOUT_S = 0.2
"""Least retransmission timeout (TCP_RTO_MIN, linux/tcp.h)."""
_SETTLES, _MEASURES = 5, 10
"""Timeouts that a warm-up after the last start, and a window, last at least."""
_ROUND_TRIPS = 1000
"""Round trips within which flows start: as many as 10 ms has in the usual 10 s."""
_PACKETS = 200_000.0
"""Packets through the link in a window, at least."""
_TIMED = {"start", "stop", "schedule"}
_SET = {"measure", "topology", "links"}
_CHANGES = {"loss", "jitter", "rate_trace", "down"}
"""What a link has whose own times do not shrink with the round trips."""
_WORTH_IT = 0.5
"""Largest share of the usual time that is worth another window."""


class Shortened(NamedTuple):
    """The problem with shorter runs, and what was done in words."""

    problem: Problem
    note: str


def shortened(problem: Problem) -> Shortened | None:
    """Return the problem with earlier starts and a shorter window.

    None where no flow lasts, where the scenario sets a start or a window, where flows probe their
    path for seconds, where the link changes over time, and where it would not save half of the
    time.
    """
    scenario, sawtooths = problem.scenario, problem.law_context.sawtooths
    if sawtooths is None or not scenario.n_flows or not all(map(_may, scenario.traffic)):
        return None
    if _SET & scenario.model_fields_set or _CHANGES & scenario.link.model_fields_set:
        return None
    if scenario.flows_uncertain:
        return None
    early = _starting_within(scenario, _spread_s(scenario))
    measure = _measure(early, sawtooths(early, problem.first_guess))
    usual = scenario.measure
    usual_s, short_s = (float(each.warmup + each.duration) for each in (usual, measure))
    if short_s > _WORTH_IT * usual_s:
        return None
    made = early.model_copy(update={"measure": measure})
    note = (
        f"runs of {in_words(usual_s)} do not fit into the time, and round trips are short: flows "
        f"start within {in_words(_spread_s(scenario))} in place of 10 s, and the search "
        f"began with windows of {in_words(float(measure.duration))} after "
        f"{in_words(float(measure.warmup))}"
    )
    return Shortened(problem.of(made), note)


def _may(group: Traffic) -> bool:
    """Whether nothing of a class takes seconds whatever its round trip."""
    if isinstance(group, Long):
        return not _TIMED & group.model_fields_set and models_settle_s(group) == 0.0
    if isinstance(group, Udp):
        return not _TIMED & group.model_fields_set
    return isinstance(group, Short)


def _spread_s(scenario: Scenario) -> float:
    longest_s = max(float(g.rtt.high) for g in scenario.traffic if isinstance(g, Long | Short))
    return max(_ROUND_TRIPS * longest_s, _TIMEOUT_S)


def _starting_within(scenario: Scenario, spread_s: float) -> Scenario:
    start = Distribution.uniform_between(Duration(0), Duration(round(spread_s, 3)))
    return scenario.model_copy(
        update={
            "traffic": tuple(
                each if isinstance(each, Short) else each.model_copy(update={"start": start})
                for each in scenario.traffic
            )
        }
    )


def _measure(scenario: Scenario, times: SawtoothTimes) -> Measure:
    last_s = max(float(group.start.high) for group in scenario.persistent)
    return measure_of(
        max(last_s + _SETTLES * _TIMEOUT_S, times.warmup_s),
        max(_MEASURES * _TIMEOUT_S, times.window_s, _PACKETS / packets_per_second(scenario)),
    )
