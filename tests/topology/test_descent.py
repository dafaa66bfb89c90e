"""Steps as far as the potential falls: what is left is its gradient, and no other way is needed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.topology.build import network

import forebay
from forebay.engines.fixed_point import solver
from forebay.engines.fixed_point.approach import Point
from forebay.engines.fixed_point.balance import make_balance
from forebay.topology import make_problem

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
TREE = "\n[topology.isp]\nedges = 20\nmetros = 8\ncores = 5\nhosts = 400\n" + "".join(
    f'[[topology.classes]]\nname = "{name}"\nrate = "{rate}"\n'
    for name, rate in (("core", "10 Gbit/s"), ("middle", "2 Gbit/s"), ("edge", "1 Gbit/s"))
)


@pytest.fixture
def balance():
    def make(scenario):
        return make_balance(make_problem(scenario), scenario.topology)

    return make


@pytest.fixture
def alone(monkeypatch):
    def refused(*_):
        raise AssertionError("descent did not converge")

    monkeypatch.setattr(solver, "continue_from_wide", refused)


def test_what_is_left_is_a_gradient_where_loss_alone_regulates(balance):
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


def test_random_starts_need_no_continuation(balance, alone):
    links = balance(network('model = "response-functions"\n' + TREE, 2000))
    random = np.random.default_rng(3)
    for _ in range(5):
        start = links.queueing.start() * random.uniform(-0.2, 2.0, len(links.used))
        again = solver.solve(links, start)
        assert again.residual < 1e-9 and again.conservation < 1e-9


@pytest.mark.parametrize("size", ["small", pytest.param("traditional", marks=pytest.mark.long)])
def test_links_full_at_both_ends_of_the_same_connections_need_no_continuation(balance, alone, size):
    path = SCENARIOS / f"abilene-fast-edge-{size}.toml"
    loaded = forebay.load(path, ["topology.model=response-functions"])
    own_core = loaded.replace({"topology.two_level": {"core": "abilene"}})
    found = solver.solve(balance(own_core))
    assert found.residual < 1e-9 and found.conservation < 1e-9
