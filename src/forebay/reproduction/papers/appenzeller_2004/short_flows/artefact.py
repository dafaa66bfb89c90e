"""Section 4 and appendix C: orders of the model, M/D/1, a link of 1 Tbit/s."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
LOAD, PROBABILITY, LENGTH = 0.8, 0.025, 14
PACKETS = 240_000  # a replication
TERABIT_S = 0.03  # measured at 1 Tbit/s: 2 million packets
NOTES = [
    "Mean packets that wait, at a load of 0.8. Round trips of 36 to 44 ms at 1 Tbit/s, so that a "
    "run outlasts them; 80 to 120 ms elsewhere. Section 4: the propagation delay does not matter.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Calculate the orders and run three links; ``quick`` omits 1 Tbit/s."""
    runs = [("poisson", _slow(1)), ("slow", _slow(LENGTH))]
    runs += [] if quick else [("terabit", _fast())]
    queue = {
        name: _queue(sets, min(seeds, 2) if name == "terabit" else seeds, jobs, part)
        for (name, sets), part in each_with(progress, runs)
    }
    ours = {
        "order": _apart("SECOND", "THIRD"),
        "whole": _apart("SECOND", "FULL"),
        "m-d-1": _law(1, as_printed=True),
        "poisson": queue["poisson"],
        "smoother": queue["poisson"] / queue["slow"],
        "terabit": 100 * queue.get("terabit", math.nan) / queue["slow"],
    }
    return judge(
        "appenzeller-2004/short-flows",
        "Appenzeller et al. 2004, section 4 and appendix C: orders of the model, M/D/1, 1 Tbit/s",
        HERE,
        ours,
        left_out=("terabit",) if quick else (),
        notes=NOTES,
    )


def _apart(one: str, other: str) -> float:
    """Difference between two orders of the buffer for P(Q > B) = 0.025, in percent."""
    law = forebay.laws.effective_bandwidth
    bursts = forebay.laws.bursts.Bursts.of_lengths([LENGTH])
    sizes = [law.buffer_for(PROBABILITY, LOAD, bursts, law.Order[name]) for name in (one, other)]
    return 100 * abs(float(sizes[0] / sizes[1]) - 1)


def _law(length: int, *, as_printed: bool) -> float:
    bursts = forebay.laws.bursts.Bursts.of_lengths([length])
    return float(forebay.laws.bursts.mean_waiting(LOAD, bursts, as_printed=as_printed))


def _slow(length: int) -> list[str]:
    seconds = PACKETS * 12_000 / (LOAD * 10e6)
    return [f"traffic.0.length={length} packets", f"measure.duration={seconds:.1f} s"]


def _fast() -> list[str]:
    return [
        "link.rate=1 Tbit/s",
        "traffic.0.access_rate=10 Tbit/s",
        "traffic.0.rtt={uniform=['36 ms', '44 ms']}",
        "measure.warmup=200 ms",
        f"measure.duration={TERABIT_S} s",
    ]


def _queue(sets: list[str], seeds: int, jobs: int, progress: Progress | None) -> float:
    scenario = forebay.load(HERE / "scenario.toml", sets)
    queue = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress).links["bottleneck"]
    found = queue.queue_packets
    return found.mean.value if found and found.mean else math.nan
