"""A network through time by the slides' equations: its first and last state, and its answer."""

import csv
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.refused import refused
from tests.topology.build import LOT, lot, network

from forebay import networks
from forebay.engines.fixed_point.balance import hisamatsu, hisamatsu_step
from forebay.outcome.transient import Transient
from forebay.report import print_transient
from forebay.scenario import Scenario, ScenarioError

SLIDES = "topology.model=hisamatsu-2007"
TREE = """
model = "hisamatsu-2007"
two_level = { core = "ring", cores = 4, middles = 8, edges = 16, hosts = 64 }
"""
LINE = """
model = "hisamatsu-2007"
demands = [{ source = "A", target = "B" }]
links = [{ between = ["A", "B"], buffer = "200 packets" }]
"""


def slides(*changes: str) -> Scenario:
    return lot(SLIDES, *changes)


def line(flows: int = 100, *changes: str) -> Scenario:
    return network(LINE, flows, ('link.rate="100 Mbit/s"', 'link.delay="10 ms"', *changes))


@pytest.mark.parametrize("timeouts", ["none", "padhye-1998"])
@pytest.mark.parametrize("loss", [1e-6, 1e-3, 0.05, 0.3])
def test_slide_9_stands_still_at_its_steady_state_and_at_no_other(timeouts, loss):
    still = np.exp(hisamatsu(np.array([math.log(loss)]), timeouts))
    assert hisamatsu_step(still, loss, 0.5, timeouts) == pytest.approx(still, rel=1e-12)
    for factor, side in ((0.9, 1.0), (1.1, -1.0)):
        moved = hisamatsu_step(factor * still, loss, 0.5, timeouts) - factor * still
        assert side * moved > 0.0


def test_a_short_step_of_slide_9_is_the_printed_one():
    """The printed decrease has w(k) twice, ours w(k) w(k + 1): they differ by the step squared."""
    w, d, short = np.array([20.0]), 0.004, 1e-4
    d_to = 3.0 / w
    printed = (1 - d) / w - d * (1 - d_to) * 2 * w / 3 - d * d_to * 4 * w / 3
    moved = hisamatsu_step(w, d, short, "padhye-1998") - w
    assert moved == pytest.approx(w * short * printed, rel=1e-4)


@pytest.mark.parametrize(
    ("scenario", "seconds"),
    [
        (lambda: slides("traffic.0.flows=3000"), "10 s"),
        (lambda: line(100), "10 s"),
        pytest.param(
            lambda: network(TREE, 2000, ('link.rate="300 Mbit/s"',)), "8 s", marks=pytest.mark.long
        ),
    ],
    ids=["parking-lot", "one-link", "tree"],
)
def test_the_last_state_is_the_solver_s(scenario, seconds):
    """Within 1e-3 of every utilization and throughput; loads within 1e-3 of the capacity."""
    course = networks.transient(scenario(), seconds)
    assert any(link.steady.queue_packets > 1.0 for link in course.links.values())
    assert course.distance < 1e-3 and course.residual < 1e-3
    assert course.oscillating_links == 0
    solved = networks.solve(scenario()).outcome.network
    assert course.throughput_bps[-1] == pytest.approx(solved.mean_throughput_bps, rel=1e-3)
    assert course.rtt_s[-1] == pytest.approx(solved.mean_rtt_s, rel=1e-2)


def test_one_link_goes_the_way_of_an_integrator_of_the_differential_equations():
    """scipy's LSODA on slides 9 and 10 of one link with a hundred connections, written out here."""
    rate, rtt, buffer, n = 100e6 / 12000, 0.02, 200.0, 100.0

    def change(_, state):
        w, q = state
        sigma = (rate * rtt + q) / (3 * math.sqrt(3) * math.sqrt(n))
        d = 0.5 * math.erfc((buffer - q) / (math.sqrt(2) * sigma))
        d_to, r = min(1.0, 3.0 / w), rtt + q / rate
        more = (w / r) * ((1 - d) / w - d * (1 - d_to) * 2 * w / 3 - d * d_to * 4 * w / 3)
        fills = n * w / r - rate
        return more, fills if q > 0.0 or fills > 0.0 else 0.0

    course = networks.transient(line(), "1 s", step="200 us", samples=41)
    exact = solve_ivp(
        change, (0.0, 1.0), (1.0, 0.0), "LSODA", course.at_s, rtol=1e-8, atol=1e-8, max_step=1e-3
    )
    window = exact.y[0]
    stepped = course.throughput_bps * course.rtt_s / 12000
    assert np.max(np.abs(stepped / window - 1.0)) < 0.01
    (link,) = course.links.values()  # both directions: the way back is empty
    assert np.max(np.abs(link.queue_packets - exact.y[1])) < 2.0


