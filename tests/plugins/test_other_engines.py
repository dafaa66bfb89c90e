"""Engines of other distributions: asked for every seed, stored by their code, blamed by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import time
import forebay
import forebay.outcome

class Mine:
    name = "mine"
    patience_s = 2.0

    def run(self, scenario, seeds, *, jobs=0, progress=None):
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
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[forebay.engines]\nmine = mine_engine:Mine\n")
    (tmp_path / "x.toml").write_text(SCENARIO)
    (tmp_path / "g.toml").write_text(GRID)
    return tmp_path


def forebay_(site: Path, body: str, *words: str) -> subprocess.CompletedProcess[str]:
    (site / "mine_engine.py").write_text(HEAD + body)
    code = "import sys; from forebay.cli.program import call; sys.exit(call(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=site)


def test_a_sweep_asks_for_every_seed(site: Path) -> None:
    done = forebay_(site, OF_A_SEED, "sweep", "g.toml", "--export", "rows.csv", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split(",") for line in (site / "rows.csv").read_text().splitlines()]
    used = [float(row[head.index("link.bottleneck.utilization")]) for row in rows]
    assert used == pytest.approx([0.1, 0.2, 0.3] * 2)


def test_a_store_keeps_its_rows_until_its_code_changes(site: Path) -> None:
    ask = ("sweep", "g.toml", "--store", "s.sqlite", "--json")
    ran = [json.loads(forebay_(site, OF_A_SEED, *ask).stdout)["ran"] for _ in range(2)]
    assert ran == [6, 0]
    assert json.loads(forebay_(site, OF_A_SEED.replace("0.1", "0.2"), *ask).stdout)["ran"] == 6


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
def test_what_goes_wrong_is_one_line_with_its_name(
    site: Path, verb: tuple[str, ...], body: str, said: str
) -> None:
    done = forebay_(site, body, *verb)
    assert done.returncode == 3, done.stderr
    lines = [line for line in (done.stdout + done.stderr).splitlines() if said in line]
    assert lines and "the entry point 'mine'" in lines[0], done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_one_that_tells_its_progress_is_waited_for(site: Path) -> None:
    slow = (
        "for share in range(5):\n            time.sleep(0.7)\n"
        "            progress(share / 5)\n        "
    )
    done = forebay_(site, slow + OF_A_SEED, "run", "x.toml", "--engine", "mine", "--json")
    assert done.returncode == 0, done.stderr
