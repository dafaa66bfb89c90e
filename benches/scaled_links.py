"""How the smallest buffer changes as a link and its flows shrink together.

    .venv/bin/python benches/scaled_links.py FILE.csv [largest[=BATCHES]] [FAMILY...]

Plays each family of links at several scales, finds where its goals are just met
(`forebay.search.strategies.crossing`) and appends a row a link. Rows that the file has already are
not played again, so that it can be stopped. docs/explanation/scaled-links.md shows what came out.

With ``largest`` only the largest link of each family, with 96 other seeds: answers of the same link
are judged by these, which they do not share, and whose crossing is four times as certain. A link
whose curve is flat needs more: with ``largest=4`` the crossings of four such batches are averaged.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import engines, laws
from forebay.engines.base import Decorator
from forebay.outcome import Outcome
from forebay.scenario import Duration, Measure, Scenario, loads
from forebay.search.options import Options
from forebay.search.problem import first_guess
from forebay.search.sawtooths import long_enough
from forebay.search.strategies.crossing.crossing import find
from forebay.search.strategies.crossing.curve import curve_of

SEEDS = range(1, 7)
OTHER_SEEDS, BATCH = 101, 96
"""First of the seeds that no answer uses, which end before 1001, and how many make one crossing."""
NORMAL = 1.96
COLUMNS = (
    "family", "rate_bps", "flows", "packets", "low", "high", "log_error", "reached", "seeds",
    "bdp_packets", "packets_played", "cpu_s",
)  # fmt: skip
MIX = "{ cubic = 0.6, bbr3 = 0.3, reno = 0.1 }"
_LONG = """
[[traffic]]
flows = {flows}
rtt = {{ uniform = ["30 ms", "90 ms"] }}
congestion_control = {control}
"""
_SHORT = """
[[traffic]]
kind = "short"
length = {{ pareto = {{ mean = "40 packets", shape = 1.2, high = "10000 packets" }} }}
load = {load}
rtt = {{ uniform = ["30 ms", "90 ms"] }}
congestion_control = "cubic"
"""
_FEW = """
[[traffic]]
flows = {flows}
rtt = {{ uniform = ["10 ms", "180 ms"] }}
congestion_control = {control}
"""
_UDP = """
[[traffic]]
kind = "udp"
flows = {flows}
load = 0.2
arrivals = "poisson"
"""

_SOME_SHORT = _LONG + _SHORT.replace("{load}", "0.1")
_MOSTLY_SHORT = _SHORT.replace("{load}", "0.8")
CODEL = '[queue]\ndiscipline = "codel"'
CUBIC, RENO, BBR3 = '"cubic"', '"reno"', '"bbr3"'
SMALL = (125, 250, 500, 1000)


@dataclass(frozen=True)
class Family:
    """Links that differ in their rate alone.

    Flows go with it, ``flows`` at 1 Gbit/s, unless ``keeps_flows``: then windows go with it.
    """

    flows: int
    goals: str
    traffic: str
    control: str
    rates_mbps: tuple[int, ...]
    queue: str = ""
    keeps_flows: bool = False


def wide(flows: int, traffic: str, control: str, gbps: tuple[float, ...], goal: str) -> Family:
    """Return a family of a given number of flows, with ever larger windows."""
    rates = tuple(round(1000 * rate) for rate in gbps)
    return Family(flows, f"utilization = {goal}", traffic, control, rates, keeps_flows=True)


_SPREAD_SHORT = _SOME_SHORT.replace("30 ms", "10 ms").replace("90 ms", "180 ms")
QUARTERS = (0.25, 0.5, 1, 4)
FAMILIES = {
    "cubic": Family(200, "utilization = 0.98", _LONG, CUBIC, (*SMALL, 2000, 4000, 8000)),
    "reno": Family(200, "utilization = 0.98", _LONG, RENO, (*SMALL, 2000, 4000)),
    "mix": Family(200, "utilization = 0.98", _LONG, MIX, (*SMALL, 2000, 4000)),
    "bbr3": Family(200, "utilization = 0.98", _LONG, BBR3, SMALL),
    "cubic, 99.5 %": Family(200, "utilization = 0.995", _LONG, CUBIC, (*SMALL, 2000, 4000)),
    "many cubic, 99.5 %": Family(
        2000, "utilization = 0.995", _FEW, CUBIC, (31, 125, 500, 1000, 2000)
    ),
    "many in a mix, 99.5 %": Family(2000, "utilization = 0.995", _FEW, MIX, (31, 125, 500, 1000)),
    "cubic with 10 % short": Family(200, "utilization = 0.98", _SOME_SHORT, CUBIC, (*SMALL, 2000)),
    "mix with 10 % short": Family(200, "utilization = 0.98", _SOME_SHORT, MIX, SMALL),
    "short alone, loss 0.1 %": Family(
        0, "loss_rate = 0.001", _MOSTLY_SHORT, "", (60, 250, 1000, 4000)
    ),
    "cubic, loss 0.3 %": Family(200, "loss_rate = 0.003", _LONG, CUBIC, SMALL),
    "reno, loss 0.6 %": Family(200, "loss_rate = 0.006", _LONG, RENO, SMALL),
    "mix, loss 0.8 %": Family(200, "loss_rate = 0.008", _LONG, MIX, SMALL),
    "many cubic, loss 3 %": Family(2000, "loss_rate = 0.03", _FEW, CUBIC, (31, 125, 500)),
    "cubic with 20 % udp": Family(200, "utilization = 0.98", _LONG + _UDP, CUBIC, (*SMALL, 2000)),
    "cubic under codel, 99.8 %": Family(
        200, "utilization = 0.998", _LONG, CUBIC, (*SMALL, 2000), CODEL
    ),
    "100 cubic": wide(100, _FEW, CUBIC, (0.25, 0.5, 1, 2, 10), "0.98"),
    "100 reno": wide(100, _FEW, RENO, (0.25, 0.5, 1, 4), "0.98"),
    "100 in a mix": wide(100, _FEW, MIX, (0.25, 0.5, 1, 8), "0.98"),
    "100 bbr3": wide(100, _FEW, BBR3, QUARTERS, "0.98"),
    "100 compound": wide(100, _FEW, '"compound"', QUARTERS, "0.98"),
    "100 cubic, 99.5 %": wide(100, _FEW, CUBIC, QUARTERS, "0.995"),
    "100 cubic with 10 % short": wide(100, _SPREAD_SHORT, CUBIC, QUARTERS, "0.98"),
    "120 cubic, 30 to 90 ms": wide(120, _LONG, CUBIC, (0.5, 1, 2, 8), "0.98"),
    "150 reno, 30 to 90 ms": wide(150, _LONG, RENO, (0.5, 1, 2, 8), "0.98"),
    "100 cubic and reno": wide(100, _FEW, "{ cubic = 0.5, reno = 0.5 }", QUARTERS, "0.98"),
    "100 bbr": wide(100, _FEW, '"bbr"', QUARTERS, "0.98"),
    "few cubic": Family(20, "utilization = 0.98", _LONG, CUBIC, (*SMALL[1:], 2000, 4000, 8000)),
}


def scenario(family: str, rate: float) -> Scenario:
    """Return one link of a family."""
    of = FAMILIES[family]
    flows = of.flows if of.keeps_flows else max(1, round(of.flows * rate / 1000))
    text = of.traffic.format(flows=flows, control=of.control, load=0.1)
    link = f'[link]\nrate = "{rate} Mbit/s"\n{of.queue}'
    asked = loads(f"{link}\n{text}\n[goals]\n{of.goals}\n")
    guess = first_guess(asked, laws.for_scenario(asked))
    usual = Measure(warmup=Duration(20), duration=Duration(40))
    measure = long_enough(usual, laws.assumptions.sawtooths_s(asked, guess))
    return asked.model_copy(update={"measure": measure})


class Counted(Decorator):
    """Counts the packets of all runs; a run of one seed is a part of one that was counted."""

    packets = 0

    def run(self, scenario: Scenario, seeds: Sequence[int], **how: Any) -> Outcome:
        """Run the engine."""
        outcome = super().run(scenario, seeds, **how)
        if len(seeds) > 1:
            self.packets += outcome.provenance.packets or 0
        return outcome


def play_one(family: str, rate: float, seeds: range = SEEDS) -> dict[str, object]:
    """Return the row of one link."""
    asked, started = scenario(family, rate), time.process_time()
    engine = Counted(engines.get("simulation"))
    link = curve_of(asked, engine, Options(seeds, len(seeds), jobs=1))
    found = find(link, first_guess(asked, laws.for_scenario(asked)), link.limit)
    values = (
        family, f"{asked.link.rate:g}", asked.n_flows, f"{found.packets:.2f}", f"{found.low:.2f}",
        f"{found.high:.2f}", f"{found.log_error:.4f}", found.reached, found.seeds,
        f"{asked.bdp_packets:.1f}", engine.packets, f"{time.process_time() - started:.2f}",
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def play_batches(family: str, rate: float, batches: int) -> dict[str, object]:
    """Return the row of one link: the mean crossing of batches of seeds that no answer uses."""
    firsts = range(OTHER_SEEDS, OTHER_SEEDS + batches * BATCH, BATCH)
    rows = [play_one(family, rate, range(first, first + BATCH)) for first in firsts]
    if batches == 1:
        return rows[0]
    middle = math.exp(math.fsum(math.log(float(str(row["packets"]))) for row in rows) / batches)
    error = math.hypot(*(float(str(row["log_error"])) for row in rows)) / batches
    ends = (middle * math.exp(side * NORMAL * error) for side in (-1, 1))
    packets, low, high = (f"{value:.2f}" for value in (middle, *ends))
    of = {"packets": packets, "low": low, "high": high, "log_error": f"{error:.4f}"}
    totals = {"seeds": sum(int(str(row["seeds"])) for row in rows)}
    totals["packets_played"] = sum(int(str(row["packets_played"])) for row in rows)
    seconds = math.fsum(float(str(row["cpu_s"])) for row in rows)
    return rows[0] | of | totals | {"cpu_s": f"{seconds:.2f}"}


def main(path: Path, wanted: list[str], batches: int) -> None:
    """Play what the file does not have yet, the small links first."""
    known = set()
    if path.exists():
        with path.open(newline="") as file:
            known = {(row["family"], float(row["rate_bps"])) for row in csv.DictReader(file)}
    first = -1 if batches else 0
    jobs = [
        (rate, name) for name in wanted or FAMILIES for rate in FAMILIES[name].rates_mbps[first:]
    ]
    for rate, name in sorted(jobs):
        if (name, rate * 1e6) in known:
            continue
        row = play_batches(name, rate, batches) if batches else play_one(name, rate)
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
        share = float(str(row["packets"])) / float(str(row["bdp_packets"]))
        roots = share * math.sqrt(max(int(str(row["flows"])), 1))
        said = f"{row['packets']} packets, {roots:.3f} BDP/sqrt(n), {row['cpu_s']} s"
        print(f"{name}, {rate:g} Mbit/s: {said}", flush=True)


if __name__ == "__main__":
    options = [name for name in sys.argv[2:] if name.partition("=")[0] == "largest"]
    names = [name for name in sys.argv[2:] if name not in options]
    main(Path(sys.argv[1]), names, int(options[0].partition("=")[2] or 1) if options else 0)
