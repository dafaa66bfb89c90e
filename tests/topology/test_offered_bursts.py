"""Bursts at a link of a network: what they lose, and buffers that are too small for them."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from tests.refused import refused
from tests.topology.build import answer, lot, sndlib, text

import forebay
from forebay.api import networks
from forebay.engines.fixed_point.summary import OfferedBursts, burst_load
from forebay.scenario import loads
from forebay.topology import make_problem

BURSTS = {"demand_unit": '"5 Mbit/s"', "traffic": 'kind = "short"\nlength = "100 kB"\nload = 1.0'}
GOAL = "[goals]\nloss_rate = 0.001\n"


@pytest.mark.parametrize(
    ("packets", "load", "simulated"),
    [
        # one link of 1 Gbit/s, flows of 100 kB, round trips of 8 to 12 ms, 5 s after 2 s, one seed
        (1, 0.4, 0.308), (20, 0.4, 0.095), (60, 0.4, 0.0121),
        (20, 0.6, 0.137), (60, 0.6, 0.0387), (150, 0.6, 0.0022),
        (20, 0.8, 0.177), (60, 0.8, 0.0842), (150, 0.8, 0.0178),
    ],
)  # fmt: skip
def test_loss_of_bursts_is_near_a_simulation_s(packets, load, simulated):
    assert simulated / 2 < lost_at(100 * load / 8, packets) < 2 * simulated


def lost_at(mbit_s: float, packets: int) -> float:
    """Return the loss of bursts before the second link, offered eight times so much."""
    one = text(**BURSTS | {"demand_unit": f'"{mbit_s} Mbit/s"'})
    sized = loads(one, overrides=[f"queue.size={packets} packets"])
    return networks.solve(sized).outcome.links["B->C"].loss_rate.value


def test_loss_grows_with_the_load_also_beyond_the_rate():
    lost = [lost_at(mbit_s, 20) for mbit_s in (5, 8, 11, 12.4, 12.6, 15)]
    assert (np.diff(lost) > -1e-6).all() and lost[0] > 0 and lost[-1] < 0.5


def test_bursts_of_many_sizes_at_many_links_take_no_memory():
    """10,000 sizes of bursts at 100,000 loads would be 8 GB."""
    pareto = 'length = { pareto = { mean = "100 kB", shape = 1.2 } }'
    scenario = loads(text(**BURSTS).replace('length = "100 kB"', pareto))
    problem = make_problem(scenario)
    many = np.linspace(0.0, 99e6, 100_000)
    graph = replace(problem.graph, rate_bps=np.full(many.size, 100e6))
    tracemalloc.start()
    OfferedBursts(scenario, replace(problem, graph=graph, offered_bps=many))
    assert tracemalloc.get_traced_memory()[1] < 1e9
    tracemalloc.stop()


def test_bursts_of_offered_short_flows_need_a_buffer():
    """At a load of 0.4 a run of the second link alone loses 8 % in 20 packets and 0.1 % in 100."""
    found = answer(**BURSTS).outcome
    outcome = networks.smallest_buffers(loads(text(**BURSTS) + GOAL)).outcome
    (whole,) = outcome.provenance.model_extra["smallest_buffers"]["classes"].values()
    assert 90 <= whole["packets_max"] <= 160
    assert any("bursts of short flows" in each for each in found.broken_assumptions)


def test_overload_is_a_matter_of_capacity():
    over = text(**BURSTS | {"demand_unit": '"15 Mbit/s"'})
    with refused(r"B->C is offered 120 %.*add capacity", status=1):
        networks.smallest_buffers(loads(over + GOAL))


def test_who_loses_most_is_whom_the_bursts_hit(tmp_path):
    """All links but those of a ring's far side are empty; no path loses in the steady state."""
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]
    demands = {("a", "b"): 1.0, ("c", "d"): 92.0, ("c", "e"): 3.0, ("b", "a"): 1.0}
    path = tmp_path / "ring.xml"
    path.write_text(sndlib(ring, demands, 100.0))
    answer = networks.solve(networks.load(path))
    lost = {
        name: link.loss_rate.value for name, link in answer.outcome.links.items() if link.loss_rate
    }
    assert max(lost, key=lambda name: lost[name]) == "c->d" and lost["c->d"] > 1e-3
    assert answer.most_lossy_path() == "c->e"


@pytest.mark.parametrize("burst", [1.0, 2.0])
@pytest.mark.parametrize(("load", "buffer"), [(0.5, 10.0), (0.8, 40.0), (0.98, 91.0)])
def test_the_load_is_that_of_the_effective_bandwidth_formula(load, buffer, burst):
    """Appenzeller et al. 2004, section 4: P(Q >= b) = e^(-b 2 (1 - rho) / rho E[X] / E[X^2])."""
    overflow = np.exp(-buffer * 2 * (1 - load) / load * burst / burst**2)
    assert burst_load(np.array([buffer]), overflow, burst) == pytest.approx([load])


def run(*changes: str) -> list[str]:
    return forebay.run(lot(*changes), engine="network").broken_assumptions


def test_small_buffers_are_named_and_large_ones_are_not():
    """In the simulator these links of 91 packets are used to 97 %, in the steady state to 100 %."""
    (note,) = run()
    assert note.startswith("bursts, which the model leaves out, matter at 3 links")
    assert "a buffer of 91" in note
    assert run('queue.size="2 bdp"') == []


def test_a_sizing_says_it_of_the_link_that_it_sized():
    """The simulator needs 16 packets for 95 % here (8 s after 8 s), the steady state one."""
    found = forebay.size(lot("goals.utilization=0.95"), "network", link="A->B")
    assert (found.buffer.packets, found.recommended.packets) == (1, 65)
    (note,) = [each for each in found.notes if each.startswith("bursts")]
    assert "matter at A->B: independent bursts of 2 packets overflow a buffer of 65 " in note
    (point,) = [each for each in found.curve if each.packets == 65]
    assert note in point.outcome.broken_assumptions


def test_traffic_without_responses_has_no_such_note():
    idle = ('traffic.0={kind="udp", flows=1, rate="1 Mbit/s"}', 'queue.size="9 packets"')
    assert run(*idle) == []
