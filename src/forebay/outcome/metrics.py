"""The single definition of every metric: it converts raw readings of any engine to outcomes.

Over several replications, each metric is the mean of one value per replication with its Student-t
interval. With one replication, the interval comes from the batches inside the run, if the reading
has batches. Metrics over the whole window only (delay quantiles, Jain's index, completion times)
then have no interval.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.outcome import statistics
from forebay.outcome.completion import by_size, completion, of_requests
from forebay.outcome.document import IDEAL
from forebay.outcome.model import (
    DELAY_MAXIMUM,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    ClassOutcome,
    ControllerOutcome,
    LinkOutcome,
    Metric,
    Quantiles,
    delay_quantile_name,
)
from forebay.outcome.reading import (
    ClassReading,
    FloatArray,
    Histogram,
    LinkReading,
    Reading,
    of_used_bits,
    used_bits,
)
from forebay.outcome.settling import why_unsettled
from forebay.outcome.statistics import (
    PROBABILITIES,
    Bounds,
    around,
    equal_shares,
    half_width,
    over_replications,
    ratio_half_width,
)
from forebay.scenario.goals import AtLeast, AtMost, Goals

POSITIVE: Bounds = (0.0, math.inf)


def queue_quantiles(links: Sequence[LinkReading], bounds: Bounds) -> list[Metric | None]:
    """Quantiles of the packets that wait in all replications together.

    With one replication, the interval is of its batches.
    """
    step = links[0].queue_step
    whole = [k.queue_s.sum(axis=0) for k in links]
    weights = np.zeros((len(whole), max(row.size for row in whole)))
    for row, seconds in zip(weights, whole, strict=True):
        row[: seconds.size] = seconds
    weights = weights[weights.any(axis=1)]
    if not weights.size:
        return [None] * len(PROBABILITIES)

    def read(rows: FloatArray) -> FloatArray:
        packets = statistics.of_counts(rows, step, PROBABILITIES).T
        return np.minimum(packets, bounds[1])  # a bin of several packets may exceed the bounds

    values = read(weights.sum(axis=0)[np.newaxis])[:, 0].tolist()
    if len(links) == 1:
        batches = read(links[0].queue_s)
        return [around(v, half_width(b), 1, bounds) for v, b in zip(values, batches, strict=True)]
    above, totals = statistics.shares_above(weights), weights.sum(axis=1)
    quantiles: list[Metric | None] = []
    for value, probability in zip(values, PROBABILITIES, strict=True):
        bins = statistics.bins_of_quantile(above, totals, probability)
        ends = None if bins is None else (bins[0] * step, min(bins[1] * step + step - 1, bounds[1]))
        quantiles.append(_within(value, ends, len(weights), bounds))
    return quantiles


def of_histograms(histograms: Sequence[Histogram | None]) -> Quantiles | None:
    """Quantiles of one histogram per replication; None if no replication has one."""
    present = [h for h in histograms if h is not None and h.counts.any()]
    means = _known(map(statistics.mean_of_histogram, present))
    mean = over_replications(means, POSITIVE, [float(h.counts.sum()) for h in present])
    if mean is None:
        return None
    p50, p95, p99 = up_to(present)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def up_to(
    histograms: Sequence[Histogram],
    longest_s: Sequence[float] = (),
    probabilities: Sequence[float] = PROBABILITIES,
) -> list[Metric | None]:
    """Quantiles of all replications together, none above the longest value if it is known.

    An interval ends where a bin does, which may be above that: further in nothing was read.

    A replication whose histogram is empty tells nothing of them.
    """
    longest = longest_s or [math.inf] * len(histograms)
    both = zip(histograms, longest, strict=True)
    present = [(histogram, end) for histogram, end in both if histogram.counts.any()]
    if not present:
        return [None] * len(probabilities)
    most = (0.0, max(end for _, end in present))
    many = len(present)
    if many == 1:
        values = statistics.several_of_histogram(present[0][0], probabilities)
        assert values is not None
        return [_within(value, None, 1, most) for value in values.tolist()]
    edges, weights = statistics.pooled([histogram for histogram, _ in present])
    values = statistics.several_of_histogram(Histogram(edges, weights.sum(axis=0)), probabilities)
    assert values is not None
    above, totals = statistics.shares_above(weights), weights.sum(axis=1)
    quantiles: list[Metric | None] = []
    for value, probability in zip(values.tolist(), probabilities, strict=True):
        bins = statistics.bins_of_quantile(above, totals, probability)
        ends = None if bins is None else (float(edges[bins[0]]), float(edges[bins[1] + 1]))
        quantiles.append(_within(value, ends, many, most))
    return quantiles


def _within(value: float, ends: tuple[float, float] | None, n: int, bounds: Bounds) -> Metric:
    """Return a quantile with an interval whose ends are those of bins, which reach beyond it."""
    value = min(value, bounds[1])
    if ends is None:
        return Metric(value=value, low=None, high=None, n=n)
    low, high = ends
    return Metric(value=value, low=min(low, value), high=max(high, value), n=n)


Ratio = tuple[FloatArray, FloatArray]
Queued = tuple[LinkReading | None, NDArray[np.int64] | None]

FRACTION: Bounds = (0.0, 1.0)


def summarize(
    readings: Sequence[Reading], goals: Goals | None = None
) -> tuple[dict[str, LinkOutcome], list[ClassOutcome]]:
    """Links and classes of one scenario from its replications (at least one reading).

    Parameters
    ----------
    goals : metrics that only these need are in every link's ``goal_metrics``.

    Returns
    -------
    links, classes
        One LinkOutcome per link name; one ClassOutcome per traffic class, in the readings' order.
    """
    first = readings[0]
    links = _links(readings, goals)
    windows = [next(iter(reading.links.values())).window_s for reading in readings]
    marked = [(reading, _marks(reading)) for reading in readings]
    parts = [of_used_bits(reading) for reading in readings]
    classes = [
        class_outcome(
            [part[i] for part in parts],
            windows,
            # A network's classes end on many links.
            first.links[kind.link].most_bps if kind.link else math.inf,
            [_class_delay(next(iter(r.links.values())), i, len(r.classes)) for r in readings],
            [(r.links[kind.link] if kind.link else None, told) for r, told in marked],
        )
        for i, kind in enumerate(first.classes)
    ]
    return links, classes


def _links(readings: Sequence[Reading], goals: Goals | None) -> dict[str, LinkOutcome]:
    """Links by name; of a large network most are idle, and alike ones have one outcome."""
    idle: dict[tuple[float, ...], LinkOutcome] = {}
    outcomes = {}
    for name in readings[0].links:
        links = [reading.links[name] for reading in readings]
        if any(_has_traffic(link) for link in links):
            outcomes[name] = link_outcome(links, goals)
            continue
        first = links[0]
        like = (
            first.capacity_bps, first.burst_bits, first.buffer_packets, first.bdp_packets,
            float(max(link.most_packets for link in links)), first.marks is None,
        )  # fmt: skip
        if like not in idle:
            idle[like] = link_outcome(links, goals)
        outcomes[name] = idle[like]
    return outcomes


def _has_traffic(link: LinkReading) -> bool:
    counts = (link.arrivals, link.held, link.bits)
    return link.lost is not None or any(count.any() for count in counts)


def _marks(reading: Reading) -> NDArray[np.int64] | None:
    """Packets that all queues marked, shape (b,); None if no queue tells."""
    known = [link.marks for link in reading.links.values() if link.marks is not None]
    return np.sum(known, axis=0) if known else None


def _class_delay(link: LinkReading, index: int, classes: int) -> Histogram:
    """Waiting times of a class at the link under study; a single class has the link's."""
    if link.class_delays:
        return link.class_delays[index]
    nothing = np.zeros(0)
    return link.delay if classes == 1 else Histogram(np.zeros(1), nothing)


