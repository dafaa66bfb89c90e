"""Is any link answered within a time, whatever its rate, traffic and number of flows?

    .venv/bin/python benches/any_link.py FILE.csv [SECONDS]

Sizes 1 to 800 Gbit/s of CUBIC, of a mix, and with short flows, from 100 to 1,000,000 flows, and
some links beyond: 10 Mbit/s, 1 Tbit/s, BBRv3 alone, datagrams beside a few flows. Each in so many
seconds of two processors each (120 if not said), and appends a row a link. Time is what this
process computed, halved, so that a loaded machine says the same as an idle one. Links that the file
has with this time or more are not sized again.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from forebay import engines, laws
from forebay.scenario import Scenario, loads
from forebay.search.cost import TooLittleTime
from forebay.search.options import Options
from forebay.search.problem import LawContext, problem_of
from forebay.search.search import search

RATES = (1.0, 10.0, 40.0, 100.0, 400.0, 800.0)
BEYOND = (
    ("cubic", 0.01, 20), ("mix", 0.01, 200), ("cubic", 1000.0, 1_000_000),
    ("bbr3", 1000.0, 500_000), ("udp", 100.0, 50_000),
)  # fmt: skip
MIX = "{ cubic = 0.6, bbr3 = 0.3, reno = 0.1 }"
SHORT = """
[[traffic]]
kind = "short"
length = { pareto = { mean = "40 packets", shape = 1.2, high = "10000 packets" } }
load = 0.1
rtt = { uniform = ["10 ms", "180 ms"] }
congestion_control = "cubic"
"""
UDP = """
[[traffic]]
kind = "udp"
flows = 1000
load = 0.3
arrivals = "poisson"
"""
BESIDE = {"short": SHORT, "udp": UDP}
COLUMNS = (
    "traffic", "rate_gbps", "flows", "budget_s", "packets", "low", "high", "factor", "exponent",
    "seconds", "predicted_s", "governs", "law_packets", "refused",
)  # fmt: skip


def links() -> Iterator[tuple[str, float, int]]:
    """Yield traffic, rate and flows: those that a rate usually has, the ends, what is beyond."""
    for rate in RATES:
        for traffic in ("cubic", "mix", "short"):
            yield traffic, rate, min(round(2000 * rate), 1_000_000)
    for flows in (100, 1_000_000):
        for traffic in ("cubic", "mix", "short"):
            for rate in RATES:
                yield traffic, rate, flows
    yield from BEYOND


def scenario(traffic: str, rate: float, flows: int) -> Scenario:
    """Return one link."""
    control = {"mix": MIX, "bbr3": '"bbr3"'}.get(traffic, '"cubic"')
    return loads(f"""
[link]
rate = "{rate} Gbit/s"
[[traffic]]
flows = {flows}
rtt = {{ uniform = ["10 ms", "180 ms"] }}
congestion_control = {control}
{BESIDE.get(traffic, "")}
[goals]
utilization = 0.98
""")


def size_one(traffic: str, rate: float, flows: int, seconds: float) -> dict[str, object]:
    """Return the row of one link."""
    asked, row = scenario(traffic, rate, flows), dict.fromkeys(COLUMNS, "")
    row |= {
        "traffic": traffic,
        "rate_gbps": f"{rate:g}",
        "flows": flows,
        "budget_s": f"{seconds:g}",
    }
    begun, governs = time.process_time(), laws.regime_of(asked)
    try:
        known = laws.for_scenario(asked), governs, laws.assumptions.sawtooths_s
        options = Options(
            range(1, 6), 20, jobs=2, budget_s=seconds, progress=lambda _: None,
            clock=lambda: time.process_time() / 2, open_ended=True,
        )  # fmt: skip
        problem = problem_of(asked, "simulation", LawContext(*known))
        found = search(problem, engines.get("simulation"), options)
    except TooLittleTime as refused:
        return row | {"refused": refused.why, "seconds": (time.process_time() - begun) / 2}
    row |= {"seconds": f"{(time.process_time() - begun) / 2:.1f}", "governs": governs.law or ""}
    named = [law.packets for law in found.laws if law.law == governs.law]
    row["law_packets"] = f"{named[0]:.0f}" if named and named[0] is not None else ""
    if found.cost is not None:
        row["predicted_s"] = f"{found.cost.predicted_s:.1f}"
    if found.buffer is None:
        return row | {"refused": found.reason}
    row |= {name: getattr(found.buffer, name) for name in ("packets", "low", "high")}
    if found.scaled is not None:
        row["factor"] = f"{found.scaled.factor:.4g}"
        row["exponent"] = f"{found.scaled.exponent.value:.2f}"
    return row


def _key(row: dict[str, str]) -> tuple[str, float, int]:
    return row["traffic"], float(row["rate_gbps"]), int(row["flows"])


def main(path: Path, seconds: float) -> None:
    """Size what the file does not have yet."""
    known = set()
    if path.exists():
        with path.open(newline="") as file:
            rows = csv.DictReader(file)
            known = {_key(row) for row in rows if float(row["budget_s"]) >= seconds}
    for link in links():
        if link in known:
            continue
        known.add(link)
        row = size_one(*link, seconds)
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
        print(*row.values(), sep=", ", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 120.0)
