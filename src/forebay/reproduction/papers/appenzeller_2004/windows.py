"""Figures 1 and 4 to 9, section 3.2, appendix A: traced windows of one flow, two, and many."""

import math
from collections.abc import Iterable
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Reproduction, Work, artefact, bars, chart


def readings(mean_rtt_ms: float) -> dict[str, list[str]]:
    """Return the settings of each variant of a scenario with this mean RTT, by name.

    Section 5.1 names ns-2 and TCP Reno, but neither the ACK policy of receivers nor the range of
    RTTs in one simulation. The first variant is the scenario itself.

    * An ACK for each packet: appendix A, "Upon receiving a packet, the receiver sends back an ACK".
    * ACKs delayed by 40 ms: Linux's minimum; by 100 ms: the default of ns-2's Agent/TCPSink/DelAck.
    * RTTs with a half-width of 75 % of their mean: with a mean of 100 ms from 25 ms on, the
      smallest delay that section 5.1 names.
    """
    low, high = ((1 + side * 0.75) * mean_rtt_ms for side in (-1, 1))
    return {
        "as chosen": [],
        "ACKs delayed, 40 ms": ["traffic.0.delayed_ack=true"],
        "ACKs delayed, 100 ms": [
            "traffic.0.delayed_ack=true",
            "traffic.0.delayed_ack_timeout=100 ms",
        ],
        f"RTTs {low:g}–{high:g} ms": [f"traffic.0.rtt={{uniform=['{low:g} ms', '{high:g} ms']}}"],
    }


MEAN_RTT_MS = 126
BINS = 40
MANY, FEW = 200, 50
WINDOW, SMALL_WINDOW = 26.0, 5.0
"""Packets in flight of a flow: here 26; on the OC3 of Figure 11 with 250 flows 5."""


@artefact()
def fig8(work: Work) -> Reproduction:
    """Trace each replication, and average: one of 60 s is 0.02 to 0.06 from normal.

    ``quick`` is two thirds as long.
    """
    sets = ["measure.duration=40 s"] if work.quick else []
    traces, scenario = _traces(work, sets), work.load(sets)
    ours = _sums(scenario, traces) | _by_window(work.untold())

    def numbers(alone: Work, sets: Iterable[str]) -> dict[str, float]:
        return _sums(alone.load(sets), _traces(alone, sets)) | _by_window(alone, sets)

    return work.judge(
        ours,
        picture=_bell(traces[0], traces[0].window_sum_fit, scenario.n_flows),
        variants=work.under_each(readings(MEAN_RTT_MS), ours, numbers),
    )


def _traces(work: Work, sets: Iterable[str]) -> list[Any]:
    traces = work.over_seeds(lambda part, seed: part.trace(sets, seed=seed))
    if any(trace.window_sum_fit is None for trace in traces):
        raise ValueError("the sum of the windows was not sampled")
    return traces


def _sums(scenario: forebay.Scenario, traces: list[Any]) -> dict[str, float]:
    fits = [trace.window_sum_fit for trace in traces]
    bound = (scenario.bdp_packets + scenario.buffer_packets) / math.sqrt(27 * scenario.n_flows)
    return {
        "normal": mean(fit.kolmogorov_smirnov for fit in fits),
        "skewness": mean(fit.skewness for fit in fits),
        "deviation": mean(100 * fit.standard_deviation / bound for fit in fits),
        "hazard": mean(100 * _over_hazard(trace, scenario.n_flows) for trace in traces),
        "in-step": mean(trace.synchronization.index for trace in traces),
    }


def _over_hazard(trace: Any, flows: int) -> float:
    fit, index = trace.window_sum_fit, trace.synchronization.index
    law = forebay.laws.desynchronized.sigma_of_constant_hazard(fit.mean, flows, index)
    return float(fit.standard_deviation / law)


def _by_window(work: Work, changes: Iterable[str] = ()) -> dict[str, float]:
    """Return idle shares at the rule's buffer where windows or numbers of flows are the same.

    The rate goes with the number of flows, so that bdp/n stays.
    """
    whole = work.load()

    def idle(flows: int, window: float) -> float:
        rate = whole.link.capacity * flows * window / whole.bdp_packets
        sets = [f"link.rate={rate / 1e6:.3f} Mbit/s", f"traffic.0.flows={flows}"]
        return 100 * (1 - work.used([*changes, *sets]))

    large, small = ([idle(n, window) for n in (MANY, FEW)] for window in (WINDOW, SMALL_WINDOW))
    return {
        "same-window": abs(large[0] - large[1]),
        "small-window": 100 - max(small),
        "large-window": 100 - min(large),
    }


