"""The size that each link of a class needs, read from the sizes that were tried for all of them.

Every run with one size for the class has an outcome for each of its links, so that no other run is
needed. The size of a link is then known to within two sizes that were tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import LinkSize, Verdict
from forebay.search.evidence import Evidence

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome, Outcome, SizeResult
    from forebay.search.goals import Goal


def link_sizes(
    answer: SizeResult, names: Sequence[str], goals: Sequence[Goal]
) -> tuple[LinkSize, ...]:
    """Return the size of each link, the one that needs most first.

    Parameters
    ----------
    names : of the links that were sized together.
    goals : those that each of them has. One on utilization is asked only of links whose load
        reaches it with some size that was tried.
    """
    tried = sorted(answer.curve, key=lambda point: point.packets)
    outcomes = [(point.packets, point.outcome) for point in tried]
    known = [name for name in names if outcomes and name in outcomes[0][1].links]
    found = [_size(name, outcomes, _asked(name, outcomes, goals)) for name in known]
    return tuple(sorted(found, key=lambda each: -(each.packets or float("inf"))))


def _asked(
    name: str, outcomes: Sequence[tuple[int, Outcome]], goals: Sequence[Goal]
) -> tuple[Goal, ...]:
    """Return the goals without one on utilization that no size lets the link reach."""
    return tuple(
        goal
        for goal in goals
        if goal.kind.name != "utilization"
        or any(_used(outcome.links[name]) >= goal.target for _, outcome in outcomes)
    )


def _used(link: LinkOutcome) -> float:
    return 0.0 if link.utilization is None else link.utilization.value


def _size(name: str, outcomes: Sequence[tuple[int, Outcome]], goals: Sequence[Goal]) -> LinkSize:
    """Return the smallest size that meets all goals, and the largest below that misses one."""
    missed: tuple[str, ...] = ()
    low = 1
    for packets, outcome in outcomes:
        unmet = tuple(_unmet(outcome, name, goals))
        if not unmet:
            return LinkSize(link=name, packets=packets, low=low, binding=missed)
        missed, low = unmet, packets + 1
    return LinkSize(link=name, packets=None, low=low, binding=missed)


def _unmet(outcome: Outcome, name: str, goals: Sequence[Goal]) -> Iterator[str]:
    alone = outcome.model_copy(update={"links": {BOTTLENECK: outcome.links[name]}})
    for goal in goals:
        metric = goal.kind.read(Evidence(alone))
        if metric is None or goal.judge(metric) is not Verdict.MET:
            yield goal.kind.name
