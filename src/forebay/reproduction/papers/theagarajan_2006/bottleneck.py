"""Figures 4, 5 and 7 and the text: TCP and videos by buffer, at a bottleneck and over a core.

The testbed's runs for Figures 4 and 5 are the same and recorded in this folder.
"""

import csv
import gzip
import io
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

import forebay
from forebay.report import Line, percent
from forebay.reproduction import (
    Cell,
    Effort,
    Measured,
    Reproduction,
    Work,
    artefact,
    chart,
    facts,
    farthest,
    value,
)
from forebay.workload import draw  # Figure 3 tests the draw itself, not an Outcome

HERE = Path(__file__).resolve().parent
NAMES = ("no video", "one video", "two videos")
Curve = list[tuple[int, Any]]
"""Buffer in packets, and the quantity there."""

# --- what the paper leaves open: whether its buffer is that of an egress shaper ------------------

# Section II.A: "employing egress link shaping and adapting the token bucket size". The figures'
# axis is then the bucket. Its tokens arrive once in each Tc = Bc / rate, the port after it has
# 100 Mbit/s, and the queue before it has a separate length, which the paper does not give.
CHOSEN = "a queue"
"""The variant of the verdicts: the axis is the limit of a drop-tail queue."""
SHAPERS: dict[str, tuple[int, int]] = {
    "shaper, Be 0, 40 waiting": (0, 40),
    "shaper, Be = Bc, 40 waiting": (1, 40),
    "shaper, Be 0, 1000 waiting": (0, 1000),
}
"""By name, Be in buckets and the packets that may wait. 40 is IOS's default of an interface's
output queue (hold-queue out), Be = Bc that of traffic-shape rate; 1000 is hardly ever full."""
WFQ = "a shaper's fair queues"
"""The axis limits the packets of all queues, one for each flow, of which the longest loses them:
IOS's traffic shaping queues by WFQ. Senders as of FreeBSD 6.0: no SACK, a least timeout of 1 s."""
VARIANTS = {name: name for name in (CHOSEN, *SHAPERS, WFQ)}
READING_SEEDS = 3


def shaped(reading: str, rate: str, packets: int, tcp: Sequence[int] = (0,)) -> list[str]:
    """Return a variant's settings for packets on the axis; ``tcp``: places of TCP's classes."""
    if reading in SHAPERS:
        excess, waiting = SHAPERS[reading]
        burst = packets * 1500
        return [
            "link.rate=100 Mbit/s",
            f"link.shaper.rate={rate}",
            f"link.shaper.burst={burst} B",
            f"link.shaper.excess={excess * burst} B",
            "link.shaper.refill=interval",
            f"queue.size={waiting} packets",
        ]
    sets = [f"link.rate={rate}", f"queue.size={packets} packets"]
    if reading == WFQ:
        # A target that is never reached leaves of fq_codel its queues and their common limit.
        sets += ["queue.discipline=fq_codel", "queue.target=1 s", "queue.interval=10 s"]
        for place in tcp:
            sets += [f"traffic.{place}.sack=false", f"traffic.{place}.min_rto=1 s"]
    return sets


def _with_videos(place: int, videos: int) -> list[str]:
    """Return the settings of the class of videos."""
    if videos:
        return [f"traffic.{place}.flows={videos}"]
    # A class needs flows; one small packet in a second is negligible.
    return [f'traffic.{place}.rate="1 kbit/s"', f"traffic.{place}.frame_rate=1.0"]


# --- error bars ----------------------------------------------------------------------------------

SECONDS, READINGS, QUICK_READINGS = 10, 60, 20


def deviation(work: Work, scenario: forebay.Scenario, tcp: Sequence[int]) -> float:
    """Return the standard deviation of the classes' goodput in readings of 10 s, bit/s.

    The paper reads one run of ten minutes every ten seconds. Here each reading is a replication of
    its own, which has the same deviation and no correlation with the next.
    """
    short = scenario.replace({"measure.duration": f"{SECONDS} s"})
    classes = work.untold().of(QUICK_READINGS if work.quick else READINGS).play(short).classes
    variances = []
    for place in tcp:
        goodput = classes[place].goodput_bps
        assert goodput and goodput.low is not None and goodput.high is not None
        half = (goodput.high - goodput.low) / 2
        variances.append((half / t.ppf(0.975, goodput.n - 1)) ** 2 * goodput.n)
    return math.sqrt(sum(variances))


