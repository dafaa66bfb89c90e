"""How often 95 % intervals hold the truth, on eight kinds of link: `docs/reference/readings.md`.

python benches/interval_coverage.py --seeds 5

The truth is the value of all replications together: of each quantile that of all packets, of all
else the mean. A group of replications that gives no interval is counted apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import forebay
from forebay.outcome import Metric, Outcome, Quantiles
from forebay.scenario import Scenario, loads

GROUPS = 100
_LINK = '[link]\nrate = "{}"\n[queue]\nsize = "{}"\n'
_TIME = '[measure]\nwarmup = "{}"\nduration = "{}"\n'
_SHORT = '[[traffic]]\nkind = "short"\nload = {}\nrtt = "50 ms"\nlength = {}\n'
KINDS = {
    "long, Reno": _LINK.format("50 Mbit/s", "100 packets")
    + '[[traffic]]\nflows = 20\ncongestion_control = "reno"\n'
    + 'rtt = { uniform = ["20 ms", "80 ms"] }\n' + _TIME.format("5 s", "5 s"),
    "three CUBIC": _LINK.format("20 Mbit/s", "0.3 bdp")
    + '[[traffic]]\nflows = 3\nrtt = { uniform = ["20 ms", "100 ms"] }\n'
    + _TIME.format("10 s", "10 s"),
    "CUBIC and BBR": _LINK.format("10 Mbit/s", "1 bdp")
    + '[[traffic]]\nflows = 10\ncongestion_control = { cubic = 0.5, bbr = 0.5 }\n'
    + 'rtt = { uniform = ["20 ms", "60 ms"] }\n' + _TIME.format("90 s", "10 s"),
    "short, one length": _LINK.format("50 Mbit/s", "200 packets")
    + _SHORT.format(0.8, '"14 packets"') + _TIME.format("2 s", "5 s"),
    "short, Pareto 1.2": _LINK.format("50 Mbit/s", "200 packets")
    + _SHORT.format(0.7, '{ pareto = { mean = "20 packets", shape = 1.2 } }')
    + _TIME.format("2 s", "3 s"),
    "on and off": _LINK.format("20 Mbit/s", "50 packets")
    + '[[traffic]]\nkind = "onoff"\nflows = 20\npeak_rate = "3 Mbit/s"\n'
    + 'on = { exponential = { mean = "300 ms" } }\noff = { exponential = { mean = "700 ms" } }\n'
    + _TIME.format("2 s", "10 s"),
    "fq_codel, mixed": _LINK.format("20 Mbit/s", "1000 packets")
    + 'discipline = "fq_codel"\n'
    + '[[traffic]]\nflows = 4\nrtt = { uniform = ["10 ms", "60 ms"] }\n'
    + _SHORT.format(0.3, '"30 packets"') + _TIME.format("5 s", "5 s"),
    "outages": '[link]\nrate = "20 Mbit/s"\n'
    + 'down = { times = [["300 ms", "500 ms"]], period = "1300 ms" }\n'
    + '[queue]\nsize = "100 packets"\n[[traffic]]\nflows = 5\nrtt = "40 ms"\n'
    + _TIME.format("5 s", "10 s"),
}  # fmt: skip


def metrics(outcome: Outcome) -> Iterator[tuple[str, Metric]]:
    """Yield what has an interval, of the link and of the last class."""
    for where, part in (("link", outcome.links["bottleneck"]), ("class", outcome.classes[-1])):
        for name in type(part).model_fields:
            value = getattr(part, name)
            parts = (
                {f".{each}": getattr(value, each) for each in Quantiles.model_fields}
                if isinstance(value, Quantiles)
                else {"": value}
            )
            for end, metric in parts.items():
                if isinstance(metric, Metric):
                    yield f"{where}.{name}{end}", metric


def coverage(scenario: Scenario, seeds: int) -> dict[str, tuple[int, int]]:
    """Return by metric how many groups have an interval, and how many of those hold the truth."""
    truth = dict(metrics(forebay.run(scenario, seeds=seeds * GROUPS)))
    found = dict.fromkeys(truth, (0, 0))
    for group in range(GROUPS):
        made = forebay.run(scenario, seed=1 + group * seeds, seeds=seeds)
        for name, metric in metrics(made):
            if name in truth and metric.low is not None and metric.high is not None:
                given, held = found[name]
                holds = metric.low <= truth[name].value <= metric.high
                found[name] = (given + 1, held + holds)
    return found


def main() -> int:
    """Print a line for each metric of each kind; 1 if one that is often given holds too rarely."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="replications of each group")
    parser.add_argument("--kind", choices=KINDS, action="append", help="these alone")
    asked, few = parser.parse_args(), 0
    print(f"{GROUPS} groups of {asked.seeds} seeds: intervals that hold the truth")
    for kind in asked.kind or KINDS:
        for name, (given, held) in coverage(loads(KINDS[kind]), asked.seeds).items():
            short = given >= GROUPS // 2 and held < 0.9 * given
            few += short
            none = f", {GROUPS - given} without" if given < GROUPS else ""
            print(
                f"{kind:18} {name:28} {held:3} of {given:3}{none}{'  <' if short else ''}",
                flush=True,
            )
    print(f"{few} hold it in fewer than 90 of 100")
    return 1 if few else 0


if __name__ == "__main__":
    raise SystemExit(main())
