"""The picture of a run's flows: lines by class, and nothing where nothing ended."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import forebay
from forebay.outcome.model import FlowTable
from forebay.report.figures import can_draw, draw_flows, flows_figure
from forebay.scenario import loads

BOTH = """
link.rate = "100 Mbit/s"
queue.size = "100 packets"
measure = { warmup = "1 s", duration = "3 s" }
[[traffic]]
flows = 4
rtt = { uniform = ["10 ms", "20 ms"] }
start = "0 s"
"""
TRANSFERS = """
[[traffic]]
kind = "transfers"
size = "hadoop"
load = 0.3
rtt = "5 ms"
"""


def test_both_panels_show_the_table(tmp_path: Path) -> None:
    outcome = forebay.run(loads(BOTH + TRANSFERS))
    table = outcome.flows()
    slow, goodput = flows_figure(outcome, table).axes
    counted = outcome.classes[1].transfers
    known = table["slowdown"][np.isfinite(table["slowdown"]) & (table["start_s"] >= 1.0)]
    open_ = table["unfinished"].sum()
    assert known.size + open_ == counted.value < np.isfinite(table["slowdown"]).sum()
    labels = [line.get_label() for line in slow.get_lines()]
    assert labels == [f"transfers-1, p50 of {known.size}"]
    drawn = np.asarray(slow.get_lines()[0].get_ydata(), dtype=float)
    assert drawn.min() <= np.median(known) <= drawn.max()
    assert [line.get_label() for line in goodput.get_lines()] == ["long-0", "transfers-1"]
    rates = np.asarray(goodput.get_lines()[0].get_xdata(), dtype=float)
    mine = table["window_bytes"][table["class"] == "long-0"]
    assert rates[1:] == pytest.approx(np.sort(8 * mine / 3 / 1e6))
    assert np.asarray(goodput.get_lines()[0].get_ydata()).tolist() == [0, 0.25, 0.5, 0.75, 1]
    draw_flows(outcome, table, tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")


ONE_SIZE = TRANSFERS.replace('"hadoop"', '"20 kB"')


def test_equal_sizes_are_one_point() -> None:
    outcome = forebay.run(loads(BOTH + ONE_SIZE))
    slow = flows_figure(outcome, outcome.flows()).axes[0]
    assert [len(np.asarray(line.get_xdata())) for line in slow.get_lines()] == [1, 1]
    assert np.asarray(slow.get_lines()[0].get_xdata())[0] == 21_000


def test_flows_without_an_end_have_one_panel_and_labels_do_not_touch() -> None:
    outcome = forebay.run(loads(BOTH))
    table = outcome.flows()
    assert len(flows_figure(outcome, table).axes) == 1
    wide = {"window_bytes": np.geomspace(5e4, 5e8, table.rows)}
    figure = flows_figure(outcome, FlowTable(dict(table) | wide))
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis, low, high in ((axes.xaxis, "x0", "x1"), (axes.yaxis, "y0", "y1")):
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            boxes = [t.label1.get_window_extent() for t in ticks if t.label1.get_text()]
            ends = sorted((getattr(box, low), getattr(box, high)) for box in boxes)
            assert len(ends) > 1
            assert all(a[1] < b[0] for a, b in pairwise(ends))


def test_a_window_without_bytes_is_not_drawn() -> None:
    late = "[[traffic]]\nkind = 'transfers'\ntransfers = [{ start = '0.1 s', size = '9 kB' }]\n"
    outcome = forebay.run(loads(BOTH.partition("[[")[0] + late))
    assert not can_draw(outcome, outcome.flows())
