"""The number of flows, in each meaning of the word, and their lengths.

``long_flows`` is the n of the laws. Appenzeller et al. 2004, section 5.1.1, footnote 9: the number
"was found by measuring the number of flows in congestion avoidance mode at each instant and
visually selecting a robust minimum". Here the minimum is the 5 % quantile over the time between the
first and the last instant at which the number reaches its median. The time before and after has
flows that begin or end with the capture.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forebay.measure.estimate import NORMAL_95, Estimate, Floats, Measured

if TYPE_CHECKING:
    from forebay._core import CaptureReadings

ROBUST = 0.05
_DRAWN = 500
_BATCHES = 10
_FEWEST_TAIL = 20


def describe(read: CaptureReadings, found: Measured) -> None:
    """Add ``tuples``, ``concurrent_flows``, ``long_flows``, ``flow_bytes`` and the tail."""
    flows = read["flows"]
    every = "five-tuples of one direction, including those with ACKs only; not the n of the laws"
    found.add("tuples", flows["tuples"], flows["tuples"], every)
    if flows["flows"] == 0:
        found.refuse("long_flows", "no flow carries data over the link")
        return
    concurrent = over_time(flows["concurrent"])
    opened = "from a flow's first packet to its last; not the n of the laws"
    mean = Estimate(float(concurrent.mean()), None, None, flows["flows"], opened)
    found.estimates["concurrent_flows"] = mean
    _avoiding(read, found)
    _lengths(read, found)


def over_time(changes: tuple[float, Floats]) -> Floats:
    """Return a number of flows at each instant from its changes; shape (instants,)."""
    return np.cumsum(changes[1]) if len(changes[1]) else np.zeros(1)


def settled(number: Floats) -> Floats:
    """Return the part between the first and the last instant at the median."""
    reached = np.flatnonzero(number >= np.median(number))
    return number[reached[0] : reached[-1] + 1]


def robust_minimum(number: Floats) -> Estimate:
    """Return the 5 % quantile of a number over its settled part.

    The interval is over the same quantile in tenths of that part.
    """
    stretch = settled(number)
    value = float(np.quantile(stretch, ROBUST))
    tenths = [np.quantile(part, ROBUST) for part in np.array_split(stretch, _BATCHES) if len(part)]
    half = NORMAL_95 * float(np.std(tenths, ddof=1)) if len(tenths) > 1 else 0.0
    return Estimate(value, max(value - half, 0.0), value + half, len(stretch))


def _avoiding(read: CaptureReadings, found: Measured) -> None:
    flows = read["flows"]
    avoiding, lossy = over_time(flows["avoiding"]), over_time(flows["lossy"])
    width_s = flows["avoiding"][0]
    if not flows["tcp_bytes"]:
        why = "no packet is TCP, and n counts TCP flows: it cannot be estimated"
        found.refuse("long_flows", why)
        return
    if avoiding.max() < 1:
        why = "no TCP flow was seen to leave slow start: the link may not be a bottleneck"
        found.refuse("long_flows", why)
        return
    either, certain = robust_minimum(avoiding), robust_minimum(lossy) if lossy.max() else None
    brief = _at_instants_of(avoiding, width_s, flows["brief"])
    lasting = robust_minimum(avoiding - brief) if brief.max() else either
    low = min(end.low or 0.0 if end else 0.0 for end in (certain, either, lasting))
    bias = (
        "flows in congestion avoidance across this link: the low end counts flows with losses, "
        "the value also flows that send steadily, some of which their hosts limit"
    )
    if either.value - lasting.value >= 1:
        bias += (
            f"; {either.value - lasting.value:.0f} of the value are short flows that recover from "
            "a loss, which the low end leaves out"
        )
    high = (either.high or either.value) * (1 + flows["quic_bytes"] / flows["tcp_bytes"])
    found.estimates["long_flows"] = Estimate(either.value, low, high, flows["long"], bias)
    if flows["quic_bytes"]:
        found.notes.append("QUIC's windows are hidden: the high end of n counts it by its bytes")
    step = max(len(avoiding) // _DRAWN, 1)
    drawn = {name: over_time(flows[name])[::step].tolist()
             for name in ("concurrent", "avoiding", "lossy")}  # fmt: skip
    found.curves["flows"] = {"step_s": step * width_s} | drawn


def _at_instants_of(number: Floats, width_s: float, changes: tuple[float, Floats]) -> Floats:
    """Return another number of flows at the same instants; it may have fewer, or finer ones."""
    own = over_time(changes)
    places = ((np.arange(len(number)) + 0.5) * width_s / changes[0]).astype(int)
    return np.where(places < len(own), own[np.minimum(places, len(own) - 1)], 0.0)


def _lengths(read: CaptureReadings, found: Measured) -> None:
    values, counts = read["flows"]["lengths"]
    mean = float((values * counts).sum() / counts.sum())
    censored = read["flows"]["censored"] / read["flows"]["flows"]
    cut = (
        f"{censored:.0%} of the TCP flows began before the capture or continued after it: too short"
    )
    found.estimates["flow_bytes"] = {"mean": Estimate(mean, None, None, int(counts.sum()), cut)}
    cumulated = 1 - np.cumsum(counts) / counts.sum()
    found.curves["flow_bytes"] = {"bytes": values.tolist(), "longer": cumulated.tolist()}
    longest = np.asarray(read["flows"]["longest"], dtype=np.float64)
    if len(longest) < 10 * _FEWEST_TAIL:
        found.refuse("flow_tail", f"{len(longest)} flows; a tail needs {10 * _FEWEST_TAIL}")
    elif censored > 0.5:
        found.refuse("flow_tail", "the capture has few complete flows")
    elif longest[0] == longest[_last_of_tail(longest, read["flows"]["flows"])]:
        found.refuse("flow_tail", "all the longest flows have one length")
    else:
        found.estimates["flow_tail"] = _tail(longest, read["flows"]["flows"], found)


def hill(longest: Floats, k: int) -> Estimate:
    """Return the tail's exponent from the k longest flows in descending order (Hill 1975)."""
    value = k / float(np.log(longest[:k] / longest[k]).sum())
    half = NORMAL_95 * value / math.sqrt(k)
    return Estimate(value, value - half, value + half, k)


def _last_of_tail(longest: Floats, flows: int) -> int:
    return min(len(longest) - 1, flows // 2)


def _tail(longest: Floats, flows: int, found: Measured) -> Estimate:
    ks = np.unique(np.geomspace(_FEWEST_TAIL, _last_of_tail(longest, flows), 60).astype(int))
    ks = ks[longest[:1] > longest[ks]]
    plot = [hill(longest, int(k)).value for k in ks]
    found.curves["hill"] = {"flows": ks.tolist(), "exponent": plot}
    chosen = int(ks[np.searchsorted(ks, min(max(flows // 20, _FEWEST_TAIL), ks[-1]))])
    bias = "of the longest 5 % of the flows; the plot must be flat there"
    return replace(hill(longest, chosen), bias=bias)
