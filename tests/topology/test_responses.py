"""What congestion controls send at a loss rate, against the laws that say it of one link."""

import numpy as np
import pytest
from tests.refused import refused
from tests.topology.build import network

from forebay.catalogue import CONTROLS
from forebay.engines.fixed_point import NetworkEngine
from forebay.engines.fixed_point.balance import RESPONSES
from forebay.laws import response
from forebay.topology.problem import Kind

ONE = 'links = [{ between = ["A", "B"] }]\n'


@pytest.mark.parametrize("control", sorted(response.CONTROLS))
def test_windows_are_those_of_the_law(control):
    """`laws.response`, at losses so few that nothing times out. The law counts a lost packet beside
    those of its epoch, and takes CUBIC's friendly region by its packets, not by its mean."""
    losses = np.geomspace(1e-6, 1e-3, 7)
    kind = Kind(0, control, 1.0, 0.0, 1500)
    ours = np.exp(RESPONSES[control](np.log(losses), np.full(7, 0.1), kind))
    assert ours == pytest.approx(response.window(losses, control, 0.1), rel=0.1)


def test_every_control_has_a_spread():
    assert RESPONSES.keys() == response.CONTROLS.keys()
    assert all(CONTROLS[name].kept_after_loss for name in RESPONSES)


@pytest.mark.parametrize("control", sorted(RESPONSES))
def test_every_control_fills_a_link(control):
    changes = (f"traffic.0.congestion_control={control}", "link.rate=1 Gbit/s", "queue.size=1 bdp")
    outcome = NetworkEngine().run(network(ONE, 200, changes), [1])
    assert outcome.network.residual < 1e-9
    assert outcome.links["A->B"].utilization.value > 0.99


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (("traffic.0.congestion_control=bic",), "response function"),
        (("traffic.0.congestion_control=westwood",), "response function"),
        (("traffic.0.congestion_control=bbr",), "response function"),
        (("traffic.0.congestion_control=dctcp", "queue.discipline=codel"), "to marks"),
    ],
)
def test_controls_of_which_no_answer_is_known_are_refused_in_one_line(changes, said):
    with refused(said):
        NetworkEngine().run(network(ONE, 10, changes), [1])
