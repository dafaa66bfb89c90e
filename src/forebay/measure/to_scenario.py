"""Makes a scenario of the estimates; its numbers carry their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from forebay.measure.estimate import Counts, Estimate, Floats, Measured
from forebay.measure.traffic import full_packet
from forebay.scenario import Goals, Long, Queue, Scenario, ScenarioError
from forebay.scenario.format_error import format_error
from forebay.scenario.quantity import Rate
from forebay.words import Fact, argument

if TYPE_CHECKING:
    from forebay._core import CaptureReadings

GOAL = 0.98
"""Utilization to reach, where the user names none."""
_HANDSHAKE = 2  # packets of a flow without data: its SYN, and its ACK of the other's
_ROUND_TRIPS = 20
_LEAST_LOAD = 0.001
_DEFAULT = "cubic"
_ALL = 0.95  # share of the bytes from which H of all traffic counts as that of unresponsive traffic
_WITHOUT_MEMORY = 0.55
_KNEES = (0.001, 1.0)  # range of the video's frame time in a scenario, in seconds
_WIDEST = 3.0
_LEAST_PACKET = 64  # bytes of the smallest packet that counts as a mean size
_BUSY = 0.9  # load from which the link, and not the hosts, limits its flows


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user says of the scenario: the link's rate, and None for what nobody chose.

    It is checked before records are read. Raises ScenarioError: a class would refuse it.
    """

    rate: str
    congestion_control: str | None
    buffer: str | None
    goal: float | None

    def __post_init__(self) -> None:
        for name, made in (
            ("congestion_control", lambda said: Long(flows=1, congestion_control=said)),
            ("buffer", lambda said: Queue(size=said)),
            ("goal", lambda said: Goals(utilization=said)),
        ):
            if (said := getattr(self, name)) is not None:
                try:
                    made(said)
                except ScenarioError as error:
                    raise error.but(file="", field=argument(name)) from None


def scenario(read: CaptureReadings, found: Measured, asked: Asked, overhead: int) -> None:
    """Add the scenario, or why the estimates do not suffice.

    Its packets have ``overhead`` bytes more than those that were captured, as the load has.

    Without a goal that is `GOAL` where there are long flows; other traffic does not send more
    because the buffer is larger, so no buffer would reach it.
    """
    packet = full_packet(read) + overhead
    control, goal = asked.congestion_control, asked.goal
    traffic = _long(read, found, control, packet) + _others(read, found, asked.rate, packet)
    if not traffic:
        flows = "long_flows" in found.estimates
        found.not_made = Fact(
            "no-scenario.without-round-trips" if flows else "no-scenario.without-traffic"
        )
    elif asked.buffer is None and not any("rtt" in one for one in traffic):
        found.not_made = Fact("no-scenario.without-buffer")
    else:
        if goal is None and any(one["kind"] == "long" for one in traffic):
            goal = GOAL
        if goal is None:
            found.note("made.no-goal")
        make(traffic, found, asked, goal)


def make(traffic: list[dict[str, Any]], found: Measured, asked: Asked, goal: float | None) -> None:
    """Add the scenario of classes of traffic, or why it is invalid."""
    name = f"measured from {Path(found.sources[0]).name}"[:200]
    tree: dict[str, Any] = {"name": name, "link": {"rate": asked.rate}, "traffic": traffic}
    if goal is not None:
        tree["goals"] = {"utilization": goal}
    if asked.buffer is not None:
        tree["queue"] = {"size": asked.buffer}
    try:
        found.made = Scenario.model_validate(tree)
    except ValidationError as error:
        found.not_made = Fact("no-scenario.invalid", why=str(format_error(error, Scenario)))


def _long(
    read: CaptureReadings, found: Measured, control: str | None, packet: int
) -> list[dict[str, Any]]:
    n = found.estimates.get("long_flows")
    values, counts = read["flows"]["least_rtt_us"]
    if not isinstance(n, Estimate):
        return []
    if not counts.sum():
        found.note("made.no-long-flows")
        return []
    low, high = (round(n.value if end is None else end) for end in (n.low, n.high))
    _tell_limited(n, found)
    middle = max(round(n.value), 1)
    count: int | str = middle if low == high else f"{max(low, 1)}..{max(high, 1)}"
    one = {"kind": "long", "flows": count, "rtt": round_trips(values, counts)}
    one |= {"congestion_control": control or _control(found), "packet": f"{packet} B"}
    return [one]


def _tell_limited(n: Estimate, found: Measured) -> None:
    """Add a note where losses do not seem to limit the flows, as they do those of the scenario."""
    load, marked = found.estimates.get("load"), found.estimates.get("marked_share")
    if n.low is None or n.low >= 1 or load is None:
        return
    if load.value < _BUSY:
        why = Fact("made.limited-by-hosts")
    elif marked:
        why = Fact("made.limited-by-marks", share=marked.value)
    else:
        why = Fact("made.limited-by-marks-elsewhere")
    found.note("made.limited", load=load.value, why=why)


