"""How far theory's loss rate is from simulation's: random links of ten flows and more.

``python benches/loss_band.py docs`` writes docs/explanation/loss-of-many-flows.csv and its picture
in docs/images. The links come from a fixed seed; none was looked at when the band was set.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
from pathlib import Path
from typing import Any

import forebay
from forebay.engines.errors import NoLaw
from forebay.laws.response import BAND
from forebay.scenario import Scenario, loads

LINKS, SEED = 160, 2013
CONTROLS = (
    '"reno"', '"cubic"', '"scalable"', '"compound"', '"dctcp"', '"cubic-beta-0.8"',
    "{ reno = 0.5, cubic = 0.5 }",
)  # fmt: skip
COLUMNS = (
    "control", "sender", "rate_mbps", "flows", "rtt_low_ms", "rtt_high_ms", "window",
    "buffer_bdp", "theory_percent", "simulation_percent", "ratio",
)  # fmt: skip


def links() -> list[Scenario]:
    """Draw the links: 5 to 100 Mbit/s, windows of 1.5 to 75 packets, buffers up to 2 bdp."""
    draw = random.Random(SEED)
    return [_link(draw) for _ in range(LINKS)]


def _link(draw: random.Random) -> Scenario:
    rate = round(5 * 20 ** draw.random(), 1)
    rtt, spread = 20 * 6 ** draw.random(), draw.choice([0.02, 0.2, 0.5, 0.85])
    bdp = rate * 1e6 * rtt * 1e-3 / 12_000
    flows = max(10, min(800, round(bdp / (1.5 * 50 ** draw.random()))))
    size = max(
        2, min(round(draw.choice([0.5, 1, 2, 4, 8]) * bdp / math.sqrt(flows)), round(2 * bdp))
    )
    return loads(f"""
        link.rate = "{rate} Mbit/s"
        queue.size = "{size} packets"
        measure = {{ warmup = "30 s", duration = "60 s" }}
        [[traffic]]
        flows = {flows}
        congestion_control = {draw.choice(CONTROLS)}
        sender = "{draw.choice(["linux", "linux", "ns2"])}"
        rtt = {{ uniform = ["{rtt * (1 - spread):.3f} ms", "{rtt * (1 + spread):.3f} ms"] }}
        """)


def find(scenario: Scenario) -> dict[str, Any] | None:
    """One link by both engines; None where no law answers, or nothing was lost."""
    try:
        told = forebay.run(scenario, "theory").links["bottleneck"].loss_rate
    except NoLaw:
        return None
    seen = forebay.run(scenario, "simulation", jobs=1).links["bottleneck"].loss_rate
    if told is None or seen is None or not seen.value:
        return None
    group = scenario.traffic[0]
    return {
        "control": "+".join(group.shares),
        "sender": group.sender,
        "rate_mbps": scenario.link.rate / 1e6,
        "flows": int(group.flows),
        "rtt_low_ms": round(group.rtt.low * 1e3, 1),
        "rtt_high_ms": round(group.rtt.high * 1e3, 1),
        "window": round(scenario.bdp_packets / group.flows, 1),
        "buffer_bdp": round(scenario.buffer_packets / scenario.bdp_packets, 3),
        "theory_percent": round(100 * told.value, 4),
        "simulation_percent": round(100 * seen.value, 4),
        "ratio": round(seen.value / told.value, 2),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Simulation's loss against theory's, with the band."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    from forebay.report.figures.style import BLUE, GREEN, INK, VERMILLION, house_style, save

    with house_style():
        figure = Figure(figsize=(6.4, 4.8), layout="constrained")
        axes = figure.subplots()
        kinds = (("halving", BLUE, "o"), ("gentle", VERMILLION, "^"), ("both", GREEN, "s"))
        for kind, colour, mark in kinds:
            here = [row for row in rows if _kind(row["control"]) == kind]
            axes.plot(
                [row["theory_percent"] for row in here],
                [row["simulation_percent"] for row in here],
                mark, color=colour, markersize=5, label=kind, alpha=0.8,
            )  # fmt: skip
        ends = [0.8 * min(r["theory_percent"] for r in rows), 40.0]
        axes.plot(ends, ends, color=INK, linewidth=1, label="theory's value")
        for times in BAND:
            line = [times * end for end in ends]
            axes.plot(ends, line, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(top=100.0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("loss rate by theory, %")
        axes.set_ylabel("loss rate by simulation, %")
        axes.legend()
        save(figure, path)


def _kind(control: str) -> str:
    halving = {"reno", "compound", "dctcp"}
    names = set(control.split("+"))
    return "halving" if names <= halving else "both" if names & halving else "gentle"


def main() -> None:
    """Run, write, say how many lie in the band."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docs", type=Path)
    wanted = parser.parse_args()
    rows = [row for row in map(find, links()) if row is not None]
    with (wanted.docs / "explanation" / "loss-of-many-flows.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    draw(rows, wanted.docs / "images" / "loss-of-many-flows.svg")
    ratios = sorted(row["ratio"] for row in rows)
    inside = sum(BAND[0] <= ratio <= BAND[1] for ratio in ratios)
    print(f"{inside} of {len(rows)} in the band; {ratios[0]} to {ratios[-1]}")
    print(f"middle {ratios[len(ratios) // 2]}")


if __name__ == "__main__":
    main()
