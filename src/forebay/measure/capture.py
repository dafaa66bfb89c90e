"""Estimates from captures."""

from __future__ import annotations

import ipaddress
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from forebay import _core
from forebay.errors import argument
from forebay.measure import load, paths, population, to_scenario
from forebay.measure.arguments import bits_per_second, paths_of, texts_of
from forebay.measure.estimate import Estimates, Measured, MeasureError
from forebay.measure.pipes import read_captures
from forebay.scenario.traffic import MOST_PACKETS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay._core import CaptureFile, CaptureReadings
    from forebay.measure.paths import Place
    from forebay.progress import Progress


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
    kinds: Counter[str] = Counter()
    for file in files:
        kinds.update(file["not_ip_kinds"])
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
    bps, names = bits_per_second(rate), paths_of(records)
    reader = partial(
        _core.measure_capture, interface=interface, overhead=overhead,
        toward=[_network(text) for text in texts_of(toward)],
        listed=MOST_PACKETS if replay else 0,
    )  # fmt: skip
    read = read_captures(names, reader, progress)
    _check(read, interface, names)
    found = Estimates()
    _tell(read, found)
    load.describe(read, bps, found)
    population.describe(read, found)
    paths.describe(read, at, found)
    packet_s = 8 * (load.full_packet(read) + overhead) / bps
    load.describe_burstiness(
        read["scales"], load.whole(read), read["load_width_s"], packet_s, found
    )
    made, why = to_scenario.scenario(
        read, found, rate, congestion_control, buffer, goal, names[0], overhead
    )
    return Measured(
        packets=read["packets"], seconds=read["duration_s"], estimates=found.estimates,
        refused=found.refused, notes=found.notes, curves=found.curves, sources=names,
        made=made, not_made=why, listed=_listed(read) if replay else None,
    )  # fmt: skip


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


def _tell(read: CaptureReadings, found: Estimates) -> None:
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
            "both directions count as crossing the link; toward or interface says which does"
        )
    if read["crowded_out"] > _CROWDED * read["flows"]["tuples"]:
        crowded = f"{read['crowded_out']} flows were divided, because the table of flows was full"
        found.notes.append(f"{crowded}: flows are overcounted")


_FRAMES = (
    ("not_ip", "are not IP, or were captured too short; no estimate counts them"),
    ("cut_short", "of TCP were captured without its header: they count only in the load"),
    ("unusable", "have no time or no interface; they are ignored"),
)
