"""Packets of the bottleneck a CPU-second on links that operators ask about, and on the papers'.

    .venv/bin/python benches/operators_links.py [OTHER_CHECKOUT] [repeats=5] [only=WORDS]

Each figure is of two durations, whose difference leaves the start out. With OTHER_CHECKOUT, which
has a `.venv/bin/python` and a core of its own, runs alternate; the ratio is here over there, the
median of the pairs. The last column tells whether both simulated the same.
`only` selects the cells whose name has these words.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

ONE = """
import json, sys, time
import forebay
from forebay.scenario import loads
texts = json.loads(sys.stdin.read())
brief = 'link.rate = "1 Mbit/s"\\ntraffic = [{ flows = 1, rtt = "9 ms" }]'
brief += '\\nqueue.size = "9 packets"'
forebay.run(loads(brief), jobs=1)  # imports
found = []
for text in texts:
    scenario = loads(text)
    before = time.process_time()
    outcome = forebay.run(scenario, jobs=1)
    took = time.process_time() - before
    values = {key: each.get("loss_rate") for key, each in outcome.to_dict()["links"].items()}
    found.append((outcome.provenance.packets, took, values))
print(json.dumps(found))
"""

CONTROLS = {
    "cubic": '"cubic"',
    "half bbr": "{ cubic = 0.5, bbr = 0.5 }",
    "bbr": '"bbr"',
    "bbr3": '"bbr3"',
    "reno": '"reno"',
}


def cell(
    rate: str, flows: int, control: str, packets: int, seconds: tuple[float, float], more: str = ""
) -> tuple[str, str, tuple[float, float]]:
    """Return a cell: its name, its scenario without the duration, and the two durations."""
    number, unit = rate.split()
    text = f"""
[link]
rate = "{rate}"
[queue]
size = "{packets} packets"
[[traffic]]
flows = {flows}
congestion_control = {CONTROLS[control]}
access_rate = "{10 * float(number):g} {unit}"
start = {{ uniform = ["0 s", "0.5 s"] }}
{more or 'rtt = { uniform = ["10 ms", "60 ms"] }'}
[measure]
warmup = "1 s"
"""
    return (
        f"{rate}, {flows} {control}{', ' + more.split('#')[1] if '#' in more else ''}",
        text,
        seconds,
    )


OC3 = 'rtt = { uniform = ["80 ms", "120 ms"] }\nsender = "SENDER"  #OC3 SENDER'
CELLS = [
    *(cell("10 Gbit/s", 200, each, 2000, (0.5, 3.5)) for each in ("cubic", "half bbr", "bbr")),
    *(
        cell("10 Gbit/s", 2000, each, 2000, (0.5, 2))
        for each in ("cubic", "half bbr", "bbr", "bbr3")
    ),
    cell("1 Gbit/s", 100, "bbr", 2000, (1, 20)),
    cell("100 Gbit/s", 5000, "half bbr", 20_000, (0.1, 0.4)),
    *(
        cell("155 Mbit/s", flows, "reno", packets, (5, 200), OC3.replace("SENDER", sender))
        for sender in ("ns2", "linux")
        for flows, packets in ((100, 128), (400, 63))
    ),
    cell("2.5 Gbit/s", 10_000, "reno", 207, (1, 10), OC3.replace("SENDER", "ns2")),
]


def measured(checkout: Path, texts: list[str]) -> list[Any]:
    """Return packets, CPU seconds and readings of each scenario, in a process of its own."""
    command = [checkout / ".venv/bin/python", "-c", ONE]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, check=True, cwd=checkout
    )
    return list(json.loads(done.stdout))


def figures(
    checkouts: list[Path], texts: list[str], repeats: int
) -> Iterator[list[tuple[float, Any]]]:
    """Yield for each repeat M packets a CPU-second and readings, by checkout."""
    for number in range(repeats):
        order = checkouts if number % 2 == 0 else checkouts[::-1]
        found = {}
        for each in order:
            (short, brief, _), (long, whole, values) = measured(each, texts)
            found[each] = ((long - short) / (whole - brief) / 1e6, (long, values))
        yield [found[each] for each in checkouts]


def main() -> None:
    """Print the table."""
    given = dict(each.split("=", 1) for each in sys.argv[1:] if "=" in each)
    others = [Path(each).resolve() for each in sys.argv[1:] if "=" not in each]
    checkouts, words = [*others, ROOT], given.get("only", "").split()
    print(f"{'cell':36}" + "  other    here   ratio  same" * bool(others) + "  M packets/CPU-s")
    for name, text, seconds in CELLS:
        if not all(word in name for word in words):
            continue
        texts = [f'{text}duration = "{each} s"\n' for each in seconds]
        rows = list(figures(checkouts, texts, int(given.get("repeats", "5"))))
        middle = [median(row[place][0] for row in rows) for place in range(len(checkouts))]
        line = f"{name:36}" + "".join(f"{each:8.2f}" for each in middle)
        if others:
            ratio = median(row[1][0] / row[0][0] for row in rows)
            line += f"{ratio:8.2f}  {'yes' if rows[0][0][1] == rows[0][1][1] else 'no'}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
