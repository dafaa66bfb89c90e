"""The OC3 campaign: 15,000 runs over flows, buffers and round-trip times, stored one by one.

``--share 0.01`` makes 1 % of the runs, a fixed random sample of the grid, and prints the estimated
time of all; without ``--share`` it makes all. Each run is a line of ``--store``; stored runs are
not repeated.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import signal
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import forebay

HERE = Path(__file__).resolve().parent
STORE = Path("build") / "oc3-campaign.csv"
READ = ("buffer_packets", "utilization", "loss_rate", "queue_packets", "packets", "cpu_s")


class Run(NamedTuple):
    """One point of the grid with one seed; RTTs in ms, the buffer in bdp/sqrt(n)."""

    flows: int
    multiple: float
    rtt_low: int
    rtt_high: int
    seed: int


def grid() -> list[Run]:
    """Every run of the campaign, in its order."""
    plan = tomllib.loads((HERE / "grid.toml").read_text())
    n = plan["flows"]
    flows = range(n["from"], n["to"] + 1, n["step"])
    seeds = range(1, plan["seeds"] + 1)
    points = product(flows, map(float, plan["multiples"]), plan["rtts_ms"], seeds)
    return [Run(n, multiple, low, high, seed) for n, multiple, (low, high), seed in points]


def sample(runs: list[Run], share: float) -> list[Run]:
    """Draw this share of the runs; a larger share includes a smaller one's runs."""
    drawn = random.Random(2004).sample(runs, len(runs))
    return drawn[: max(1, round(share * len(runs)))]


def make(run: Run) -> dict[str, float]:
    """Simulate one run on one core."""
    sets = [
        f"traffic.0.flows={run.flows}",
        f'traffic.0.rtt={{uniform=["{run.rtt_low} ms","{run.rtt_high} ms"]}}',
        f"queue.size={run.multiple} bdp/sqrt(n)",
    ]
    began = _cpu()
    outcome = forebay.run(forebay.load(HERE / "scenario.toml", sets), seed=run.seed, jobs=1)
    link = outcome.links["bottleneck"]
    assert link.utilization and link.loss_rate and link.queue_packets and link.queue_packets.mean
    queue = link.queue_packets.mean.value
    packets = outcome.provenance.packets or 0
    found = (link.buffer_packets, link.utilization.value, link.loss_rate.value, queue, packets)
    return dict(zip(READ, (*found, _cpu() - began), strict=True))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kept(store: Path) -> dict[Run, dict[str, float]]:
    """Return the stored runs; an incomplete line is ignored."""
    if not store.exists():
        return {}
    with store.open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line[READ[-1]] and None not in line]
    return {_run(line): {name: float(line[name]) for name in READ} for line in lines}


def _run(line: dict[str, str]) -> Run:
    whole = (int(line[name]) for name in ("rtt_low", "rtt_high", "seed"))
    return Run(int(line["flows"]), float(line["multiple"]), *whole)


def go_on(runs: list[Run], store: Path, jobs: int) -> None:
    """Make the missing runs, and store each as soon as it is done."""
    done = kept(store)
    todo = [run for run in runs if run not in done]
    store.parent.mkdir(parents=True, exist_ok=True)
    whole = store.exists() and store.read_bytes().endswith(b"\n")
    with store.open("a", newline="") as file:  # an interrupted run may have left an incomplete line
        file.write("" if whole or not done else "\n")
        table = csv.DictWriter(file, [*Run._fields, *READ], lineterminator="\n")
        if file.tell() == 0:
            table.writeheader()
        for place, (run, found) in enumerate(_made(todo, jobs), start=len(runs) - len(todo) + 1):
            table.writerow({**run._asdict(), **found})
            file.flush()
            print(f"\r{place} of {len(runs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _made(todo: list[Run], jobs: int) -> Iterator[tuple[Run, dict[str, float]]]:
    with ProcessPoolExecutor(jobs, initializer=_leave_interrupts) as pool:
        try:
            asked = {pool.submit(make, run): run for run in todo}
            for each in as_completed(asked):
                yield asked[each], each.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ignore Ctrl-C in workers: the parent lets running ones end, and starts no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def forecast(found: list[dict[str, float]], runs: int) -> dict[str, float]:
    """Estimate the CPU time of all runs from a sample.

    It is the median CPU time per packet, times the mean number of packets. The median excludes
    runs that were slow because the machine was busy.
    """
    a_packet = median(each["cpu_s"] / each["packets"] for each in found)
    packets = mean(each["packets"] for each in found)
    hours = runs * packets * a_packet / 3600
    return {"ns_a_packet": 1e9 * a_packet, "packets": packets, "cpu_hours": hours}


def main() -> int:
    """Read the command line, make the runs, and print the estimate for all."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--share", type=float, default=1.0, help="of the grid, 0 to 1")
    ask.add_argument("--jobs", type=int, default=2)
    ask.add_argument("--store", type=Path, default=STORE)
    asked = ask.parse_args()
    every = grid()
    runs = sample(every, asked.share)
    try:
        go_on(runs, asked.store, asked.jobs)
    except KeyboardInterrupt:
        print(f"\ninterrupted; kept in {asked.store}, the same command goes on", file=sys.stderr)
        return 130
    there = kept(asked.store)
    said = forecast([there[run] for run in runs], len(every))
    print(
        f"{len(runs)} of {len(every)} runs; a run {said['packets'] / 1e6:.2f} million packets, "
        f"{said['ns_a_packet']:.0f} ns of CPU each; all {said['cpu_hours']:.2f} CPU-hours, "
        f"{said['cpu_hours'] / 2:.2f} hours on 2 cores"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