def link_outcome(links: Sequence[LinkReading], goals: Goals | None = None) -> LinkOutcome:
    """One link over its replications.

    The loss rate is over the packets for which the queue decided: dropped and accepted packets.
    It includes packets that arrived before the window if the discipline drops them in it.
    """
    return LinkOutcome(
        utilization=utilization(links),
        loss_rate=ratio([_share(k.drops, k.accepted) for k in links], FRACTION),
        queue_packets=queue_packets(links),
        queue_delay_s=queue_delay_s(links),
        buffer_packets=links[0].buffer_packets,
        bdp_packets=links[0].bdp_packets,
        marks=_count(k.marks for k in links),
        lost=_count(k.lost for k in links),
        goal_metrics={} if goals is None else goal_metrics(links, goals),
        capacity_bps=links[0].most_bps,
        most_packets=max(link.most_packets for link in links),
    )


def class_outcome(
    classes: Sequence[ClassReading],
    windows_s: Sequence[float],
    capacity_bps: float = math.inf,
    delays: Sequence[Histogram] = (),
    queues: Sequence[Queued] = (),
) -> ClassOutcome:
    """One traffic class over its replications.

    Parameters
    ----------
    windows_s : the window length of each replication.
    capacity_bps : the capacity of the last link, which bounds throughput and goodput.
    delays : waiting times of its packets at the link under study, one histogram per replication;
        empty if they are unknown.
    queues : the last link that it crosses, None if there are several, and the packets that all
        queues marked; one pair per replication, empty if they are unknown.
    """
    pairs = list(zip(classes, windows_s, strict=True))
    most: Bounds = (0.0, capacity_bps)
    return ClassOutcome(
        name=classes[0].name,
        kind=classes[0].kind,
        flows=classes[0].flows,
        flows_active=over_replications(
            [float(k.active) for k in classes if k.active is not None], POSITIVE
        ),
        link=classes[0].link,
        throughput_bps=ratio([_rate(k.throughput_bits, w) for k, w in pairs], most),
        goodput_bps=ratio([_rate(goodput_bits(k), w) for k, w in pairs], most),
        jain=over_replications(_known([jain(k.flow_goodput_bits) for k in classes]), FRACTION),
        rtt_s=of_histograms([k.rtt for k in classes]),
        loss_rate=ratio([_share(k.drops, k.passed) for k in classes], FRACTION),
        timeouts=_count(k.timeouts for k in classes),
        retransmissions=_count(k.retransmissions for k in classes),
        queue_delay_s=of_histograms(delays),
        controllers=_controllers(classes, windows_s, most),
        **_transfers(classes, windows_s),
        **of_requests([(k.requests_s, k.unfinished_requests_s) for k in classes], min(windows_s)),
        **_settled(classes, queues, windows_s),
    )


