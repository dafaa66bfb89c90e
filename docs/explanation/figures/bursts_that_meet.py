"""Why a small buffer fills less of a link the more round trips differ.

python docs/explanation/figures/bursts_that_meet.py measure   # bursts_that_meet.csv, minutes
python docs/explanation/figures/bursts_that_meet.py table     # the page's table
"""

from __future__ import annotations

import csv
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import forebay

HERE = Path(__file__).resolve().parent
DATA = HERE / "bursts_that_meet.csv"
MIX = HERE.parents[2] / "scenarios/heterogeneous-mix.toml"
CLASSES = 5
SEEDS = 2
COLUMNS = ("case", "spread", "utilization", "half", "loss", "queue", "jain", "timeouts",
           "deviation", "index", "hit", "bursts")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A set-up: what it changes of the scenario and of every class, and how much slower it is."""

    name: str
    spreads: tuple[int, ...] = (2, 20)
    sets: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    slower: int = 1

    def scenario(self, spread: int, *more: str) -> forebay.Scenario:
        """Round trips that differ by `spread` % to either side of 67 ms."""
        middle = 67 * self.slower
        low, high = (middle * (1 + sign * spread / 100) for sign in (-1, 1))
        rtt = f'rtt={{ uniform = ["{low} ms", "{high} ms"] }}' if spread else f"rtt={middle} ms"
        every = [f"traffic.{i}.{one}" for i in range(CLASSES) for one in (rtt, *self.each)]
        speed = (f"link.rate={622 / self.slower} Mbit/s", f"measure.warmup={15 * self.slower} s")
        return forebay.load(MIX, ["queue.size=66 packets", *speed, *self.sets, *every, *more])


RENO = "congestion_control=reno"
CASES = (
    Case("the mix of five", (0, 2, 5, 10, 20)),
    Case("Reno alone", each=(RENO,)),
    Case("lines of 100 Mbit/s", each=("access_rate=100 Mbit/s",)),
    Case("lines of 20 Mbit/s", each=("access_rate=20 Mbit/s",)),
    Case("lines of 10 Mbit/s", (0, 2, 20), each=("access_rate=10 Mbit/s",)),
    Case("an ACK for each packet", each=("delayed_ack=false",)),
    Case("132 packets", sets=("queue.size=132 packets",)),
    Case("198 packets", sets=("queue.size=198 packets",)),
    Case("Reno, a quarter of the speed", each=(RENO,), slower=4),
    Case("the same, ACKs delayed up to 160 ms", slower=4,
         each=(RENO, "delayed_ack_timeout=160 ms")),
)  # fmt: skip


def measure() -> None:
    """Run every case with every spread."""
    with DATA.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for case in CASES:
            for spread in case.spreads:
                found = (*_outcome(case, spread), *_trace(case, spread), _bursts(case, spread))
                out.writerow([case.name, spread, *(f"{each:.4g}" for each in found)])
                file.flush()


def _outcome(case: Case, spread: int) -> tuple[float, ...]:
    outcome = forebay.run(case.scenario(spread), seeds=SEEDS)
    link = outcome.links["bottleneck"]
    used, loss, queue = link.utilization, link.loss_rate, link.queue_packets.mean
    assert loss is not None and queue is not None
    jain = min(each.jain.value for each in outcome.classes if each.jain is not None)
    waits = sum(each.timeouts.value for each in outcome.classes if each.timeouts is not None)
    half = 50 * (used.high - used.low)
    return 100 * used.value, half, 100 * loss.value, queue.value, jain, waits


def _trace(case: Case, spread: int) -> tuple[float, ...]:
    """Deviation of the sum of windows in %, index of synchronization, % of flows hit an event."""
    trace = forebay.trace(case.scenario(spread), step="10 ms")
    total, order = trace.window_sum_packets, trace.synchronization
    return 100 * total.std() / total.mean(), order.index, 100 * order.hit_fraction


def _bursts(case: Case, spread: int) -> float:
    """Variance over mean of a flow's packets in 5 ms (20 ms at a quarter of the speed).

    Packets at even distances have less than 1, a Poisson process 1, trains of k packets k.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pcapng"
        seconds = 5 * case.slower
        forebay.run(case.scenario(spread, f"measure.duration={seconds} s"), seed=1, capture=path)
        at, flow = map(np.array, zip(*_data(path.read_bytes()), strict=True))
    step = (at.max() - at.min()) / seconds * 5e-3 * case.slower
    slots = ((at - at.min()) / step).astype(int)
    _, flow = np.unique(flow, return_inverse=True)
    counts = np.zeros((flow.max() + 1, slots.max() + 1))
    np.add.at(counts, (flow, slots), 1)
    return float(np.mean(counts.var(axis=1) / counts.mean(axis=1)))


def _data(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """Time and sender of every packet above 1000 bytes: enhanced packet blocks, IPv4."""
    place = 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        if kind == 6:
            high, low, _, size = struct.unpack_from("<IIII", capture, place + 12)
            header = place + 28
            if size > 1000:
                network = header if capture[header] >> 4 == 4 else header + 14
                sender = capture[network + 12 : network + 16] + capture[network + 20 : network + 22]
                yield (high << 32) | low, sender
        place += length


def table() -> None:
    """Print the page's rows."""
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            value = {name: float(row[name]) for name in COLUMNS[2:]}
            print(f"| {row['case']} | {row['spread']} | {value['utilization']:.1f} | "
                  f"{value['loss']:.2f} | {value['deviation']:.1f} | {value['index']:.1f} | "
                  f"{value['hit']:.0f} | {value['jain']:.2f} | {value['timeouts']:.0f} | "
                  f"{value['bursts']:.1f} |")  # fmt: skip


if __name__ == "__main__":
    {"measure": measure, "table": table}[sys.argv[1]]()
