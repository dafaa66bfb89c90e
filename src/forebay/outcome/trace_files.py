"""Write a Trace to files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.files.atomic import replacing
from forebay.outcome.reading import Histogram

if TYPE_CHECKING:
    from forebay.outcome.trace import LinkTrace, Trace

Path = str | PathLike[str]


def write_series(trace: Trace, path: Path) -> None:
    """Write the samples as CSV, one row per instant."""
    from forebay.outcome.trace import STATES

    columns: dict[str, Sequence[Any]] = {"at_s": trace.at_s.tolist()}
    for name, link in trace.links.items():
        columns[f"queue_packets.{name}"] = link.queue_packets.tolist()
    columns["window_sum_packets"] = trace.window_sum_packets.tolist()
    columns["in_avoidance"] = trace.in_avoidance.tolist()
    for number, flow in trace.flows.items():
        columns[f"cwnd_packets.{number}"] = flow.cwnd_packets.tolist()
        columns[f"srtt_s.{number}"] = ["" if np.isnan(t) else t for t in flow.srtt_s.tolist()]
        columns[f"state.{number}"] = [STATES[state] for state in flow.state]
    _write(path, columns, zip(*columns.values(), strict=True))


def write_histograms(trace: Trace, path: Path) -> None:
    """Write every link's histograms as CSV, one row per bin that is not empty."""
    header = ("link", "histogram", "unit", "low", "high", "weight")
    rows = (
        (name, *row)
        for name, link in trace.links.items()
        for histogram, unit, bins in _histograms(link)
        for row in _rows(histogram, unit, bins)
    )
    _write(path, header, rows)


def write_arrays(trace: Trace, path: Path) -> None:
    """Write every array as a compressed .npz."""
    arrays: dict[str, Any] = {
        "seed": trace.seed,
        "step_s": trace.step_s,
        "window_s": np.array(trace.window_s),
        "round_trip_s": trace.round_trip_s,
        "at_s": trace.at_s,
        "window_sum_packets": trace.window_sum_packets,
        "in_avoidance": trace.in_avoidance,
        "window_mean_packets": trace.window_mean_packets,
        "window_variance": trace.window_variance,
        "link_names": np.array(list(trace.links)),
        "flow_numbers": np.array(list(trace.flows), dtype=np.int64),
    }
    for what, each in (("drops", trace.drops), ("reductions", trace.reductions)):
        arrays |= {f"{what}_at_s": each.at_s, f"{what}_flow": each.flow}
        arrays[f"{what}_count"] = each.count
    for number, flow in trace.flows.items():
        arrays[f"cwnd_packets.{number}"] = flow.cwnd_packets
        arrays[f"srtt_s.{number}"] = flow.srtt_s
        arrays[f"state.{number}"] = flow.state
    for name, link in trace.links.items():
        arrays |= {f"{key}.{name}": value for key, value in _link_arrays(link).items()}
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _link_arrays(link: LinkTrace) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "queue_packets": link.queue_packets,
        "arrivals": link.arrivals,
        "drops": link.drops,
        "marks": link.marks,
    }
    for name, _, bins in _histograms(link):
        arrays |= {f"{name}_edges": bins.edges, f"{name}_weights": bins.counts}
    return arrays


def _histograms(link: LinkTrace) -> Iterator[tuple[str, str, Histogram]]:
    edges = np.arange(link.queue_s.size + 1, dtype=np.float64) * link.queue_step
    yield "queue_time", "packets", Histogram(edges, link.queue_s)
    yield "queue_seen", "packets", Histogram(edges, link.seen.astype(np.float64))
    yield "delay", "s", link.delay
    yield "busy", "s", link.busy.lengths
    yield "idle", "s", link.idle.lengths


def _rows(name: str, unit: str, bins: Histogram) -> Iterator[tuple[Any, ...]]:
    low, high = bins.edges[:-1].tolist(), bins.edges[1:].tolist()
    for left, right, weight in zip(low, high, bins.counts.tolist(), strict=True):
        if weight > 0.0:
            yield name, unit, left, right, weight


def _write(path: Path, header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.flush()
        text.detach()
