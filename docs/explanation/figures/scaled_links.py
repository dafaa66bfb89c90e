"""Completely simulated links compared with the extrapolation from smaller links of their kind.

python docs/explanation/figures/scaled_links.py draw     # docs/images/scaled-links.svg
python docs/explanation/figures/scaled_links.py table    # the page's table of extrapolations

The data are from 2026-11-25, by the crossing of each link's own curve.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from forebay.report import Line, Panel, Picture
from forebay.report.figures.picture import draw_picture
from forebay.search import carry
from forebay.search.scaling import ScalingRule

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs/explanation/scaled-links.csv"
FIGURE = ROOT / "docs/images/scaled-links.svg"
ENOUGH = 100
KINDS: tuple[Literal["line", "dashes", "dots"], ...] = ("line", "dashes", "dots", "line")
NOT_SCALED = "few cubic"
KEPT = "the same flows, larger windows"
GROUPS = {
    "sums of many windows": (
        "cubic", "cubic, 99.5 %", "reno", "cubic with 10 % short", "cubic with 20 % udp",
    ),
    "bursts of single flows": (
        "mix", "mix with 10 % short", "bbr3", "many cubic, 99.5 %", "many in a mix, 99.5 %",
    ),
    "loss, a delay aimed at, few flows": (
        "short alone, loss 0.1 %", "cubic, loss 0.3 %", "cubic under codel, 99.8 %",
        "reno, loss 0.6 %", "mix, loss 0.8 %", "many cubic, loss 3 %", "few cubic",
    ),
    KEPT: (
        "100 cubic", "100 reno", "100 in a mix", "100 bbr3", "100 compound", "100 cubic, 99.5 %",
        "100 cubic with 10 % short", "120 cubic, 30 to 90 ms", "150 reno, 30 to 90 ms",
        "100 cubic and reno", "100 bbr",
    ),
}  # fmt: skip


class Crossing(NamedTuple):
    """The buffer of a link that just meets its goals, packets, and its interval."""

    packets: float
    low: float
    high: float
    log_error: float


class Link(NamedTuple):
    """A link that was simulated completely."""

    rate_mbps: float
    flows: int
    found: Crossing
    bdp: float


def read() -> dict[str, list[Link]]:
    """Return the links of each family, the smallest first."""
    families: dict[str, list[Link]] = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            numbers = (float(row[name]) for name in ("packets", "low", "high", "log_error"))
            bdp = float(row["bdp_packets"]) if int(row["flows"]) else math.inf
            rate_mbps, flows = float(row["rate_bps"]) / 1e6, int(row["flows"])
            link = Link(rate_mbps, flows, Crossing(*numbers), bdp)
            families.setdefault(row["family"], []).append(link)
    return {name: sorted(links) for name, links in families.items()}


def checks() -> Iterator[tuple[str, Link, list[Link], Crossing]]:
    """Yield each family's largest link, the smaller ones that stand for it, and what they say.

    Those are the three largest that are 4 times smaller or more; 2 times where that leaves fewer
    than 100 flows.
    """
    families = read()
    names = (name for group in GROUPS.values() for name in group if name != NOT_SCALED)
    for name in names:
        links = families[name]
        whole = links[-1]
        for factor in (4.0, 2.0):
            smaller = [each for each in links if each.rate_mbps * factor <= whole.rate_mbps][::-1]
            if smaller and not 0 < smaller[0].flows < ENOUGH:
                break
        smaller = smaller[:3]
        factors = [whole.rate_mbps / each.rate_mbps for each in smaller]
        kept = name in GROUPS[KEPT]
        rule = ScalingRule(1.0 - kept, 1.0, bursts="bbr" in name or "mix" in name)
        steep = ("loss" in name and whole.flows > 0) or "codel" in name
        yield name, whole, smaller, _carried(factors, smaller, rule, steep=steep)


def _carried(
    factors: list[float], smaller: list[Link], rule: ScalingRule, *, steep: bool
) -> Crossing:
    """Return what the search would say of the whole link."""
    seen = [
        carry.Crossing(
            factor, each.bdp, math.log(each.found.packets), max(each.found.log_error, 0.03)
        )
        for factor, each in zip(factors, smaller, strict=True)
    ]
    before = carry.prior(rule, steep=steep, one_process=False)
    of, top = carry.exponent(before, seen, rule, steep=steep), seen[0]
    packets, low, high = (
        carry.whole(math.exp(top.log), top.factor, top.bdp, each)
        for each in (of.value, of.low, of.high)
    )
    return Crossing(packets, low * math.exp(-2 * top.sd), high * math.exp(2 * top.sd), 0.0)


def table() -> None:
    """Print the page's rows."""
    within = held = rows = 0
    for name, whole, smaller, said in checks():
        true = whole.found.packets
        off, inside = said.packets / true - 1, said.low <= true <= said.high
        rows, within, held = rows + 1, within + (abs(off) <= 0.15), held + inside
        played = ", ".join(f"{each.rate_mbps:g}: {each.found.packets:.1f}" for each in smaller)
        print(
            f"| {rows} | {name} | {whole.rate_mbps:g}, {whole.flows} | {played} | "
            f"{said.packets:.1f} ({said.low:.1f} … {said.high:.1f}) | {true:.1f} "
            f"({whole.found.low:.1f} … {whole.found.high:.1f}) | {100 * off:+.0f} % | "
            f"{'yes' if inside else 'no'} |"
        )
    print(f"{rows} links: {within} within 15 %, {held} in the interval")


def draw() -> None:
    """Draw buffers against rate, and what is said of each largest link over what it is."""
    families = read()
    panels = [
        Panel(
            [_line(name, families[name], kind) for name in names],
            "rate, Mbit/s", "packets, the goal just met", title, log="xy",
        )
        for kind, (title, names) in zip(KINDS, GROUPS.items(), strict=True)
    ]  # fmt: skip
    said = [
        (1 + row, said, whole.found.packets) for row, (_, whole, _, said) in enumerate(checks())
    ]
    ratios = Line(
        [row for row, *_ in said],
        [each.packets / true for _, each, true in said],
        "",
        "dots",
        y_bounds=[(each.low / true, each.high / true) for _, each, true in said],
    )
    panels.append(Panel([ratios], "row of the table", "extrapolated / simulated"))
    draw_picture(Picture(panels, columns=2), "Links of a kind, ever larger", FIGURE)


def _line(name: str, links: list[Link], kind: Literal["line", "dashes", "dots"]) -> Line:
    return Line(
        [each.rate_mbps for each in links],
        [each.found.packets for each in links],
        name,
        kind,
        y_bounds=[(each.found.low, each.found.high) for each in links],
    )


if __name__ == "__main__":
    {"draw": draw, "table": table}[sys.argv[1]]()
