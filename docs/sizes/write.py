"""Write the table of each page of this folder from the study that lies beside it.

    forebay sweep docs/sizes/KIND.toml --store build/sizes.sqlite --export docs/sizes/KIND.csv
    python docs/sizes/write.py

A page has its table between two marks. ``make sizes`` runs every study and then this program.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
MARKED = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.S)
UNDECIDED = "not decided"


def table(rows: list[dict[str, str]]) -> str:
    """Return Markdown: a line for each rate and number of flows, a column for each mix."""
    rate, flows, mix = list(rows[0])[:3]
    mixes = list(dict.fromkeys(row[mix] for row in rows))
    lines = [
        ["rate", "flows", *map(_title, mixes)],
        ["---"] * (2 + len(mixes)),
    ]
    for key in dict.fromkeys((row[rate], row[flows]) for row in rows):
        by_mix = {row[mix]: row for row in rows if (row[rate], row[flows]) == key}
        lines.append([key[0], f"{int(key[1]):,}", *(_cell(by_mix.get(each)) for each in mixes)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _title(mix: str) -> str:
    """Return "cubic" as "CUBIC", "{ cubic = 0.2, bbr = 0.8 }" as "20 % CUBIC, 80 % BBR"."""
    shares = re.findall(r"(\w+) = ([\d.]+)", mix)
    return ", ".join(f"{float(s):.0%} {name.upper()}".replace("%", " %") for name, s in shares) or (
        f"{mix.upper()} alone"
    )


def _cell(row: dict[str, str] | None) -> str:
    if row is None or not (row["recommended.packets"] or row["buffer.packets"]):
        return UNDECIDED
    if not row["recommended.packets"]:
        return f"{UNDECIDED}: {int(row['buffer.low']):,} to {int(row['buffer.high']):,}"
    packets, seconds = int(row["recommended.packets"]), float(row["recommended.seconds"])
    return f"**{packets:,}** ({_time(seconds)}){_goals_alone(row, seconds / packets)}"


def _goals_alone(row: dict[str, str], packet_s: float) -> str:
    """Return from which size on the goals alone are met, if the recommended one is for more."""
    high = int(row["buffer.high"] or row["recommended.packets"])
    if high >= int(row["recommended.packets"]):
        return ""
    return f"; goals from {high:,} ({_time(high * packet_s)})"


def _time(seconds: float) -> str:
    unit, scale = ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def write(study: Path) -> None:
    """Put the table of a CSV file into the page of the same name."""
    page = study.with_suffix(".md")
    with study.open(encoding="utf-8", newline="") as file:
        made = table(list(csv.DictReader(file)))
    text = page.read_text(encoding="utf-8")
    page.write_text(MARKED.sub(lambda marks: marks[1] + made + marks[2], text), encoding="utf-8")


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:] or sorted(HERE.glob("*.csv"))):
        write(each)