def test_a_steady_state_stays_where_it_is():
    course = networks.transient(line(), "2 s", start=line())
    assert course.start == "steady" and course.start_scenario == course.scenario
    for each in course.links.values():
        assert np.ptp(each.queue_packets) < 1e-3 * each.buffer_packets
    assert np.ptp(course.throughput_bps) < 1e-6 * course.throughput_bps[0]


def test_a_smaller_buffer_begins_with_the_old_windows_and_ends_at_its_own_steady_state():
    before, after = line(), line(100, 'topology.links.0.buffer="50 packets"')
    course = networks.transient(after, "5 s", start=before)
    (link,) = course.links.values()
    assert link.queue_packets[0] == 50.0  # what the new buffer holds
    assert course.rtt_s[0] > 1.02 * course.steady_rtt_s or link.loss_rate[0] > 0.1
    assert course.distance < 1e-3


@pytest.mark.long
def test_too_long_a_step_oscillates_and_the_answer_says_so(capsys):
    changes = ('link.rate="1 Gbit/s"', 'topology.links.0.buffer="20 packets"')
    scenario = line(5000, *changes)
    course = networks.transient(scenario, "3 s", step="5 ms")
    assert course.oscillating_links == 1
    (found,) = course.oscillations
    assert found.link == "A->B" and found.high_packets - found.low_packets > 1.0
    print_transient(course)
    assert "1 queue still oscillates" in capsys.readouterr().out
    finer = networks.transient(scenario, "3 s")
    assert finer.step_s < 5e-3 and finer.oscillating_links == 0


def test_without_connections_that_respond_nothing_moves():
    idle = ('traffic.0={kind="udp", flows=1, rate="1 kbit/s"}', 'queue.size="9 packets"')
    course = networks.transient(line(1, *idle), "1 s")
    assert not course.throughput_bps.any() and course.distance < 1e-3
    assert all(not link.queue_packets.any() for link in course.links.values())


def test_unresponsive_traffic_takes_its_share():
    both = 'traffic=[{ flows = 100 }, { kind = "udp", flows = 10, rate = "5 Mbit/s" }]'
    course = networks.transient(line(100, both), "10 s")
    assert course.distance < 1e-3
    (link,) = course.links.values()
    udp = 50e6 * (1.0 - link.loss_rate[-1])
    assert 100 * course.throughput_bps[-1] + udp == pytest.approx(100e6, rel=1e-3)


@pytest.mark.parametrize(
    ("duration", "step", "said"),
    [
        ("10 ms", "1 s", "step: 1 s is longer than 10 ms"),
        ("10 ms", "0 s", "step: 0 s is not above 0"),
        ("0 s", None, "duration: 0 s is not above 0"),
        ("30 days", None, "duration: "),
    ],
)
def test_a_time_that_cannot_be_stepped_through_is_refused(duration, step, said):
    with refused(said):
        networks.transient(line(), duration, step=step)


def test_a_model_without_equations_in_time_is_refused_in_one_line():
    with refused("hisamatsu-2007"):
        networks.transient(lot(), "1 s")


def test_the_verb_prints_json_and_writes_series_and_picture(tmp_path, printed):
    series, picture = tmp_path / "s.csv", tmp_path / "p.svg"
    asked = f"network {LOT} --set {SLIDES} --transient '1 s' --from {LOT} --json"
    course = Transient.from_json(printed(f"{asked} --series {series} --figure {picture}"))
    rows = list(csv.DictReader(series.read_text().splitlines()))
    assert len(rows) == course.instants and float(rows[-1]["at_s"]) == course.at_s[-1] == 1.0
    assert [float(r["throughput_bps.hops_5"]) for r in rows] == list(course.hops[1].throughput_bps)
    assert picture.stat().st_size > 10_000


def test_a_stopped_run_keeps_what_it_has_stepped_through():
    def stop(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        networks.transient(line(), "4 s", progress=stop)
    so_far = stopped.value.result  # type: ignore[attr-defined]
    assert 1.6 < so_far.at_s[-1] < 2.4 and so_far.instants > 100
    assert Transient.from_json(so_far.to_json()) == so_far


def test_a_start_that_shares_no_link_is_refused():
    other = line().replace(
        {"topology.links.0.between": ["X", "Y"], "topology.demands.0.source": "X",
         "topology.demands.0.target": "Y"}
    )  # fmt: skip
    with pytest.raises(ScenarioError, match="no link of it, such as X->Y, is in this network"):
        networks.transient(line(), "100 ms", start=other)


def test_a_start_whose_traffic_does_not_respond_keeps_windows_of_one_packet():
    udp = [{"kind": "udp", "flows": 4, "rate": "1 Mbit/s"}]
    course = networks.transient(line(), "50 ms", start=line().replace({"traffic": udp}))
    assert all(math.isfinite(value) for value in course.throughput_bps)
