"""Round-trip times, losses, bursts, and an indication of the congestion control."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from forebay.catalogue import CONTROLS
from forebay.measure.estimate import Counts, Estimate, Estimates, Floats, quantiles, share

if TYPE_CHECKING:
    from forebay._core import CaptureFlows, CaptureReadings

Place = Literal["egress", "ingress"]

_FEWEST_LOSSES = 10
_FEWEST_HINTS = 20
_MUCH_LOST = 0.1
_DRAWN = 200
_BOTH = ("low", "high")
_WORDS = {
    "rtt_s": "about one each round trip of a flow, for all ACKs since, including queueing; from "
    "data alone one for each ACK, which may have come before the segment that tells of it",
    "min_rtt_s": "minimum of each flow: propagation if the queue was ever empty; else too long",
    "handshake_rtt_s": "from SYN to the ACK of the SYN-ACK; without delayed ACKs",
}


def describe(read: CaptureReadings, at: Place, found: Estimates) -> None:
    """Add round trips, loss rates, ``slow_start_burst`` and ``congestion_control_hint``."""
    flows = read["flows"]
    _round_trips(flows, at, found)
    if flows["rtt_us_at_least"][1].sum() and "rtt_s" in found.estimates:
        found.estimates["rtt_s"] = _widened(found.estimates["rtt_s"], flows)
    _losses(flows, at, found)
    if read["ecn_capable"]:  # RFC 3168, section 5
        bias = "of packets that can be marked; includes other queues before the capture"
        found.estimates["marked_share"] = share(read["ecn_marked"], read["ecn_capable"], bias)
    _bursts(flows, found)
    _hint(flows, found)


def _round_trips(flows: CaptureFlows, at: Place, found: Estimates) -> None:
    loaded = _loaded(flows, at)
    least, handshakes = flows["least_rtt_us"], flows["handshake_us"]
    samples = {"rtt_s": loaded, "min_rtt_s": least, "handshake_rtt_s": handshakes}
    unstamped = int(flows["unstamped_rtt_us"][1].sum())
    for name, (values, counts) in samples.items():
        if counts.sum():
            rows = quantiles(values * 1e-6, counts, max(int(least[1].sum()), 1))
            found.estimates[name] = rows | {"samples": int(counts.sum()), "bias": _WORDS[name]}
            found.curves[name] = _cumulated(values * 1e-6, counts)
        elif name == "rtt_s" and unstamped:
            found.refuse(name, _UNSTAMPED)
        else:
            found.refuse(name, "no handshake, and no timestamps or ACKs that show it")
    if loaded[1].sum() and unstamped and at == "egress":
        part = unstamped / (unstamped + loaded[1].sum())
        found.notes.append(f"rtt_s: {part:.0%} of the ACKs have no timestamps and are not counted")
    if not loaded[1].sum() and flows["recovery_us"][1].sum():
        values, counts = flows["recovery_us"]
        rows = quantiles(values * 1e-6, counts, max(flows["long"], 1))
        late = "from a gap to its retransmission: a round trip and three packets more, or a timeout"
        found.estimates["recovery_s"] = rows | {"bias": late}


def _widened(rows: dict[str, Any], flows: CaptureFlows) -> dict[str, Any]:
    """Widen the intervals of round trips that data alone tells, to the least and most they may be.

    The segment may have been answered at once, and the ACK have come as fast as any of its
    connection. Two stamps tell a difference to a tick.
    """
    independent = rows["p50"]["n"]
    ends = [
        quantiles(values * 1e-6, counts, independent)
        for values, counts in (flows["rtt_us_at_least"], flows["rtt_us_at_most"])
    ]
    wide = dict(rows)
    for name in ("mean", "p50", "p95", "p99"):
        told = [row[name] for row in (*ends, rows)]
        known = [one["value"] if one[end] is None else one[end] for one in told for end in _BOTH]
        wide[name] = rows[name] | {"low": min(known), "high": max(known)}
    return wide


def _loaded(flows: CaptureFlows, at: Place) -> tuple[Floats, Counts]:
    """Return round trips that include the queueing delay, and the count of each.

    Without timestamps the part from the capture to the sender and back is that of the handshake. It
    includes the queue if the capture is after the queue, but not if it is before the queue.
    """
    if at == "egress":
        return flows["rtt_us"]
    parts = [flows["rtt_us"], flows["unstamped_rtt_us"]]
    values, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(values, kind="stable")
    return values[order], counts[order]


_UNSTAMPED = (
    "without TCP timestamps ACKs do not tell the wait in a queue before the capture: it is between "
    "min_rtt_s and recovery_s, or capture before the queue"
)


def _cumulated(values: Floats, counts: Counts) -> dict[str, list[float]]:
    cumulated = np.cumsum(counts) / counts.sum()
    ranks = np.searchsorted(cumulated, np.linspace(0, 1, _DRAWN + 1)[:-1] + 0.5 / _DRAWN)
    ranks = np.unique(np.minimum(ranks, len(values) - 1))
    return {"value": values[ranks].tolist(), "share": cumulated[ranks].tolist()}


def _losses(flows: CaptureFlows, at: Place, found: Estimates) -> None:
    data, lost, again = flows["data_segments"], flows["lost_before"], flows["repeated"]
    if not data:
        found.refuse("loss_rate", "no TCP data was seen")
        return
    bursty = "the interval assumes independent losses; they come in bursts, so it is too narrow"
    sides = {
        "lost_before_share": (lost, f"lost before the capture, this queue or another; {bursty}"),
        "repeated_share": (again, f"lost after the capture, or retransmitted needlessly; {bursty}"),
    }
    # Retransmissions are lost at the same rate: F fills mean F / (1 - p) drops, and with S segments
    # seen p = F / S solves p = drops / (S + drops).
    for name, (count, bias) in sides.items():
        found.estimates[name] = share(min(count, data), data, bias)
    chosen = "lost_before_share" if at == "egress" else "repeated_share"
    if sides[chosen][0] < _FEWEST_LOSSES:
        few = f"{sides[chosen][0]} losses; fewer than {_FEWEST_LOSSES} are no rate"
        found.notes.append(f"loss_rate: {few}; only its interval is meaningful")
    rate = share(min(sides[chosen][0], data), data)
    if rate.value > _MUCH_LOST:
        found.notes.append(
            f"{rate.value:.0%} of the packets are lost: rtt_s may be 10 % too long, and loss_rate "
            "a sixth too low, because no segment shows the loss of the last ones of a window"
        )
    found.estimates["loss_rate"] = found.estimates[chosen]
    found.estimates["reordered_share"] = share(flows["late"], data)
    other = again if at == "egress" else lost
    if other > 4 * max(sides[chosen][0], _FEWEST_LOSSES):
        where = "before" if at == "egress" else "behind"
        found.notes.append(f"most losses are not {where} the capture; was it taken at the {at}?")


def _bursts(flows: CaptureFlows, found: Estimates) -> None:
    counts = np.asarray(flows["bursts"], dtype=np.float64)
    total = counts.sum()
    if total < _FEWEST_HINTS:
        found.refuse("slow_start_burst", f"{total:.0f} bursts of flows in slow start were seen")
        return
    if not flows["least_rtt_us"][1].sum():
        found.refuse("slow_start_burst", "no round trip is known, and bursts are one round trip's")
        return
    size = np.arange(len(counts))
    first, second = (float((counts * size**k).sum() / total) for k in (1, 2))
    apart = "packets with gaps of less than half a round trip; adjacent bursts count as one"
    found.estimates["slow_start_burst"] = {
        "mean": Estimate(first, None, None, int(total), apart),
        "mean_square": Estimate(second, None, None, int(total), "E[X^2] of paper A, section 4"),
    }
    some = np.flatnonzero(counts)
    found.curves["bursts"] = {"packets": some.tolist(), "bursts": counts[some].tolist()}


_SIGNS = sorted(
    (1.0 if each.kept_after_loss is None else each.kept_after_loss, each.name, each.does_at_loss)
    for each in CONTROLS.values()
    if each.does_at_loss is not None
)
_ENDS = [0.35, *((low[0] + high[0]) / 2 for low, high in pairwise(_SIGNS)), 1.5]
FAMILIES = tuple(
    (low, high, name, does)
    for (low, high), (_, name, does) in zip(pairwise(_ENDS), _SIGNS, strict=True)
)
"""Bounds halfway between 0.5 (RFC 5681), 0.7 (RFC 9438) and 1."""


def _hint(flows: CaptureFlows, found: Estimates) -> None:
    counts = np.asarray(flows["left_after_loss"], dtype=np.float64)
    if counts.sum() < _FEWEST_HINTS:
        why = f"{counts.sum():.0f} losses of flows with sixteen packets or more in flight"
        found.refuse("congestion_control_hint", why)
        return
    some = np.flatnonzero(counts)
    bounds = [low for low, *_ in FAMILIES[1:]]
    found.curves["left_after_loss"] = {
        "share": (some / 100).tolist(), "losses": counts[some].tolist(), "bounds": bounds,
    }  # fmt: skip
    left = float(np.searchsorted(np.cumsum(counts) / counts.sum(), 0.5)) / 100
    family, does = next(((name, does) for low, high, name, does in FAMILIES if low <= left < high),
                        ("unknown", "fits no family"))  # fmt: skip
    found.estimates["congestion_control_hint"] = {
        "hint": family,
        "left_after_loss": Estimate(left, None, None, int(counts.sum())),
        "bias": f"only an indication: the median flow {does}; mixtures look like something between",
    }
