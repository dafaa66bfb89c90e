"""The fixed point: against the law of one link, from anywhere, one or several."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.topology.build import LOT, balance, lot, network
from tests.topology.test_random_networks import TREE

import forebay
from forebay.api.networks import smallest_buffers, transient
from forebay.engines.errors import Unsupported
from forebay.engines.fixed_point import NetworkEngine, linear, summary
from forebay.engines.fixed_point.approach import Point
from forebay.engines.fixed_point.queueing import Windows
from forebay.engines.fixed_point.solver import NoSteadyState, Solution, fixed_points, solve
from forebay.laws import tcp_and_link
from forebay.scenario import Scenario

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
ONE = 'links = [{ between = ["A", "B"] }]\ndemands = [{ source = "A", target = "B" }]\n'


@pytest.mark.parametrize("buffer", ["100 packets", "1 bdp/sqrt(n)", "1 bdp"])
@pytest.mark.parametrize("flows", [20, 500, 5000])
def test_one_link_is_the_law_of_one_link(buffer, flows):
    """`laws.tcp_and_link` (paper C, slides 9 to 11) with the same deviation at its own queue."""
    topology = 'model = "hisamatsu-2007"\ntimeouts = "none"\n' + ONE
    scenario = network(topology, flows, (f'queue.size="{buffer}"', "link.delay=10 ms"))
    solution, _ = NetworkEngine().solution(scenario)
    queue = float(solution.state.queue[0])
    capacity = 10e9 / 12000
    sigma = (capacity * 0.02 + queue) / (3.0 * np.sqrt(3.0 * flows))
    size = solution.balance.problem.buffer_packets[solution.balance.used[0]]
    law = tcp_and_link.balance(capacity, 0.02, size, flows, sigma=sigma)
    assert queue == pytest.approx(float(law.queue), rel=1e-6)
    assert np.exp(solution.state.log_loss[0]) == pytest.approx(float(law.loss_rate), rel=1e-6)
    each = solution.flow.sent_bps[0] / flows / 12000
    assert each == pytest.approx(float(law.throughput), rel=1e-6)


@pytest.fixture(scope="module")
def fast():
    return forebay.load(SCENARIOS / "abilene-fast-edge-small.toml")


@pytest.mark.parametrize("starts", [3, pytest.param(10, marks=pytest.mark.long)])
def test_random_starts_come_to_the_same_fixed_point(starts):
    links = balance(lot())
    first = solve(links)
    random = np.random.default_rng(7)
    for _ in range(starts):
        start = links.queueing.start() * random.uniform(-0.2, 2.0, len(first.s))
        again = solve(links, start)
        assert again.residual < 1e-9
        assert again.flow.sent_bps == pytest.approx(first.flow.sent_bps, rel=1e-6)
    found = fixed_points(first, starts)
    assert (found.starts, found.points, found.not_converged) == (starts, 1, 0)
    assert found.rate_difference < 1e-6 and found.residual < 1e-9


def test_the_network_of_paper_c_is_at_rest(fast):
    """Slide 16: 52,394 connections, 4.829 ms to half a per cent (topology: errata)."""
    outcome = forebay.run(fast, engine="network")
    whole = outcome.network
    assert whole.connections == 52394 and whole.residual < 1e-9
    assert outcome.provenance.model_extra["conservation"] < 1e-9
    assert whole.mean_propagation_s == pytest.approx(4.829e-3, rel=0.005)
    core = [link for link in outcome.links.values() if link.link_class == "core"]
    assert len(core) == 34 and all(0 < link.utilization.value <= 1 for link in core)
    # small buffers: n counts the connections on that link
    for link in core:
        assert link.buffer_packets == round(link.bdp_packets / link.flows**0.5)


@pytest.mark.parametrize("rate", ["100 Mbit/s", "100 Gbit/s"])
def test_longer_routes_get_less_and_no_link_carries_more_than_it_can(rate):
    scenario = lot(f"link.rate={rate}", "queue.size=1 bdp/sqrt(n)")
    outcome = forebay.run(scenario, engine="network")
    short, long = outcome.network.by_hops
    assert 0 < long.throughput_bps < short.throughput_bps and long.loss_rate > short.loss_rate
    assert max(link.utilization.value for link in outcome.links.values()) <= 1.0


def test_cubic_beside_reno_and_datagrams_get_their_shares():
    changes = ["traffic.0.congestion_control={ reno = 0.5, cubic = 0.5 }"]
    outcome = forebay.run(lot(*changes), engine="network")
    assert outcome.network.residual < 1e-9
    text = LOT.read_text() + '[[traffic]]\nkind = "udp"\nflows = 40\nrate = "1 Mbit/s"\n'
    mixed = forebay.run(forebay.scenario.loads(text), engine="network")
    udp = [each for each in mixed.classes if each.kind == "udp"]
    assert sum(each.throughput_bps.value for each in udp) == pytest.approx(40e6, rel=0.05)
    before = forebay.run(lot(), engine="network").network.mean_throughput_bps
    assert mixed.network.mean_throughput_bps < before


FAT = "[topology.fat_tree]\nk = 4\n"
FEW = {"core": "ring", "cores": 4, "middles": 8, "edges": 12, "hosts": 80}
DATAGRAMS: list[dict[str, object]] = [{"kind": "udp", "flows": 20, "rate": "1 Mbit/s"}]
BOTH: list[dict[str, object]] = [{"flows": 100}, *DATAGRAMS]
SLOW = ("link.rate=1 Mbit/s", "queue.size=20 packets")


def paper_c(*changes: str) -> Scenario:
    """A two-level network of paper C's kind, a tenth of its routers."""
    model = ["topology.model=response-functions", "traffic.0.flows=5000"]
    loaded = forebay.load(SCENARIOS / "abilene-fast-edge-small.toml", [*model, *changes])
    return loaded.replace({"topology.two_level": FEW})


