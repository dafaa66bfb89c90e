"""Pictures of networks: integer hops, routers by name where there are few, no empty scales."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import forebay
from forebay import networks
from forebay.report.figures import network as pictures
from forebay.report.figures import size_figure

LOT = Path(__file__).with_name("parking-lot.toml")
IDLE = 'traffic=[{ kind = "udp", flows = 1, rate = "1 kbit/s" }]'


@pytest.fixture
def drawn(monkeypatch):
    """Return the figure that `draw_network` would write."""
    kept: list[Figure] = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: kept.append(figure))

    def draw(*changes: str) -> list[Axes]:
        answer = networks.solve(forebay.load(LOT, changes))
        pictures.draw_network(answer.outcome, answer.drawing, Path("unused.svg"))
        kept[-1].draw_without_rendering()
        return kept[-1].axes

    return draw


def test_hops_are_whole_numbers_and_few_routers_have_their_names(drawn):
    left, _, throughput, *_ = drawn()
    assert sorted(each.get_text() for each in left.texts) == ["A", "B", "C", "D"]
    assert all(float(tick).is_integer() for tick in throughput.get_xticks())


def test_a_network_without_responses_says_so_in_place_of_an_empty_scale(drawn):
    _, _, throughput, *_ = drawn(IDLE)
    assert [each.get_text() for each in throughput.texts] == ["no connection responds to loss"]
    assert not throughput.lines


def test_a_sizing_by_the_steady_state_draws_equal_utilizations_as_equal():
    """They differ by 1e-7 of a per cent; a p99 that nobody measured is not in the legend."""
    found = forebay.size(forebay.load(LOT, ["goals.loss_rate=0.01"]), "network", link_class="core")
    utilization, delay = (
        next(a for a in size_figure(found).axes if a.get_ylabel().startswith(name))
        for name in ("utilization", "queueing delay")
    )
    low, high = utilization.get_ylim()
    assert high - low > 1.0
    legend = delay.get_legend()
    assert legend is not None and [each.get_text() for each in legend.texts] == ["mean"]
