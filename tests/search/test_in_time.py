"""No sizing takes longer than it may, however slow the machine turns out to be."""

from __future__ import annotations

import pytest
from tests.search.asking import size_within
from tests.search.known_links import KnownLinks, half_root, link

from forebay.engines.base import LinksEngine, NetworkTraffic
from forebay.outcome import SizeResult
from forebay.scenario import Scenario, loads
from forebay.search.cost import Speed, TooLittleTime, predict_search
from forebay.search.network_links import NetworkLinks, NetworkLoad
from forebay.search.strategies.scaling.forecast import crossing_s
from forebay.search.timed import Timed


def sized(scenario: Scenario, engine: KnownLinks, budget_s: float) -> SizeResult:
    return size_within(
        scenario, engine, budget_s, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock
    )


def slowed(times: float) -> KnownLinks:
    """Return an engine so many times as slow as the table of costs says of 100 flows."""
    return KnownLinks(packets_per_s=1e6 / 0.07 / times)


LINKS = {
    "searched": link("100 Mbit/s", 100),
    "crossed": link("2 Gbit/s", 400),
    "scaled": link("100 Gbit/s", 200_000),
    "a range": link("1 Gbit/s", '"400..600"'),  # type: ignore[arg-type]
    "two goals": link("200 Mbit/s", 150, 'utilization = 0.98\nqueue_delay_p99 = "50 ms"'),
}


@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("name", LINKS)
def test_an_answer_comes_in_time_on_a_slow_machine(name: str, times: float) -> None:
    engine = slowed(times)
    found = sized(LINKS[name], engine, 60.0)
    assert found.buffer is not None
    assert engine.now <= 60.0
    assert found.cost is not None
    assert found.cost.spent_s == pytest.approx(engine.now)


@pytest.mark.parametrize("name", LINKS)
def test_a_refusal_comes_in_time_on_a_machine_that_hardly_moves(name: str) -> None:
    engine = slowed(1000)
    with pytest.raises(TooLittleTime) as refused:
        sized(LINKS[name], engine, 60.0)
    assert engine.now <= 60.0
    assert refused.value.needs_s > 60.0


class KnownNetwork(KnownLinks, LinksEngine):
    """A network of one link."""

    scenario = link("100 Mbit/s", 100)
    traffic = NetworkTraffic(packets_per_second=100e6 / 12_000, hops=1.0, paths=1, links=1)


def test_a_search_for_links_of_a_network_stops_before_the_run_that_would_overrun() -> None:
    engine = KnownNetwork(packets_per_s=1e5)
    measure = engine.scenario.measure
    run_s = 2 * float(measure.warmup + measure.duration) * 100e6 / 12_000 / engine.packets_per_s
    network = NetworkLinks("one link", NetworkLoad(engine.scenario, engine.traffic))
    with pytest.raises(TooLittleTime, match="after 2 buffers"):
        size_within(
            engine.scenario, engine, 2.5 * run_s, seeds=(1, 2), max_seeds=2, limit=1000, jobs=1,
            clock=engine.clock, network=network,
        )  # fmt: skip
    assert engine.now == pytest.approx(2 * run_s)


def test_replications_that_are_cached_are_expected_to_take_no_time() -> None:
    scenario, engine = link("400 Mbit/s", 150), slowed(1)
    seconds = float(scenario.measure.warmup + scenario.measure.duration)
    one_s = float(scenario.link.rate) / 12_000 * seconds / engine.packets_per_s
    expected: list[float] = []
    speed = Speed(1, price=lambda *_: one_s)
    timed = Timed(engine, speed, engine.clock, before_run=expected.append)
    for seeds in ((1, 2), (1, 2, 3), (1, 2, 3)):
        timed.run(scenario, seeds, jobs=1)
    assert expected == pytest.approx([2 * one_s, one_s, 0.0])
    assert speed.factor == pytest.approx(1.0)


@pytest.mark.parametrize("times", [1.5, 3, 6])
def test_a_search_that_would_overrun_gives_way_to_the_crossing(times: float) -> None:
    scenario = link("400 Mbit/s", 150)
    budget_s = 1.05 * predict_search(scenario, Speed(2), 5)
    engine = slowed(times)
    found = sized(scenario, engine, budget_s)
    assert engine.now <= budget_s
    assert found.buffer is not None
    assert found.buffer.low <= half_root(scenario) <= found.buffer.high
    assert found.buffer.packets == pytest.approx(half_root(scenario), rel=0.2)


