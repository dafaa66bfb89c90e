"""What a study shows of its rows: the same intervals as `run`, and a link of every network."""

import pytest
from tests.outcomes import metric
from tests.refused import refused

import forebay
from forebay.cli.program import call
from forebay.report.study import cell, title_of
from forebay.scenario import loads

from .test_sweep import SMALL

NETWORK = loads("""
name = "line"
link.rate = "20 Mbit/s"
queue.size = "20 packets"
traffic = [{ flows = 12 }]
goals.loss_rate = 0.01
[topology]
links = [
    { between = ["A", "B"], delay = "5 ms" },
    { between = ["B", "C"], delay = "5 ms", rate = "5 Mbit/s" },
]
""")


def test_the_mean_of_a_cell_has_the_interval_of_a_run_with_its_seeds():
    settled = SMALL.replace({"measure.warmup": "10 s", "measure.duration": "10 s"})
    made = forebay.sweep(settled, {"queue.size": ["10 packets"]}, seeds=2)
    outcome = forebay.run(settled.replace({"queue.size": "10 packets"}), seeds=2)
    for column, seen in (
        ("link.bottleneck.utilization", outcome.links["bottleneck"].utilization),
        ("link.bottleneck.loss_rate", outcome.links["bottleneck"].loss_rate),
        ("link.bottleneck.queue_packets.mean", outcome.links["bottleneck"].queue_packets.mean),
        ("class.long-0.throughput_bps", outcome.classes[0].throughput_bps),
        ("class.long-0.timeouts", outcome.classes[0].timeouts),
    ):
        (found,) = made.summary([column]).rows[0].metrics
        assert found is not None and seen is not None, column
        assert (found.low, found.high) == pytest.approx((seen.low, seen.high)), column
    used = made.summary(["link.bottleneck.utilization"]).rows[0].metrics[0]
    assert used.low < used.high == 1.0, "the case has an interval that its range cuts"
    (tail,) = made.summary(["link.bottleneck.queue_packets.p99"]).rows[0].metrics
    assert (tail.low, tail.high) == (None, None), "a mean of quantiles is not that of all packets"


def test_what_a_law_bounds_or_bands_is_shown_so():
    base = forebay.load("oc3-gsr").replace({"traffic.0.flows": 300})
    made = forebay.sweep(base, {"queue.size": ["60 packets"]}, engine="theory", seeds=2)
    (row,) = made.summary().rows
    shown = [
        cell(name, metric) for name, metric in zip(made.summary().columns, row.metrics, strict=True)
    ]
    outcome = forebay.run(base.replace({"queue.size": "60 packets"}), "theory")
    loss = outcome.links["bottleneck"].loss_rate
    bounds = getattr(outcome.provenance, "lower_bounds", ())
    assert "utilization" in bounds and shown[0].startswith("≥ ")
    assert loss.low is not None and (row.metrics[1].low, row.metrics[1].high) == (
        loss.low,
        loss.high,
    )


@pytest.mark.parametrize("engine", ["network", "simulation"])
def test_a_network_shows_the_link_that_loses_most(engine):
    short = NETWORK.replace({"measure.warmup": "2 s", "measure.duration": "4 s"})
    made = forebay.sweep(short, {"traffic.0.flows": [8, 12]}, engine=engine, seeds=2)
    table = made.summary()
    lost = {
        name: sum(row.get(name, 0.0) for row in made.rows())
        for name in made.columns if name.startswith("link.") and name.endswith(".loss_rate")
    }  # fmt: skip
    assert table.columns[1] == max(lost, key=lost.get)
    assert all(row.metrics[0] is not None for row in table.rows)
    assert title_of("link.B->C.loss_rate") == "B->C\nloss %"
    assert table.columns[0].removeprefix("link.") in made.figure().axes[0].get_ylabel()


def test_an_unknown_column_is_refused_and_not_an_empty_table(tmp_path):
    made = forebay.sweep(SMALL, {"queue.size": ["10 packets"]}, seeds=1)
    with refused('loss" is no column'):
        made.summary(["link.bottleneck.loss"])
    assert made.summary("packets").columns == ("packets",)
    assert "<th>queue.size</th><th>used %</th>" in made._repr_html_()
    with refused("is no table"):
        made.export(tmp_path / "table.xls")


