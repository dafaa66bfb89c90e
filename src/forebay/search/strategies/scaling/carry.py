"""Carry the crossing of the largest simulated link to the whole link, and describe how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.catalogue import KINDS
from forebay.outcome import Metric, Scaled, ScaledLink
from forebay.search.goals import Goal
from forebay.search.strategies.scaling.extrapolate import Carried, extrapolate
from forebay.search.strategies.scaling.law_band import within_law
from forebay.search.strategies.scaling.rule import bucket_packets, is_one_process

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.problem import Problem
    from forebay.search.strategies.scaling.study import Level, ScalingStudy


def carry(problem: Problem, study: ScalingStudy) -> Carried:
    """Return the whole link's buffer: the top level's if it needs the same, else extrapolated."""
    top = study.levels[0]
    if top.factor == 1.0 or (is_one_process(problem.scenario) and not _by_time(problem)):
        found = top.found
        return Carried(found.packets, found.low, found.high, 0.0, 0.0, 0.0)
    carried = extrapolate(
        [level.factor for level in study.levels],
        [level.found for level in study.levels],
        _steepest(problem, study),
        gentlest=study.rule.gentlest,
        proportional=_is_proportional(problem.scenario, problem.increasing),
    )
    return _with_bucket(within_law(_bounded(carried, problem, study), problem), problem)


def _with_bucket(carried: Carried, problem: Problem) -> Carried:
    """Return an answer whose lower end counts with the burst of the shaper."""
    return replace(carried, low=max(1.0, carried.low - bucket_packets(problem.scenario)))


def described(study: ScalingStudy, carried: Carried, packets: int) -> Scaled | None:
    """Return the extrapolation in the form of the result; None for the link itself."""
    top = study.levels[0]
    if top.factor == 1.0:
        return None
    seeds = top.found.seeds
    low, high = min(carried.low, packets), max(carried.high, packets)  # it holds its answer
    error = Metric(
        value=carried.packets / packets - 1, low=low / packets - 1, high=high / packets - 1, n=seeds
    )
    exponent = Metric(
        value=carried.exponent, low=carried.exponent_low, high=carried.exponent_high, n=seeds
    )
    return Scaled(
        factor=top.factor, error=error, links=tuple(_link(level) for level in study.levels),
        exponent=exponent, flows_share=study.rule.share,
    )  # fmt: skip


def _bounded(carried: Carried, problem: Problem, study: ScalingStudy) -> Carried:
    """Limit an answer to the largest size that a search tries.

    One from smaller windows is limited to one BDP, which keeps any link busy.
    """
    most = problem.scenario.bdp_packets if study.rule.shrinks_windows else float(problem.limit)
    if carried.high <= most:
        return carried
    ends = {"packets": min(carried.packets, most), "low": min(carried.low, most), "high": most}
    return replace(carried, **ends)


def _steepest(problem: Problem, study: ScalingStudy) -> float:
    """Return the largest lasting exponent; it is 1 for a target in time and for a loss goal."""
    lossy = any("loss" in goal.kind.name for goal in problem.increasing)
    return 1.0 if _by_time(problem) or lossy else study.rule.steepest


def _by_time(problem: Problem) -> bool:
    """Whether a target in time is sized, and not a number of packets."""
    return problem.parameter.guard_packets is not None


def _is_proportional(scenario: Scenario, increasing: Sequence[Goal]) -> bool:
    """Whether only long flows' loss needs a buffer, which is then proportional to the rate."""
    lossy = all(goal.kind.name == "loss_rate" for goal in increasing)
    return lossy and all(KINDS[group.kind].lasts for group in scenario.traffic)


def _link(level: Level) -> ScaledLink:
    link, found = level.link, level.found
    high = max(found.packets, min(found.high, level.curve.limit))
    return ScaledLink(
        factor=level.factor,
        rate_bps=float(link.link.capacity),
        flows=link.n_flows,
        window_packets=link.bdp_packets / link.n_flows if link.n_flows else None,
        packets=Metric(value=found.packets, low=found.low, high=high, n=found.seeds),
    )
