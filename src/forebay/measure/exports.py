"""Estimates from exported flow records: NetFlow v5, v9, IPFIX and sFlow v5, from a capture of them.

Records have flows, not windows: they do not show whether a flow is in congestion avoidance. The
packets of the flows only bound n; with sampled packets there is not even this bound.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from forebay import _core
from forebay.measure import flow_records
from forebay.measure.estimate import Estimate, Floats, Measured, MeasureError, batch_mean
from forebay.measure.records import bits_per_second, entries_of, read_captures
from forebay.measure.traffic import over_time, robust_minimum
from forebay.progress import Progress
from forebay.words import Fact, argument

if TYPE_CHECKING:
    from forebay._core import ExportReadings

_REFUSED = ("rtt_s", "loss_rate", "hurst", "slow_start_burst", "congestion_control_hint")
_MOST_LOST = 0.1
_MOST_CUT = 0.05
_FEWEST_CUT = 10
_FEWEST_STAMPS = 100


def exports(
    records: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rate: str,
    progress: Progress | None = None,
) -> Measured:
    """Estimate the traffic of a link from a router's exported flow records.

    Parameters
    ----------
    records : captures, in pcap or pcapng, of the datagrams that routers export; or nfdump's CSV, in
        files with the ending .csv; or goflow2's JSON, a record a line, in .json or .jsonl.
    rate : the link's rate; the records must be of that link only.

    Raises MeasureError if a file is not a capture, or has no exports.
    """
    bps, sources = bits_per_second(rate), entries_of(records)
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(name, Path(folder, str(at))) for at, name in enumerate(sources)]
        names = [str(to) if flow_records.to_capture(name, to) else name for name, to in pairs]
        read = _read(names, sources, progress)
    measured = _measured(read, bps, sources)
    if any(source.lower().endswith(flow_records.CSV) for source in sources):
        measured.note("exports.unnumbered")
    return measured


def listen(at: str, seconds: float, *, rate: str, progress: Progress | None = None) -> Measured:
    """Listen at a UDP socket for exported flow records, then estimate as `exports`.

    Parameters
    ----------
    at : address and port, ``"127.0.0.1:2055"``; a port alone is on loopback.
    seconds : duration. It must include the routers' active timeouts, at which they export long
        flows.
    rate : the link's rate; the records must be of that link only.

    Raises MeasureError if the address cannot be bound, or nothing arrived.
    """
    if not 0 < seconds < math.inf:
        raise MeasureError("measure.seconds", field=argument("seconds"), value=seconds)
    bps, source = bits_per_second(rate), f"udp {at}"
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "exports.pcap")
        listened = flow_records.listen(at, seconds, kept, progress)
        full = kept.stat().st_size >= flow_records.MOST_BYTES
        read = _read([str(kept)], [source], None)
    measured = _measured(read, bps, [source])
    if full:
        measured.note("exports.full", seconds=listened, gb=flow_records.MOST_BYTES / 1e9)
    return measured


def _read(names: list[str], sources: list[str], progress: Progress | None) -> ExportReadings:
    read = read_captures(names, _core.measure_exports, progress)
    if read["span_ms"] is None:
        told = dict(read)
        left = [Fact(kind, count=told[name]) for name, kind in _IGNORED if told[name]]
        why = "; ".join(map(str, left)) or Fact("exports.none")
        raise MeasureError("measure.no-flow-record", file=sources[0], why=why)
    return read


def _measured(read: ExportReadings, bps: float, names: list[str]) -> Measured:
    first, last = read["span_ms"] or (0, 0)
    seconds = max((last - first) / 1000, 1e-3)
    why = Fact("no-scenario.of-flow-records")
    found = Measured(read["packets"], seconds, sources=names, not_made=why)
    _load(read, bps, found)
    if read["bytes"]:
        found.add("tcp_share", read["tcp_bytes"] / read["bytes"], read["records"])
    _flows(read, found)
    _notes(read, found)
    for name in _REFUSED:
        found.refuse(name, "exports.not-shown")
    return found


def _within(read: ExportReadings, width_s: float, values: Floats) -> Floats:
    """Return the bins of a series between the first record's start and the last one's end."""
    first, last = read["span_ms"] or (0, 0)
    low, high = ((at - read["base_ms"]) / 1000 / width_s for at in (first, last))
    return values[int(low) : int(high) + 1]


def _load(read: ExportReadings, bps: float, found: Measured) -> None:
    width_s = read["load_width_s"]
    share = _within(read, width_s, read["load_bytes"]) * 8 / (width_s * bps)
    if len(share) < 3:
        found.refuse("load", "exports.short")
        return
    inner = share[1:-1]  # the first and the last second are incomplete
    found.estimates["load"] = batch_mean(inner)
    found.curves["load"] = {"step_s": width_s, "share": inner.tolist()}


def _flows(read: ExportReadings, found: Measured) -> None:
    if read["drawn"] or read["sampling"] > 1:
        for name in ("concurrent_flows", "long_flows", "flow_bytes"):
            found.refuse(name, "exports.sampled", sampling=read["sampling"])
        return
    inside = {name: _number(read, name) for name in ("concurrent", "long", "perhaps")}
    width_s = read["concurrent"][0]
    mean = float(inside["concurrent"].mean())
    found.add("concurrent_flows", mean, read["records"], "bias.concurrent-records")
    values, counts = read["lengths"]
    length = float((values * counts).sum() / counts.sum())
    cut = str(Fact("bias.length-of-records"))
    found.estimates["flow_bytes"] = {"mean": Estimate(length, None, None, read["records"], cut)}
    lost = _lost_share(read)
    if inside["perhaps"].max(initial=0) < 1:
        found.refuse("long_flows", "exports.all-short")
        return
    if lost > _MOST_LOST:
        found.refuse("long_flows", "exports.much-missing", lost=lost)
        return
    if read["forgotten"] and read["cut_early"] > _MOST_CUT * read["records"]:
        found.refuse("long_flows", "exports.evicted")
        return
    ends = [robust_minimum(inside[name]).value for name in ("long", "perhaps")]
    found.estimates["long_flows"] = _long_flows(read, min(ends), max(ends))
    step = max(len(inside["concurrent"]) // 500, 1)
    drawn = {"concurrent": "concurrent", "avoiding": "perhaps", "lossy": "long"}
    curve = {name: np.asarray(inside[of])[::step].tolist() for name, of in drawn.items()}
    found.curves["flows"] = {"step_s": step * width_s} | curve


def _number(read: ExportReadings, name: Literal["concurrent", "long", "perhaps"]) -> Floats:
    """Return a number of flows over the time of the records; zero after its last change."""
    width_s, changes = read[name]
    _, last = read["span_ms"] or (0, 0)
    whole = int((last - read["base_ms"]) / 1000 / width_s) + 1
    padded = np.pad(changes, (0, max(whole - len(changes), 0)))
    return _within(read, width_s, over_time((width_s, padded)))


def _lost_share(read: ExportReadings) -> float:
    """Return the share of the exports that are missing by their sequence numbers."""
    every = read["lost"] + read["arrived"]
    return read["lost"] / every if every else 0.0


def _long_flows(read: ExportReadings, low: float, high: float) -> Estimate:
    """Return n between both ends; the interval is wider by what is missing or only in seconds."""
    lost = _lost_share(read)
    bias = Fact(
        "bias.n-of-records", joined=Fact("bias.joined" if read["cut_early"] else ""),
        missing=Fact("bias.missing" if lost else "", lost=lost),
    )  # fmt: skip
    # A missing record also divides its flow into parts that may be too short to count.
    return Estimate((low + high) / 2, low, high / (1 - 2 * lost), read["records"], str(bias))


_IGNORED = (
    ("without_template", "exports.without-template"), ("incomplete", "exports.incomplete"),
    ("not_exports", "exports.damaged"),
)  # fmt: skip


def _notes(read: ExportReadings, found: Measured) -> None:
    told = dict(read)
    for name, kind in (("lost", "exports.lost"), ("reordered", "exports.reordered"), *_IGNORED):
        if told[name]:
            found.note(kind, count=told[name])
    if read["cut_early"] > _MOST_CUT * read["continued"] and read["cut_early"] >= _FEWEST_CUT:
        found.note("exports.cut", records=read["cut_early"])
    if not read["drawn"] and not read["finer"] and read["records"] >= _FEWEST_STAMPS:
        found.note("exports.whole-seconds")
    active, inactive = read["timeouts_s"]
    if active or inactive:
        found.note("exports.timeouts", active=active, inactive=inactive)