@pytest.mark.parametrize(
    ("column", "value", "title", "shown"),
    [
        ("recommended.packets", 665.0, "recommended\npackets", "665"),
        ("recommended.utilization", 0.9853799759, "used\n%", "98.5"),
        ("recommended_target.loss_rate", 0.00269824597, "loss\n%", "0.270"),
        ("recommended_min.queue_delay_p99", 0.0001916879, "wait\np99, ms", "0.192"),
        ("buffer.seconds", 0.0001551, "buffer.seconds", "0.000155"),
        ("buffer.low", 58.0, "low", "58"),
    ],
)
def test_what_the_recommended_size_does_is_shown_in_units(column, value, title, shown):
    assert title_of(column) == title
    assert cell(column, metric(value)) == shown


AQMS = SMALL.replace({"goals.utilization": 0.6, "measure.warmup": "2 s", "traffic.0.flows": 8})


def test_the_target_of_an_aqm_is_no_buffer():
    names = ["drop-tail", "fq_codel", "red"]
    how: dict = {"ask": "size", "seeds": 2, "budget": "2 s"}
    made = forebay.sweep(AQMS, {"queue.discipline": names}, **how)
    table = {row["queue.discipline"]: row for row in made.rows()}
    for name, least in zip(names, ("buffer", "target", "min"), strict=True):
        of = {column.partition(".")[0] for column in table[name]}
        assert of & {"buffer", "target", "min"} == {least}, name
    assert table["fq_codel"]["limit.packets"] > table["fq_codel"]["target.packets"]
    alone = forebay.sweep(AQMS, {"queue.discipline": ["fq_codel"]}, **how)
    labels = [axes.get_ylabel() for axes in alone.figure().axes]
    ends = ("packets", "utilization, %", "loss_rate, %")
    assert labels == [f"recommended_target.{each}" for each in ends]
    assert len(alone.figure(y="limit.packets").axes) == 1
    assert title_of("target.packets") == "least target\npackets"


def test_draws_under_an_aqm_say_that_its_target_is_sized():
    codel = AQMS.replace({"queue.discipline": "fq_codel"})
    ranges = {"traffic.0.flows": [7, 8]}
    found = forebay.size_uncertain(codel, ranges, draws=8, seeds=2, budget="10 s")
    assert found.sized == "target" and found.as_written is not None
    assert "needs a target of" in str(found) and "at line rate" in str(found)
    inputs = forebay.sensitivity(codel, "simulation", uncertain=ranges, seeds=2, budget="2 s")
    assert inputs.sized == "target" and str(inputs).startswith("a target of ")
    assert "target" in inputs.figure().axes[0].get_xlabel()
    with refused("of some values the buffer and of others the target"):
        forebay.size_uncertain(AQMS, {"queue.discipline": ["drop-tail", "pie"]}, draws=8)


def test_a_sizing_has_one_row_and_no_differences_that_more_seeds_would_give():
    base = forebay.load("oc3-gsr")
    made = forebay.sweep(base, {"traffic.0.flows": [200, 400]}, ask="size", engine="theory")
    assert made.summary().differences == ()


def test_a_picture_without_its_metric_leaves_the_table(tmp_path, capsys):
    grid, table = tmp_path / "grid.toml", tmp_path / "t.csv"
    SMALL.save(tmp_path / "small.toml")
    grid.write_text('base = "small.toml"\n[axes]\n"queue.size" = ["9 packets", "20 packets"]\n')
    how = ["--seeds", "1", "--export", str(table), "--figure", str(tmp_path / "f.svg")]
    assert call(["sweep", str(grid), *how, "--y", "class.long-0.unfinished"]) == 2
    said = capsys.readouterr()
    assert "20 packets" in said.out and "is no metric of these runs" in said.err
    assert table.read_text().count("\n") == 3


def test_one_sizing_says_that_its_packets_are_a_target(capsys):
    from forebay.report.ports import print_ports

    codel = AQMS.replace({"queue.discipline": "codel"})
    found = forebay.size(codel, seeds=2, max_seeds=2)
    assert "simulation: target of " in repr(found) and "; least target of " in repr(found)
    print_ports([("a", "10 Mbit/s", found, None, None)])
    assert "* a: the target of codel, at line rate, and no buffer; limit" in capsys.readouterr().out
