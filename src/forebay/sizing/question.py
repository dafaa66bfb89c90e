"""One sizing: what is asked, and all that was tried for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import TYPE_CHECKING, Protocol

from forebay.outcome import LawResult, Push, Regime, Verdict
from forebay.sizing.goals import Goal
from forebay.sizing.trials import Trials

if TYPE_CHECKING:
    from forebay.scenario import Scenario


class LawLike(Protocol):
    """What a sizing wants of a published law's answer."""

    @property
    def law(self) -> str: ...
    @property
    def packets(self) -> float | None: ...
    @property
    def assumptions_hold(self) -> bool: ...
    @property
    def broken_assumptions(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...


class RegimeLike(Protocol):
    """What a sizing wants of the law that governs a link: words for a person."""

    @property
    def regime(self) -> str: ...
    @property
    def law(self) -> str | None: ...
    @property
    def why(self) -> str: ...
    @property
    def would_change(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes
    ----------
    engine : name of the engine that answers.
    trials : every buffer tried; its goals are all that the scenario states.
    goals : those that this question is about, which may be fewer.
    limit : largest buffer that may be tried, packets.
    laws, governs : what published laws ask for, and which of them governs.
    """

    scenario: Scenario
    engine: str
    trials: Trials
    goals: tuple[Goal, ...]
    limit: int
    laws: tuple[LawResult, ...] = ()
    governs: Regime | None = None

    @property
    def up(self) -> tuple[Goal, ...]:
        """Goals that a larger buffer helps to meet."""
        return self._pushing("up")

    @property
    def down(self) -> tuple[Goal, ...]:
        """Goals that a smaller buffer helps to meet."""
        return self._pushing("down")

    @property
    def either(self) -> tuple[Goal, ...]:
        """Goals that may be met between two buffers that miss."""
        return self._pushing("either")

    def _pushing(self, way: Push) -> tuple[Goal, ...]:
        return tuple(goal for goal in self.goals if goal.kind.pushes == way)

    def with_goals(self, goals: Sequence[Goal]) -> Question:
        """Return the question about these goals alone, on the same trials."""
        return replace(self, goals=tuple(goals))

    def not_met_below(self, packets: int) -> tuple[Goal, ...]:
        """Return the goals that forbid less: not shown to be met at the next smaller buffer."""
        below = [b for b in self.trials.done if b < packets]
        if not below:
            return ()
        under = self.trials.done[max(below)]
        forbid = (*self.up, *self.either)
        return tuple(g for g in forbid if g.judge(under.metric(g)) is not Verdict.MET)


def first_guess(scenario: Scenario, laws: Sequence[LawLike]) -> int:
    """Return where to start: the laws that hold (their lower median), else bdp/sqrt(n)."""
    known = [law.packets for law in laws if law.assumptions_hold and law.packets]
    if known:
        return max(1, round(median_low(known)))
    return max(1, round(scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))))


def upper_limit(scenario: Scenario) -> int:
    """Return the largest buffer worth trying, packets.

    One bdp keeps a link busy even under one flow or under flows in step (paper A, sections
    2 and 3); four of them leave room for slow starts, and the constant for tiny links. Without
    flows that last only bursts count, which know nothing of the bdp.
    """
    return math.ceil(4 * scenario.bdp_packets) + (64 if scenario.n_flows else 4096)


def law_result(law: LawLike) -> LawResult:
    """Return a law's answer as the result keeps it."""
    return LawResult(
        law=law.law,
        packets=law.packets,
        packets_whole=getattr(law, "packets_whole", None),
        assumptions_hold=law.assumptions_hold,
        broken_assumptions=law.broken_assumptions,
        source=law.source,
        packets_between=getattr(law, "between", None),  # where flows are a range
    )


def regime(governs: RegimeLike) -> Regime:
    """Return which law governs, as the result keeps it."""
    return Regime(
        regime=governs.regime,
        law=governs.law,
        why=governs.why,
        would_change=governs.would_change,
    )
