"""Whether long flows are in their steady state in the measured window: one check for all verbs.

It reads what an engine reports for each batch of the window. A class is not settled if its goodput
or, with a control that follows a model of the path, its losses still change over the window, or the
window began before the models had settled; if flows of a loss-based control were not twice told of
congestion; or if their queue still grows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from forebay.catalogue import CONTROLS
from forebay.outcome.document import Closed
from forebay.outcome.model import Metric, Outcome
from forebay.outcome.reading import ClassReading, LinkReading, LongFlows
from forebay.outcome.statistics import mean_of_histogram
from forebay.scenario import Long
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay.outcome.reading import FloatArray, IntArray

Part = TypeVar("Part", bound=Closed)

GOODPUT, LOSSES = Fact("unsettled.goodput"), Fact("unsettled.losses")
EVENTS, GROWS = Fact("unsettled.events"), Fact("unsettled.queue")
EARLY = Fact("unsettled.early")

_PROBES = 3
"""Probes of the round trip after which flows that began together no longer take each other's queue
for the path: losses and queues of 4 to 40 flows of BBR and BBRv3 changed until then, not after."""
_LEAST_EVENTS = 2
_USED = 0.8
"""Share of a window, or of the sources' rate, from which on it holds the flows back."""
_CHANGE, _CERTAIN = 0.1, 4.0
"""Relative change between the halves of the window, and its standard errors, that show a drift."""
_LOST, _OTHER = 1e-3, 0.5
"""Share of packets lost, and relative change of its mean without a beginning, that show one."""
_OVERSHOOT = 0.2
"""Share of a batch's packets that are lost, where most batches lose nearly none."""
_GROWTH, _PACKETS, _RISING = 1.1, 2.0, 0.8
"""Ratio of the mean queue between the halves, its least change, and the share of rising steps."""


def why_unsettled(
    classes: Sequence[ClassReading],
    links: Sequence[LinkReading | None],
    marks: Sequence[IntArray | None],
    windows_s: Sequence[float],
) -> Fact | None:
    """Return why the long flows of a class have not settled; None if they have.

    Parameters
    ----------
    classes, links, marks, windows_s : one for each replication; the link is the last one that the
        class crosses, None if there are several; ``marks``, shape (batches,), are those of all
        queues, None if they are unknown.
    """
    flows = classes[0].long_flows
    assert flows is not None, "a class of long flows"
    goodput = _mean([kind.goodput_bits for kind in classes])
    if not goodput.any():
        return None
    if _drifts(goodput):
        return GOODPUT
    if (flows.model_based and _begins_otherwise(classes)) or _all_at_once(classes):
        return LOSSES
    if not _held_back(flows, classes, windows_s):
        if flows.early:
            return EARLY
        events = map(_events, classes, marks, windows_s)
        if flows.loss_based and np.mean(list(events)) < _LEAST_EVENTS:
            return EVENTS
    known = [link for link in links if link is not None]
    return GROWS if known and _grows(known) else None


def _mean(series: Sequence[IntArray | FloatArray]) -> FloatArray:
    """Return the mean over replications, shape (batches,)."""
    return np.asarray(np.mean(np.asarray(series, dtype=np.float64), axis=0))


def _halves(series: FloatArray) -> tuple[FloatArray, FloatArray]:
    middle = len(series) // 2
    return series[:middle], series[middle:]


def _drifts(series: FloatArray) -> bool:
    """Whether the mean of the second half differs by more than noise and a tenth."""
    first, second = _halves(series)
    change = abs(float(second.mean() - first.mean()))
    error = float(np.hypot(first.std(), second.std())) / np.sqrt(len(first))
    return change > _CHANGE * float(series.mean()) and change > _CERTAIN * error