def _settled(
    classes: Sequence[ClassReading], queues: Sequence[Queued], windows_s: Sequence[float]
) -> dict[str, Any]:
    """The fields of a ClassOutcome about its steady state; only long flows have one."""
    if classes[0].long_flows is None or not any(kind.active != 0 for kind in classes):
        return {}  # flows that are not in the window have no state there
    links, marks = zip(*(queues or [(None, None)] * len(classes)), strict=True)
    why = why_unsettled(classes, links, marks, windows_s)
    return {"settled": why is None, "unsettled": why}


def _transfers(classes: Sequence[ClassReading], windows_s: Sequence[float]) -> dict[str, Any]:
    """The fields of a ClassOutcome about transfers; only classes with finite flows have any."""
    spans = [(k.fct_s, k.unfinished_s) for k in classes]
    known = [(ended, open_) for ended, open_ in spans if ended is not None and open_ is not None]
    if not known:
        return {"fct_s": None}
    summary = completion(known, min(windows_s))
    metrics = {field.name: getattr(summary, field.name) for field in fields(summary)}
    slowdowns = [k.slowdowns for k in classes if k.slowdowns is not None]
    if len(slowdowns) < len(classes):
        return metrics
    return metrics | {"slowdown": by_size(slowdowns), "slowdown_ideal": IDEAL}


