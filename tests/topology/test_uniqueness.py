"""One steady state or several: the answer says which, from the Jacobian and from random starts."""

from pathlib import Path

import numpy as np
import pytest
from tests.topology.build import network
from tests.topology.test_descent import TREE

import forebay
from forebay.engines.fixed_point import NetworkEngine, summary
from forebay.engines.fixed_point.solver import fixed_points

LOT = Path(__file__).with_name("parking-lot.toml")
ROW = 'links = [{ between = ["A", "B"] }, { between = ["B", "C"] }]\n'
ALONG = 'demands = [{ source = "A", target = "C" }]\n'


def test_the_parking_lot_has_one_steady_state():
    outcome = forebay.run(forebay.load(LOT), engine="network")
    assert outcome.provenance.model_extra["open_directions"] == 0
    assert not any("steady state" in note for note in outcome.broken_assumptions)


def test_the_parking_lot_on_the_slides_from_ten_starts():
    scenario = forebay.load(LOT, ["topology.model=hisamatsu-2007"])
    solution, _ = NetworkEngine().solution(scenario)
    found = fixed_points(solution, 10)
    assert (found.points, found.not_converged) == (1, 0) and found.residual < 1e-9
    assert summary.uniqueness(solution).open_directions == 0


def test_how_equal_links_in_a_row_share_a_loss_is_open_on_the_slides():
    changes = ("link.rate=1 Gbit/s", "queue.size=50 packets")
    topology = 'model = "hisamatsu-2007"\nsigma = "geometric"\n' + ROW + ALONG
    scenario = network(topology, 500, changes)
    outcome = forebay.run(scenario, engine="network")
    assert outcome.provenance.model_extra["open_directions"] == 1
    (note,) = [note for note in outcome.broken_assumptions if "steady state" in note]
    assert "1 way open" in note and "A->B" in note and "B->C" in note


@pytest.mark.parametrize(
    "model", ["hisamatsu-2007", pytest.param("response-functions", marks=pytest.mark.long)]
)
def test_a_tree_whose_links_are_all_full_has_several_from_ten_starts(model):
    """All 20 links up carry what all 20 down carry: one equation follows from the others."""
    solution, _ = NetworkEngine().solution(network(f'model = "{model}"\n{TREE}', 2000))
    left, found = summary.uniqueness(solution), fixed_points(solution, 10)
    assert left.open_directions == 1
    assert found.points > 1 and found.not_converged == 0 and found.residual < 1e-9


def test_the_direction_that_is_open_changes_no_load():
    changes = ("link.rate=1 Gbit/s", "queue.size=50 packets")
    topology = 'model = "hisamatsu-2007"\nsigma = "geometric"\n' + ROW + ALONG
    solution, _ = NetworkEngine().solution(network(topology, 500, changes))
    balance = solution.balance
    slopes = balance.slopes(solution.s, solution.state, solution.flow)
    coupled, matrix = balance.linear.jacobian(slopes, 10)
    assert matrix == pytest.approx(slopes.dense()[np.ix_(coupled, coupled)], rel=1e-9)
    singular = np.linalg.svd(matrix / np.abs(matrix).max(axis=0), compute_uv=False)
    assert singular[-1] < 1e-9 * singular[0]


def test_more_links_than_are_looked_at_are_not_said_to_be_one(monkeypatch):
    monkeypatch.setattr(summary, "MOST_LINKS", 1)
    outcome = forebay.run(forebay.load(LOT), engine="network")
    assert outcome.provenance.model_extra["open_directions"] is None
    assert any("was not tested" in note for note in outcome.broken_assumptions)
