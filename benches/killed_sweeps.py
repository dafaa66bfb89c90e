"""Is a run lost, doubled or torn if a sweep is killed at a random moment?

    .venv/bin/python benches/killed_sweeps.py [KILLS [SEED]]

Starts the same study again and again, with threads or with processes, and kills it (SIGKILL) at a
random moment after the store has a new row, or in every fourth try one of its worker processes
alone, or before the first row. After each kill every row that the store had is still there, once
and unchanged, and the file is whole. When a study is complete, all its rows equal those of a study
that nobody killed, and the next one begins. Status 1 if anything is wrong.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

import forebay

GRID = """
base = "base.toml"
seeds = 150
[axes]
"queue.size" = ["10 packets", "40 packets"]
"traffic.0.flows" = [2, 5]
"""
BASE = forebay.Scenario.from_dict(
    {
        "link": {"rate": "20 Mbit/s"},
        "traffic": [{"flows": 5, "rtt": "20 ms", "start": "0 s"}],
        "measure": {"warmup": "2 s", "duration": "4 s"},
    }
)
ROWS = 600
FOREBAY = Path(sys.executable).with_name("forebay")

Rows = dict[tuple[str, int], bytes]


def stored(path: Path) -> Rows:
    """Return the numbers of all rows, without the last, which is wall time."""
    query = (
        "SELECT s.sha256, m.seed, m.numbers FROM metrics AS m JOIN scenarios AS s "
        "ON s.id = m.scenario"
    )
    with closing(sqlite3.connect(path)) as read:
        found = read.execute(query).fetchall()
    rows = {(sha, seed): numbers[:-8] for sha, seed, numbers in found}
    assert len(rows) == len(found), "a row is doubled"
    return rows


def count(path: Path) -> int:
    """Return the number of rows; 0 while there is no table yet."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as read,
    ):
        return int(read.execute("SELECT count(*) FROM metrics").fetchone()[0])
    return 0


def start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    command = (FOREBAY, "sweep", folder / "grid.toml", "--store", folder / "s.sqlite")
    return subprocess.Popen(
        [*map(str, command), "--jobs", str(jobs), "--json"], start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def workers_of(process: int) -> list[int]:
    """Return the processes that a process started."""
    children = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in children.read_text().split()] if children.exists() else []


def kill_once(folder: Path, draw: random.Random) -> str:
    """Start the study, kill it or a worker at a random moment; return when that was."""
    path, jobs = folder / "s.sqlite", draw.choice((2, 2, 5))
    known = count(path)
    made = start(folder, jobs)
    if draw.random() < 0.9:  # else before the first row
        while made.poll() is None and count(path) == known:
            time.sleep(0.005)
    time.sleep(draw.random() ** 2)
    alone = jobs == 5 and draw.random() < 0.5
    if alone and (workers := workers_of(made.pid)):
        os.kill(draw.choice(workers), signal.SIGKILL)
        time.sleep(draw.random())
    before = stored(path) if count(path) else {}
    with suppress(ProcessLookupError):
        os.killpg(made.pid, signal.SIGKILL)
    made.wait()
    after = stored(path) if count(path) else {}
    assert before.items() <= after.items(), "a row is lost"
    with closing(sqlite3.connect(path)) as read:
        assert read.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    if not after:
        return "before the first row"
    return "after the last row" if len(after) == ROWS else "between"


def main(kills: int, seed: int) -> None:
    draw, whens = random.Random(seed), list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        BASE.save(folder / "base.toml")
        (folder / "grid.toml").write_text(GRID)
        start(folder, 2).wait()
        whole = stored(folder / "s.sqlite")
        assert len(whole) == ROWS
        while len(whens) < kills:
            for old in folder.glob("s.sqlite*"):
                old.unlink()
            while len(whens) < kills and count(folder / "s.sqlite") < ROWS:
                whens.append(kill_once(folder, draw))
            start(folder, 2).wait()
            assert stored(folder / "s.sqlite") == whole, "a row is torn"
            print({when: whens.count(when) for when in sorted(set(whens))}, flush=True)
    print(f"{len(whens)} kills: no row lost, doubled or torn")


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]), *(100, 1)[len(sys.argv) - 1 :])
