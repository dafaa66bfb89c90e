"""``forebay sweep``: its JSON, its files, its status, and what an interrupt leaves."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.scenarios import scenario

import forebay
from forebay.cli.program import call

GRID = """
base = "base.toml"
engine = "simulation"
seeds = 2
ask = "run"
[axes]
"queue.size" = ["10 packets", "40 packets"]
"traffic.0.flows" = { log = [2, 8], points = 3 }
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    scenario({"traffic.0.start": "0 s"}).save(tmp_path / "base.toml")
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


def test_json_counts_and_the_table_is_exported(grid, capsys):
    store, table = grid.with_name("s.sqlite"), grid.with_name("t.csv")
    made = []
    for _ in range(2):
        asked = ["sweep", str(grid), "--store", str(store), "--json", "--export", str(table)]
        assert call(asked) == 0
        made.append(json.loads(capsys.readouterr().out))
    whole = {"schema": 1, "cells": 6, "runs": 12, "ran": 12, "stored": 12, "failed": 0}
    assert made[0].items() >= whole.items()
    assert made[1].items() >= (whole | {"ran": 0}).items()
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == [
        "queue.size", "traffic.0.flows", "seed", "link.bottleneck.utilization"
    ]  # fmt: skip
    assert [row["traffic.0.flows"] for row in rows[::2]] == ["2", "4", "8"] * 2


def test_status_runs_nothing(grid, capsys):
    store = grid.with_name("s.sqlite")
    assert call(["sweep", str(grid), "--store", str(store), "--status", "--seeds", "3"]) == 0
    said = capsys.readouterr()
    assert said.out == "0 of 18 runs are stored\n" and said.err.startswith("18 runs, about ")
    assert not store.exists(), "a mistyped name makes no store"


def test_text_has_a_row_a_cell_and_a_figure_is_drawn(grid, printed):
    picture, page = grid.with_name("p.svg"), grid.with_name("p.html")
    out = printed(f"sweep {grid} --figure {picture} --html {page} --y traffic.0.flows")
    assert out.count("10 packets") == out.count("40 packets") == 3
    assert "utilization, %" in picture.read_text()
    text = page.read_text()
    assert text.count("<tr>") == 7 and "data:image/svg" in text and "http" not in text


@pytest.mark.parametrize("jobs", [2, pytest.param(5, marks=pytest.mark.long)])
def test_an_interrupt_ends_it_and_says_how_to_go_on(grid, jobs):
    store = grid.with_name("s.sqlite")
    command = [sys.executable, "-c", "from forebay.cli import main; main()", "sweep", str(grid)]
    command += ["--seeds", "2000", "--store", str(store), "--jobs", str(jobs)]
    made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not store.exists() or _rows(store) == 0:
        assert made.poll() is None
        time.sleep(0.05)
    made.send_signal(signal.SIGINT)
    _, err = made.communicate(timeout=60)
    assert made.returncode == 130
    last = err.splitlines()[-1]
    assert f"of 12,000 runs are kept in {store}" in last and "continues" in last
    assert 0 < _rows(store) < 12_000


def _rows(store: Path) -> int:
    with forebay.Store(store) as opened, opened.rows() as rows:
        return rows.count


def test_two_sweeps_of_one_store_share_the_work(grid):
    command = [sys.executable, "-c", "from forebay.cli import main; main()", "sweep", str(grid)]
    command += ["--seeds", "20", "--store", str(grid.with_name("s.sqlite")), "--json"]
    both = [subprocess.Popen([*command, "--jobs", "1"], stdout=subprocess.PIPE) for _ in range(2)]
    made = [json.loads(each.communicate()[0]) for each in both]
    assert sum(each["ran"] for each in made) == 120
    assert max(each["stored"] for each in made) == 120


def test_a_study_of_sizings_speaks_of_no_mean(grid, printed):
    sizings = grid.with_name("sizings.toml")
    sizings.write_text(
        'base = "oc3-gsr"\nask = "size"\nengine = "theory"\n'
        '[axes]\n"traffic.0.flows" = [100, 400]\n'
    )
    said = printed(f"sweep {sizings}")
    assert "one sizing a cell" in said and "mean over seeds" not in said
