"""Estimates from captures.

Burstiness by scale: the coefficient of variation of the volume, its knee, and H.

Theagarajan et al., section II: beta(s) is the coefficient of variation of the traffic volume over
intervals of length s; on log-log axes its slope is -(1 - H).
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forebay.errors import argument, panics_as_defects
from forebay.measure import paths, population, to_scenario
from forebay.measure.errors import MeasureError, bits_per_second, paths_of, texts_of
from forebay.measure.estimate import Estimate, Estimates, Floats, Refused
from forebay.measure.hurst import SHORTEST, hurst
from forebay.measure.measurement import Measured
from forebay.measure.pipes import read_from
from forebay.scenario.traffic import MOST_PACKETS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from forebay._core import CaptureFile, CaptureReadings
    from forebay.measure.paths import Place
    from forebay.progress import Progress


_FEWEST_INTERVALS = 32
_FEWEST_POINTS = 3
_LONGEST_SERIES = 1 << 15
_FULL = 0.95
_APART = 0.2


def describe(
    scales: Floats, series: Floats, width_s: float, packet_s: float, found: Estimates
) -> None:
    """Add ``burstiness_knee_s``, ``hurst_by_slope`` and ``hurst``; the curve is beta(s).

    Parameters
    ----------
    scales : shape (scales, 4)
        As in `CaptureReadings`.
    series : shape (n,)
        Bytes in intervals of ``width_s``.
    packet_s
        Time of a full packet on the link. Shorter scales show the packets themselves, whose time
        would be taken for the knee.
    """
    seconds, beta = variation(scales.reshape(-1, 4))
    if len(beta) >= 2 * _FEWEST_POINTS:
        found.curves["burstiness"] = {"seconds": seconds.tolist(), "beta": beta.tolist()}
    seconds, beta = seconds[seconds >= packet_s], beta[seconds >= packet_s]
    if len(beta) >= 2 * _FEWEST_POINTS:
        at, slopes = knee(seconds, beta)
        bends = "where two straight lines fit beta(s) best; the scales are a factor of two apart"
        found.estimates["burstiness_knee_s"] = Estimate(at, at / 2, at * 2, len(beta), bends)
    else:
        found.refuse("burstiness_knee_s", "the capture is too short for a curve over scales")
    to_scenario = found.estimates.get("load")
    if to_scenario is not None and to_scenario.value > _FULL:
        for name in ("hurst_by_slope", "hurst"):
            found.refuse(
                name, f"the link is {to_scenario.value:.0%} full: its queue smooths the load"
            )
        return
    if len(beta) >= 2 * _FEWEST_POINTS:
        _by_slope(1 + slopes[1], len(beta), found)
    coarse, width_s = coarsened(series, width_s)
    told = hurst(coarse)
    if isinstance(told, dict):
        told = _possible(told, found)
    if isinstance(told, dict):
        found.estimates["hurst"] = told
        values = [one.value for one in told.values()]
        if max(values) - min(values) > _APART:
            found.notes.append("the four methods disagree on H: the load is not stationary noise")
        found.notes.append(
            f"H is that of the bytes in intervals of {width_s * 1e3:.3g} ms and longer"
        )
    else:
        found.refused.append(told)


def _by_slope(value: float, points: int, found: Estimates) -> None:
    if not 0.0 < value < 1.0:
        why = f"1 plus the slope of beta(s) is {value:.2f}, and H lies between 0 and 1"
        found.refuse("hurst_by_slope", f"{why}: the load is no self-similar noise")
        return
    above = "1 plus the slope of beta(s) above the knee, as in paper B"
    found.estimates["hurst_by_slope"] = Estimate(value, None, None, points, above)


def _possible(told: dict[str, Estimate], found: Estimates) -> dict[str, Estimate] | Refused:
    """Return the methods whose H lies between 0 and 1; refuse the others."""
    outside = {name: one.value for name, one in told.items() if not 0.0 < one.value < 1.0}
    inside = {name: one for name, one in told.items() if name not in outside}
    values = ", ".join(f"{name} gives {value:.2f}" for name, value in outside.items())
    why = f"{values}, and H lies between 0 and 1: the load is no stationary noise"
    if outside and inside:
        found.refuse("hurst", why)
    return inside or Refused("hurst", why)


def coarsened(series: Floats, width_s: float) -> tuple[Floats, float]:
    """Sum a series to at most 2^15 intervals, most of them not empty; return it and their width."""
    while len(series) > SHORTEST and (
        len(series) > _LONGEST_SERIES or np.count_nonzero(series) < len(series) / 2
    ):
        series = series[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1)
        width_s *= 2
    return series, width_s


def variation(scales: Floats) -> tuple[Floats, Floats]:
    """Return the scales with enough intervals, in seconds, and beta at each."""
    kept = scales[(scales[:, 1] >= _FEWEST_INTERVALS) & (scales[:, 2] > 0)]
    mean = kept[:, 2] / kept[:, 1]
    variance = np.maximum(kept[:, 3] / kept[:, 1] - mean**2, 0.0)
    some = variance > 0
    return kept[some, 0], np.sqrt(variance[some]) / mean[some]


def knee(seconds: Floats, beta: Floats) -> tuple[float, tuple[float, float]]:
    """Fit log beta by two joined line segments; return where they join, and both slopes."""
    x, y = np.log2(seconds), np.log2(beta)
    fits = []
    for at in range(_FEWEST_POINTS - 1, len(x) - _FEWEST_POINTS + 1):
        design = np.stack([np.ones_like(x), x, np.maximum(x - x[at], 0)], axis=1)
        solution, *_ = np.linalg.lstsq(design, y, rcond=None)
        error = float(((design @ solution - y) ** 2).sum())
        fits.append((error, float(seconds[at]), float(solution[1]), float(solution[2])))
    _, where, below, change = min(fits)
    return where, (below, below + change)


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
    types = sorted({each for file in files for each in file["unread_link_types"]})
    if not types:
        return ""
    named = " and ".join(
        f"{each}{f' ({_NAMES[each]})' if each in _NAMES else ''}" for each in types
    )
    one = len(types) == 1
    return f"link type{'' if one else 's'} {named} {'is' if one else 'are'} not read; {READ}"


def not_ip(files: Sequence[CaptureFile]) -> str:
    """Return what the frames without IP are, such as "8 ARP"; "" if that is not known."""
    kinds: dict[str, int] = {}
    for file in files:
        for kind, count in file["not_ip_kinds"].items():
            kinds[kind] = kinds.get(kind, 0) + count
    most = sorted(kinds.items(), key=lambda each: -each[1])[:_MOST_KINDS]
    return ", ".join(f"{count} {kind}" for kind, count in most)


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
    records
        A file in pcap or pcapng, plain or in gzip or zstd; or several, in the order of their
        packets.
    rate
        The link's rate, such as ``"155 Mbit/s"``.
    interface
        The interface of a pcapng file that is the link; others are used for round trips only.
    toward
        Networks such as ``"10.0.0.0/8"``: only packets to these cross the link.
    overhead
        Bytes on the link for each packet in addition to the IP packet.
    at
        Whether the capture has packets after the queue (egress) or before it.
    congestion_control, buffer, goal
        For the scenario: congestion control (default: the estimated one), queue size, utilization
        to reach (default: 0.98 if there are long flows, else none).
    replay
        Store the packets of unresponsive traffic, for `Measured.packet_list`.
    progress
        Called with the fraction of the bytes that have been read.

    Raises
    ------
    MeasureError
        A file is not a capture, or an option does not fit it.
    """
    bps, toward_ = bits_per_second(rate), [_network(text) for text in texts_of(toward)]
    names = paths_of(records)
    read = _read(names, interface, toward_, overhead, MOST_PACKETS if replay else 0, progress)
    _check(read, interface, names)
    found = Estimates()
    _tell(read, found)
    to_scenario.describe(read, bps, found)
    population.describe(read, found)
    paths.describe(read, at, found)
    packet_s = 8 * (to_scenario.full_packet(read) + overhead) / bps
    describe(read["scales"], to_scenario.whole(read), read["load_width_s"], packet_s, found)
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


