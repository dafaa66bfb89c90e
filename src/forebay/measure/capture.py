"""Estimates from captures: load, flows, round-trip times, losses, bursts, the control in use."""

from __future__ import annotations

import ipaddress
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.catalogue import CONTROLS
from forebay.errors import argument
from forebay.measure import estimate, to_scenario, traffic
from forebay.measure.estimate import Counts, Estimate, Floats, Measured, MeasureError, share
from forebay.measure.records import bits_per_second, entries_of, read_captures
from forebay.progress import Progress
from forebay.scenario.traffic import MOST_PACKETS

if TYPE_CHECKING:
    from forebay._core import CaptureFile, CaptureFlows, CaptureReadings

_NAMES = {
    6: "Token Ring", 8: "SLIP", 10: "FDDI", 100: "ATM, RFC 1483", 105: "IEEE 802.11",
    119: "IEEE 802.11 with Prism", 123: "SunATM", 127: "IEEE 802.11 with radiotap",
    143: "DOCSIS", 187: "Bluetooth", 189: "USB", 192: "IEEE 802.11 with PPI", 195: "IEEE 802.15.4",
    249: "USBPcap", 253: "netlink", 271: "D-Bus",
}  # fmt: skip
_MOST_KINDS = 3
READ = (
    "Ethernet with VLAN, MPLS and PPPoE, PPP, Cisco HDLC, Frame Relay, SLL, NULL, DSA, NFLOG and "
    "IP are"
)


def unread_link_types(files: Sequence[CaptureFile]) -> str:
    """Return the sentence on link types that are not read; "" if there are none."""
    types = sorted({number for file in files for number in file["unread_link_types"]})
    named = [
        f"{number} ({_NAMES[number]})" if number in _NAMES else f"{number}" for number in types
    ]
    if len(named) == 1:
        return f"link type {named[0]} is not read; {READ}"
    return f"link types {' and '.join(named)} are not read; {READ}" if named else ""


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
    asked = to_scenario.Asked(rate, congestion_control, buffer, goal)
    to_scenario.scenario(read, found, asked, overhead)
    found.listed = _listed(read) if replay else None
    return found