def fat(flows: int, *changes: str, traffic: object = None) -> Scenario:
    return network(FAT, flows, changes).replace({"traffic": traffic} if traffic else {})


def datagrams(times: int, traffic: list[dict[str, object]]) -> Scenario:
    """20 datagram flows of a link's rate each over a tree of such links, and many times that."""
    last = {f"traffic.{len(traffic) - 1}.rate": f"{times} Mbit/s"}
    return fat(1, *SLOW, traffic=traffic).replace(last)


AT_400 = ("link.rate=400 Gbit/s", "link.delay=2 us", "queue.size=1 bdp")
STRANGE: dict[str, Callable[[], Scenario]] = {
    "cubic": lambda: paper_c("traffic.0.congestion_control=cubic"),
    "one connection": lambda: paper_c("traffic.0.flows=1"),
    "a core a hundred times faster": lambda: paper_c("link.rate=1 Tbit/s"),
    "a core a hundred times slower": lambda: paper_c("link.rate=100 Mbit/s"),
    "no delay": lambda: fat(1, "link.rate=10 Mbit/s", "link.delay=0 s", "queue.size=1 ms"),
    # Up and down links alike and full: the loss goes to nothing, the load to one.
    "400 Gbit/s": lambda: fat(400, *AT_400),
    "400 Gbit/s of cubic": lambda: fat(400, *AT_400, "traffic.0.congestion_control=cubic"),
    **{
        f"datagrams {times} times the capacity, {len(traffic)} classes": partial(
            datagrams, times, traffic
        )
        for times in (1, 10, 100)
        for traffic in (DATAGRAMS, BOTH)
    },
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_newton_alone_does_not_solve_comes_to_rest(name):
    solution, _ = NetworkEngine().solution(STRANGE[name]())
    assert solution.residual < 1e-9 and solution.conservation < 1e-9
    most = float((solution.flow.carried_bps / solution.balance.rate_bps).max())
    assert most <= 1.001 and (most > 0.99 or "400" not in name)
    sent = solution.flow.sent_bps + sum(each.offered_bps for each in solution.balance.problem.kinds)
    arrived = float(solution.balance.problem.share @ (sent * solution.flow.kept))
    assert arrived > 0 and (arrived < 16 * 1.001e6 or "datagrams" not in name), "16 links down"


@pytest.mark.parametrize(("each", "used"), [("1 Mbit/s", 0.1), ("20 Mbit/s", 1.0)])
def test_datagrams_alone_fill_what_they_offer_and_lose_what_is_too_much(each, used):
    traffic = [{"kind": "udp", "flows": 100, "rate": each}]
    changes = ("link.rate=1 Gbit/s", "link.delay=0 s", "queue.size=500 packets")
    outcome = forebay.run(network(ONE, 1, changes).replace({"traffic": traffic}), engine="network")
    link = outcome.links["A->B"]
    assert link.utilization.value == pytest.approx(used, rel=0.01)
    assert link.loss_rate.value == pytest.approx(0.5 if used == 1.0 else 0.0, abs=0.01)


NETWORK = NetworkEngine().run


@pytest.mark.parametrize(
    "ask",
    [lambda link: NETWORK(link, [1]), smallest_buffers, lambda link: transient(link, "1 s")],
    ids=["run", "smallest_buffers", "transient"],
)
def test_a_single_link_is_no_network(ask):
    with pytest.raises(Unsupported, match=r"single link yet; add topology=Topology\("):
        ask(forebay.load("oc3-gsr"))


def test_where_no_steady_state_is_found_the_links_are_said():
    said = str(NoSteadyState(0.1, ["A->B", "B->C"]))
    assert "A->B, B->C" in said and NoSteadyState.exit_status == 3


@pytest.mark.parametrize("engine", ["theory", "testbed"])
def test_engines_of_a_single_link_refuse_a_network(engine):
    with pytest.raises(Unsupported, match="whole network"):
        forebay.run(lot(), engine=engine)


def hosts_carry(solution: Solution) -> list[float]:
    """Return the bit/s on the hosts' own links, up and down."""
    kind = solution.balance.problem.graph.kind[solution.balance.used]
    carried = solution.flow.carried_bps * solution.balance.count
    return [float(carried[kind == way].sum()) for way in (1, 2)]


def test_what_hosts_send_is_what_hosts_get_but_for_what_a_link_drops(fast):
    solution, _ = NetworkEngine().solution(fast)
    total = float(solution.balance.problem.share @ solution.flow.sent_bps)
    assert hosts_carry(solution) == pytest.approx([total, total], rel=1e-12)
    solution, _ = NetworkEngine().solution(lot())
    flow = solution.flow
    assert flow.passing_bps.min() >= 0.0 and (np.diff(flow.passing_bps[:3], axis=0) <= 0.0).all()
    arrived = float(solution.balance.problem.share @ (flow.sent_bps * flow.kept))
    assert hosts_carry(solution)[1] == pytest.approx(arrived, rel=1e-12)
    assert flow.kept.max() < 0.99


def test_bursts_lose_more_than_what_comes_through_an_equal_link():
    """`exposure` by hand: two packets at once from 1 Gbit/s, half of BC's come through AB."""
    links = balance(lot())
    problem = links.problem
    long = int(np.argmax(problem.hops))
    short = [n for n, hops in enumerate(problem.hops) if hops == 3]
    burst = 1.0 + (1.0 - 0.155)
    m = 0.5 / burst + 0.5
    others, t = 0.5 * (m - 0.5), 0.5 * m
    lost = 1.0 - (1.0 - t) / burst
    mean = 0.5 * (others + lost)
    assert links.packets[2, long] == pytest.approx(others / mean, rel=0.01)
    second = [links.packets[1, n] for n in short]
    assert max(second) == pytest.approx(lost / mean, rel=0.01)


def test_the_queue_of_windows_keeps_every_packet():
    """Sent, waiting and lost sum to the windows: `Windows`, an identity of the normal's cut."""
    ones = np.ones(5)
    law = Windows(100 * ones, 20 * ones, 0.05 * ones, 1e-3 * ones)
    s = np.array([-1.0, -0.05, 0.5, 3.0, 30.0])
    state = law.state(s)
    windows = 100.0 * np.exp(np.where(s < 0, s, s * law.scale))
    parts = 100.0 * np.exp(state.log_load) + state.queue + windows * np.exp(state.log_loss)
    assert parts == pytest.approx(windows, rel=1e-9)
    draws = np.random.default_rng(1).normal(windows[2], 0.05 * windows[2], 400_000)
    assert state.queue[2] == pytest.approx(np.clip(draws - 100, 0, 20).mean(), rel=0.02)


@pytest.mark.long
def test_a_parking_lot_is_within_a_tenth_of_the_packets():
    """Issue 21's band. Losses fall on bursts: those who come through an equal link lose less."""
    changes = ["measure.warmup=20 s", "measure.duration=20 s"]
    scenario = lot(*changes)
    solved = forebay.run(scenario, engine="network").network.by_hops
    # One run of 20 s strays by up to a tenth from the mean of several.
    played = forebay.run(scenario, engine="simulation", seeds=4).network.by_hops
    for ours, theirs in zip(solved, played, strict=True):
        assert ours.throughput_bps == pytest.approx(theirs.throughput_bps, rel=0.1)


def test_both_engines_speak_of_the_same_connections_and_links():
    changes = ["measure.warmup=1 s", "measure.duration=1 s"]
    scenario = lot(*changes)
    solved, played = forebay.compare(scenario, ["network", "simulation"], seeds=1)
    assert [c.name for c in solved.classes] == [c.name for c in played.classes]
    assert [c.flows for c in solved.classes] == [c.flows for c in played.classes]
    for name, link in played.links.items():
        other = solved.links.get(name)  # the solution has no links that nobody crosses
        for name in ("link_class", "buffer_packets", "flows") if other is not None else ():
            assert getattr(link, name) == getattr(other, name)
    assert played.network.mean_propagation_s == solved.network.mean_propagation_s
    short, long = played.network.by_hops
    assert long.throughput_bps < short.throughput_bps, "the claim holds in packets too"
    total = sum(c.throughput_bps.value for c in played.classes)
    assert total <= 3 * 155e6


@pytest.mark.parametrize(("most_dense", "direct"), [(9, 9), (0, 9), (0, 0)])
def test_a_newton_step_is_that_of_the_whole_matrix(monkeypatch, most_dense, direct):
    """Links that others feel by themselves, by LAPACK, SuperLU and GMRES, against the matrix; the
    routes back run down through the numbers of the links, so that hops and numbers differ."""
    both = 'demands = [{ source = "A", target = "D" }, { source = "D", target = "A" }]\n'
    lines = ", ".join(f'{{ between = ["{a}", "{b}"] }}' for a, b in ("CD", "AB", "BC"))
    changes = ("link.rate=100 Mbit/s", "queue.size=100 packets")
    links = balance(network(f"links = [{lines}]\n" + both, 200, changes))
    s = links.queueing.start() * np.linspace(0.3, 1.5, len(links.used))
    here = Point.of(links, s)
    left, slopes = here.left, links.slopes(s, here.state, here.flow)
    dense = slopes.dense()
    for link, step in enumerate(1e-6 * np.eye(len(s))):
        ahead, behind = (Point.of(links, s + sign * step).left for sign in (1.0, -1.0))
        assert dense[:, link] == pytest.approx((ahead - behind) / 2e-6, rel=1e-3, abs=1e-6)
    assert slopes.diagonal() == pytest.approx(np.diag(dense), rel=1e-9)
    damping = np.full(len(s), 1e-3)
    wanted = np.linalg.solve(np.diag(damping) - dense, left)
    monkeypatch.setattr(linear, "MOST_DENSE", most_dense)
    monkeypatch.setattr(linear, "DIRECT", direct)
    solver = linear.Linear(links.paths)
    assert solver.step(slopes, left, damping) == pytest.approx(wanted, rel=1e-4)
    again = solver.step(slopes, 2.0 * left, damping)  # with what the first step has kept
    assert again == pytest.approx(2.0 * wanted, rel=1e-4)


def test_a_link_a_million_times_overloaded_keeps_the_digits_of_its_load():
    ones = np.ones(3)
    law = Windows(100 * ones, 20 * ones, 0.05 * ones, 1e-3 * ones)
    state = law.state(np.log(1e6) / law.scale * (1.0 + 1e-9 * np.arange(3)))
    assert np.abs(np.diff(state.log_load)).max() < 1e-15 and state.queue.max() <= 20.0


ROW = """
model = "hisamatsu-2007"
sigma = "geometric"
links = [{ between = ["A", "B"] }, { between = ["B", "C"] }]
demands = [{ source = "A", target = "C" }]
"""


def test_how_two_equal_full_links_in_a_row_share_a_loss_is_open_on_the_slides():
    """What one link drops still counts on the next there; only the split of one loss is open."""
    scenario = network(ROW, 500, ("link.rate=1 Gbit/s", "queue.size=50 packets"))
    solution, _ = NetworkEngine().solution(scenario)
    found = fixed_points(solution, 5)
    assert found.residual < 1e-9 and found.not_converged == 0
    assert found.points > 1 and found.loss_difference > 1e-3 and found.rate_difference < 0.05
    outcome = forebay.run(scenario, engine="network")
    assert outcome.provenance.model_extra["open_directions"] == 1
    (note,) = [note for note in outcome.broken_assumptions if "steady state" in note]
    assert "1 way open" in note and "A->B" in note and "B->C" in note
    links = solution.balance
    slopes = links.slopes(solution.s, solution.state, solution.flow)
    coupled, matrix = links.linear.jacobian(slopes, 10)
    assert matrix == pytest.approx(slopes.dense()[np.ix_(coupled, coupled)], rel=1e-9)
    singular = np.linalg.svd(matrix / np.abs(matrix).max(axis=0), compute_uv=False)
    assert singular[-1] < 1e-9 * singular[0], "which changes no load"


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_one_link_without_delay_is_at_rest_from_anywhere(control):
    """Four packets a round trip for fifty connections: some starts make the matrix singular."""
    topology = 'links = [{ between = ["A", "B"], delay = "0 s" }]\n'
    changes = (f"traffic.0.congestion_control={control}", "queue.size=1 packets")
    first, _ = NetworkEngine().solution(network(topology, 50, changes))
    found = fixed_points(first, 3)
    assert (found.points, found.not_converged) == (1, 0) and found.residual < 1e-9


@pytest.mark.parametrize("model", ["hisamatsu-2007", "response-functions"])
def test_the_parking_lot_has_one_steady_state_from_ten_starts(model):
    solution, _ = NetworkEngine().solution(lot(f"topology.model={model}"))
    found = fixed_points(solution, 10)
    assert (found.points, found.not_converged) == (1, 0) and found.residual < 1e-9
    assert summary.uniqueness(solution).open_directions == 0


@pytest.mark.parametrize(
    "model", ["hisamatsu-2007", pytest.param("response-functions", marks=pytest.mark.long)]
)
def test_a_tree_whose_links_are_all_full_has_several_from_ten_starts(model):
    """All 20 links up carry what all 20 down carry: one equation follows from the others."""
    solution, _ = NetworkEngine().solution(network(f'model = "{model}"\n{TREE}', 2000))
    left, found = summary.uniqueness(solution), fixed_points(solution, 10)
    assert left.open_directions == 1
    assert found.points > 1 and found.not_converged == 0 and found.residual < 1e-9


def test_more_links_than_are_looked_at_are_not_said_to_be_one(monkeypatch):
    monkeypatch.setattr(summary, "MOST_LINKS", 1)
    outcome = forebay.run(lot(), engine="network")
    assert outcome.provenance.model_extra["open_directions"] is None
    assert any("was not tested" in note for note in outcome.broken_assumptions)