class SlowInTheEnd(KnownLinks):
    """As fast as the table says, until its clock comes to ``turns_s``; then a run never ends."""

    turns_s = 0.0

    def run(self, scenario, seeds, **more):  # type: ignore[no-untyped-def]
        if self.now > self.turns_s:
            self.packets_per_s = 10.0
        return super().run(scenario, seeds, **more)


def test_a_search_stopped_at_its_end_says_what_it_had_shown() -> None:
    scenario = loads(
        '[link]\nrate = "100 Mbit/s"\n[[traffic]]\nflows = 100\ncongestion_control = "cubic"\n'
        'rtt = { uniform = ["30 ms", "90 ms"] }\ngoals = { throughput = "98 Mbit/s" }\n'
    )  # a throughput is a rate, which needs a search
    quick = slowed(1)
    whole = sized(scenario, quick, 60.0)
    engine = SlowInTheEnd(packets_per_s=quick.packets_per_s)
    engine.turns_s = 0.8 * quick.now
    found = sized(
        scenario, engine, max(1.05 * quick.now, 1.01 * predict_search(scenario, Speed(2), 5))
    )
    assert engine.now <= found.cost.budget_s  # type: ignore[union-attr]
    assert found.buffer is not None and whole.buffer is not None
    assert found.buffer.low <= half_root(scenario) <= found.buffer.packets
    assert found.notes[0].startswith("the search was stopped at the end of its time")
    assert "budget=" in found.notes[0]
    assert found.region[0].low == found.buffer.packets


def test_a_level_that_the_end_stopped_is_named() -> None:
    scenario = link("100 Gbit/s", 200_000)
    engine = SlowInTheEnd(packets_per_s=1e6 / 0.07)
    engine.turns_s = 20.0
    found = sized(scenario, engine, 60.0)
    assert engine.now <= 60.0 and found.buffer is not None and found.scaled is not None
    assert any("did not end in time" in note for note in found.notes)


def test_what_shows_nothing_in_time_says_how_long_it_takes() -> None:
    one = link("100 Mbit/s", 2, extra='[[links]]\nname = "next"\nrate = "1 Gbit/s"\n')
    engine = slowed(1e5)
    with pytest.raises(TooLittleTime, match="several links") as refused:
        sized(one, engine, 60.0)
    assert engine.now <= 60.0
    assert refused.value.needs_s > 600


@pytest.mark.parametrize("budget_s", [0.9, 1.2])
def test_the_best_so_far_is_an_answer_where_nothing_cheaper_has_one(budget_s: float) -> None:
    """The whole search takes some 3.5 s by prediction, and a goal on a rate needs it."""
    goal = 'goals = { throughput = "98 Mbit/s" }'
    rtt = 'rtt = { uniform = ["20 ms", "80 ms"] }'
    asked = loads(f'[link]\nrate = "100 Mbit/s"\n[[traffic]]\nflows = 20\n{rtt}\n{goal}\n')
    engine = slowed(1)
    found = sized(asked, engine, budget_s)
    assert engine.now <= budget_s + 0.03 and found.recommended is not None
    assert found.there is not None and found.there.verdict == "met"
    assert any("stopped at the end of its time" in note for note in found.notes)


@pytest.mark.parametrize("times", [1, 3, 10])
@pytest.mark.parametrize("name", LINKS)
def test_progress_never_lags_behind_the_clock_nor_goes_back(name: str, times: float) -> None:
    engine, told = slowed(times), list[tuple[float, float]]()
    size_within(
        LINKS[name], engine, 60.0, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock,
        progress=lambda fraction: told.append((engine.now / 60.0, fraction)),
    )  # fmt: skip
    assert all(fraction >= min(passed, 0.98) - 1e-9 for passed, fraction in told)
    assert told == sorted(told)


@pytest.mark.parametrize("flows", [100, 150, 300, 400])
@pytest.mark.parametrize("times", [1.05, 2, 5, 10])
def test_any_number_of_flows_is_answered_in_a_fraction_of_the_links_own_time(
    flows: int, times: float
) -> None:
    scenario, engine = link("10 Gbit/s", flows), slowed(1)
    budget_s = crossing_s(scenario, Speed(2), 6) / times
    found = sized(scenario, engine, budget_s)
    assert engine.now <= budget_s
    assert found.buffer is not None
    assert found.buffer.low <= half_root(scenario) <= found.buffer.high
