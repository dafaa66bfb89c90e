"""How long the runs of a search are, and what their time teaches."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios import scenario
from tests.search.conftest import KnownEngine, saturating

from forebay.engines.base import Capabilities, NetworkTraffic
from forebay.laws.assumptions import Sawtooths, sawtooths_s
from forebay.scenario import Scenario, load
from forebay.search.budget import TimeLimit
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.network_links import LINK_S
from forebay.search.run_within import longer, routed


def test_what_has_no_long_flows_has_no_sawtooths():
    datagrams = scenario({"traffic": [{"kind": "udp", "flows": 2, "load": 0.5}]})
    assert sawtooths_s(datagrams, 10) == Sawtooths(0.0, 0.0, 0.0)


def test_what_has_not_settled_is_warmed_up_three_times_as_long_in_the_same_window():
    short = scenario({"measure.warmup": "40 s", "measure.duration": "0.5 s"})
    made = longer(short, None)
    assert (float(made.warmup), float(made.duration)) == (120.0, 0.5)


class Routing(KnownEngine):
    """Which routes any network to 300 links, which takes 4 s by its estimate."""

    @property
    def capabilities(self) -> Capabilities:
        def route(
            _: Scenario, *, afford: Callable[[int, float], None], **__: Any
        ) -> NetworkTraffic:
            afford(300, 4.0)
            return NetworkTraffic(1e6, 3.0, 10, 300)

        return Capabilities(route=route)


def test_the_links_of_a_network_take_time_after_its_packets():
    lot = load(Path(__file__).parents[1] / "topology/parking-lot.toml")
    speed = Speed(1, predicted_s=1.0, passed_s=2.0)
    limit = TimeLimit(60.0, lambda: 0.0, 0.0)
    engine = Routing({"utilization": saturating(10.0)})
    priced, after_s = routed(engine, lot, speed, limit, None)
    assert after_s == pytest.approx(2.0 * 300 * LINK_S)
    assert priced.factor == 2.0 and priced.price != speed.price


@pytest.mark.parametrize(("spent_s", "fits"), [(10.0, True), (13.0, False)])
def test_routes_that_do_not_fit_into_what_is_left_are_not_looked_for(spent_s: float, fits: bool):
    lot = load(Path(__file__).parents[1] / "topology/parking-lot.toml")
    limit = TimeLimit(20.0, lambda: spent_s, 0.0)
    engine = Routing({"utilization": saturating(10.0)})
    with nullcontext() if fits else pytest.raises(TooLittleTime):
        routed(engine, lot, Speed(1, predicted_s=1.0, passed_s=2.0), limit, None)
