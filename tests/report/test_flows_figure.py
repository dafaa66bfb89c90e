"""The picture of a run's flows: lines by class, and nothing where nothing ended."""

from pathlib import Path

import numpy as np
import pytest

import forebay
from forebay.report.figures import draw_flows, flows_figure
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
    labels = [line.get_label() for line in slow.get_lines()]
    assert labels == ["transfers-1, p50 of 112", "transfers-1, p99 of 112"]
    drawn = np.asarray(slow.get_lines()[0].get_ydata(), dtype=float)
    known = table["slowdown"][np.isfinite(table["slowdown"])]
    assert drawn.min() <= np.median(known) <= drawn.max()
    assert [line.get_label() for line in goodput.get_lines()] == ["long-0", "transfers-1"]
    rates = np.asarray(goodput.get_lines()[0].get_xdata(), dtype=float)
    mine = table["window_bytes"][table["class"] == "long-0"]
    assert np.sort(rates) == pytest.approx(np.sort(8 * mine / 3 / 1e6))
    draw_flows(outcome, table, tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")


def test_flows_without_an_end_have_one_panel() -> None:
    outcome = forebay.run(loads(BOTH))
    assert len(flows_figure(outcome, outcome.flows()).axes) == 1