def goodput_bits(reading: ClassReading) -> FloatArray:
    """Bits that receivers got in order, at most what the last link sent in the window.

    A segment that fills a gap also completes data from before the window, and a segment whose
    transmission began before the window counts whole. The bound excludes such extra bits.
    """
    got, sent = reading.goodput_bits, reading.throughput_bits
    return got if got.sum() <= sent.sum() else sent


def _controllers(
    classes: Sequence[ClassReading], windows_s: Sequence[float], most: Bounds
) -> dict[str, ControllerOutcome] | None:
    """A class's congestion controls, in the order of the readings; None if there is only one."""
    names = classes[0].controllers
    return {name: _controller(name, classes, windows_s, most) for name in names} or None


def _controller(
    name: str, classes: Sequence[ClassReading], windows_s: Sequence[float], most: Bounds
) -> ControllerOutcome:
    parts = [k.controllers[name] for k in classes]
    own = [float(one.flow_goodput_bits.sum()) for one in parts]
    alike = list(zip(own, classes, windows_s, strict=True))
    whole = [(bits, k, w, float(k.flow_goodput_bits.sum())) for bits, k, w in alike]
    shares = [(bits / total, k, w) for bits, k, w, total in whole if total > 0.0]
    rates = [share * float(goodput_bits(k).sum()) / w for share, k, w in shares]
    decided = [(one.drops, one.drops + one.passed) for one in parts]
    return ControllerOutcome(
        flows=parts[0].flows,
        goodput_bps=over_replications(rates, most),
        goodput_share=over_replications([share for share, *_ in shares], FRACTION),
        jain=over_replications(_known([jain(one.flow_goodput_bits) for one in parts]), FRACTION),
        loss_rate=over_replications([d / n for d, n in decided if n], FRACTION),
    )


def utilization(links: Sequence[LinkReading]) -> Metric | None:
    """Bits sent over capacity times window, or over what a varying rate lets pass in it."""
    used = [
        _rate(k.bits, k.window_s * k.capacity_bps)
        if k.possible_bits is None
        else (used_bits(k), k.possible_bits)
        for k in links
    ]
    return ratio(used, FRACTION)


def queue_packets(links: Sequence[LinkReading]) -> Quantiles:
    """Packets waiting, time-weighted, without the one on the wire."""
    bounds = (0.0, float(max(link.most_packets for link in links)))
    p50, p95, p99 = queue_quantiles(links, bounds)
    mean = ratio([_rate(k.queue_packet_s, k.window_s) for k in links], bounds)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def queue_delay_s(links: Sequence[LinkReading]) -> Quantiles:
    """Waiting time of the accepted packets, seconds, with equal weight for each packet."""
    sums = [(k.delay_sum_s, _as_float(k.accepted)) for k in links]
    longest = [k.longest_s for k in links]
    p50, p95, p99 = up_to([k.delay for k in links], longest)
    mean = ratio(sums, POSITIVE, of_all=True)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def jain(goodput: FloatArray) -> float | None:
    """Jain's index (sum x)^2 / (n sum x^2) over the n active flows; None if all are zero."""
    squares = float(np.sum(np.square(goodput, dtype=np.float64)))
    if squares == 0.0:
        return None
    return float(np.sum(goodput)) ** 2 / (goodput.size * squares)


