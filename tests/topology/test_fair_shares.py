"""Max-min fair rates: by hand on small networks; no link is overfilled; any number of threads."""

import numpy as np
import pytest
from tests.topology.build import lot, network

import forebay
from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.topology import make_problem
from forebay.topology.problem import fair_rates

TWO = """
demands = [
  { source = "A", target = "C", weight = 1 }, { source = "A", target = "B", weight = 2 },
  { source = "B", target = "C", weight = 1 },
]
links = [
  { between = ["A", "B"], rate = "30 Mbit/s" }, { between = ["B", "C"], rate = "50 Mbit/s" },
]
"""
TREE = "[topology.two_level]\ncore = 'ring'\ncores = 4\nmiddles = 8\nedges = 16\nhosts = 64\n"


def test_the_rest_of_a_faster_link_goes_to_those_who_cross_it_alone():
    """Three connections share 30 Mbit/s; what one of them leaves of 50 is the fourth's."""
    problem = make_problem(network(TWO, 4))
    ends = [(problem.graph.names[a], problem.graph.names[b])
            for a, b in zip(problem.source, problem.target, strict=True)]  # fmt: skip
    rates = dict(zip(ends, fair_rates(problem), strict=True))
    wanted = {("A", "C"): 10e6, ("A", "B"): 20e6, ("B", "C"): 40e6}
    assert rates == {key: pytest.approx(value) for key, value in wanted.items()}


def test_traffic_that_does_not_respond_comes_first():
    both = 'traffic=[{ flows = 4 }, { kind = "udp", flows = 4, rate = "3 Mbit/s" }]'
    problem = make_problem(network(TWO, 4, (both,)))
    assert fair_rates(problem).sum() == pytest.approx((30 - 9) * 1e6 + (50 - 6 - 7) * 1e6)


def test_without_connections_that_respond_all_rates_are_zero_and_a_link_is_sized():
    idle = 'traffic=[{ kind = "udp", flows = 4, rate = "3 Mbit/s" }]'
    assert not fair_rates(make_problem(network(TWO, 4, (idle, 'queue.size="9 packets"')))).any()
    short = ['measure.warmup="1 s"', 'measure.duration="1 s"', "goals.loss_rate=0.01"]
    few = 'traffic=[{ kind = "udp", flows = 400, rate = "10 kbit/s" }]'
    found = forebay.size(lot(few, *short), link="B->C", seeds=1, max_seeds=1)
    assert found.buffer.packets == 1
    assert 0.0 < found.cost.predicted_s < 60.0


@pytest.mark.parametrize("rate", ["300 Mbit/s", "30 Gbit/s"])
def test_every_path_has_a_full_link_and_none_is_overfilled(rate):
    problem = make_problem(network(TREE, 2000, (f'link.rate="{rate}"',)))
    load = np.zeros(problem.graph.links + 1)
    for row in problem.paths:
        np.add.at(load, row, fair_rates(problem))
    load = load[:-1] / problem.graph.count / problem.graph.rate_bps
    assert load.max() == pytest.approx(1.0)
    full = np.append(load > 1.0 - 1e-6, False)
    assert full[problem.paths].any(axis=0).all()


def test_the_packets_of_a_parking_lot_are_foreseen_within_a_quarter():
    scenario = lot('measure.warmup="2 s"', 'measure.duration="3 s"')
    sized = SimulationEngine().size_links(scenario, link="A->B", link_class=None)
    got = sized.run(scenario, [1], Effort(jobs=1)).provenance.packets
    assert sized.traffic.packets_per_second * 5.0 == pytest.approx(got, rel=0.25)
    assert sized.traffic.hops == pytest.approx(3.5)


SHORT = ["measure.warmup=500 ms", "measure.duration=500 ms"]
STOP = 'traffic.0.stop={uniform=["600 ms","900 ms"]}'
MIX = 'traffic=[{flows=200,congestion_control="bbr"},{kind="udp",flows=50,rate="1 Mbit/s"}]'


@pytest.mark.parametrize("changes", [[], [MIX], ["queue.discipline=fq_codel"], [STOP]], ids=str)
def test_the_answer_does_not_depend_on_the_number_of_threads(changes):
    scenario = lot(*SHORT, *changes)
    outcomes = [
        forebay.run(scenario, engine="simulation", seeds=1, jobs=jobs).to_dict()
        for jobs in (1, 2, 3)
    ]
    for outcome in outcomes:
        assert outcome["provenance"].pop("wall_s") > 0.0
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0]["provenance"]["packets"] > 10_000