def _network(
    text: str,
) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise MeasureError(
            f"{argument('toward')}: {error}; write a network such as 10.0.0.0/8"
        ) from None
    return network.network_address, network.prefixlen


def _read(
    names: list[str],
    interface: str | None,
    toward: list[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]],
    overhead: int,
    listed: int,
    progress: Progress | None,
) -> CaptureReadings:
    from forebay import _core

    total = sum(Path(name).stat().st_size for name in names if Path(name).is_file())

    def told(read: int) -> None:
        if progress is not None and total:
            progress(min(read / total, 1.0))

    try:
        read = partial(
            _core.measure_capture, names, interface=interface, toward=toward, overhead=overhead,
            listed=listed, progress=told,
        )  # fmt: skip
        with panics_as_defects():
            return read_from(names, read)
    except ValueError as error:
        raise MeasureError(f"{error}; write the path of a pcap or pcapng file") from None


def _check(read: CaptureReadings, interface: str | None, names: list[str]) -> None:
    known = sorted({name for file in read["files"] for name in file["interfaces"] if name})
    if interface is not None and interface not in known:
        has = (
            f"it has {', '.join(known)}" if known else "its interfaces have no names; leave it out"
        )
        wrong = f"{names[0]} has no interface {interface}"
        raise MeasureError(f"{argument('interface')}: {wrong}; {has}")
    late, seen = read["back_in_time"], read["packets"] + read["returning"]
    if late > _DISORDERED * seen:
        wrong = f"{late} of {seen} packets are earlier than one before them"
        how = (
            "name each file once, in the order of their packets"
            if len(names) > 1
            else "sort them (reordercap IN OUT)"
        )
        raise MeasureError(f"{names[0]}: {wrong}; {how}")
    if read["packets"] and not read["duration_s"] > 0:
        raise MeasureError(f"{names[0]}: all packets have one time; capture for some seconds")
    if read["packets"] == 0:
        frames = sum(file["frames"] for file in read["files"])
        if not frames:
            ends = [file["ending"] for file in read["files"] if file["ending"] is not None]
            why = f"no packet before its end: {ends[0]}" if ends else "it has no packets"
            how = "capture again, for some minutes" if ends else "capture for some minutes"
            raise MeasureError(f"{names[0]}: {why}; {how}")
        unread = unread_link_types(read["files"])
        if unread and not read["returning"]:
            raise MeasureError(f"{names[0]}: {unread}")
        kinds = not_ip(read["files"])
        went = f"{kinds} frames are not read; {READ}" if kinds else "none is IP"
        if read["returning"]:
            went = f"{read['returning']} have the other direction"
        why = f"of {frames} frames no packet crosses the link: {went}"
        raise MeasureError(
            f"{names[0]}: {why}; name other records, or another {argument('toward')}"
        )


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
            "both directions count as crossing the link; say which does with "
            f"{argument('toward')} or {argument('interface')}"
        )
    if read["crowded_out"] > _CROWDED * read["flows"]["tuples"]:
        crowded = f"{read['crowded_out']} flows were divided, because the table of flows was full"
        found.notes.append(f"{crowded}: flows are overcounted")


_FRAMES = (
    ("not_ip", "are not IP, or were captured too short; no estimate counts them"),
    ("cut_short", "of TCP were captured without its header: they count only in the load"),
    ("unusable", "have no time or no interface; they are ignored"),
)