# --- Figures 4 and 5: 21 Mbit/s, 40 TCP flows, videos --------------------------------------------

BUFFERS = (18, 22, 27, 31, 35, 40, 48, 55, 62, 75, 100, 150)
QUICK_BUFFERS = (18, 27, 35, 48, 62, 100)
# iperf counts payload; the shaped line has Ethernet frames: 21 x 1448 / 1514 is 20.08.
PAYLOAD = 1448 / 1514
RATE = "21 Mbit/s"
Curves = dict[int, Curve]
"""By number of videos."""


def scenario_of(videos: int, buffer: int, seconds: int, reading: str = CHOSEN) -> forebay.Scenario:
    """Return the bottleneck; `seconds` are measured."""
    sets = [*shaped(reading, RATE, buffer), f"measure.duration={seconds} s"]
    return forebay.load(HERE / "scenario.toml", [*sets, *_with_videos(1, videos)])


def _curves(
    work: Work, videos: Sequence[int], read: Callable[[Any], Any], reading: str = CHOSEN
) -> Curves:
    """Return what is read of the classes (TCP, then video) by videos and buffer."""
    buffers, seconds = (QUICK_BUFFERS, 60) if work.quick else (BUFFERS, 300)
    curves: Curves = {number: [] for number in videos}
    for (number, buffer), part in work.each(list(product(videos, buffers))):
        if part.effort.progress is not None:
            part.effort.progress(0.0)
        effort = work.untold().effort
        curves[number].append((buffer, read(_classes(number, buffer, seconds, reading, effort))))
    return curves


@cache
def _classes(videos: int, buffer: int, seconds: int, reading: str, effort: Effort) -> list[Any]:
    """Run one point. Cached, because Figures 4 and 5 have the same runs."""
    scenario = scenario_of(videos, buffer, seconds, reading)
    return forebay.run(scenario, seeds=effort.seeds, jobs=effort.jobs).classes


def _cells() -> list[Cell]:
    """Return the testbed's cells: 80 s of real time each."""
    points = product((0, 1, 2), QUICK_BUFFERS)
    return [Cell(_key(*at), partial(_play, scenario_of(*at, 60))) for at in points]


def _key(videos: int, buffer: int) -> dict[str, int]:
    return {"videos": videos, "packets": buffer}


def _play(scenario: forebay.Scenario, seed: int, told: Any) -> dict[str, Any]:
    """Return the record of a run: TCP's packets per second in bit/s, and the video's loss rate."""
    outcome = forebay.run(scenario, "testbed", seed=seed, progress=told)
    tcp, video = outcome.classes
    assert tcp.goodput_bps is not None and video.loss_rate is not None
    readings = {"tcp_bps": tcp.goodput_bps.value, "udp_loss": video.loss_rate.value}
    return {**readings, **facts(outcome)}


def _tested(folder: Path, buffers: Sequence[int], name: str, read: Callable[[Any], Any]) -> Curves:
    """Return the recorded points of each number of videos."""
    measured = Measured(folder)
    curves = {v: [(b, measured.metric(_key(v, b), name)) for b in buffers] for v in (0, 1, 2)}
    return {v: [(b, read(m)) for b, m in curve if m is not None] for v, curve in curves.items()}


def _complete(curves: Curves, buffers: Sequence[int]) -> bool:
    return all(len(curve) == len(buffers) for curve in curves.values())


def _line(curve: Curve, name: str, kind: Any = "line", bounds: bool = False) -> Line:
    """Return a curve as a line of a figure, with the interval of each point that has one."""
    ends = [(m.low, m.high) for _, m in curve if bounds and None not in (m.low, m.high)]
    y = [m if isinstance(m, float) else m.value for _, m in curve]
    bounded = ends if len(ends) == len(curve) else ()
    return Line([b for b, _ in curve], y, name, kind, y_bounds=bounded)