def _begins_otherwise(classes: Sequence[ClassReading]) -> bool:
    """Whether the losses of the window's beginning are not those of its rest.

    The beginning ends where its omission lowers the error of the mean most: the marginal standard
    error rule (White, SIMULATION 69(6), 1997).
    """
    drops = _mean([kind.drops for kind in classes])
    decided = drops + _mean([kind.passed for kind in classes])
    share = drops / np.maximum(decided, 1.0)
    if float(drops.sum()) < _LOST * float(decided.sum()):
        return False
    rests = [share[cut:] for cut in range(len(share) // 2 + 1)]
    rest = min(rests, key=lambda part: float(part.var()) / len(part))
    return abs(float(rest.mean() - share.mean())) > _OTHER * float(share.mean())


def _all_at_once(classes: Sequence[ClassReading]) -> bool:
    """Whether most replications lose nearly nothing but for a batch: slow start's overshoot."""
    shares = [kind.drops / np.maximum(kind.drops + kind.passed, 1) for kind in classes]
    overshoot = [bool(k.max() > _OVERSHOOT and np.median(k) < _LOST) for k in shares]
    return 2 * sum(overshoot) > len(overshoot)


def _held_back(
    flows: LongFlows, classes: Sequence[ClassReading], windows_s: Sequence[float]
) -> bool:
    """Whether the largest window of the flows, or the rate of their sources, is used up."""
    rates = [float(k.throughput_bits.sum()) / s for k, s in zip(classes, windows_s, strict=True)]
    rate_bps = float(np.mean(rates))
    if rate_bps >= _USED * flows.most_bps:
        return True
    return rate_bps * _round_trip_s(classes) >= _USED * flows.window_bits


def _round_trip_s(classes: Sequence[ClassReading]) -> float:
    """Return the mean round trip of the class's packets; 0 if none was measured."""
    seen = [mean_of_histogram(kind.rtt) for kind in classes if kind.rtt is not None]
    known = [mean for mean in seen if mean is not None]
    return float(np.mean(known)) if known else 0.0


def _events(reading: ClassReading, marks: IntArray | None, window_s: float) -> int:
    """Return how often the class was told of congestion, by drops or marks.

    What follows within a round trip, which counts the queue, is the same event (RFC 5681, 3.1).
    """
    told = np.flatnonzero(reading.drops if marks is None else reading.drops + marks)
    apart = max(1.0, _round_trip_s([reading]) * len(reading.drops) / window_s)
    events, last = 0, -math.inf
    for batch in told:
        if batch >= last + apart:
            events, last = events + 1, float(batch)
    return events


def models_settle_s(traffic: Long) -> float:
    """Return the seconds after which all flows of a class know their path; 0 without a model."""
    probes = [CONTROLS[name].probe_rtt_s for name, share in traffic.shares.items() if share]
    known = [probe for probe in probes if probe is not None]
    return float(traffic.start.high) + _PROBES * max(known) if known else 0.0


def _grows(links: Sequence[LinkReading]) -> bool:
    """Whether a queue that drops nothing rises over the whole window."""
    if any(link.drops.any() for link in links):
        return False
    queue = _mean([link.queue_packet_s * len(link.bits) / link.window_s for link in links])
    first, second = (float(half.mean()) for half in _halves(queue))
    rising = float(np.mean(np.diff(queue) > 0.0))
    return second > max(_GROWTH * first, first + _PACKETS) and rising >= _RISING


def needs(why: str, warmup: str) -> str:
    """Return what flows that have not settled need, with the reason."""
    return str(Fact("unsettled.needs", warmup=warmup, why=why))


def without_intervals(outcome: Outcome, warmup: str = "") -> Outcome:
    """Return an outcome in which no metric of what has not settled has an interval.

    Parameters
    ----------
    warmup : what the flows need, in words, where each class that has not settled is to say so.
    """
    late = [kind for kind in outcome.classes if kind.settled is False]
    if not late:
        return outcome
    ends = {kind.link for kind in late}
    names = outcome.links.keys() if "" in ends else ends
    links = {n: _bare(link) if n in names else link for n, link in outcome.links.items()}
    classes = []
    for kind in outcome.classes:
        said = {"unsettled": needs(kind.unsettled or "", warmup)} if warmup else {}
        classes.append(_bare(kind, said) if kind.settled is False else kind)
    return outcome.noting({}, {"links": links, "classes": classes})


def _bare(part: Part, changes: Mapping[str, object] = {}) -> Part:
    """Return a part of an outcome with the values of its metrics alone, and with changes."""
    return part.model_copy(update={name: _value_of(value) for name, value in part} | dict(changes))


def _value_of(field: Any) -> Any:
    if isinstance(field, Metric):
        return field.within(None, None)
    if isinstance(field, dict):
        return {name: _value_of(part) for name, part in field.items()}
    return _bare(field) if isinstance(field, Closed) else field
