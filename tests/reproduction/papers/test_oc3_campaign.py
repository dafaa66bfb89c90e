"""The 15,000 runs on an OC3: the table is the whole study, and its needs are read right."""

import math
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import forebay
from forebay.reproduction.papers.appenzeller_2004 import campaign
from forebay.reproduction.papers.appenzeller_2004.campaign import Cell, Combination, read

FOLDER = Path(campaign.__file__).parent / "oc3_campaign"


def test_the_table_has_every_run_of_the_study() -> None:
    table = read(FOLDER / "runs.csv", Combination)
    assert sum(map(len, table.values())) == 15_000
    assert {len(used) for used in table.values()} == {10}
    assert {cell.flows for cell in table} == set(range(10, 501, 10))
    assert len({cell.multiple for cell in table}) == 10
    assert len({cell.rtts for cell in table}) == 3
    assert campaign.written(table, "{:g}".format) == (FOLDER / "runs.csv").read_text("utf-8")


def test_the_table_is_made_of_what_a_sweep_exports(tmp_path: Path) -> None:
    study = forebay.sweep(
        forebay.load(FOLDER / "scenario.toml"),
        {
            "traffic.0.flows": [10],
            "queue.size": ["0.25 bdp/sqrt(n)"],
            "traffic.0.rtt": [{"uniform": ["60 ms", "100 ms"]}],
        },
        seeds=2, store=tmp_path / "store.sqlite",
    )  # fmt: skip
    study.export(tmp_path / "out.csv")
    cell = Combination(10, 0.25, 60, 100)
    made = campaign.studied(tmp_path / "out.csv")
    assert made == {cell: read(FOLDER / "runs.csv", Combination)[cell][:2]}


@pytest.mark.parametrize(
    ("target", "needs"), [(0.9, 0.5), (0.99, 1.0), (0.9968377, 1.4142), (0.9999, math.inf)]
)
def test_a_need_lies_between_the_buffers_that_enclose_it(target: float, needs: float) -> None:
    """The idle share is 1, 10, 1 and 0.1 % at 0.25, 0.5, 1 and 2 times the rule."""
    used = {0.5: 0.9, 1.0: 0.99, 2.0: 0.999}
    table = {Combination(300, at, 60, 100): [each - 1e-4, each + 1e-4] for at, each in used.items()}
    found = campaign.need(table, 300, (60, 100), target)
    assert found == pytest.approx(needs, rel=1e-3)


def test_the_campaign_has_every_cell_of_its_four_grids() -> None:
    path = campaign.HERE / "runs.csv"
    table = read(path, Cell)
    kinds = Counter(cell.kind for cell in table)
    assert kinds == dict.fromkeys(campaign.LEVELS, 384)
    assert {(cell.rate, cell.rtt, cell.packet) for cell in table} == {
        (rate, rtt, packet)
        for rate in (40, 80, 155, 400) for rtt in (25, 100, 300) for packet in (1000, 1500)
    }  # fmt: skip
    assert campaign.written(table) == path.read_text("utf-8")


def test_a_cell_of_the_campaign_is_read_off_a_sweep() -> None:
    """Eq. 1: 400 Mbit/s, 25 ms, 1000 B and 500 flows have windows of (1250 + 56) / 500 packets."""
    rows = campaign.swept(
        "long", 1,
        lambda c: (c["link.rate"], c["queue.size"]) == ("400 Mbit/s", "1 bdp/sqrt(n)")
        and c["traffic.0.rtt"] == {"uniform": ["20 ms", "30 ms"]}
        and (c["traffic.0.packet"], c["traffic.0.flows"]) == ("1000 B", 500),
    )  # fmt: skip
    ((cell, used),) = campaign.collected("long", rows).items()
    assert cell.window == pytest.approx((1250 + 56) / 500, abs=0.005)
    assert (
        cell.multiple == pytest.approx(1, abs=0.01)
        and used == read(campaign.HERE / "runs.csv", Cell)[cell][:1]
    )


@pytest.mark.long  # two processes that plan 384 runs each
def test_the_campaign_says_its_cost_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    """Its own process, which passes the signal on; 130 is what a shell sees of Ctrl-C."""
    code = (
        "import sys; from forebay.reproduction.papers.appenzeller_2004 import campaign\n"
        "campaign.LEVELS = {'short': campaign.LEVELS['short']}\n"
        f"sys.exit(campaign.run({str(tmp_path / 'store.sqlite')!r}, '1'))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as child:
        costs = child.stderr.readline(), child.stderr.readline()
        child.send_signal(signal.SIGINT)
        last = child.stderr.read().splitlines()[-1]
    assert all(re.match("short flows: 384 runs, about .* on . core", each) for each in costs)
    assert child.returncode == 130
    assert re.match("forebay: interrupted; .* are kept in .*; the same call again continues", last)
