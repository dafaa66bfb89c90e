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
from forebay.errors import argument, option
from forebay.measure import flow_records
from forebay.measure.estimate import Estimate, Floats, Measured, MeasureError, batch_mean
from forebay.measure.records import bits_per_second, entries_of, read_captures
from forebay.measure.traffic import over_time, robust_minimum
from forebay.progress import Progress

if TYPE_CHECKING:
    from forebay._core import ExportReadings

_NO_PACKETS = "flow records do not show it: capture packets"
_REFUSED = ("rtt_s", "loss_rate", "hurst", "slow_start_burst", "congestion_control_hint")
_MOST_LOST = 0.1
_MOST_CUT = 0.05
_FEWEST_CUT = 10
_FEWEST_STAMPS = 100
_UNNUMBERED = (
    "nfdump's CSV has no sequence numbers: records that were lost on the way are not seen, and "
    "make the load and the numbers of flows too low"
)
_NO_SCENARIO = "flow records have no round trips; capture packets, or write the scenario by hand"


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
        measured.notes.append(_UNNUMBERED)
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
        hint = f"write how long to listen, such as {option('seconds', 300)}"
        raise MeasureError(f"{argument('seconds')}: {seconds:g}; {hint}")
    bps, source = bits_per_second(rate), f"udp {at}"
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "exports.pcap")
        listened = flow_records.listen(at, seconds, kept, progress)
        full = kept.stat().st_size >= flow_records.MOST_BYTES
        read = _read([str(kept)], [source], None)
    measured = _measured(read, bps, [source])
    if full:
        room = f"{flow_records.MOST_BYTES / 1e9:g} GB of datagrams is the maximum"
        measured.notes.append(f"listening ended after {listened:.0f} s: {room}")
    return measured


def _read(names: list[str], sources: list[str], progress: Progress | None) -> ExportReadings:
    read = read_captures(names, _core.measure_exports, progress)
    if read["span_ms"] is None:
        early = read["without_template"]
        none = "no datagram of NetFlow v5, v9, IPFIX or sFlow v5"
        why = f"{early} sets without a template" if early else none
        raise MeasureError(f"{sources[0]}: no flow record ({why}); name a capture of exports")
    return read


def _measured(read: ExportReadings, bps: float, names: list[str]) -> Measured:
    first, last = read["span_ms"] or (0, 0)
    seconds = max((last - first) / 1000, 1e-3)
    found = Measured(read["packets"], seconds, sources=names, not_made=_NO_SCENARIO)
    _load(read, bps, found)
    if read["bytes"]:
        found.add("tcp_share", read["tcp_bytes"] / read["bytes"], read["records"])
    _flows(read, found)
    _notes(read, found)
    for name in _REFUSED:
        found.refuse(name, _NO_PACKETS)
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
        found.refuse("load", "the records span less than three seconds")
        return
    inner = share[1:-1]  # the first and the last second are incomplete
    found.estimates["load"] = batch_mean(inner)
    found.curves["load"] = {"step_s": width_s, "share": inner.tolist()}


def _flows(read: ExportReadings, found: Measured) -> None:
    if read["drawn"] or read["sampling"] > 1:
        one_of = f"one packet of {read['sampling']} was sampled: short flows are missed, and what"
        for name in ("concurrent_flows", "long_flows", "flow_bytes"):
            found.refuse(name, f"{one_of} is seen of others is no count; only the load scales up")
        return
    inside = {name: _number(read, name) for name in ("concurrent", "long", "perhaps")}
    width_s = read["concurrent"][0]
    opened = "from first packet to last by the router's clock; not the n of the laws"
    mean = float(inside["concurrent"].mean())
    found.add("concurrent_flows", mean, read["records"], opened)
    values, counts = read["lengths"]
    length = float((values * counts).sum() / counts.sum())
    cut = "a flow longer than the active timeout counts once for each record: too short"
    found.estimates["flow_bytes"] = {"mean": Estimate(length, None, None, read["records"], cut)}
    if inside["perhaps"].max(initial=0) < 1:
        found.refuse("long_flows", "no TCP flow sends enough packets to leave slow start")
        return
    why = _refused_count(read)
    if why is not None:
        found.refuse("long_flows", why)
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


def _refused_count(read: ExportReadings) -> str | None:
    """Return why flows cannot be counted: too much is missing, or too many to join records."""
    lost = _lost_share(read)
    if lost > _MOST_LOST:
        return f"{lost:.0%} of the exports are missing by their sequence numbers"
    if read["forgotten"] and read["cut_early"] > _MOST_CUT * read["records"]:
        many = "there are too many to join their records"
        return f"the exporter's cache evicts flows early, and {many}"
    return None


def _long_flows(read: ExportReadings, low: float, high: float) -> Estimate:
    """Return n between both ends; the interval is wider by what is missing or only in seconds."""
    bias = (
        "records do not show congestion avoidance: the ends are TCP flows of a second and more "
        "that send 630 packets and 70, six rounds of slow start from ten and three"
    )
    value, lost = (low + high) / 2, _lost_share(read)
    if read["cut_early"]:
        bias += "; records of one flow, which the exporter's cache divides, are joined"
    if lost:
        bias += f"; {lost:.2g} of the records are missing, which the high end counts twice"
    # A missing record also divides its flow into parts that may be too short to count.
    return Estimate(value, low, high / (1 - 2 * lost), read["records"], bias)


def _notes(read: ExportReadings, found: Measured) -> None:
    bad = "records lack bytes, times or addresses, or have impossible times: ignored"
    counted = [
        (read["lost"], "flow records or datagrams were lost: the load is too low"),
        (read["reordered"], "datagrams arrived after a later one"),
        (read["without_template"], "sets of records arrived before their template: ignored"),
        (read["incomplete"], bad),
        (read["not_exports"], "datagrams are not exports, or damaged: ignored"),
    ]
    found.notes += [f"{count} {words}" for count, words in counted if count]
    if read["cut_early"] > _MOST_CUT * read["continued"] and read["cut_early"] >= _FEWEST_CUT:
        said = f"{read['cut_early']} records end before the active timeout and are continued"
        found.notes.append(
            f"{said}: the exporter's cache evicts flows; concurrent_flows counts them all the same"
        )
    if not read["drawn"] and not read["finer"] and read["records"] >= _FEWEST_STAMPS:
        found.notes.append(
            "all times are whole seconds: a flow of a second is not told from a shorter one, "
            "and the load is not known below some seconds"
        )
    active, inactive = read["timeouts_s"]
    if active or inactive:
        times = f"active timeout {active} s, inactive timeout {inactive} s"
        found.notes.append(f"the router's {times}: newer records have not arrived")
