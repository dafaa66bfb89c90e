"""Estimates from captures: load, flows, round-trip times, losses, bursts, the control in use."""

from __future__ import annotations

import ipaddress
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.catalogue import CONTROLS
from forebay.measure import estimate, to_scenario, traffic
from forebay.measure.estimate import Counts, Estimate, Floats, Measured, MeasureError, share
from forebay.measure.records import bits_per_second, entries_of, read_captures
from forebay.progress import Progress
from forebay.scenario.traffic import MOST_PACKETS
from forebay.words import Fact, argument

if TYPE_CHECKING:
    from forebay._core import CaptureFile, CaptureFlows, CaptureReadings

_NAMES = {
    6: "Token Ring", 8: "SLIP", 10: "FDDI", 100: "ATM, RFC 1483", 105: "IEEE 802.11",
    119: "IEEE 802.11 with Prism", 123: "SunATM", 127: "IEEE 802.11 with radiotap",
    143: "DOCSIS", 187: "Bluetooth", 189: "USB", 192: "IEEE 802.11 with PPI", 195: "IEEE 802.15.4",
    249: "USBPcap", 253: "netlink", 271: "D-Bus",
}  # fmt: skip
_MOST_KINDS = 3


def unread_link_types(files: Sequence[CaptureFile]) -> Fact | None:
    """Return what link types are not read; None if there are none."""
    types = sorted({number for file in files for number in file["unread_link_types"]})
    named = " and ".join(
        f"{number} ({_NAMES[number]})" if number in _NAMES else f"{number}" for number in types
    )
    return Fact("frames.link-types", n=len(types), types=named, read=_READ) if types else None


def not_ip(files: Sequence[CaptureFile]) -> str:
    """Return what the frames without IP are, such as "8 ARP"; "" if that is not known."""
    kinds = sum((Counter(file["not_ip_kinds"]) for file in files), Counter[str]())
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(_MOST_KINDS))


_CROWDED = 0.01
_DISORDERED = 0.1
"""Share of the packets that may be earlier than one before them: queues of a host mix them."""


def capture(
    records: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rate: str,
    interface: str | None = None,
    toward: str | Sequence[str] = (),
    overhead: int = 0,
    at: Place = "egress",
    congestion_control: str | None = None,
    buffer: str | None = None,
    goal: float | None = None,
    replay: bool = False,
    progress: Progress | None = None,
) -> Measured:
    """Estimate the traffic of a link from its packets.

    Parameters
    ----------
    records : a file in pcap or pcapng, plain or in gzip or zstd; or several, in the order of their
        packets.
    rate : the link's rate, such as ``"155 Mbit/s"``.
    interface : the interface of a pcapng file that is the link; others are used for round trips
        only.
    toward : networks such as ``"10.0.0.0/8"``: only packets to these cross the link.
    overhead : bytes on the link for each packet in addition to the IP packet.
    at : whether the capture has packets after the queue (egress) or before it.
    congestion_control, buffer, goal : for the scenario: congestion control (default: the estimated
        one), queue size, utilization to reach (default: 0.98 if there are long flows, else none).
    replay : store the packets of unresponsive traffic, for `Measured.packet_list`.
    progress : called with the fraction of the bytes that have been read.

    Raises MeasureError if a file is not a capture, or an option does not fit it.
    """
    bps, names = bits_per_second(rate), entries_of(records)
    asked = to_scenario.Asked(rate, congestion_control, buffer, goal)
    if at not in get_args(Place):
        known = ", ".join(get_args(Place))
        raise MeasureError("unknown-name.method", field=argument("at"), value=at, known=known)
    reader = partial(
        _core.measure_capture, interface=interface, overhead=overhead,
        toward=[_network(text) for text in entries_of(toward)],
        listed=MOST_PACKETS if replay else 0,
    )  # fmt: skip
    read = read_captures(names, reader, progress)
    _check(read, interface, names)
    found = Measured(read["packets"], read["duration_s"], sources=names)
    _tell(read, found)
    traffic.describe_load(read, bps, found)
    traffic.describe_flows(read, found)
    describe_paths(read, at, found)
    packet_s = 8 * (traffic.full_packet(read) + overhead) / bps
    traffic.describe_burstiness(read, packet_s, found)
    to_scenario.scenario(read, found, asked, overhead)
    found.listed = _listed(read) if replay else None
    return found


