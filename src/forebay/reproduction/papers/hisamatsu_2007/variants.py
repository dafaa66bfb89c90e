"""Dependence of the numbers on parameters that the slides leave open: each is varied alone, on
Abilene's own core of 14 links, with even hosts.

python -m forebay.reproduction.papers.hisamatsu_2007.variants > variants.csv
"""

from __future__ import annotations

import csv
import sys

from forebay.reproduction.papers.hisamatsu_2007 import runs

FAST = {
    "as shipped": [],
    "timeouts: none": ["topology.timeouts=none"],
    "sigma: half": ["topology.sigma_factor=0.5"],
    "sigma: twice": ["topology.sigma_factor=2"],
    "sigma: three times": ["topology.sigma_factor=3"],
    "sigma: geometric queue": ["topology.sigma=geometric"],
    "sigma: sqrt(q)": ["topology.sigma=poisson"],
    "core: ring": ["topology.two_level.core=ring"],
    "core: each with each": ["topology.two_level.core=mesh"],
    "hosts: 0.5 to 1.5 times the mean": ["topology.two_level.spread=0.5"],
    "hosts: 727, so that links are 901": ["topology.two_level.hosts=727"],
    "window: at most 43 packets (64 KB)": ["traffic.0.max_window=43"],
    "window: at most 32 packets": ["traffic.0.max_window=32"],
    "window: at most 64 packets": ["traffic.0.max_window=64"],
    "packets of 1000 B": ["traffic.0.packet=1000 B"],
    "model: response functions": ["topology.model=response-functions"],
}
_SLOW_HOSTS = 'topology.classes.3.rates=["5 Mbit/s","5 Mbit/s","5 Mbit/s","30 Mbit/s","30 Mbit/s",'
SLOW = {
    "as shipped": [],
    "hosts: slow ones in the majority": [_SLOW_HOSTS + '"100 Mbit/s","100 Mbit/s","1 Gbit/s"]'],
    "window: at most 43 packets (64 KB)": ["traffic.0.max_window=43"],
    "model: response functions": ["topology.model=response-functions"],
}
HEADER = ["edge", "choice", "rule", "delay_ms", "core_utilization", "core_largest", "core_loss",
          "throughput_mbps", "rtt_ms", "hops4", "hops6", "hops7", "hops8", "hops9"]  # fmt: skip


def main() -> None:
    """Write a row for each variant and rule."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    for edge, variants in (("fast", FAST), ("slow", SLOW)):
        for choice, changes in variants.items():
            for rule in runs.RULES:
                out.writerow([edge, choice, rule, *_row(edge, rule, tuple(changes))])
                sys.stdout.flush()


def _row(edge: str, rule: str, changes: tuple[str, ...]) -> list[str]:
    try:
        got = runs.numbers(edge, rule, changes, own_core=True)
        hops = runs.by_hops(edge, rule, changes, own_core=True)
    except Exception as error:
        if getattr(error, "exit_status", None) is None:
            raise
        return [str(error)]
    values = [got[name] for name in ("delay", "utilization", "largest", "loss")]
    values += [got["throughput"], got["rtt"], *(hops.get(each, 0.0) for each in (4, 6, 7, 8, 9))]
    return [f"{value:.6g}" for value in values]


if __name__ == "__main__":
    main()
