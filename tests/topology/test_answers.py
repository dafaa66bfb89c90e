"""Tables and pictures of networks, and the sensitivity of throughputs to buffers."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.topology.build import lot, sndlib

import forebay
from forebay import networks
from forebay.packages import MissingPackage
from forebay.report import print_network
from forebay.report.figures import outcome as pictures
from forebay.report.figures import size_figure, style
from forebay.scenario import Scenario


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def answer():
    return networks.solve(lot())


@pytest.mark.parametrize("model", ["response-functions", "hisamatsu-2007"])
def test_sensitivities_are_what_solving_again_gives(tmp_path, model):
    """All three core buffers moved at once, against the sum over the three."""
    changes = [f"topology.model={model}", "topology.sigma_factor=0.9"]
    answer = networks.solve(lot(*changes))
    answer.write_sensitivities(tmp_path / "s.csv")
    rows = read(tmp_path / "s.csv")
    said = [sum(float(row[name]) for row in rows if row["class"] == "core")
            for name in ("hops_3", "hops_5")]  # fmt: skip
    got = [
        forebay.run(lot(*changes, f"queue.size={n} packets"), engine="network") for n in (90, 92)
    ]
    less, more = ([each.throughput_bps for each in one.network.by_hops] for one in got)
    seen = np.log(np.array(more) / np.array(less)) / np.log(92 / 90)
    assert said == pytest.approx(seen, rel=0.1)


def test_larger_core_buffers_help_those_who_stay_and_hurt_those_who_cross(tmp_path, answer):
    answer.write_sensitivities(tmp_path / "s.csv")
    first = next(row for row in read(tmp_path / "s.csv") if row["link"] == "A->B")
    assert float(first["hops_3"]) > 0.0 > float(first["hops_5"])


def test_parquet_holds_what_csv_does(tmp_path, answer):
    parquet = pytest.importorskip("pyarrow.parquet")
    answer.write_links(tmp_path / "links.parquet")
    answer.write_links(tmp_path / "links.csv")
    rows = read(tmp_path / "links.csv")
    table = parquet.read_table(tmp_path / "links.parquet").to_pylist()
    assert [row["link"] for row in table] == [row["link"] for row in rows]
    assert [row["rate_bps"] for row in table] == [float(row["rate_bps"]) for row in rows]


def test_parquet_without_its_library_is_one_line_and_leaves_no_file(tmp_path, answer, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match=r"forebay\[parquet\]") as error:
        answer.write_links(tmp_path / "links.parquet")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_random_starts_are_said_in_the_answer(capsys):
    answer = networks.solve(lot(), multistart=2)
    found = answer.outcome.to_dict()["provenance"]["fixed_points"]
    assert (found["starts"], found["points"], found["not_converged"]) == (2, 1, 0)
    print_network(answer.outcome)
    assert "2 random starts: 1 fixed point, " in capsys.readouterr().out


def test_random_starts_change_nothing_else_of_an_answer():
    """They are solved after it is read: the way that is left open is that of the last solution."""
    scenario = forebay.load("abilene-fast-edge-small")
    plain, again = (networks.solve(scenario, multistart=n).outcome for n in (0, 1))
    assert again.broken_assumptions == plain.broken_assumptions
    assert "ways open" in plain.broken_assumptions[0]


IDLE = 'traffic=[{ kind = "udp", flows = 1, rate = "1 kbit/s" }]'


@pytest.fixture
def drawn(monkeypatch):
    """Return what draws the figure of a network that `draw_network` would write."""
    kept: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, path: kept.append(figure))

    def draw(scenario: Scenario) -> list[Axes]:
        answer = networks.solve(scenario)
        pictures.draw_network(answer.outcome, answer.drawing, Path("unused.svg"))
        kept[-1].draw_without_rendering()
        return kept[-1].axes

    return draw


def test_hops_are_whole_numbers_and_few_routers_have_their_names(drawn):
    left, _, throughput, *_ = drawn(lot())
    assert sorted(each.get_text() for each in left.texts) == ["A", "B", "C", "D"]
    assert all(float(tick).is_integer() for tick in throughput.get_xticks())


def test_a_network_without_responses_says_so_in_place_of_an_empty_scale(drawn):
    _, _, throughput, *_ = drawn(lot(IDLE))
    assert [each.get_text() for each in throughput.texts] == ["no connection responds to loss"]
    assert not throughput.lines


def test_a_sizing_by_the_steady_state_draws_equal_utilizations_as_equal():
    """They differ by 1e-7 of a per cent; a p99 that nobody measured is not in the legend."""
    found = forebay.size(lot("goals.loss_rate=0.01"), "network", link_class="core")
    utilization, delay = (
        next(a for a in size_figure(found).axes if a.get_ylabel().startswith(name))
        for name in ("utilization", "queueing delay")
    )
    low, high = utilization.get_ylim()
    assert high - low > 1.0
    legend = delay.get_legend()
    assert [each.get_text() for each in legend.texts] == ["mean"]


def test_of_many_routers_the_ends_of_the_worst_links_have_names(drawn, tmp_path):
    row = [(f"r{n}", f"r{n + 1}") for n in range(24)]
    path = tmp_path / "row.xml"
    demands = {("r3", "r4"): 60.0, ("r3", "r5"): 5.0, ("r10", "r11"): 50.0, ("r0", "r1"): 1.0}
    path.write_text(sndlib(row, demands | {("r20", "r22"): 2.0}, 1000.0))
    used, lost = drawn(networks.load(path))[:2]
    worst = {"r3", "r4", "r5", "r10", "r11", "r20", "r21", "r22"}
    assert {each.get_text() for each in used.texts} == worst
    assert not lost.texts, "none loses"