def _listed(read: CaptureReadings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if read["unlisted"]:
        many, field = len(read["list"][0]) + read["unlisted"], argument("replay")
        raise MeasureError("measure.long-list", field=field, packets=many, most=MOST_PACKETS)
    if not len(read["list"][0]):
        raise MeasureError("measure.empty-list", field=argument("replay"))
    return read["list"]


def _network(text: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise MeasureError("measure.no-network", field=argument("toward"), why=error) from None
    return network.network_address, network.prefixlen


def _check(read: CaptureReadings, interface: str | None, names: list[str]) -> None:
    known = sorted({name for file in read["files"] for name in file["interfaces"] if name})
    if interface is not None and interface not in known:
        raise MeasureError(
            "measure.no-interface" if known else "measure.no-named-interface",
            field=argument("interface"), value=interface, name=names[0], known=", ".join(known),
        )  # fmt: skip
    late, seen = read["back_in_time"], read["packets"] + read["returning"]
    if late > _DISORDERED * seen:
        raise MeasureError(
            "measure.disorder", file=names[0], late=late, seen=seen, files=len(names)
        )
    if read["packets"] and not read["duration_s"] > 0:
        raise MeasureError("measure.one-time", file=names[0])
    if read["packets"] == 0:
        raise _none(read, names[0])


def _none(read: CaptureReadings, name: str) -> MeasureError:
    """Return the error of records without a packet of the link."""
    frames, returning = sum(file["frames"] for file in read["files"]), read["returning"]
    if not frames:
        ends = [file["ending"] for file in read["files"] if file["ending"] is not None]
        if ends:
            return MeasureError("measure.early-end", file=name, why=ends[0])
        return MeasureError("measure.no-packets", file=name)
    unread, kinds = unread_link_types(read["files"]), not_ip(read["files"])
    if unread and not returning:
        return MeasureError("measure.link-types", file=name, why=unread)
    went = Fact("frames.of-other-kinds" if kinds else "frames.none-is-ip", kinds=kinds, read=_READ)
    if returning:
        went = Fact("frames.returning", packets=returning)
    return MeasureError("measure.none-crosses", file=name, frames=frames, why=went)


def _tell(read: CaptureReadings, found: Measured) -> None:
    """Add the notes."""
    for file in read["files"]:
        told = [types] if (types := unread_link_types([file])) else []
        if file["ending"] is not None:
            told.append(Fact("frames.end", why=file["ending"]))
        for name, kind in _FRAMES:
            if file[name] > 0:
                told.append(Fact(kind, frames=file[name]))
        snap = {kind: n for kind, n in file["not_ip_kinds"].items() if "IP" in kind}
        told += [Fact("frames.of-snap", frames=n, name=kind) for kind, n in snap.items()]
        for fact in told:
            found.note("frames.of-file", path=file["path"], said=fact)
    if read["back_in_time"]:
        found.note("flows.back-in-time", packets=read["back_in_time"])
    if read["both_ways"] > read["packets"] / 10:
        found.note("flows.both-ways")
    if read["crowded_out"] > _CROWDED * read["flows"]["tuples"]:
        found.note("flows.divided", flows=read["crowded_out"])


_READ = Fact("frames.read")
_FRAMES: tuple[tuple[Literal["not_ip", "cut_short", "unusable"], str], ...] = (
    ("not_ip", "frames.not-ip"), ("cut_short", "frames.cut-short"), ("unusable", "frames.unusable"),
)  # fmt: skip

Place = Literal["egress", "ingress"]

_FEWEST_LOSSES = 10
_FEWEST_HINTS = 20
_MUCH_LOST = 0.1
_DRAWN = 200
_BOTH = ("low", "high")
_ROUND_TRIPS = {
    "rtt_s": "bias.rtt", "min_rtt_s": "bias.min-rtt", "handshake_rtt_s": "bias.handshake-rtt"
}  # fmt: skip


def describe_paths(read: CaptureReadings, at: Place, found: Measured) -> None:
    """Add round trips, loss rates, ``slow_start_burst`` and ``congestion_control_hint``."""
    flows = read["flows"]
    _round_trips(flows, at, found)
    if flows["rtt_us_at_least"][1].sum() and "rtt_s" in found.estimates:
        found.estimates["rtt_s"] = _widened(found.estimates["rtt_s"], flows)
    _losses(flows, at, found)
    if read["ecn_capable"]:  # RFC 3168, section 5
        told = share(read["ecn_marked"], read["ecn_capable"], "bias.marked")
        found.estimates["marked_share"] = told
    _bursts(flows, found)
    _hint(flows, found)


def _round_trips(flows: CaptureFlows, at: Place, found: Measured) -> None:
    loaded = _loaded(flows, at)
    least, handshakes = flows["least_rtt_us"], flows["handshake_us"]
    samples = {"rtt_s": loaded, "min_rtt_s": least, "handshake_rtt_s": handshakes}
    unstamped = int(flows["unstamped_rtt_us"][1].sum())
    for name, (values, counts) in samples.items():
        if counts.sum():
            rows = estimate.quantiles(values * 1e-6, counts, max(int(least[1].sum()), 1))
            bias = str(Fact(_ROUND_TRIPS[name]))
            found.estimates[name] = rows | {"samples": int(counts.sum()), "bias": bias}
            found.curves[name] = _cumulated(values * 1e-6, counts)
        else:
            waits = name == "rtt_s" and unstamped
            found.refuse(name, "round-trips.unstamped" if waits else "round-trips.unseen")
    if loaded[1].sum() and unstamped and at == "egress":
        part = unstamped / (unstamped + loaded[1].sum())
        found.note("round-trips.uncounted", share=part)
    if not loaded[1].sum() and flows["recovery_us"][1].sum():
        values, counts = flows["recovery_us"]
        rows = estimate.quantiles(values * 1e-6, counts, max(flows["long"], 1))
        found.estimates["recovery_s"] = rows | {"bias": str(Fact("bias.recovery"))}


def _widened(rows: dict[str, Any], flows: CaptureFlows) -> dict[str, Any]:
    """Widen the intervals of round trips that data alone tells, to the least and most they may be.

    The segment may have been answered at once, and the ACK have come as fast as any of its
    connection. Two stamps tell a difference to a tick.
    """
    independent = rows["p50"]["n"]
    ends = [
        estimate.quantiles(values * 1e-6, counts, independent)
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


def _cumulated(values: Floats, counts: Counts) -> dict[str, list[float]]:
    cumulated = np.cumsum(counts) / counts.sum()
    ranks = np.searchsorted(cumulated, np.linspace(0, 1, _DRAWN + 1)[:-1] + 0.5 / _DRAWN)
    ranks = np.unique(np.minimum(ranks, len(values) - 1))
    return {"value": values[ranks].tolist(), "share": cumulated[ranks].tolist()}


def _losses(flows: CaptureFlows, at: Place, found: Measured) -> None:
    data, lost, again = flows["data_segments"], flows["lost_before"], flows["repeated"]
    if not data:
        found.refuse("loss_rate", "losses.no-data")
        return
    # Retransmissions are lost at the same rate: F fills mean F / (1 - p) drops, and with S segments
    # seen p = F / S solves p = drops / (S + drops).
    sides = {
        "lost_before_share": share(min(lost, data), data, "bias.losses", before=True),
        "repeated_share": share(min(again, data), data, "bias.losses", before=False),
    }
    behind = at == "egress"
    rate = sides["lost_before_share" if behind else "repeated_share"]
    here, other = (lost, again) if behind else (again, lost)
    if here < _FEWEST_LOSSES:
        found.note("losses.few", losses=here, least=_FEWEST_LOSSES)
    if rate.value > _MUCH_LOST:
        found.note("losses.many", share=rate.value)
    found.estimates |= sides | {"loss_rate": rate, "reordered_share": share(flows["late"], data)}
    if other > 4 * max(here, _FEWEST_LOSSES):
        found.note("losses.elsewhere", before=behind, at=at)


def _bursts(flows: CaptureFlows, found: Measured) -> None:
    counts = np.asarray(flows["bursts"], dtype=np.float64)
    total = counts.sum()
    if total < _FEWEST_HINTS:
        found.refuse("slow_start_burst", "bursts.few", bursts=float(total), least=_FEWEST_HINTS)
        return
    if not flows["least_rtt_us"][1].sum():
        found.refuse("slow_start_burst", "bursts.no-round-trip")
        return
    size = np.arange(len(counts))
    first, second = (float((counts * size**k).sum() / total) for k in (1, 2))
    apart, square = str(Fact("bias.burst")), str(Fact("bias.burst-square"))
    found.estimates["slow_start_burst"] = {
        "mean": Estimate(first, None, None, int(total), apart),
        "mean_square": Estimate(second, None, None, int(total), square),
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


def _hint(flows: CaptureFlows, found: Measured) -> None:
    counts = np.asarray(flows["left_after_loss"], dtype=np.float64)
    if counts.sum() < _FEWEST_HINTS:
        losses = float(counts.sum())
        found.refuse(
            "congestion_control_hint", "losses.few-hints", losses=losses, least=_FEWEST_HINTS
        )
        return
    some = np.flatnonzero(counts)
    bounds = [low for low, *_ in FAMILIES[1:]]
    found.curves["left_after_loss"] = {
        "share": (some / 100).tolist(), "losses": counts[some].tolist(), "bounds": bounds,
    }  # fmt: skip
    left = float(np.searchsorted(np.cumsum(counts) / counts.sum(), 0.5)) / 100
    family, does = next(((name, does) for low, high, name, does in FAMILIES if low <= left < high),
                        ("unknown", Fact("losses.no-family")))  # fmt: skip
    found.estimates["congestion_control_hint"] = {
        "hint": family,
        "left_after_loss": Estimate(left, None, None, int(counts.sum())),
        "bias": str(Fact("bias.control", does=does)),
    }
