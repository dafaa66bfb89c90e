"""Links too large to simulate: what is recommended, what is not, and why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.search.known_links import KnownLinks, half_root, link

from forebay import laws
from forebay.outcome import SizeResult
from forebay.scenario import Scenario
from forebay.search.options import Options
from forebay.search.problem import LawContext, problem_of
from forebay.search.search import search


def sized(
    scenario: Scenario, budget_s: float = 20.0, loss: Any = None, **engine: Any
) -> SizeResult:
    links = KnownLinks(**engine)
    known = laws.for_scenario(scenario), laws.regime_of(scenario)
    problem = problem_of(scenario, "simulation", LawContext(*known, loss=loss))
    options = Options(range(1, 6), 20, 1, budget_s=budget_s, clock=links.clock)
    return search(problem, links, options)


def by_law(low: float, high: float) -> Any:
    return lambda scenario, packets: SimpleNamespace(low=low, high=high)


FEW = ("100 Gbit/s", 100)
"""So few flows of so many packets that their windows shrink on a smaller link."""


@pytest.mark.parametrize(("rate", "flows"), [FEW, ("400 Gbit/s", 200), ("800 Gbit/s", 400)])
def test_the_loss_of_smaller_windows_is_not_that_of_the_link(rate: str, flows: int) -> None:
    found = sized(link(rate, flows), lossy=True)
    assert found.scaled is not None and found.scaled.flows_share < 1.0
    assert all(point.link.loss_rate is None for point in found.curve)
    assert all(each.loss_rate is None for p in found.curve for each in p.outcome.classes)
    assert found.loss_warning is None
    assert found.recommended is None and found.exit_status == 3
    assert "no law gives that of the whole link" in (found.reason or "")


@pytest.mark.parametrize(
    ("band", "says"),
    [
        ((1e-5, 2e-4), "the loss law gives at most 0.02 %, which is usable"),
        ((1e-3, 1e-2), "at most 1 %"),
        ((0.02, 0.2), "none has a usable loss of 1 %"),
    ],
)
def test_the_loss_law_decides_whether_the_size_is_usable(
    band: tuple[float, float], says: str
) -> None:
    found = sized(link(*FEW), loss=by_law(*band))
    assert found.buffer is not None and found.recommended is not None
    assert found.recommended.packets == found.buffer.high, "a hundred flows hold the bursts too"
    assert says in "; ".join(found.recommended.why)
    assert found.exit_status == 0


@pytest.mark.parametrize("flows", [2000, 20_000, 200_000])
def test_windows_that_stay_keep_their_loss(flows: int) -> None:
    found = sized(link("100 Gbit/s", flows), lossy=True)
    assert found.scaled is not None
    if found.scaled.flows_share == 1.0:
        assert all(point.link.loss_rate is not None for point in found.curve)


@pytest.mark.parametrize("flows", [100, 2000, 20_000, 200_000])
def test_an_interval_holds_its_answer_and_the_recommendation_its_end(flows: int) -> None:
    found = sized(link("100 Gbit/s", flows), loss=by_law(1e-5, 2e-5))
    buffer, scaled = found.buffer, found.scaled
    assert buffer is not None and scaled is not None
    assert scaled.error.low is not None and scaled.error.high is not None
    assert buffer.low <= buffer.packets <= buffer.high
    assert scaled.error.low <= 0.0 <= scaled.error.high
    if found.recommended is not None:
        assert found.recommended.packets >= min(buffer.high, found.region[-1].high or buffer.high)


@pytest.mark.parametrize("share", [0.2, 0.6, 1.5, 4.0])
def test_nothing_beyond_the_goals_is_recommended_or_advised(share: float) -> None:
    """A wait of a share of what half a root of the BDP takes, which the other goal needs."""
    plain = link("100 Gbit/s", 20_000)
    wait = share * half_root(plain) * 12_000 / 100e9
    asked = link("100 Gbit/s", 20_000, f'utilization = 0.98\nqueue_delay_p99 = "{wait * 1e6} us"')
    found = sized(asked, loss=by_law(1e-5, 2e-5))
    most = int(wait * 100e9 / 12_000 + 1e-6)
    if found.recommended is not None:
        assert found.recommended.packets <= most and found.exit_status == 0
        return
    assert found.reason is not None and found.exit_status in (1, 3)
    assert "set its upper end" not in " ".join(found.notes)
    if found.buffer is None:
        assert (found.exit_status == 3) == ("may contradict" in found.reason)
