"""Which law to believe where: 75 random links, what each law asks for and what simulation finds.

``python benches/which_law.py docs`` writes docs/explanation/which-law-governs.csv and its picture
in docs/images; the links are drawn from a fixed seed, so a second run finds the same.
``--links N`` runs the first N only, ``--resume`` goes on where a run was stopped.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
from pathlib import Path
from typing import Any

import forebay
from forebay.laws import regime_of
from forebay.scenario import Scenario, loads

LINKS, MANY, SEED, TARGET = 60, 15, 2004, 0.98
LAWS = ("synchronized", "sqrt-n", "utilization", "yang-2013/utilization")
COLUMNS = (
    "regime", "flows", "rate_mbps", "rtt_low_ms", "rtt_high_ms", "window", "bdp", "sender",
    "simulation", "simulation_low", *LAWS,
)  # fmt: skip


def links() -> list[Scenario]:
    """Draw the links: Reno flows with a window of two packets or more; the last ones are many."""
    draw = random.Random(SEED)
    few = [_link(draw, 10.0, 1.0) for _ in range(LINKS)]
    return few + [_link(draw, 75.0, 100.0) for _ in range(MANY)]


def _link(draw: random.Random, slowest: float, fewest: float) -> Scenario:
    """Rates up to ten times (or with many flows twice) the slowest, Mbit/s."""
    rate = round(slowest * (10 if fewest == 1 else 2) ** draw.uniform(0, 1), 1)
    rtt = (20 if fewest == 1 else 60) * (6 if fewest == 1 else 2) ** draw.uniform(0, 1)
    spread = draw.choice([0.0, 0.2, 0.5])
    bdp = rate * 1e6 * rtt * 1e-3 / 12_000
    flows = max(1, round(fewest * (bdp / 2 / fewest) ** draw.uniform(0, 1)))
    low, high = rtt * (1 - spread), rtt * (1 + spread)
    long = 200 if flows < 10 else 60  # few flows swing slowly
    return loads(f"""
        link.rate = "{rate} Mbit/s"
        queue.size = "1 bdp/sqrt(n)"
        measure = {{ warmup = "{long // 2} s", duration = "{long} s" }}
        goals.utilization = {TARGET}
        [[traffic]]
        flows = {flows}
        access_rate = "1 Gbit/s"
        rtt = {{ uniform = ["{low:.3f} ms", "{high:.3f} ms"] }}
        sender = "{draw.choice(["linux", "ns2"])}"
        """)


def find(scenario: Scenario) -> dict[str, Any]:
    """Size one link by simulation, beside what the laws ask for."""
    answer = forebay.size(scenario, engine="simulation", seeds=3, max_seeds=6)
    group, buffer = scenario.traffic[0], answer.buffer
    asked = {law.law: law.packets for law in answer.laws}
    found = {
        "regime": regime_of(scenario).regime,
        "flows": int(group.flows),
        "rate_mbps": scenario.link.rate / 1e6,
        "rtt_low_ms": round(group.rtt.low * 1e3, 1),
        "rtt_high_ms": round(group.rtt.high * 1e3, 1),
        "window": round(scenario.bdp_packets / group.flows, 1),
        "bdp": round(scenario.bdp_packets, 1),
        "sender": group.sender,
        "simulation": buffer.packets if buffer else None,
        "simulation_low": buffer.low if buffer else None,
    }
    return found | {law: _packets(asked, law) for law in LAWS}


def _packets(asked: dict[str, float | None], law: str) -> float | None:
    packets = asked.get(law if "/" in law else f"appenzeller-2004/{law}")
    return None if packets is None else round(packets, 1)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Ratio of what each law asks for to what simulation finds, against the number of flows."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    from forebay.report.figures.style import BLUE, GREEN, INK, PURPLE, VERMILLION, house_style, save

    with house_style():
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        for law, colour, mark in zip(LAWS, (VERMILLION, GREEN, BLUE, PURPLE), "^os+", strict=True):
            seen = [row for row in rows if row[law] and row["simulation"]]
            axes.plot(
                [row["flows"] for row in seen],
                [row[law] / row["simulation"] for row in seen],
                mark, color=colour, markersize=5, label=law, alpha=0.8,
            )  # fmt: skip
        axes.axhline(1, color=INK, linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("flows")
        axes.set_ylabel("law's buffer / simulation's, for 98 % utilization")
        axes.legend()
        save(figure, path)


def medians(rows: list[dict[str, Any]]) -> list[str]:
    """One line a regime: links, and for each law the median ratio with its extremes."""
    lines = []
    for regime in dict.fromkeys(row["regime"] for row in rows):
        here = [row for row in rows if row["regime"] == regime]
        cells = [regime, str(len(here)), *(_spread(here, law) for law in LAWS)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _spread(rows: list[dict[str, Any]], law: str) -> str:
    ratios = sorted(row[law] / row["simulation"] for row in rows if row[law] and row["simulation"])
    if not ratios:
        return "–"
    middle = math.sqrt(ratios[(len(ratios) - 1) // 2] * ratios[len(ratios) // 2])
    return f"{middle:.2g} ({ratios[0]:.2g} to {ratios[-1]:.2g})"


def _kept(path: Path) -> list[dict[str, Any]]:
    words = ("regime", "sender")
    with path.open(newline="") as file:
        return [
            {key: value if key in words else _number(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


def _number(text: str) -> float | None:
    if not text:
        return None
    return int(text) if text.isdigit() else float(text)


def main() -> None:
    """Run, write, print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--links", type=int, default=LINKS + MANY)
    parser.add_argument("--resume", action="store_true", help="Keep the links already there.")
    wanted = parser.parse_args()
    path = wanted.docs / "explanation" / "which-law-governs.csv"
    rows = _kept(path) if wanted.resume else []
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        for scenario in links()[len(rows) : wanted.links]:
            rows.append(find(scenario))
            table.writerow(rows[-1])
            file.flush()
    draw(rows, wanted.docs / "images" / "which-law-governs.svg")
    print(*medians(rows), sep="\n")


if __name__ == "__main__":
    main()
