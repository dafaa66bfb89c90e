"""What a law is, and what it answers for a scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.scenario import Scenario

_DUST = 1e-9
"""Of rounding, which must not ask for one more packet."""

Check = Callable[["Scenario"], "str | None"]
"""Says in one line how a scenario breaks an assumption; None where it does not."""


@dataclass(frozen=True, slots=True)
class LawAnswer:
    """A law's answer to one scenario.

    Attributes
    ----------
    law : str
        Who and what: "appenzeller-2004/sqrt-n".
    packets : float or None
        Buffer in packets that the law asks for, given the scenario's goals. None where the
        law has no answer: no such goal is set, or no finite buffer reaches it.
    utilization : float or None
        Fraction of the link that the law predicts at the scenario's own buffer.
    broken_assumptions : tuple of str
        What the scenario does that the law does not cover, in words for a user.
    source : str
        Paper, section, equation.
    between : tuple of float, or None
        Least and most packets over the range of flows, where the scenario gives a range.
    """

    law: str
    packets: float | None
    utilization: float | None
    broken_assumptions: tuple[str, ...]
    source: str
    between: tuple[float, float] | None = None

    @property
    def packets_whole(self) -> int | None:
        """The law's buffer in whole packets: rounded up, for with less the law is not met."""
        return None if self.packets is None else ceil(self.packets - _DUST)

    @property
    def assumptions_hold(self) -> bool:
        """Whether the scenario is one that the law was made for."""
        return not self.broken_assumptions


@dataclass(frozen=True, slots=True)
class Law:
    """A published law: its formulas read off a scenario, and what they assume."""

    name: str
    source: str
    packets: Callable[[Scenario], float | None]
    utilization: Callable[[Scenario], float | None]
    checks: tuple[Check, ...]

    def broken(self, scenario: Scenario) -> tuple[str, ...]:
        """Lines that say which assumptions `scenario` breaks, in the order of the checks."""
        lines = (check(scenario) for check in self.checks)
        return tuple(line for line in lines if line is not None)

    def answer(self, scenario: Scenario) -> LawAnswer:
        """Everything the law says about `scenario`, its assumptions at the buffer that it asks."""
        packets = self.packets(scenario)
        there = scenario if packets is None else scenario.with_buffer(max(1, ceil(packets)))
        return LawAnswer(
            law=self.name,
            packets=packets,
            utilization=self.utilization(scenario),
            broken_assumptions=self.broken(there),
            source=self.source,
        )

    def answer_over_range(self, scenario: Scenario) -> LawAnswer:
        """As `answer`, at the middle of a range of flows; ``between`` is of the range's ends.

        The laws of papers A and D rise or fall in n, so their extremes lie at the ends: this is
        `forebay.laws.uncertainty.interval` of a monotone law, with n taken through the scenario.
        """
        answer = self.answer(scenario)
        if not scenario.flows_uncertain or answer.packets is None:
            return answer
        low, high = (self.packets(scenario.at_flows(end)) for end in ("low", "high"))
        if low is None or high is None:
            return answer
        return replace(answer, between=(min(low, high), max(low, high)))
