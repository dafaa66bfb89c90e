"""How long does a table of a million rows take to count and to export, and how much memory?

    .venv/bin/python benches/sweep_export.py [ROWS]

The store has rows as a sweep of an OC3 writes them, with digits of their own in each number. Asked:
under 1 s to open and count, under 60 s and 2 GB for each export. Seconds are of the processor.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import forebay

SEEDS = 500
_PARTS = ("csv", "parquet")


def swept(store: Path, rows: int, *, only_plan: bool, seeds: int) -> forebay.Sweep:
    """Return the sweep of the table, or of its first seed of each cell."""
    cells = max(1, rows // SEEDS)
    sizes = [f"{64 + at} packets" for at in range(max(1, cells // 200))]
    axes = {"traffic.0.flows": list(range(100, 100 + min(200, cells))), "queue.size": sizes}
    short = forebay.load("oc3-gsr").replace({"measure.warmup": "2 s", "measure.duration": "1 s"})
    return forebay.sweep(
        short, axes, engine="simulation", seeds=seeds, store=store, only_plan=only_plan, jobs=1
    )


def fill(store: Path, rows: int) -> None:
    """Make the store: a run of one cell, and rows like it of all."""
    plan = swept(store, rows, only_plan=True, seeds=SEEDS)._plan
    swept(store, 1, only_plan=False, seeds=1)
    rng = np.random.default_rng(1)
    with sqlite3.connect(store) as write:
        made = write.execute("SELECT maker, made_at, layout, numbers FROM metrics").fetchone()
        maker, made_at, layout, blob = made
        pattern = np.frombuffer(blob, "<f8")
        write.execute("DELETE FROM metrics")
        for number, cell in enumerate(plan.cells, 10):
            write.execute(
                "INSERT OR IGNORE INTO scenarios VALUES (?, ?, '{}')", (number, cell.sha256)
            )
            query = "SELECT id FROM scenarios WHERE sha256 = ?"
            (of,) = write.execute(query, (cell.sha256,)).fetchone()
            factors = rng.random((SEEDS, pattern.size))
            numbers = np.where(pattern == np.round(pattern), pattern, pattern * factors)
            write.executemany(
                "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (of, maker, seed, made_at, layout, row.tobytes())
                    for seed, row in enumerate(numbers, 1)
                ],
            )


def measured(store: Path, rows: int, kind: str) -> None:
    """Export, and print seconds and memory; in a process of its own, for its memory."""
    before = time.process_time()
    found = swept(store, rows, only_plan=True, seeds=SEEDS)
    planned = time.process_time() - before
    begun, wall = time.process_time(), time.monotonic()
    path = store.with_name(f"table.{kind}")
    found.export(path)
    spent, passed = time.process_time() - begun, time.monotonic() - wall
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{kind} of {found.stored:,} rows, {len(found.columns)} columns: {spent:.1f} s of CPU "
        f"({passed:.0f} s; 60), {most:.2f} GB (2), {path.stat().st_size / 1e6:,.0f} MB; "
        f"plan and count {planned:.1f} s",
        flush=True,
    )


def main(rows: int) -> None:
    """Print the rows of `make bench`."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "rows.sqlite"
        fill(store, rows)
        begun = time.process_time()
        with forebay.Store(store) as opened, opened.rows() as kept:
            print(f"opened and counted {kept.count:,}: {time.process_time() - begun:.3f} s (1)")
        for kind in _PARTS:
            subprocess.run([sys.executable, __file__, str(rows), kind, str(store)], check=True)


if __name__ == "__main__":
    given = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        measured(Path(sys.argv[3]), given, sys.argv[2])
    else:
        main(given)
