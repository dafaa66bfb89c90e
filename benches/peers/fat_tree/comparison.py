"""Completion times of transfers over a fat tree, compared with ns-3 on the same table."""

from __future__ import annotations

import csv
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import forebay
from forebay import Link, Measure, Queue, Scenario, Topology, Transfer, Transfers
from forebay.outcome.completion import ENDS, NAMES
from forebay.reproduction import OURS, Check, Progress, Reproduction

HERE = Path(__file__).resolve().parent
COLUMNS = ["size", "transfers", "quantile", "ns-3", "simulator", "apart, %", "band, %"]
TRANSFERS, LOAD, SEED = 5000, 0.5, 2026
RATE_BPS, DELAY_S, PACKET, PAYLOAD = 1e9, 10e-6, 1500, 1448
_SIZES = (1, 6, 13, 19, 33, 53, 133, 667, 1333, 3333, 6667, 20_000)
_SHARES = (0.0, 0.15, 0.2, 0.3, 0.4, 0.53, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)
"""Web search (Alizadeh et al. 2010, Figure 4), in packets as in Alizadeh et al. 2013 (pFabric)."""
QUANTILES = (0.5, 0.99)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Table:
    """The transfers that both simulators are handed: start, packets, hosts and path of each."""

    def __init__(self) -> None:
        drawn = np.random.Generator(np.random.PCG64(SEED)).random((5, TRANSFERS))
        self.packets: Ints = np.ceil(np.interp(drawn[0], _SHARES, _SIZES)).astype(np.int64)
        mean = sum(
            (b - a) * (low + high) / 2
            for (a, b), (low, high) in zip(pairwise(_SHARES), pairwise(_SIZES), strict=True)
        )
        rate = LOAD * 16 * RATE_BPS / (8 * PACKET * mean)
        self.start_s: Floats = np.round(np.cumsum(-np.log1p(-drawn[1]) / rate), 9)
        self.source: Ints = (16 * drawn[2]).astype(np.int64)
        self.target: Ints = (self.source + 1 + (15 * drawn[3]).astype(np.int64)) % 16
        self.path: Ints = (4 * drawn[4]).astype(np.int64)

    def write(self, path: Path) -> None:
        """Write the table that fat_tree.cc reads."""
        with path.open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(("start_s", "packets", "source", "target", "path"))
            starts = (f"{each:.9f}" for each in self.start_s)
            columns = (self.packets, self.source, self.target, self.path)
            out.writerows(zip(starts, *(each.tolist() for each in columns), strict=True))

    @property
    def hops(self) -> Ints:
        """Links that each transfer crosses, its hosts' own included."""
        same_edge = self.source // 2 == self.target // 2
        return np.where(same_edge, 2, np.where(self.source // 4 == self.target // 4, 4, 6))

    @property
    def ideal_s(self) -> Floats:
        """Completion times on the empty path; see docs/reference/readings.md."""
        wire_s = 8 * PACKET / RATE_BPS
        return np.asarray(self.hops * (wire_s + DELAY_S) + (self.packets - 1) * wire_s)

    def route(self, row: int) -> list[str]:
        """Return the links between switches of a transfer, as the scenario names them."""
        path = int(self.path[row])
        ends = [f"edge{host // 4}-{host % 4 // 2}" for host in (self.source[row], self.target[row])]
        tops = [f"pod{host // 4}-{path // 2}" for host in (self.source[row], self.target[row])]
        ways = {2: ends[:1], 4: [ends[0], tops[0], ends[1]]}
        way = ways.get(int(self.hops[row]), [ends[0], tops[0], f"core{path}", tops[1], ends[1]])
        return [f"{here}->{there}" for here, there in pairwise(way)]


def scenario_of(table: Table) -> Scenario:
    """Return the fat tree with the table's transfers, measured until all have ended."""
    hosts = [[f"edge{h // 4}-{h % 4 // 2}#{h % 2 + 1}" for h in of.tolist()]
             for of in (table.source, table.target)]  # fmt: skip
    transfers = [
        Transfer(
            start=f"{table.start_s[row]:.9f} s", size=f"{PAYLOAD * packets} B",
            source=hosts[0][row], target=hosts[1][row], route=table.route(row),
        )
        for row, packets in enumerate(table.packets.tolist())
    ]  # fmt: skip
    return Scenario(
        name="web search over a fat tree of 16 hosts",
        link=Link(rate="1 Gbit/s", delay="10 us"),
        queue=Queue(size="100 packets"),
        topology=Topology(
            fat_tree={"k": 4}, classes=[{"name": "access"}, {"name": "edge"}, {"name": "core"}]
        ),
        traffic=[
            Transfers(
                transfers=transfers, congestion_control="reno", sender="ns2", sack=True,
                delayed_ack=False, initial_window=10, min_rto="200 ms", segment=PAYLOAD,
            )
        ],
        measure=Measure(warmup="0 s", duration=f"{float(table.start_s[-1]) + 60:.6f} s"),
    )  # fmt: skip


def quantiles(table: Table, slowdown: Floats) -> dict[str, tuple[int, list[float]]]:
    """Return for each bin of size its transfers, and the quantiles of their slowdown."""
    size, found = table.packets * PACKET, {}
    for name, (low, high) in zip(NAMES, pairwise(ENDS), strict=True):
        mine = np.sort(slowdown[(size > low) & (size <= high)])
        places = [int(np.ceil(share * mine.size)) - 1 for share in QUANTILES]
        found[name] = (mine.size, [float(mine[place]) for place in places])
    return found


def simulated(table: Table, seed: int, progress: Progress | None = None) -> Floats:
    """Return the slowdown of every transfer in the simulator."""
    rows = forebay.run(scenario_of(table), seed=seed, jobs=1, progress=progress).flows()
    took = np.full(TRANSFERS, np.nan)
    took[rows["flow"]] = rows["last_byte_s"] - rows["start_s"]
    return np.asarray(took / table.ideal_s)


def reproduce(
    seeds: int = 1, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Simulate the table once and compare each bin of size with ns-3's record."""
    known: dict[str, Any] = tomllib.loads((HERE / "measured.toml").read_text())
    ours = quantiles(Table(), simulated(Table(), 1, progress))
    rows, reasons = [], list[str]()
    for name, (count, found) in ours.items():
        for share, value, theirs in zip(QUANTILES, found, known["ns3"].get(name, []), strict=False):
            apart = 100 * (value / theirs - 1)
            met = abs(apart) <= known["band_percent"]
            why = known.get("miss", {}).get(f"{name}, p{100 * share:g}", "cause not known")
            reasons.append("" if met else f"{name}, p{100 * share:g}: {apart:+.1f} %; {why}")
            rows.append(
                [name, str(count), f"p{100 * share:g}", f"{theirs:.4g}", f"{value:.4g}",
                 f"{apart:+.1f}", f"{known['band_percent']:g}"]
            )  # fmt: skip
    return Reproduction(
        artefact="agreement/transfers",
        title="Slowdown of 5000 transfers over a fat tree of 16 hosts, against ns-3",
        columns=COLUMNS,
        rows=rows,
        reasons=reasons,
        checks=[Check(OURS, not reason, published=False) for reason in reasons],
        notes=[known["note"]],
        labels=3,
    )
