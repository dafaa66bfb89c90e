"""Engines of other distributions: asked for every seed, stored by their code, blamed by name."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from .conftest import Command, declare

HEAD = """
import time
import forebay
import forebay.outcome

class Mine:
    name = "mine"
    patience_s = 2.0

    def run(self, scenario, seeds, effort):
        """
OF_A_SEED = (
    "found = forebay.run(scenario, 'theory')\n"
    "        used = forebay.outcome.Metric(value=0.1 * seeds[0], low=None, high=None, n=1)\n"
    "        link = found.links['bottleneck'].model_copy(update={'utilization': used})\n"
    "        return found.model_copy(update={'engine': 'mine', 'links': {'bottleneck': link}})\n"
)
SCENARIO = """
link.rate = "10 Mbit/s"
queue.size = "5 packets"
traffic = [{ flows = 4, rtt = "20 ms" }]
"""
GRID = """
base = "x.toml"
engine = "mine"
seeds = 3
[axes]
"queue.size" = ["5 packets", "9 packets"]
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    declare(tmp_path, "mine", "[forebay.engines]\nmine = mine_engine:Mine\n")
    (tmp_path / "x.toml").write_text(SCENARIO)
    (tmp_path / "g.toml").write_text(GRID)
    return tmp_path


@pytest.fixture
def engine(site: Path, forebay_: Command) -> Command:
    """Call the command line with an engine whose run has that body."""

    def run(body: str, *words: str) -> CompletedProcess[str]:
        (site / "mine_engine.py").write_text(HEAD + body)
        return forebay_(*words)

    return run


def test_a_sweep_asks_for_every_seed(site: Path, engine: Command) -> None:
    done = engine(OF_A_SEED, "sweep", "g.toml", "--export", "rows.csv", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split(",") for line in (site / "rows.csv").read_text().splitlines()]
    used = [float(row[head.index("link.bottleneck.utilization")]) for row in rows]
    assert used == pytest.approx([0.1, 0.2, 0.3] * 2)


def test_a_store_keeps_its_rows_until_its_code_changes(engine: Command) -> None:
    ask = ("sweep", "g.toml", "--store", "s.sqlite", "--json")
    ran = [json.loads(engine(OF_A_SEED, *ask).stdout)["ran"] for _ in range(2)]
    assert ran == [6, 0]
    assert json.loads(engine(OF_A_SEED.replace("0.1", "0.2"), *ask).stdout)["ran"] == 6


@pytest.mark.parametrize(
    "verb",
    [
        ("run", "x.toml", "--engine", "mine"),
        ("compare", "x.toml", "--engine", "mine"),
        ("sweep", "g.toml"),
    ],
)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ZeroDivisionError('seven')\n", "raises ZeroDivisionError: seven"),
        ("return 7\n", "returned a int from run, not a forebay.Outcome"),
        ("time.sleep(60)\n", "has not answered for 2 s"),
    ],
)
def test_what_goes_wrong_is_one_line_with_its_name(engine, verb, body, said):
    done = engine(body, *verb)
    assert done.returncode == 3, done.stderr
    lines = [line for line in (done.stdout + done.stderr).splitlines() if said in line]
    assert lines and "the entry point 'mine'" in lines[0], done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_one_that_tells_its_progress_is_waited_for(engine: Command) -> None:
    slow = (
        "for share in range(5):\n            time.sleep(0.7)\n"
        "            effort.tell(share / 5)\n        "
    )
    done = engine(slow + OF_A_SEED, "run", "x.toml", "--engine", "mine", "--json")
    assert done.returncode == 0, done.stderr