def _reaches(curve: Sequence[tuple[int, float]], wanted: float) -> float:
    """Return the buffer at which a curve first reaches a throughput, packets; NaN if nowhere."""
    if curve[0][1] >= wanted:
        return float(curve[0][0])
    for (b0, y0), (b1, y1) in pairwise(curve):
        if y1 >= wanted:
            return float(b0 + (wanted - y0) / (y1 - y0) * (b1 - b0))
    return math.nan


def _beside(curves: Curves, tested: Curves, bounds: bool = False) -> list[Line]:
    """Return the lines of each number of videos, the testbed's dashed."""
    played = (_line(curve, f"{NAMES[v]}, testbed", "dashes") for v, curve in tested.items())
    return [*(_line(curve, NAMES[v], bounds=bounds) for v, curve in curves.items()), *played]


SHARE = 0.98
OPERATING = 35  # packets
BARS_AT = (35, 62, 100)  # packets
BARS = ("bars-with-video", "bars-smooth")


@artefact(testbed=_cells, records=HERE)
def fig4(work: Work) -> Reproduction:
    """TCP throughput by buffer, with no, one and two videos; ``quick`` six buffers and 60 s."""

    def iperf(goodput: Any) -> Any:
        return goodput and goodput.scaled(PAYLOAD / 1e6)

    def read(classes: list[Any]) -> Any:
        return iperf(classes[0].goodput_bps)

    curves = _curves(work, (0, 1, 2), read)
    ours = _throughputs(curves)
    tested = _tested(HERE, QUICK_BUFFERS, "tcp_bps", iperf)
    lines = _beside(curves, tested)
    printed = ((27, 20.08), (48, 19.32), (62, 18.76))
    x, y = [packets for packets, _ in printed], [SHARE * rate for _, rate in printed]
    lines.append(Line(x, y, "98 % of saturation, as printed", "dots"))
    return work.judge(
        ours | _bars(work, curves),
        testbed=_throughputs(tested) if _complete(tested, QUICK_BUFFERS) else {},
        notes=[Measured(HERE).note()],
        picture=chart(lines, "buffer, packets", "TCP throughput, Mbit/s"),
        variants=work.under_each(
            VARIANTS,
            ours,
            lambda few, name: _throughputs(_curves(few, (0, 1, 2), read, name)),
            READING_SEEDS,
            BARS,
        ),
    )


def _throughputs(curves: Curves) -> dict[str, Any]:
    top = {videos: max((m for _, m in curve), key=value) for videos, curve in curves.items()}
    plain = {videos: [(b, m.value) for b, m in curve] for videos, curve in curves.items()}
    asked = {videos: _reaches(curve, SHARE * top[videos].value) for videos, curve in plain.items()}
    lowered = [
        above - below
        for more in (1, 2)
        for (_, above), (_, below) in zip(plain[more - 1], plain[more], strict=True)
    ]
    return {
        **{f"saturation-{videos}": metric for videos, metric in top.items()},
        **{f"buffer-{videos}": packets for videos, packets in asked.items()},
        "more-with-one": asked[1] - asked[0],
        "more-with-two": asked[2] - asked[1],
        "lower": min(lowered),
        "operating-point": 100 * dict(plain[1])[OPERATING] / top[1].value,
    }


def _bars(work: Work, curves: Curves) -> dict[str, float]:
    """Compare the deviations of readings of 10 s, Mbit/s."""
    bar = {
        (videos, b): PAYLOAD * 1e-6 * deviation(work, scenario_of(videos, b, 60), [0])
        for videos in (0, 1)
        for b in BARS_AT
    }
    falls = [low.value - high.value for (_, low), (_, high) in pairwise(curves[1])]
    return {
        "bars-with-video": min(bar[1, b] / bar[0, b] for b in BARS_AT),
        "bars-smooth": max(falls) / min(bar[1, b] for b in BARS_AT),
    }


TURN, FAR = 35, 100  # packets: where the paper's loss is least, and where it must have risen