def _listed(read: CaptureReadings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if read["unlisted"]:
        many = len(read["list"][0]) + read["unlisted"]
        wrong = f"{argument('replay')}: {many} packets, and a list has at most {MOST_PACKETS}"
        raise MeasureError(f"{wrong}; name fewer records")
    if not len(read["list"][0]):
        wrong = "no packet is UDP (other than port 443) or another protocol than TCP"
        raise MeasureError(f"{argument('replay')}: {wrong}; leave it out")
    return read["list"]


def _network(text: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        wrong = f"{argument('toward')}: {error}"
        raise MeasureError(f"{wrong}; write a network such as 10.0.0.0/8") from None
    return network.network_address, network.prefixlen


def _check(read: CaptureReadings, interface: str | None, names: list[str]) -> None:
    known = sorted({name for file in read["files"] for name in file["interfaces"] if name})
    if interface is not None and interface not in known:
        has = f"it has {', '.join(known)}"
        if not known:
            has = "its interfaces have no names; leave it out"
        wrong = f"{names[0]} has no interface {interface}"
        raise MeasureError(f"{argument('interface')}: {wrong}; {has}")
    late, seen = read["back_in_time"], read["packets"] + read["returning"]
    if late > _DISORDERED * seen:
        wrong = f"{late} of {seen} packets are earlier than one before them"
        how = "sort them (reordercap IN OUT)"
        if len(names) > 1:
            how = "name each file once, in the order of their packets"
        raise MeasureError(f"{names[0]}: {wrong}; {how}")
    if read["packets"] and not read["duration_s"] > 0:
        raise MeasureError(f"{names[0]}: all packets have one time; capture for some seconds")
    if read["packets"] == 0:
        raise MeasureError(f"{names[0]}: {_why_none(read)}")


def _why_none(read: CaptureReadings) -> str:
    frames = sum(file["frames"] for file in read["files"])
    if not frames:
        ends = [file["ending"] for file in read["files"] if file["ending"] is not None]
        if ends:
            return f"no packet before its end: {ends[0]}; capture again, for some minutes"
        return "it has no packets; capture for some minutes"
    unread, kinds = unread_link_types(read["files"]), not_ip(read["files"])
    if unread and not read["returning"]:
        return unread
    went = f"{kinds} frames are not read; {READ}" if kinds else "none is IP"
    if read["returning"]:
        went = f"{read['returning']} have the other direction"
    why = f"of {frames} frames no packet crosses the link: {went}"
    return f"{why}; name other records, or another {argument('toward')}"


def _tell(read: CaptureReadings, found: Measured) -> None:
    """Add the notes."""
    for file in read["files"]:
        told = [(unread_link_types([file]), bool(file["unread_link_types"]))]
        rest = "what comes before it is read; for the rest, capture again"
        told += [(f"its end: {file['ending']}; {rest}", file["ending"] is not None)]
        told += [(f"{file[name]} frames {words}", file[name] > 0) for name, words in _FRAMES]  # type: ignore[literal-required]
        snap = {kind: n for kind, n in file["not_ip_kinds"].items() if "IP" in kind}
        told += [(f"{n} of these are {kind}, which is not read", True) for kind, n in snap.items()]
        found.notes += [f"{file['path']}: {words}" for words, true in told if true]
    if read["back_in_time"]:
        back = f"{read['back_in_time']} packets have an earlier time than the packet before them"
        found.notes.append(f"{back}; they get that time")
    if read["both_ways"] > read["packets"] / 10:
        found.notes.append(
            "both directions count as crossing the link; say which one does (toward, or interface)"
        )
    if read["crowded_out"] > _CROWDED * read["flows"]["tuples"]:
        crowded = f"{read['crowded_out']} flows were divided, because the table of flows was full"
        found.notes.append(f"{crowded}: flows are overcounted")


_FRAMES = (
    ("not_ip", "are not IP, or were captured too short; no estimate counts them"),
    ("cut_short", "of TCP were captured without its header: they count only in the load"),
    ("unusable", "have no time or no interface; they are ignored"),
)

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


def describe_paths(read: CaptureReadings, at: Place, found: Measured) -> None:
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


def _round_trips(flows: CaptureFlows, at: Place, found: Measured) -> None:
    loaded = _loaded(flows, at)
    least, handshakes = flows["least_rtt_us"], flows["handshake_us"]
    samples = {"rtt_s": loaded, "min_rtt_s": least, "handshake_rtt_s": handshakes}
    unstamped = int(flows["unstamped_rtt_us"][1].sum())
    for name, (values, counts) in samples.items():
        if counts.sum():
            rows = estimate.quantiles(values * 1e-6, counts, max(int(least[1].sum()), 1))
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
        rows = estimate.quantiles(values * 1e-6, counts, max(flows["long"], 1))
        late = "from a gap to its retransmission: a round trip and three packets more, or a timeout"
        found.estimates["recovery_s"] = rows | {"bias": late}


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


_UNSTAMPED = (
    "without TCP timestamps ACKs do not tell the wait in a queue before the capture: it is between "
    "min_rtt_s and recovery_s, or capture before the queue"
)


def _cumulated(values: Floats, counts: Counts) -> dict[str, list[float]]:
    cumulated = np.cumsum(counts) / counts.sum()
    ranks = np.searchsorted(cumulated, np.linspace(0, 1, _DRAWN + 1)[:-1] + 0.5 / _DRAWN)
    ranks = np.unique(np.minimum(ranks, len(values) - 1))
    return {"value": values[ranks].tolist(), "share": cumulated[ranks].tolist()}


def _losses(flows: CaptureFlows, at: Place, found: Measured) -> None:
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


def _bursts(flows: CaptureFlows, found: Measured) -> None:
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


def _hint(flows: CaptureFlows, found: Measured) -> None:
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
