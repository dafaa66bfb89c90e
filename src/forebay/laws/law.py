"""The types of a law and of its answer to a scenario."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from forebay.scenario import Scenario
from forebay.words import Fact

_DUST = 1e-9  # tolerance of rounding errors, which must not add a packet

Check = Callable[[Scenario], Fact | str | None]
"""Returns how a scenario breaks an assumption, which is one line, or None if it does not."""


def one_rate_and_no_loss(scenario: Scenario) -> Fact | None:
    """Every link has a constant rate and loses packets only at its queue."""
    links = (scenario.link, *scenario.links)
    if any(link.loss is not None for link in links):
        return Fact("broken.loss-of-a-link")
    if any(link.rate_trace is not None or link.down is not None for link in links):
        return Fact("broken.one-rate")
    if any(link.jitter is not None for link in links):
        return Fact("broken.jitter")
    return None


@dataclass(frozen=True, slots=True)
class LawAnswer:
    """A law's answer to one scenario.

    Attributes
    ----------
    law : source and name, such as "appenzeller-2004/sqrt-n".
    packets : buffer in packets by the law for the scenario's goals. None if the law gives none:
        there is no such goal, or no finite buffer reaches it.
    utilization : utilization that the law predicts at the scenario's own buffer.
    broken_assumptions : the assumptions that the scenario breaks, as text for users.
    source : paper, section, equation.
    between : smallest and largest buffer over the range of flows, if the scenario gives a range.
    """

    law: str
    packets: float | None
    utilization: float | None
    broken_assumptions: tuple[str, ...]
    source: str
    between: tuple[float, float] | None = None

    @property
    def packets_whole(self) -> int | None:
        """The buffer in whole packets, rounded up."""
        return None if self.packets is None else ceil(self.packets - _DUST)

    @property
    def assumptions_hold(self) -> bool:
        """Whether the scenario breaks no assumption."""
        return not self.broken_assumptions


@dataclass(frozen=True, slots=True)
class Law:
    """A published law: its formulas as functions of a scenario, and its assumptions."""

    name: str
    source: str
    packets: Callable[[Scenario], float | None]
    utilization: Callable[[Scenario], float | None]
    checks: tuple[Check, ...]

    def broken(self, scenario: Scenario) -> tuple[str, ...]:
        """Return one line for each assumption that `scenario` breaks, in the checks' order."""
        lines = (check(scenario) for check in (one_rate_and_no_loss, *self.checks))
        return tuple(str(of) if isinstance(of, Fact) else of for of in lines if of is not None)

    def answer(self, scenario: Scenario) -> LawAnswer:
        """Return the law's answer to `scenario`; assumptions are checked at the law's buffer."""
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
        """Like `answer`, at the middle of a range of flows; ``between`` has the range's ends.

        The laws of papers A and D are monotone in n, so their extremes are at the ends. This is
        `forebay.laws.uncertainty.interval` of a monotone law with the scenario's n.
        """
        answer = self.answer(scenario)
        if not scenario.flows_uncertain or answer.packets is None:
            return answer
        low, high = (self.packets(scenario.at_flows(end)) for end in ("low", "high"))
        if low is None or high is None:
            return answer
        return replace(answer, between=(min(low, high), max(low, high)))