@artefact(testbed=_cells, records=HERE)
def fig5(work: Work) -> Reproduction:
    """Loss of the video by buffer, with one and two; ``quick`` six buffers and 60 s."""

    def read(classes: list[Any]) -> Any:
        return percent(classes[1].loss_rate)

    curves = _curves(work, (1, 2), read)
    ours = _losses(curves)
    tested = _tested(HERE, QUICK_BUFFERS, "udp_loss", percent)
    del tested[0]
    lines = _beside(curves, tested, bounds=True)
    return work.judge(
        ours,
        testbed=_losses(tested) if _complete(tested, QUICK_BUFFERS) else {},
        notes=[Measured(HERE).note()],
        picture=chart(lines, "buffer, packets", "video packets lost, %"),
        variants=work.under_each(
            VARIANTS,
            ours,
            lambda few, name: _losses(_curves(few, (1, 2), read, name)),
            READING_SEEDS,
        ),
    )


def _losses(curves: Curves) -> dict[str, float]:
    ours = {}
    for videos, curve in curves.items():
        loss = {buffer: metric.value for buffer, metric in curve}
        ours[f"falls-{videos}"] = loss[18] / loss[TURN] - 1
        ours[f"minimum-{videos}"] = min(loss, key=lambda buffer: loss[buffer])
        ours[f"rises-{videos}"] = loss[FAR] / loss[TURN] - 1
    return ours


# --- Figure 7: a core that is not the bottleneck -------------------------------------------------

FIG7 = HERE / "fig7"
CORE = {0: 9.0, 1: 10.5, 2: 12.0}  # Mbit/s by number of videos: a load of 85 % each time
TCP = (0, 2, 4)  # classes: TCP and traffic that leaves before the core, three times; then the video
WANTED = 7.4  # Mbit/s
BAR_AT = 11  # packets
CORE_BUFFERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20)
QUICK_CORE_BUFFERS = (3, 4, 5, 6, 7, 9, 13)
TESTBED_BUFFERS = (3, 5, 7, 9, 11, 13)


def core(videos: int, buffer: int, quick: bool, reading: str = CHOSEN) -> forebay.Scenario:
    """Return the scenario of Figure 7."""
    sets = shaped(reading, f"{CORE[videos]} Mbit/s", buffer, TCP)
    sets += ["measure.duration=60 s"] if quick else []
    return forebay.load(FIG7 / "scenario.toml", [*sets, *_with_videos(6, videos)])


def _core_cells() -> list[Cell]:
    """Return the testbed's cells: 80 s of real time each."""

    def play(scenario: forebay.Scenario, seed: int, told: Any) -> dict[str, Any]:
        outcome = forebay.run(scenario, "testbed", seed=seed, progress=told)
        return {"tcp_bps": _tcp_bps(outcome), **facts(outcome)}

    points = product(CORE, TESTBED_BUFFERS)
    return [Cell(_key(*at), partial(play, core(*at, quick=True))) for at in points]


def _tcp_bps(outcome: forebay.Outcome) -> float:
    rates = [outcome.classes[place].goodput_bps for place in TCP]
    return sum(rate.value for rate in rates if rate)


@artefact(testbed=_core_cells, testbed_seeds=2)
def fig7(work: Work) -> Reproduction:
    """TCP throughput by the core's buffer; ``quick`` uses seven buffers and 60 s."""
    curves = _over_core(work)
    ours = _core_numbers(curves)
    tested = _tested(FIG7, TESTBED_BUFFERS, "tcp_bps", lambda rate: rate.value / 1e6)
    widest = max(deviation(work, core(videos, BAR_AT, quick=True), TCP) for videos in CORE)
    # Standard error of the mean of 60 readings of 10 s, Mbit/s.
    bar = {"bars": 1e-6 * widest / math.sqrt(READINGS)}
    lines = _beside(curves, tested)
    lines.append(Line([9.5, 11.5, 13.0], [WANTED] * 3, "7.4 Mbit/s, as printed", "dots"))
    return work.judge(
        ours | bar,
        testbed=_core_numbers(tested) if _complete(tested, TESTBED_BUFFERS) else {},
        notes=[Measured(FIG7).note()],
        picture=chart(lines, "buffer of the core, packets", "TCP throughput, Mbit/s"),
        variants=work.under_each(
            VARIANTS,
            ours,
            lambda few, name: _core_numbers(_over_core(few, name)),
            READING_SEEDS,
            ("bars",),
        ),
    )


