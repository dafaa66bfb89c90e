"""Completely simulated links compared with the extrapolation from smaller links of their kind.

python docs/explanation/figures/scaled_links.py draw     # docs/images/scaled-links.svg
python docs/explanation/figures/scaled_links.py table    # the page's table of extrapolations
python docs/explanation/figures/scaled_links.py answers  # and that of answers within two minutes

benches/scaled_links.py and benches/answer_in_time.py make the data.
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
from forebay.search.strategies.crossing.crossing import Crossing
from forebay.search.strategies.scaling.extrapolate import Carried, extrapolate
from forebay.search.strategies.scaling.rule import ScalingRule

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs/explanation/scaled-links.csv"
WHOLE = ROOT / "docs/explanation/whole-links.csv"
ANSWERS = ROOT / "docs/explanation/answers-in-time.csv"
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


class Link(NamedTuple):
    """A link that was simulated completely."""

    rate_mbps: float
    flows: int
    found: Crossing


def read() -> dict[str, list[Link]]:
    """Return the links of each family, the smallest first."""
    families: dict[str, list[Link]] = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            numbers = (float(row[name]) for name in ("packets", "low", "high", "log_error"))
            found = Crossing(*numbers, int(row["seeds"]), row["reached"], ())
            link = Link(float(row["rate_bps"]) / 1e6, int(row["flows"]), found)
            families.setdefault(row["family"], []).append(link)
    return {name: sorted(links) for name, links in families.items()}


def checks() -> Iterator[tuple[str, Link, list[Link], Carried]]:
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
        steepest = 1.0 if "loss" in name or "codel" in name else rule.steepest
        lossy = "loss" in name and whole.flows > 0
        found = [each.found for each in smaller]
        carried = extrapolate(factors, found, steepest, gentlest=rule.gentlest, proportional=lossy)
        yield name, whole, smaller, carried


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


def answers() -> None:
    """Print the page's rows of answers: the whole link, then the answers with each set of seeds.

    The sets are named by their first seeds on the command line; all if there are none.
    """
    said = _answers()
    firsts = [int(each) for each in sys.argv[2:]] or sorted({first for _, first in said})
    within = held = asked = 0
    for family, whole in _whole().items():
        true, cells = float(whole["packets"]), []
        for row in (said.get((family, first)) for first in firsts):
            if row is None:
                cells.append("")
                continue
            packets, low, high = (int(row[name]) for name in ("packets", "low", "high"))
            inside, off = low <= math.ceil(true) <= high, packets / max(math.ceil(true), 1) - 1
            asked, held = asked + 1, held + inside
            within += abs(off) <= 0.15
            missed = "" if inside else ", **not inside**"
            cells.append(f"{packets} ({low} … {high}), {off:+.0%}, {row['way']}{missed}")
        ends = f"{float(whole['low']):.1f} … {float(whole['high']):.1f}"
        size = f"{float(whole['rate_bps']) / 1e6:g}, {whole['flows']}"
        print(f"| {family} | {size} | {true:.1f} ({ends}) | {' | '.join(cells)} |")
    print(f"{asked} answers: {within} within 15 %, {held} hold the whole link's crossing")


def _whole() -> dict[str, dict[str, str]]:
    with WHOLE.open(newline="") as file:
        return {row["family"]: row for row in csv.DictReader(file)}


def _answers() -> dict[tuple[str, int], dict[str, str]]:
    with ANSWERS.open(newline="") as file:
        return {(row["family"], int(row["first_seed"])): row for row in csv.DictReader(file)}


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
    {"draw": draw, "table": table, "answers": answers}[sys.argv[1]]()