def ratio(replications: Sequence[Ratio], bounds: Bounds, *, of_all: bool = False) -> Metric | None:
    """Sum of numerators over sum of denominators, each of shape (b,), one pair per replication.

    Over several replications it is the mean of theirs, or that of all their packets together. None
    if every denominator is zero: a loss rate without arrivals is unknown, not zero.
    """
    if len(replications) == 1:
        ((numerators, denominators),) = replications
        total = np.add.reduce(denominators)
        if not total > 0.0:
            return None
        half = ratio_half_width(numerators, denominators)
        return around(float(np.add.reduce(numerators) / total), half, 1, bounds)
    sums = [(float(np.add.reduce(n)), float(np.add.reduce(d))) for n, d in replications]
    known = [(n, d) for n, d in sums if d > 0.0]
    counts = [d for _, d in known] if of_all else None
    return over_replications([n / d for n, d in known], bounds, counts)


def _rate(amounts: FloatArray, whole: float) -> Ratio:
    """`amounts` per batch over equal shares of `whole`."""
    return _as_float(amounts), equal_shares(whole, amounts.size)


def _count(counts: Iterable[NDArray[np.int64] | None]) -> Metric | None:
    """A count over the window, as a ratio of whole numbers so that batches give an interval."""
    known = (count for count in counts if count is not None)
    return ratio([(_as_float(n * n.size), np.ones(n.size)) for n in known], POSITIVE)


def _share(part: NDArray[np.int64], rest: NDArray[np.int64]) -> Ratio:
    """`part` over the sum of `part` and `rest`."""
    return _as_float(part), _as_float(part + rest)


def _as_float(values: NDArray[np.int64] | FloatArray) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _known(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def goal_metrics(links: Sequence[LinkReading], goals: Goals) -> dict[str, Metric]:
    """Metrics that ``goals`` need of one link beyond `LinkOutcome`, seconds and fractions.

    A goal with a probability needs the share of round trips with at least its utilization, or at
    most its loss: P(...) >= tau and rho in Yang, Zhang, Xu 2013 (§III). The maximum is the longest
    wait of all replications, and so has no interval.
    """
    metrics = {
        UTILIZATION_PROBABILITY: _probability(goals.utilization, links, _busy_enough),
        LOSS_PROBABILITY: _probability(goals.loss_rate, links, _few_drops),
    } | _delays(links, goals)
    return {name: metric for name, metric in metrics.items() if metric is not None}


def _delays(links: Sequence[LinkReading], goals: Goals) -> dict[str, Metric | None]:
    wanted = goals.queue_delay
    if wanted is None:
        return {}
    delays: dict[str, Metric | None] = {}
    if wanted.maximum is not None and (
        ends := [k.longest_s for k in links if k.delay.counts.any()]
    ):
        delays[DELAY_MAXIMUM] = Metric(value=max(ends), low=None, high=None, n=len(ends))
    if wanted.quantile is not None:
        read = up_to([k.delay for k in links], [k.longest_s for k in links], [wanted.quantile])
        delays[delay_quantile_name(wanted.quantile)] = read[0]
    return delays


def _busy_enough(link: LinkReading, target: float) -> NDArray[np.bool_]:
    assert link.round_trips is not None
    bits = link.round_trips.bits
    return np.asarray(bits >= target * link.capacity_bps * link.window_s / bits.size * _ROUNDING)


def _few_drops(link: LinkReading, target: float) -> NDArray[np.bool_]:
    assert link.round_trips is not None
    return np.asarray(link.round_trips.drops <= target * link.round_trips.arrivals)


_ROUNDING = 1.0 - 1e-9  # a link that is always busy counts as busy despite rounding of its bits


def _probability(
    target: AtLeast | AtMost | None,
    links: Sequence[LinkReading],
    meets: Callable[[LinkReading, float], NDArray[np.bool_]],
) -> Metric | None:
    if target is None or target.probability is None or any(k.round_trips is None for k in links):
        return None
    shares = [meets(link, float(target)).mean(axis=1) for link in links]
    if len(links) == 1:
        return around(float(shares[0].mean()), half_width(shares[0]), 1, FRACTION)
    return over_replications([float(share.mean()) for share in shares], FRACTION)