def _over_core(work: Work, reading: str = CHOSEN) -> Curves:
    buffers = QUICK_CORE_BUFFERS if work.quick else CORE_BUFFERS

    def throughput(part: Work, videos: int, buffer: int) -> float:
        return _tcp_bps(part.play(core(videos, buffer, work.quick, reading))) / 1e6

    rates = work.over([(videos, buffer) for videos in CORE for buffer in buffers], throughput)
    return {videos: [(b, rates[videos, b]) for b in buffers] for videos in CORE}


def _core_numbers(curves: Curves) -> dict[str, float]:
    asked = {videos: _reaches(curve, WANTED) for videos, curve in curves.items()}
    return {
        "saturation": farthest([max(rate for _, rate in c) for c in curves.values()], 7.6),
        **{f"buffer-{videos}": packets for videos, packets in asked.items()},
        "more-with-one": asked[1] - asked[0],
        "more-with-two": asked[2] - asked[1],
    }


VIDEO_BPS, PACKET_BITS = 1.3e6, 12_000


@artefact()
def text(work: Work) -> Reproduction:
    """The numbers in sections I, II and III that follow from others."""
    whole = float(forebay.laws.rule_of_thumb.buffer(40e9, 0.25))
    least = 0.010 * 21e6
    loads = [(7.6e6 + videos * VIDEO_BPS) / rate for videos, rate in enumerate((9e6, 10.5e6, 12e6))]
    return work.judge(
        {
            "rule": whole / 1e9,
            "chips": math.ceil(whole / 36e6),
            "packet": 40 * 8 / 40e9 * 1e9,
            "million": whole / PACKET_BITS,
            "root": float(forebay.laws.sqrt_n.buffer(1e6, 10_000)),
            "bucket": least / 1e3,
            "bucket-packets": least / PACKET_BITS,
            "one-video": 100 * VIDEO_BPS / 21e6,
            "two-videos": 200 * VIDEO_BPS / 21e6,
            "access": 4 * 10e6 / 40 / 1e6,
            "non-bottleneck": 0.010 * 9e6 / PACKET_BITS,
            "load": 100 * farthest(loads, 0.85),
        }
    )


FILM = Path(__file__).resolve().parent / "film" / "film.csv.gz"
CELL_S = 1024e-6
FRAME_RATE = 25


def packets() -> tuple[Any, Any]:
    """Return the centre of each interval of 2^10 µs with packets, in seconds, and its IP bytes.

    Shapes (cells,); times are relative to the first packet's interval.
    """
    text = io.StringIO(gzip.decompress(FILM.read_bytes()).decode())
    rows = [(int(row["cells_since"]), int(row["bytes"])) for row in csv.DictReader(text)]
    since, octets = np.array(rows).T
    return (np.cumsum(since) + 0.5) * CELL_S, octets


INTERVAL_S = 10


@artefact()
def fig2(work: Work) -> Reproduction:
    """The rate of the film by intervals of 10 s."""
    at_s, octets = packets()
    rates = volumes(at_s, octets, INTERVAL_S) * 8 / INTERVAL_S / 1e6
    line = Line((np.arange(len(rates)) * INTERVAL_S).tolist(), rates.tolist(), "encoded film")
    picture = chart([line], "time, s", "Mbit/s over 10 s")
    return work.judge(numbers(at_s, octets), picture=picture)


def numbers(at_s: Any, octets: Any) -> dict[str, float]:
    """Figure 2's numbers, from packets at times in seconds."""
    intervals = volumes(at_s, octets, INTERVAL_S)
    frames = volumes(at_s, octets, 1 / FRAME_RATE)
    shuffled = frames.std() * np.sqrt(INTERVAL_S * FRAME_RATE)
    return {
        "rate": float(intervals.mean()) * 8 / INTERVAL_S / 1e6,
        "burst": float(intervals.std() / intervals.mean()),
        "memory": float(intervals.std() / shuffled),
    }


def volumes(at_s: Any, octets: Any, width_s: float, span_s: float | None = None) -> Any:
    """Return the bytes of each complete interval of a span, else up to the last packet."""
    count = int((at_s[-1] if span_s is None else span_s) / width_s)
    place = (at_s / width_s).astype(np.int64)
    return np.bincount(place, weights=octets, minlength=count)[:count]