def _bell(trace: Any, fit: Any, flows: int) -> Any:
    middles, density = bars(trace.window_sum_packets, BINS, "ΣW")
    link = trace.bottleneck
    bound = float(forebay.laws.desynchronized.sigma(link.buffer_packets, link.bdp_packets, flows))

    def normal(sigma: float) -> Any:
        return np.exp(-(((middles - fit.mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))

    wide, narrow = normal(fit.standard_deviation), normal(bound)
    ends = (link.bdp_packets, link.bdp_packets + link.buffer_packets)
    marks = [Line([at, at], [0.0, float(wide.max())], "fits the buffer", "dashes") for at in ends]
    lines = [
        density,
        Line(middles.tolist(), wide.tolist(), "normal"),
        Line(middles.tolist(), narrow.tolist(), "with the paper's bound"),
        *marks,
    ]
    return chart(lines, "ΣW, packets", "density")


@artefact()
def fig9(work: Work) -> Reproduction:
    """Trace one replication; ``quick`` a third as long."""
    sets = ["measure.duration=20 s"] if work.quick else []
    trace, bdp = work.trace(sets), work.load(sets).bdp_packets
    ours = _together(trace)
    variants = work.under_each(
        readings(MEAN_RTT_MS), ours, lambda alone, sets: _together(alone.trace(sets))
    )
    x, queue = trace.at_s.tolist(), (trace.bottleneck.queue_packets + bdp).tolist()
    lines = [Line(x, trace.window_sum_packets.tolist(), "ΣW"), Line(x, queue, "queue + 10,500")]
    return work.judge(ours, picture=chart(lines, "s", "packets"), variants=variants)


def _together(trace: Any) -> dict[str, float]:
    windows, queue = trace.window_sum_packets, trace.bottleneck.queue_packets
    return {
        "offset": float(np.mean(windows - queue)),
        "follows": float(np.corrcoef(windows, queue)[0, 1]),
    }


FLOWS = (10, 20, 50, 100, 200, 500, 800)
CHOSEN = "RTTs 80–120 ms"
READINGS = {
    "ACKs delayed, 40 ms": ["traffic.0.delayed_ack=true"],
    "RTTs 98–102 ms": ["traffic.0.rtt={uniform=['98 ms', '102 ms']}"],
    "RTTs all 100 ms": ["traffic.0.rtt=100 ms"],
}


@artefact()
def synchronization(work: Work) -> Reproduction:
    """Trace every number of flows twice; ``quick`` once."""
    work = work.once_if_quick(2)
    means = {CHOSEN: _correlations(work, ())}
    if not work.quick:
        means |= {name: _correlations(work.untold(), sets) for name, sets in READINGS.items()}
    under = {name: _steps(mean) for name, mean in means.items()}
    lines = [Line(list(mean), list(mean.values()), name) for name, mean in means.items()]
    return work.judge(
        under[CHOSEN],
        picture=chart(lines, "flows", "correlation of two windows", log="x"),
        variants=None if work.quick else work.variants(under),
    )


def _correlations(work: Work, sets: Iterable[str]) -> dict[int, float]:
    """Mean correlation of two windows for each number of flows."""

    def correlation(part: Work, n: int, seed: int) -> float:
        trace = part.trace([f"traffic.0.flows={n}", *sets], seed=seed)
        index = trace.synchronization.index
        return math.nan if index is None else (index - 1) / (n - 1)

    seeds = range(1, work.effort.seeds + 1)
    correlations = work.over([(n, seed) for n in FLOWS for seed in seeds], correlation)
    return {n: float(np.mean([correlations[n, seed] for seed in seeds])) for n in FLOWS}


def _steps(mean: dict[int, float]) -> dict[str, float]:
    return {
        "common": min(mean[n] for n in FLOWS if n < 100),
        "rare": max(mean[n] for n in FLOWS if n >= 500),
        "falls": min(mean[few] - mean[many] for few, many in pairwise((10, 100, 500))),
    }


RTT_S = 0.142  # of appendix A's flow, whose bdp is 142 packets
BDP = BUFFER = 142.0  # of Figure 4
RATE = 1000.0  # packets/s
SECOND_STARTS_S, CLOSE = 30.0, 0.1  # Figure 7


@artefact()
def appendix_a(work: Work) -> Reproduction:
    """How a window grows. The run has no randomness, so one suffices."""
    under = {
        name: growth(work, sets)
        for name, sets in readings(142).items()
        if not any("rtt=" in setting for setting in sets)  # one flow has no spread
    }
    return work.judge(next(iter(under.values())), variants=work.variants(under))


def growth(work: Work, sets: Iterable[str]) -> dict[str, float]:
    """Return appendix A's numbers with settings."""
    begun = work.trace(["link.rate=1 Gbit/s", "measure.duration=1 s", *sets], "1 ms")
    settled = work.trace(["measure.warmup=100 s", *sets], "20 ms")
    window = begun.flows[0].cwnd_packets
    # Growth for each round trip, from the end of the first to the end of the sixth.
    ends = [np.argmax(begun.at_s >= (k + 0.5) * RTT_S) for k in (1, 6)]
    first, last = (float(window[end]) for end in ends)
    return {
        "first": float(window[window > 0][0]),
        "doubles": float((last / first) ** 0.2),
        "adds": _adds(settled),
    }


def _adds(trace: Any) -> float:
    """Growth in packets for each round trip between two losses while the queue is empty."""
    begin, end = trace.reductions.at_s[-2:]
    climbs = (trace.at_s > begin + 5 * RTT_S) & (trace.at_s < end) & (_queue(trace) <= 2)
    window = trace.flows[0].cwnd_packets
    return float(np.polyfit(trace.at_s[climbs], window[climbs], 1)[0]) * RTT_S


@artefact()
def fig4(work: Work) -> Reproduction:
    """One flow in steady state and from its start (Figure 1), buffer equal to bdp."""
    first, second = work.shares(2)
    settled = first.trace(step="20 ms")
    start = second.trace(["measure.warmup=0 s", "measure.duration=120 s"], "2 ms")
    window, queue, cuts = settled.flows[0].cwnd_packets, _queue(settled), settled.reductions.at_s
    cycles = [
        (settled.at_s[inside] - begin, queue[inside])
        for begin, end in pairwise(cuts)
        if np.any(inside := (settled.at_s >= begin) & (settled.at_s < end))
    ]
    ours = {
        "period": float(np.mean(np.diff(cuts))),
        "halves": float(window.min() / window.max()),
        "largest": float(100 * window.max() / (BDP + BUFFER)),
        "almost-empty": max(100 * float(part.min()) / BUFFER for _, part in cycles),
        "never-idle": 100 * float(settled.bottleneck.utilization),
        "root": max(100 * _from_root(*cycle) / BUFFER for cycle in cycles),
        "slow-start": _empty_in_slow_start(start),
    }
    panels = []
    for trace, title in ((settled, "settled (Fig. 4)"), (start, "from the start (Fig. 1)")):
        panels += _window_and_queue(trace, title)
    return work.judge(ours, picture=Picture(panels, columns=2))


def _queue(trace: Any) -> Any:
    return trace.bottleneck.queue_packets


def _from_root(at_s: Any, queue: Any) -> float:
    """Largest difference from eq. 10, in packets, from the smallest queue on."""
    lowest = int(np.argmin(queue))
    law = forebay.laws.sawtooth.queue(at_s[lowest:] - at_s[lowest], RATE, BDP)
    return float(np.max(np.abs(np.minimum(law, BUFFER) - queue[lowest:])))


def _empty_in_slow_start(trace: Any) -> float:
    """Percent of the time until the window reaches bdp in which the queue is empty."""
    window = trace.flows[0].cwnd_packets
    reached = int(np.argmax(window >= BDP))
    before = np.flatnonzero((window > 0)[:reached])
    return 100 * float(np.mean(_queue(trace)[before] == 0))


def _window_and_queue(trace: Any, title: str = "") -> list[Panel]:
    x = trace.at_s.tolist()
    window = Line(x, trace.flows[0].cwnd_packets.tolist(), "window")
    queue = Line(x, _queue(trace).tolist(), "queue")
    return [Panel([window], "s", "packets", title), Panel([queue], "s", "packets")]


@artefact()
def fig5(work: Work) -> Reproduction:
    """One flow through an underbuffered router; its queue is empty, so none is left."""
    return _beside_the_rule(work, ("halves", "empty", "utilization"))


@artefact()
def fig6(work: Work) -> Reproduction:
    """One flow through an overbuffered router, whose queue shows how long the sender pauses."""
    return _beside_the_rule(work, ("halves", "empty", "utilization", "left", "pause"))


def _beside_the_rule(work: Work, names: Iterable[str]) -> Reproduction:
    trace = work.trace(step="20 ms")
    window, queue = trace.flows[0].cwnd_packets, _queue(trace)
    numbers = {
        "halves": float(window.min() / window.max()),
        "empty": 100 * float(np.mean(queue == 0)),
        "utilization": 100 * float(trace.bottleneck.utilization),
        "left": float(queue.min()),
    }
    if "pause" in names:
        numbers["pause"] = 100 * _pause(work.trace(["measure.duration=100 s"], "1 ms"))
    ours = {name: numbers[name] for name in names}
    return work.judge(ours, picture=Picture(_window_and_queue(trace)))


def _pause(trace: Any) -> float:
    """Longest time for which a queue that does not empty only falls, over (Wmax/2)/C."""
    steps = np.diff(_queue(trace)) < 0
    edges = np.flatnonzero(np.diff(np.concatenate(([0], steps.astype(int), [0]))))
    falls_s = float(np.max(edges[1::2] - edges[::2])) * float(trace.at_s[1] - trace.at_s[0])
    return falls_s / (float(trace.flows[0].cwnd_packets.max()) / 2 / RATE)


@artefact()
def fig7(work: Work) -> Reproduction:
    """Two flows in steady state and from the start; no randomness, so one run suffices."""
    first, second = work.shares(2)
    settled = first.watch(work.load(), "50 ms", flows=(0, 1))
    whole = ["measure.warmup=0 s", "measure.duration=200 s"]
    start = second.watch(work.load(whole), "50 ms", flows=(0, 1))
    step = settled.synchronization
    # Of both flows, window over RTT (eq. 7).
    rates = [np.nanmean(flow.cwnd_packets / flow.srtt_s) for flow in settled.flows.values()]
    ours = {
        "index": step.index,
        "together": None if step.reduced_fraction is None else 100 * step.reduced_fraction,
        "quickly": _losses_until_close(start),
        "full": 100 * float(settled.bottleneck.utilization),
        **_round_trips(settled, work.load()),
        "rate": float(100 * min(rates) / sum(rates)),
    }
    return work.judge(ours, picture=_two_flows(start))


def _round_trips(trace: Any, scenario: forebay.Scenario) -> dict[str, float]:
    """Return the least and largest round trip of a packet that arrives at a sample, ms.

    It is the path's own plus the time that the queue needs to leave. A smoothed round trip lags
    behind by eight samples, and would not show a queue that is empty for a moment.
    """
    packet_s = 8.0 * scenario.packet / scenario.link.capacity
    path_s = float(scenario.traffic[0].rtt.low)  # type: ignore[union-attr]
    waits_s = packet_s * _queue(trace)
    low, high = 1e3 * (path_s + waits_s.min()), 1e3 * (path_s + waits_s.max())
    return {"rtt-low": float(low), "rtt-high": float(high)}


def _losses_until_close(trace: Any) -> float:
    """Congestion events from the second flow's start until the windows stay close for one event."""
    a, b = (flow.cwnd_packets for flow in trace.flows.values())
    opened = trace.congestion_events.opened_s
    later = opened[opened > SECOND_STARTS_S]
    for count, (begin, end) in enumerate(pairwise(later), start=1):
        inside = (trace.at_s >= begin + (end - begin) / 2) & (trace.at_s < end)
        apart = np.abs(a[inside] - b[inside]) / np.maximum(a[inside], b[inside])
        if inside.any() and float(apart.max()) < CLOSE:
            return float(count)
    return math.nan


def _two_flows(trace: Any) -> Picture:
    x = trace.at_s.tolist()

    def lines(name: str, factor: float = 1.0) -> list[Line]:
        series = [np.nan_to_num(getattr(flow, name)) for flow in trace.flows.values()]
        return [Line(x, (factor * v).tolist(), f"flow {i}") for i, v in enumerate(series, 1)]

    curves = {
        "RTT, ms": lines("srtt_s", 1e3),
        "window, packets": lines("cwnd_packets"),
        "queue, packets": [Line(x, _queue(trace).tolist(), "queue")],
    }
    return Picture([Panel(of, "s", y) for y, of in curves.items()])
