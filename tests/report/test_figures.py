"""Pictures: what is drawn, where labels stand, and that a file is whole and the same again."""

import copy
import math
from itertools import pairwise

import pytest
from matplotlib.image import imread
from tests.report.conftest import reproduction, sizing
from tests.scenarios import scenario

import forebay
from forebay.outcome import SizeResult
from forebay.report import Line, Panel, Picture, draw_answer
from forebay.report.figures.measurement import measurement_figure
from forebay.report.figures.picture import _alone
from forebay.report.figures.size import _extent, _marks, _rows
from forebay.reproduction.page import draw_reproduction
from forebay.scenario import Scenario


def draw(document, path):
    draw_answer(SizeResult.from_dict(document), path)


@pytest.fixture(scope="module")
def height(tmp_path_factory):
    """Pixels of the whole picture."""
    path = tmp_path_factory.mktemp("all") / "all.png"
    draw(sizing(), path)
    return _height(path)


@pytest.mark.parametrize(
    ("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_each_format_has_the_same_bytes_again(document, tmp_path, kind, start):
    path, drawn = tmp_path / f"size.{kind}", set()
    for _ in range(2):
        draw(document, path)
        drawn.add(path.read_bytes())
    (content,) = drawn
    assert content.startswith(start)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_drawing_leaves_the_old_picture(document, tmp_path, monkeypatch):
    path = tmp_path / "size.png"
    path.write_bytes(b"old")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        draw(document, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("missing", ["loss_rate", "queue_delay_s"])
def test_what_was_not_measured_has_no_panel(document, height, tmp_path, missing):
    changed = copy.deepcopy(document)
    for point in changed["curve"]:
        point["outcome"]["links"]["bottleneck"][missing] = None
    draw(changed, tmp_path / "less.png")
    assert _height(tmp_path / "less.png") < height


def test_without_an_answer_laws_or_curve_it_still_draws(document, tmp_path):
    bare = {**document, "buffer": None, "reason": "stopped", "laws": [], "curve": [], "goals": []}
    draw(bare, tmp_path / "bare.png")
    assert _height(tmp_path / "bare.png") > 0


@pytest.mark.long
def test_the_region_is_tinted_within_its_ends(document, tmp_path):
    def green(region):
        draw({**document, "region": region}, tmp_path / "a.png")
        red, tint, blue = imread(tmp_path / "a.png")[..., :3].reshape(-1, 3).T
        return int(((tint > red + 0.05) & (tint > blue + 0.01) & (red > 0.8)).sum())

    ends = {"binding_low": [], "binding_high": []}
    none, narrow = green([]), green([{"low": 121, "high": 300, **ends}])
    wide = green([{"low": 121, "high": None, **ends}])
    assert none < narrow / 20 and narrow < wide / 2


def test_probabilities_have_a_panel_of_their_own(document, height, tmp_path):
    changed = copy.deepcopy(document)
    for point in changed["curve"]:
        link = point["outcome"]["links"]["bottleneck"]
        link["goal_metrics"] = {"utilization_probability": link["utilization"]}
    draw(changed, tmp_path / "more.png")
    assert _height(tmp_path / "more.png") > height


def test_no_label_covers_another(document):
    marks = _marks(SizeResult.from_dict(document))
    assert [mark.label for mark in marks] == [
        "least: 121", "appenzeller-2004/utilization: 128, sqrt-n: 130", "recommended: 129",
        "appenzeller-2004/rule-of-thumb: 1292", "appenzeller-2004/synchronized: 1292",
    ]  # fmt: skip
    low, high = 10.0, 3000.0
    rows = _rows(marks, (low, high))
    for row in set(rows):
        places = [
            _extent(math.log(m.packets / low) / math.log(high / low), m.label)
            for m, r in zip(marks, rows, strict=True) if r == row
        ]  # fmt: skip
        for (_, right), (left, _) in pairwise(places):
            assert left > right


def test_reproduction(tmp_path):
    draw_reproduction(reproduction(), tmp_path / "rows.svg")
    assert (tmp_path / "rows.svg").stat().st_size > 5_000


def test_rows_with_long_names_and_numbers_of_any_size_leave_room_for_their_dots(tmp_path):
    """An axis that collapses is a warning, which fails; 0.002 beside 34 takes a logarithm."""
    rows = [["loss of a core link, " * 7, 0.002, 0.014], ["links", 36, 34]]
    draw_reproduction(reproduction(rows=rows), tmp_path / "rows.svg")
    assert "$\\mathdefault{10^{-2}}$" in (tmp_path / "rows.svg").read_text()


def test_a_measured_curve_is_drawn_without_the_estimate_that_was_refused(tmp_path):
    """A capture of some milliseconds has a curve of burstiness, and no knee."""
    curves = {
        "burstiness": {"seconds": [1e-4, 2e-4], "beta": [2.0, 1.5]},
        "hill": {"flows": [1, 2], "exponent": [1.1, 1.2]},
        "left_after_loss": {"share": [0.5, 0.7], "losses": [3, 1], "bounds": [0.6]},
    }
    figure = measurement_figure({"curves": curves, "estimates": {}, "sources": ["short.pcap"]})
    assert len(figure.axes) == 3


def _height(path):
    return imread(path).shape[0]


def test_rows_of_different_units_have_panels_of_their_own(tmp_path):
    def drawn(units):
        rows = [["flows", 1526, 1526], ["BDP", 2.3, 2.2], ["more flows", 24, 31]]
        made = reproduction(rows=rows, reasons=["", "", ""], units=units)
        draw_reproduction(made, tmp_path / "units.svg")
        return (tmp_path / "units.svg").read_text()

    assert drawn([]).count('<g id="axes_') == 1
    assert drawn(["flows", "MB", "flows"]).count('<g id="axes_') == 2


def test_intervals_and_a_band_are_drawn_in_a_picture(tmp_path):
    def drawn(*lines):
        picture = Picture([Panel(lines, "x", "y", log="xy")])
        draw_reproduction(reproduction(picture=picture), tmp_path / "a.svg")
        return (tmp_path / "a.svg").read_text()

    bounds = [(0.5, 2.0), (1.0, 3.0)]
    dots = Line([1, 2], [1, 2], "a", "dots")
    with_bounds = Line([1, 2], [1, 2], "a", "dots", x_bounds=bounds, y_bounds=bounds)
    bars, none = (drawn(each).count("stroke-width: 1.3") for each in (with_bounds, dots))
    assert bars == 4 > none
    assert "FillBetween" in drawn(dots, Line([1, 2], [1, 2], "b", "band", y_bounds=bounds))


def test_a_point_without_neighbours_is_a_dot() -> None:
    """A line shows nothing of it; NaN is where there is no point."""
    assert _alone(Line([1, 2, 3, 4], [5.0, math.nan, 6.0, 7.0])) == [0]
    assert _alone(Line([1], [5.0], kind="dashes")) == [0] and _alone(Line([1, 2], [3, 4])) == []


def datagrams(rate: str, load: float, warmup: str, duration: str) -> Scenario:
    udp = {"kind": "udp", "flows": 3, "load": load, "start": "0 s"}
    window = {"warmup": warmup, "duration": duration}
    return scenario({"link.rate": rate, "traffic": [udp], "measure": window})


def test_an_axis_says_its_numbers_at_its_ticks() -> None:
    """A factor such as 1e-5 at the end of an axis is easily missed."""
    figure = forebay.run(datagrams("400 Gbit/s", 0.02, "10 us", "1 ms")).figure()
    figure.draw_without_rendering()
    wait = next(axes for axes in figure.axes if axes.get_xlabel().startswith("wait"))
    assert 0 < wait.get_xlim()[1] < 1e-4
    assert [axes.xaxis.get_offset_text().get_text() for axes in figure.axes] == [""] * 4


def test_a_trace_without_windows_has_no_empty_distribution() -> None:
    link = datagrams("1 Mbit/s", 0.3, "1 s", "1 s")
    tcp = link.replace({"traffic.0": {"flows": 3, "start": "0 s"}})
    assert [len(forebay.trace(each).figure().axes) for each in (link, tcp)] == [3, 4]