def _control(found: Measured) -> str:
    hint = found.estimates.get("congestion_control_hint", {}).get("hint", "unknown")
    chosen = _DEFAULT if hint == "unknown" else str(hint)
    found.note("made.control", name=chosen, indicated=chosen == hint)
    return chosen


def round_trips(values_us: Floats, counts: Counts) -> str | dict[str, Any]:
    """Return the distribution of minimum RTTs: up to twenty quantiles with equal shares.

    The flows get them evenly, not at random. If some of a few flows happened to have equal RTTs,
    they would be synchronized, and with a small buffer the utilization would be higher than that
    of the measured flows (by five percentage points, with eight flows).
    """
    cumulated = np.cumsum(counts) / counts.sum()
    wanted = min(int(counts.sum()), _ROUND_TRIPS)
    at = (np.arange(wanted) + 0.5) / wanted
    chosen = values_us[np.minimum(np.searchsorted(cumulated, at), len(values_us) - 1)]
    distinct, times = np.unique(np.maximum(np.round(chosen), 1), return_counts=True)
    if len(distinct) == 1:
        return {"uniform": [f"{distinct[0] * 0.995:.6g} us", f"{distinct[0] * 1.005:.6g} us"]}
    return {
        "values": [f"{value:.6g} us" for value in distinct],
        "shares": (times / times.sum()).tolist(),
        "stratified": True,
    }


def _others(read: CaptureReadings, found: Measured, rate: str, packet: int) -> list[dict[str, Any]]:
    flows, capacity = read["flows"], float(Rate.parse(rate)) * read["duration_s"] / 8
    short, open_loop = flows["short_bytes"], flows["udp_bytes"] + flows["other_bytes"]
    classes = []
    if short / capacity > _LEAST_LOAD and flows["short_begun"]:
        values, counts = flows["short_packets"]
        mean = max(float((values * counts).sum() / counts.sum()) - _HANDSHAKE, 1.0)
        one: dict[str, Any] = {"kind": "short", "length": {"geometric": f"{mean:.3g} packets"}}
        one |= {"packet": f"{packet} B", "load": min(short / capacity, 10.0)}
        values, counts = flows["least_rtt_us"]
        classes.append(one | ({"rtt": round_trips(values, counts)} if counts.sum() else {}))
        found.note("made.short-flows")
    if open_loop / capacity > _LEAST_LOAD:
        classes.append(_unresponsive(read, found, open_loop / capacity, packet))
    return classes


def _unresponsive(
    read: CaptureReadings, found: Measured, load: float, packet: int
) -> dict[str, Any]:
    """Return noise of the measured H if all load is unresponsive, else Poisson datagrams."""
    flows, methods = read["flows"], found.estimates.get("hurst", {})
    share = (flows["udp_bytes"] + flows["other_bytes"]) / max(read["bytes"], 1)
    curve, at = found.curves.get("burstiness"), found.estimates.get("burstiness_knee_s")
    wavelet = methods.get("wavelet")
    if wavelet and curve and at and share > _ALL and wavelet.low > _WITHOUT_MEMORY:
        hurst = float(np.median([one.value for one in methods.values()]))
        beta = curve["beta"][curve["seconds"].index(at.value)]
        if _KNEES[0] <= at.value <= _KNEES[1] and beta <= _WIDEST:
            found.note("made.noise")
            return {
                "kind": "video", "flows": 1, "load": load, "hurst": min(round(hurst, 3), 0.99),
                "frame_rate": round(1 / at.value, 3), "variation": round(float(beta), 3),
                "spacing": "even", "packet": f"{packet} B",
            }  # fmt: skip
    size = _datagram(read, share, packet)
    if wavelet is None or wavelet.low <= _WITHOUT_MEMORY:
        found.note("made.poisson", size=size)
    else:
        found.note("made.poisson-of-bursts", size=size, hurst=wavelet.value)
    return {"kind": "udp", "flows": 1, "arrivals": "poisson", "load": load, "packet": f"{size} B"}


def _datagram(read: CaptureReadings, share: float, full: int) -> int:
    """Return the mean size of unresponsive packets, or that of full packets if it is not known.

    It is known where no flow has only ACKs: then all packets without TCP data are such packets.
    """
    flows = read["flows"]
    others = read["packets"] - flows["data_segments"]
    if share > _ALL or flows["tuples"] > flows["flows"] or others <= 0:
        return full
    mean = round((flows["udp_bytes"] + flows["other_bytes"]) / others)
    return mean if _LEAST_PACKET <= mean <= full else full
