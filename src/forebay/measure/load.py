"""The load over time, the sizes of packets, and the share of unresponsive traffic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forebay.errors import argument
from forebay.measure.estimate import Estimate, Estimates, Floats, batch_mean

if TYPE_CHECKING:
    from forebay._core import CaptureReadings


_SCALES_S = (0.001, 0.01, 0.1, 1.0, 10.0)


_FEWEST = 20


_DRAWN = 500


def describe(read: CaptureReadings, rate_bps: float, found: Estimates) -> None:
    """Add ``load``, ``load_over_time``, ``packet_bytes`` and ``unresponsive_share``."""
    series = whole(read)
    if len(series) < 2:
        found.refuse("load", "the capture is shorter than two intervals of an eighth of 1 ms")
        return
    share = series * 8 / (read["load_width_s"] * rate_bps)
    load = batch_mean(share)
    found.estimates["load"] = replace(load, low=None if load.low is None else max(load.low, 0.0))
    _check_rate(load, found)
    found.estimates["load_over_time"] = _over_time(share, read["load_width_s"], found)
    _sizes(read, found)
    _kinds(read, found)


def _check_rate(load: Estimate, found: Estimates) -> None:
    """Add a note if the whole interval of the load is above the link's rate."""
    if (load.value if load.low is None else load.low) > 1:
        found.notes.append(
            f"the load is {load.value:.3g} of the rate: {argument('rate')} is too low, packets of "
            "another link or direction count, or the capture is before the queue"
        )


def whole(read: CaptureReadings) -> Floats:
    """Return the bytes of each complete interval; shape (n,), intervals of ``load_width_s``."""
    intervals = int(read["duration_s"] / read["load_width_s"])
    series = np.zeros(intervals)
    kept = read["load_bytes"][:intervals]
    series[: len(kept)] = kept
    return series


def _over_time(share: Floats, width_s: float, found: Estimates) -> dict[str, dict[str, Estimate]]:
    told = {}
    for scale_s in _SCALES_S:
        size = round(scale_s / width_s)
        if size < 1 or len(share) // size < _FEWEST:
            continue
        blocks = share[: len(share) // size * size].reshape(-1, size).mean(axis=1)
        told[f"{size * width_s:.3g} s"] = {
            "deviation": Estimate(float(blocks.std(ddof=1)), None, None, len(blocks)),
            "p95": Estimate(float(np.quantile(blocks, 0.95)), None, None, len(blocks)),
            "largest": Estimate(float(blocks.max()), None, None, len(blocks)),
        }
    step = max(len(share) // _DRAWN, 1)
    drawn = share[: len(share) // step * step].reshape(-1, step).mean(axis=1)
    found.curves["load"] = {"step_s": step * width_s, "share": drawn.tolist()}
    return told


def _sizes(read: CaptureReadings, found: Estimates) -> None:
    sizes, counts = read["packet_bytes"], read["packet_counts"]
    if not len(sizes):
        return
    mean = float((sizes * counts).sum() / counts.sum())
    largest = Estimate(float(full_packet(read)), None, None, int(counts.sum()))
    found.estimates["packet_bytes"] = {
        "mean": Estimate(mean, None, None, int(counts.sum()), "of all IP packets"),
        "full": largest,
    }
    cumulated = np.cumsum(counts) / counts.sum()
    found.curves["packet_bytes"] = {"bytes": sizes.tolist(), "share": cumulated.tolist()}


def full_packet(read: CaptureReadings) -> int:
    """Return the packet size in bytes with most of the bytes: that of full packets."""
    sizes, counts = read["packet_bytes"], read["packet_counts"]
    return int(sizes[np.argmax(sizes * counts)]) if len(sizes) else 1500


def _kinds(read: CaptureReadings, found: Estimates) -> None:
    flows = read["flows"]
    parts = [flows["tcp_bytes"], flows["quic_bytes"], flows["udp_bytes"], flows["other_bytes"]]
    total = sum(parts)
    if not total:
        return
    bias = "UDP except port 443, and protocols except TCP and UDP; some may respond to congestion"
    bytes_ = (parts[2] + parts[3]) / total
    found.estimates["unresponsive_share"] = Estimate(bytes_, None, None, read["packets"], bias)
    if parts[1]:
        hides = "UDP port 443: it responds to congestion, but its losses and round trips are hidden"
        share = Estimate(parts[1] / total, None, None, read["packets"], hides)
        found.estimates["quic_share"] = share
