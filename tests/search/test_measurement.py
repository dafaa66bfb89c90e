"""How long the runs of a search are, and what their time teaches."""

from pathlib import Path

import pytest
from tests.scenarios import scenario
from tests.search.conftest import KnownEngine, saturating

from forebay.engines.base import Capabilities, NetworkTraffic
from forebay.laws.assumptions import Sawtooths, sawtooths_s
from forebay.scenario import load
from forebay.search.budget import TimeLimit
from forebay.search.cost import Speed
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
