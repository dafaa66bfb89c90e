"""Size links of a simulated network within a time limit.

No smaller network can replace it: the search ends within the time, or it raises an error that
names the time it would need.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.budget.cost import SEARCH_LOOKS, Speed, TooLittleTime, packets_s
from forebay.budget.timed import Timed
from forebay.engines.base import LinksEngine
from forebay.outcome import Cost, SizeResult
from forebay.sizing import size as search

_PACKET_S, _HOP_S = 0.3e-6, 0.18e-6
"""Seconds that a packet of a network takes more than one of a single link: each, and at each link.

Fitted to parking lots of 40 to 8,000 flows and to the fast edge of Abilene with 5,239 and 52,394,
on one machine: within 40 % (bbr3 -16 %, 52,394 flows +38 %).
"""
_LAYOUT_S, _PATH_S = 0.04, 20e-6
"""Seconds to route the network before each replication: always, and for each path."""

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.scenario import Scenario


def size_links_within(
    question: Scenario,
    engine: LinksEngine,
    budget_s: float,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    limit: int,
    jobs: int = 0,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SizeResult:
    """Search as `forebay.sizing.size` does, for at most ``budget_s`` seconds.

    Parameters
    ----------
    expect : called once, before anything runs, with predicted seconds. The prediction is rough:
        packets are counted by fair shares of the links, and the buffers to try are 30.

    Raises
    ------
    TooLittleTime
        One buffer takes longer than ``budget_s``, or the search does.
    """
    speed, limit_s = Speed(jobs or os.cpu_count() or 1), _TimeLimit(budget_s, clock, clock())
    predicted_s = SEARCH_LOOKS * math.ceil(len(seeds) / speed.jobs) * replication_s(engine)
    if expect is not None:
        expect(predicted_s)
    timed = Timed(
        engine, speed, clock,
        predict=lambda _: replication_s(engine), before_run=limit_s.check,
    )  # fmt: skip
    result = search(
        question, timed, seeds=seeds, max_seeds=max_seeds, jobs=jobs, progress=progress,
        limit=limit,
    )  # fmt: skip
    cost = Cost(predicted_s=predicted_s, spent_s=clock() - limit_s.begun_s, budget_s=budget_s)
    return result.model_copy(update={"cost": cost})


def replication_s(engine: LinksEngine) -> float:
    """Return the predicted seconds of one replication of the whole network."""
    measure, traffic = engine.scenario.measure, engine.traffic
    if traffic is None:
        return 0.0
    packets = traffic.packets_per_second * float(measure.warmup + measure.duration)
    crossing_s = packets * (_PACKET_S + _HOP_S * traffic.hops)
    layout_s = _LAYOUT_S + _PATH_S * traffic.paths
    return packets_s(engine.scenario, packets) + layout_s + crossing_s


@dataclass(slots=True)
class _TimeLimit:
    """Refuses a run that would not end within the time."""

    budget_s: float
    clock: Callable[[], float]
    begun_s: float
    runs: int = 0

    def check(self, expected_s: float) -> None:
        """Count a run, or raise TooLittleTime with the time that the whole search would need."""
        spent_s = self.clock() - self.begun_s
        if spent_s + expected_s > self.budget_s:
            tried = f"after {self.runs} buffers the search has not ended"
            why = tried if self.runs else "one buffer takes longer"
            needs_s = max(SEARCH_LOOKS - self.runs, 1.0) * expected_s + spent_s
            raise TooLittleTime(why, needs_s, self.budget_s, of_network=True)
        self.runs += 1
