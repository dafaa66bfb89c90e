"""Where the steady state is found from: `response-functions` comes to rest in every legal network.

By steps as far as the potential falls: what is left is its gradient, and no other way is needed.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.cases import cases
from tests.topology.build import balance, network

import forebay
from forebay.engines.fixed_point import NetworkEngine, solver
from forebay.engines.fixed_point.approach import Point
from forebay.scenario import ScenarioError, loads

RING = """links = [
  { between = ["A", "B"] }, { between = ["B", "C"] },
  { between = ["C", "D"], rate = "5 Mbit/s" }, { between = ["D", "A"] },
]
"""
CHOICES = {
    "rate": ["1 kbit/s", "10 Mbit/s", "1 Gbit/s", "100 Gbit/s", "10 Tbit/s"],
    "delay": ["0 s", "2 us", "1 ms", "20 ms", "1 s"],
    "size": ["1 packets", "20 packets", "1 bdp", "1 bdp/sqrt(n)", "1 ms", "0.01 bdp"],
    "flows": ["1", "7", "100", "5000", "200000"],
    "control": ["reno", "cubic", "scalable", "compound"],
    "tcp": ["", "max_window = 2\n", "max_window = 40\n", "sack = false\n"],
    "udp": ["", "1 kbit/s", "1 Mbit/s"],
    "topology": [RING, "[topology.fat_tree]\nk = 4\n", "isp"],
}
LINK_RATES = ["1 Mbit/s", "100 Mbit/s", "10 Gbit/s"]


def scenario_text(seed: int) -> str:
    random = np.random.default_rng(seed)
    it = {name: values[random.integers(len(values))] for name, values in CHOICES.items()}
    topology = it["topology"]
    if topology == "isp":
        topology = "[topology.isp]\nedges = 12\nmetros = 5\ncores = 4\nhosts = 200\n"
        for name in ("core", "middle", "edge", "access"):
            rate = LINK_RATES[random.integers(len(LINK_RATES))]
            topology += f'[[topology.classes]]\nname = "{name}"\nrate = "{rate}"\n'
    udp = f'[[traffic]]\nkind = "udp"\nflows = 20\nrate = "{it["udp"]}"\n' if it["udp"] else ""
    return (
        f'[link]\nrate = "{it["rate"]}"\ndelay = "{it["delay"]}"\n[queue]\nsize = "{it["size"]}"\n'
        f'[[traffic]]\nflows = {it["flows"]}\ncongestion_control = "{it["control"]}"\n{it["tcp"]}'
        f"{udp}[topology]\n{topology}"
    )


@pytest.mark.parametrize("seed", cases(range(40), lambda seed: seed % 4 == 3))
def test_a_random_network_is_at_rest(seed):
    try:
        solution, _ = NetworkEngine().solution(loads(scenario_text(seed)))
    except ScenarioError as error:
        assert "\n" not in str(error)  # such as "1 ms" of less than a packet
        return
    assert solution.residual < 1e-9 and solution.conservation < 1e-9
    assert np.isfinite(solution.flow.sent_bps).all() and (solution.flow.rtt_s > 0.0).all()
    assert (solution.flow.carried_bps <= solution.balance.rate_bps * (1.0 + 1e-9)).all()


SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
TREE = "\n[topology.isp]\nedges = 20\nmetros = 8\ncores = 5\nhosts = 400\n" + "".join(
    f'[[topology.classes]]\nname = "{name}"\nrate = "{rate}"\n'
    for name, rate in (("core", "10 Gbit/s"), ("middle", "2 Gbit/s"), ("edge", "1 Gbit/s"))
)


@pytest.fixture
def alone(monkeypatch):
    def refused(*_):
        raise AssertionError("descent did not converge")

    monkeypatch.setattr(solver, "continue_from_wide", refused)


def test_what_is_left_is_a_gradient_where_loss_alone_regulates():
    """Its derivative by the links' hazards is symmetric, and carries more with none of them."""
    links = balance(network('model = "hisamatsu-2007"\n' + TREE, 2000))
    here = Point.of(links, links.queueing.start())
    slopes = links.slopes(here.s, here.state, here.flow)
    slopes = replace(slopes, by_wait=np.zeros_like(slopes.by_wait))
    matrix = slopes.dense() + np.diag(slopes.own)
    by_hazard = (links.count * here.flow.carried_bps)[:, None] * matrix / slopes.hazard
    size = np.abs(by_hazard).max()
    assert by_hazard == pytest.approx(by_hazard.T, abs=1e-9 * size)
    assert np.linalg.eigvalsh(0.5 * (by_hazard + by_hazard.T)).max() < 1e-9 * size


def test_random_starts_need_no_continuation(alone):
    links = balance(network('model = "response-functions"\n' + TREE, 2000))
    random = np.random.default_rng(3)
    for _ in range(5):
        start = links.queueing.start() * random.uniform(-0.2, 2.0, len(links.used))
        again = solver.solve(links, start)
        assert again.residual < 1e-9 and again.conservation < 1e-9


@pytest.mark.parametrize("size", ["small", pytest.param("traditional", marks=pytest.mark.long)])
def test_links_full_at_both_ends_of_the_same_connections_need_no_continuation(alone, size):
    path = SCENARIOS / f"abilene-fast-edge-{size}.toml"
    loaded = forebay.load(path, ["topology.model=response-functions"])
    own_core = loaded.replace({"topology.two_level": {"core": "abilene"}})
    found = solver.solve(balance(own_core))
    assert found.residual < 1e-9 and found.conservation < 1e-9
