"""How long the runs of a search are, and what their time teaches."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.scenarios import scenario
from tests.search.conftest import KnownEngine, asked, saturating

from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Capabilities, NetworkTraffic
from forebay.laws.assumptions import Sawtooths, sawtooths_s
from forebay.outcome import Outcome
from forebay.scenario import Duration, Measure, Scenario, load
from forebay.search.budget import _LONGEST_S, Timed, TimeLimit, wanted
from forebay.search.cost import Speed
from forebay.search.network_links import LINK_S
from forebay.search.run_within import fitting, routed


def measure(warmup: float, window: float) -> Measure:
    return Measure(warmup=Duration(warmup), duration=Duration(window))


@pytest.mark.parametrize(
    ("most_s", "warmup", "window"), [(75.0, 50.0, 25.0), (60.0, 40.0, 20.0), (300.0, 100.0, 50.0)]
)
def test_as_much_of_a_measurement_as_fits(most_s, warmup, window):
    short = scenario().with_measure(measure(10.0, 20.0))
    made = fitting(short, measure(100.0, 50.0), most_s)
    assert (made.measure.warmup, made.measure.duration) == (warmup, window)


def test_a_warmup_that_would_hardly_be_longer_is_none():
    short = scenario().with_measure(measure(10.0, 20.0))
    assert fitting(short, measure(100.0, 50.0), 31.0) is None


def test_a_measurement_is_cut_where_flows_need_more_than_the_longest():
    def long(_: Scenario, __: int) -> Sawtooths:
        return Sawtooths(_LONGEST_S, _LONGEST_S, 1.0)

    made = wanted(asked(utilization=0.9), 10, long)
    assert float(made.warmup) == pytest.approx(_LONGEST_S / 2)
    assert float(made.duration) == pytest.approx(_LONGEST_S / 2)


def test_what_has_no_long_flows_has_no_sawtooths():
    datagrams = scenario({"traffic": [{"kind": "udp", "flows": 2, "load": 0.5}]})
    assert sawtooths_s(datagrams, 10) == Sawtooths(0.0, 0.0, 0.0)


class Lasting(KnownEngine):
    """Whose runs take so many seconds of its clock."""

    def __init__(self, seconds: float) -> None:
        super().__init__({"utilization": saturating(10.0)})
        self.seconds = seconds

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        self.now += self.seconds
        return super().run(scenario, seeds, effort)


@pytest.mark.parametrize(("share", "learns"), [(4.0, True), (0.5, True), (0.01, False)])
def test_a_run_corrects_the_speed_unless_it_was_cached(share, learns):
    speed, link = Speed(1), asked(utilization=0.9)
    predicted_s, before = speed.replication_s(link), speed.factor
    engine = Lasting(share * predicted_s)
    Timed(engine, speed, engine.clock).run(link, [1])
    assert (speed.factor != before) == learns
    assert not learns or (speed.factor > before) == (share > 1.0)


@pytest.mark.parametrize(("seconds", "learns"), [(0.5, True), (0.01, False)])
def test_a_run_shorter_than_its_imports_teaches_nothing(seconds, learns):
    speed, engine = Speed(1), Lasting(seconds)
    brief = scenario({"measure.warmup": "1 ms", "measure.duration": "1 ms"})
    before = speed.factor
    Timed(engine, speed, engine.clock).run(brief, [1])
    assert (speed.factor != before) == learns


class Routing(KnownEngine):
    """Which routes any network to 300 links."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(route=lambda *_, **__: NetworkTraffic(1e6, 3.0, 10, 300))


def test_the_links_of_a_network_take_time_after_its_packets():
    lot = load(Path(__file__).parents[1] / "topology/parking-lot.toml")
    speed = Speed(1, predicted_s=1.0, passed_s=2.0)
    limit = TimeLimit(60.0, lambda: 0.0, 0.0)
    engine = Routing({"utilization": saturating(10.0)})
    priced, after_s = routed(engine, lot, speed, limit, None)
    assert after_s == pytest.approx(2.0 * 300 * LINK_S)
    assert priced.factor == 2.0 and priced.price != speed.price