POWERS = range(10, 25)  # windows of 2^10 µs (1 ms) to 2^24 µs (17 s)
BELOW, ABOVE = slice(0, 4), slice(5, 13)  # 2^10 … 2^13 µs, 2^15 … 2^22 µs
MIDWAY = -(0.5 + 0.04) / 2  # between the slopes of independent packets and of H = 0.96
GENERATED_RATE = 60  # frames a second, of scenario.toml
FREQUENCIES = 2**12  # number of lowest ones in the estimate of H: a standard error of 0.008
TRIED = 0.3, 1.7, 0.004
"""H that are tried: far beyond both ends of a stationary sequence, so that none is an end stop."""


@artefact()
def fig3(work: Work) -> Reproduction:
    """Burstiness against the length of the window; medians over a film of an hour for each seed."""
    scenario = work.load()

    def measured(part: Work, seed: int) -> dict[str, Any]:
        drawn, tell = draw(scenario, seed).packets, part.effort.progress
        assert drawn is not None
        span = float(scenario.measure.duration)
        readings = profile(drawn.at_ps / 1e12, drawn.bytes, span, GENERATED_RATE)
        if tell is not None:
            tell(1.0)
        return readings

    films = work.over_seeds(measured)
    names = [name for name in films[0] if name != "beta"]
    ours = {name: float(np.median([film[name] for film in films])) for name in names}
    at_s, octets = packets()
    film = profile(at_s, octets, float(at_s[-1]), FRAME_RATE)
    ours |= {f"film-{name}": film[name] for name in ("slope", "hurst", "knee", "pieces")}
    generated = np.median([film["beta"] for film in films], axis=0)
    return work.judge(ours, picture=_rises(film["beta"], generated))


def profile(at_s: Any, octets: Any, span: float, frame_rate: int) -> dict[str, Any]:
    """Return the numbers of claims.toml, and β(s) as "beta"."""
    s = 2.0 ** np.array(POWERS) / 1e6
    windows = [volumes(at_s, octets, step, span) for step in s]
    beta = np.array([volume.std() / volume.mean() for volume in windows])
    low, high = (np.polyfit(np.log(s[part]), np.log(beta[part]), 1) for part in (BELOW, ABOVE))
    slopes = np.diff(np.log2(beta))[: ABOVE.stop]
    steep = [place for place, slope in enumerate(slopes) if slope < MIDWAY]
    frames = np.bincount((at_s * frame_rate + 1e-6).astype(np.int64), weights=octets)
    return {
        "rate": float(octets.sum()) * 8 / span / 1e6,
        "hurst": local_whittle(frames[: int(span * frame_rate)]),
        "slope": float(high[0]),
        # Milliseconds from which β(s) decreases slowly.
        "knee": 2.0 ** (POWERS[0] + steep[-1] + 1) / 1e3 if steep else 0.0,
        "pieces": float(high[0] - low[0]),
        "beta": beta,
    }


def local_whittle(samples: Any) -> float:
    """H from the lowest frequencies: minimum of log mean(I λ^(2H-1)) - (2H-1) mean log λ.

    Robinson 1995.
    """
    count = min(FREQUENCIES, len(samples) // 32)
    rates = 2 * np.pi * np.arange(1, count + 1) / len(samples)
    power = np.abs(np.fft.rfft(samples)[1 : count + 1]) ** 2
    tried = np.arange(*TRIED)
    costs = [
        np.log((power * rates ** (2 * h - 1)).mean()) - (2 * h - 1) * np.log(rates).mean()
        for h in tried
    ]
    return float(tried[int(np.argmin(costs))])


def _rises(film: Any, generated: Any) -> Any:
    powers, middle = [float(power) for power in POWERS], POWERS.index(14)
    encoded, ours = (np.log2(beta).tolist() for beta in (film, generated))
    stated = [ours[middle] - 0.04 * (power - 14.0) for power in powers[middle:]]
    lines = [
        Line(powers, encoded, "encoded film"),
        Line(powers, ours, "generated film", "dots"),
        Line(powers[middle:], stated, "slope of H = 0.96", "dashes"),
    ]
    return chart(lines, "log2 of s in µs", "log2 of β(s)")
