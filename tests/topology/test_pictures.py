"""Pictures of networks: integer hops, routers by name where there are few, no empty scales."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.topology.test_offered import sndlib

import forebay
from forebay import networks
from forebay.report.figures import outcome as pictures
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
    assert [each.get_text() for each in legend.texts] == ["mean"]


def test_of_many_routers_the_ends_of_the_worst_links_have_names(monkeypatch, tmp_path):
    kept: list[Figure] = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: kept.append(figure))
    row = [(f"r{n}", f"r{n + 1}") for n in range(24)]
    path = tmp_path / "row.xml"
    demands = {("r3", "r4"): 60.0, ("r3", "r5"): 5.0, ("r10", "r11"): 50.0, ("r0", "r1"): 1.0}
    path.write_text(sndlib(row, demands | {("r20", "r22"): 2.0}, 1000.0))
    answer = networks.solve(networks.load(path))
    pictures.draw_network(answer.outcome, answer.drawing, Path("unused.svg"))
    used, lost = kept[-1].axes[:2]
    worst = {"r3", "r4", "r5", "r10", "r11", "r20", "r21", "r22"}
    assert {each.get_text() for each in used.texts} == worst
    assert not lost.texts, "none loses"
