"""Figure 10: mean queue against the length of short flows, three rates."""

from __future__ import annotations

from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
LOAD = 0.8
RATES = (40, 80, 200)
LENGTHS = (2, 4, 6, 8, 10, 14, 16, 20, 26, 30, 36, 46, 56, 62, 70)
QUICK = (10, 14, 16, 26, 30, 36, 56, 62, 70)
PACKETS = 80_000  # a replication
TOO_NOISY = ("coincide",)  # in a quick run: each rate alone has an error of 9 %
NOTES = [
    "Packets waiting, load 0.8. Law: the exact mean of Poisson bursts served packet by packet. "
    "The paper's formula takes half a burst off instead of half a packet and lies below it.",
]
Queues = dict[tuple[float, int], float]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every length at every rate; ``quick`` only the peaks and their neighbours."""
    lengths, rates = QUICK if quick else LENGTHS, RATES
    points = [(float(rate), length, 10_000) for rate in rates for length in lengths]
    points.append((float(rates[-1]), 62, rates[-1]))
    queues: Queues = {}
    slower = 0.0
    for (rate, length, access), part in each_with(progress, points):
        slower = _queue(rate, length, access, PACKETS, seeds, jobs, part)
        if access == 10_000:
            queues[rate, length] = slower
    means = {at: sum(queues[rate, at] for rate in rates) / len(rates) for at in lengths}
    return judge(
        "appenzeller-2004/fig10",
        "Appenzeller et al. 2004, Figure 10: mean queue against flow length at a load of 0.8",
        HERE,
        _numbers(queues, means, slower / queues[float(rates[-1]), 62]),
        left_out=TOO_NOISY if quick else (),
        notes=NOTES,
        picture=_picture(queues, rates, lengths),
    )


def _queue(
    rate: float,
    length: int,
    access: int,
    packets: int,
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> float:
    seconds = packets * 12_000 / (LOAD * rate * 1e6)
    changes = [
        f"link.rate={rate} Mbit/s",
        f"traffic.0.length={length} packets",
        f"traffic.0.access_rate={access} Mbit/s",
        "measure.warmup=2 s",
        f"measure.duration={seconds:.3f} s",
    ]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    queue = outcome.links["bottleneck"].queue_packets
    return queue.mean.value if queue and queue.mean else float("nan")


def _numbers(queues: Queues, means: dict[int, float], slower: float) -> dict[str, float]:
    def excess(peak: int, *beside: int) -> float:
        return 100 * (means[peak] / max(means[at] for at in beside) - 1)

    spread = max(abs(queue / means[at] - 1) for (_, at), queue in queues.items())
    return {
        "coincide": 100 * spread,
        "law": 100 * max(abs(means[at] / law(at) - 1) for at in means),
        "bound": 100 * max(means[at] / _work(at) for at in means),
        "14-over-16": excess(14, 16),
        "peak-14": excess(14, 10, 16),
        "peak-30": excess(30, 26, 36),
        "peak-62": excess(62, 56, 70),
        "slower-access": 100 * slower,
    }


def law(length: int, *, as_printed: bool = False) -> float:
    """Mean packets waiting under Poisson bursts of such flows."""
    bursts = forebay.laws.bursts.Bursts.of_lengths([length])
    return float(forebay.laws.bursts.mean_waiting(LOAD, bursts, as_printed=as_printed))


def _work(length: int) -> float:
    bursts = forebay.laws.bursts.Bursts.of_lengths([length])
    return float(forebay.laws.bursts.workload(LOAD, bursts))


def _picture(queues: Queues, rates: tuple[int, ...], lengths: tuple[int, ...]) -> Picture:
    fine = list(range(min(lengths), max(lengths) + 1))
    lines = [
        Line(fine, [law(at) for at in fine], "burst law"),
        Line(fine, [law(at, as_printed=True) for at in fine], "as printed", "dashes"),
    ]
    for rate in rates:
        ours = [queues[float(rate), at] for at in lengths]
        lines.append(Line(lengths, ours, f"{rate} Mbit/s", "dots"))
    return Picture([Panel(lines, "flow length, packets", "mean queue, packets")])
