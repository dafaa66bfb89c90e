"""The least size once more with hosts that send one packet at a time, where nobody chose them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.search.asking import sized
from tests.search.known_links import KnownLinks, half_root, link

from forebay.outcome import SizeResult
from forebay.report.headline import single_packets
from forebay.scenario import Scenario, Tcp
from forebay.search import without_offload
from forebay.search.stopping import Interrupted


def by_default(of: Scenario) -> Scenario:
    return of.replace({"traffic.0.offload": "auto"})


def twice_with_bursts(scenario: Scenario) -> float:
    """Return the size of a link whose hosts need twice as much with bursts."""
    (group,) = scenario.traffic
    assert isinstance(group, Tcp)
    return half_root(scenario) * (2 if group.offloads else 1)


def asked(rate: str, flows: int, budget_s: float, **engine: Any) -> tuple[SizeResult, KnownLinks]:
    links = KnownLinks(**engine)
    return sized(by_default(link(rate, flows)), links, budget_s), links


def test_it_is_run_at_the_least_on_the_same_seeds() -> None:
    found, engine = asked("100 Mbit/s", 100, 60.0, truth=twice_with_bursts)
    point, there = found.without_offload, found.there
    assert found.scaled is None and found.buffer is not None
    assert point is not None and there is not None
    assert point.packets == found.buffer.packets == engine.runs[-1][1]
    assert point.outcome.scenario["traffic"][0]["offload"] == "off"
    assert point.outcome.provenance.seeds == there.outcome.provenance.seeds
    with_bursts, without = there.reached("utilization"), point.reached("utilization")
    assert with_bursts is not None and without is not None
    assert without.value > with_bursts.value
    assert single_packets(found)[0].endswith("the goals are met too.")


def test_a_link_that_was_simulated_whole_is_run_without_offload_once() -> None:
    """Its crossing is that of a study with one level, the link itself."""
    without = []

    def truth(scenario: Scenario) -> float:
        if scenario.traffic[0].offload == "off":  # type: ignore[union-attr]
            without.append(scenario.buffer_packets)
        return twice_with_bursts(scenario)

    found, _ = asked("2 Gbit/s", 400, 60.0, truth=truth)
    assert found.scaled is None and found.without_offload is not None
    assert without == [found.without_offload.packets]


def test_goals_that_are_missed_are_named() -> None:
    def half_with_bursts(scenario: Scenario) -> float:
        return 4 * half_root(scenario) / twice_with_bursts(scenario) * half_root(scenario)

    found, _ = asked("100 Mbit/s", 100, 60.0, truth=half_with_bursts)
    assert single_packets(found)[0].endswith("that misses utilization.")


def test_an_extrapolated_answer_has_that_of_the_largest_link() -> None:
    found, engine = asked("100 Gbit/s", 20_000, 60.0, truth=twice_with_bursts)
    assert found.scaled is not None and found.buffer is not None
    point = found.without_offload
    assert point is not None and point.packets == found.buffer.packets
    assert getattr(point.outcome.provenance, "scaled", 1.0) == pytest.approx(found.scaled.factor)
    assert engine.runs[-1][0] == pytest.approx(1e11 / found.scaled.factor)
    assert engine.now <= 60.0


@pytest.mark.parametrize(
    "change",
    [{"traffic.0.offload": "on"}, {"traffic.0.offload": "off"}, {"traffic.0.sender": "ns2"}],
)
def test_hosts_that_were_chosen_are_not_questioned(change: dict[str, object]) -> None:
    scenario = by_default(link("100 Mbit/s", 100)).replace(change)
    found = sized(scenario, KnownLinks(), 60.0)
    assert found.buffer is not None and found.without_offload is None
    assert single_packets(found) == []


@pytest.mark.parametrize(("rate", "flows"), [("100 Mbit/s", 100), ("100 Gbit/s", 20_000)])
def test_it_is_left_out_where_the_time_is_too_short(
    rate: str, flows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(without_offload, "predict_run", lambda *_: 61.0)
    found, _ = asked(rate, flows, 60.0)
    assert found.buffer is not None and found.without_offload is None


def test_an_interrupt_in_it_ends_the_search() -> None:
    _, engine = asked("100 Mbit/s", 100, 60.0)
    with pytest.raises(Interrupted) as stop:
        asked("100 Mbit/s", 100, 60.0, stop_after=len(engine.runs) - 1)
    assert "the least was" in str(stop.value.result.reason)
