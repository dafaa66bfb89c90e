"""The time may end at any moment of a search: it answers, or says that the time is too short."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.search.asking import size_within
from tests.search.known_links import KnownLinks, half_root, link

from forebay.outcome import SizeResult
from forebay.scenario import Scenario, loads
from forebay.search.cost import TooLittleTime, packets_per_second
from forebay.search.strategies.scaling.rule import LEAST_PACKETS, rule_of, scaled

BUDGET_S = 4.0
_ENDS = 8
"""Tried ends of a search, from its first call of the clock to its last."""


@dataclass
class EndsAtCall(KnownLinks):
    """Its clock jumps past every end at one call."""

    ends_at: float = float("inf")
    calls: int = 0

    def clock(self) -> float:
        self.calls += 1
        if self.calls == self.ends_at:
            self.now += 10 * BUDGET_S
        return self.now


def nowhere(scenario: Scenario) -> float:
    """More than any buffer that is tried."""
    return 1e12


def anywhere(scenario: Scenario) -> float:
    """One packet is enough."""
    return 1e-3


TWO = 'utilization = 0.98\nqueue_delay_p99 = "20 ms"'
QUANTILE = 'utilization = 0.98\nqueue_delay = { quantile = 0.99, at_most = "20 ms" }'
LOSS = "utilization = 0.98\nloss_rate = 0.01"
TRUTHS: dict[str, Callable[[Scenario], float]] = {
    "inside": half_root, "below": anywhere, "above": nowhere,
}  # fmt: skip
LINKS = {
    "searched": (link("100 Mbit/s", 100), 3e7),
    "crossed": (link("1 Gbit/s", 400), 3e7),
    "scaled": (link("100 Gbit/s", 200_000), 3e7),
    "two goals": (link("1 Gbit/s", 400, TWO), 3e7),
    "loss": (link("2 Gbit/s", 2000, LOSS), 3e7),
    "a range": (link("1 Gbit/s", '"400..600"'), 6e7),  # type: ignore[arg-type]
    "a scaled range": (link("10 Gbit/s", '"4000..9000"'), 1e8),  # type: ignore[arg-type]
}


def sized(scenario: Scenario, engine: KnownLinks) -> SizeResult:
    return size_within(
        scenario, engine, BUDGET_S, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock,
        open_ended=True, progress=lambda _: None,
    )  # fmt: skip


def _advised(refused: TooLittleTime) -> float:
    """Return the shortest budget that a refusal advises."""
    written = re.findall(r'budget="([0-9.e+]+) (s|min|h)"', refused.hint)
    return min(
        float(number) * {"s": 1.0, "min": 60.0, "h": 3600.0}[unit] for number, unit in written
    )


def ended(scenario: Scenario, engine: EndsAtCall) -> str:
    """Return how a search ended."""
    try:
        found = sized(scenario, engine)
    except TooLittleTime as refused:
        assert refused.needs_s >= BUDGET_S
        assert _advised(refused) > BUDGET_S
        return "refused"
    if found.buffer is None:
        assert found.reason
        return "none"
    assert found.buffer.low <= found.buffer.packets <= found.buffer.high
    return "answered"


ENDS = [
    pytest.param(
        name, truth, marks=() if truth == "inside" or name == "searched" else pytest.mark.long
    )
    for name in LINKS
    for truth in TRUTHS
]
"""Where the answer lies within, and once above and below; the others by `make long`."""


@pytest.mark.parametrize(("name", "truth"), ENDS)
def test_the_time_may_end_at_any_call_of_the_clock(name: str, truth: str) -> None:
    scenario, speed = LINKS[name]
    whole = EndsAtCall(TRUTHS[truth], packets_per_s=speed)
    ends = {ended(scenario, whole)}
    for at in range(1, whole.calls + 1, max(1, whole.calls // _ENDS)):
        engine = EndsAtCall(TRUTHS[truth], packets_per_s=speed, ends_at=at)
        ends.add(ended(scenario, engine))
        assert engine.calls < whole.calls + 50, "it goes on for long after its end"
    assert "answered" in ends or truth == "above"


@pytest.mark.parametrize("rate", ["1 Gbit/s", "10 Gbit/s", "100 Mbit/s", "400 Gbit/s"])
def test_links_of_short_flows_alone_are_not_scaled_without_end(rate: str) -> None:
    scenario = loads(
        f'[link]\nrate = "{rate}"\n[[traffic]]\nkind = "short"\nlength = "100 kB"\nload = 0.8\n'
        "[goals]\nloss_rate = 0.005\n"
    )
    smallest = scaled(scenario, rule_of(scenario, 1e9).largest)
    seconds = float(smallest.measure.duration)
    assert packets_per_second(smallest) * seconds >= 0.99 * LEAST_PACKETS
    assert smallest.traffic[0].arrivals_per_second(smallest.link.capacity) > 1.0  # type: ignore[union-attr]


def test_a_time_that_was_shown_to_be_too_short_is_not_advised() -> None:
    refused = TooLittleTime("it was", 7.5, 20.0)
    assert "more than 20 s" in str(refused)
    assert _advised(refused) > 25.0
    again = refused.but(kept_in="a.sqlite")
    assert "a.sqlite" in str(again) and _advised(again) == _advised(refused)
