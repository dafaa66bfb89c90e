"""Estimates from counters only, in a file or polled by SNMP, for operators without captures.

The number of flows by a loss rate: inverted response functions of congestion controls.

A flow that loses one packet in each cycle and has the mean window w sends w/RTT. With X packets per
second on the link there are n = X RTT / w flows. w as a function of the loss rate follows from the
cycle between two losses: `laws.sawtooth` for Reno and `laws.heterogeneous` (RFC 9438) for CUBIC.
"""

import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from forebay import catalogue
from forebay.laws.heterogeneous.protocols import CUBIC
from forebay.laws.sawtooth import loss_rate
from forebay.measure import estimate
from forebay.measure.estimate import BATCHES, Estimate, Floats, Measured, MeasureError, batch_mean
from forebay.measure.records import bits_per_second, parse
from forebay.measure.table import Intervals, busiest, read
from forebay.measure.to_scenario import GOAL, Asked, make
from forebay.progress import Progress
from forebay.scenario import BufferSize
from forebay.scenario.quantity import DataSize, Duration
from forebay.words import Fact, argument

CONTROLS = tuple(control.name for control in catalogue.CONTROLS.values() if control.population)
"""Congestion controls with a law of this kind."""
DELAYED = 0.5
"""Growth of a Reno window if the receiver acknowledges every second packet; else it is 1."""
SMALLEST = 2.0
"""With smaller mean windows flows time out, and response functions fail (paper A, section 5)."""
_LARGEST = 1e9
"""In packets: TCP's largest window, 2^30 B (RFC 7323, section 2.3), in packets of one byte."""


def mean_windows(control: str, loss: float, rtt_s: float) -> list[float]:
    """Return the mean windows in packets for a loss rate, one for each variant of the law.

    Parameters
    ----------
    control : one of `CONTROLS`.
    loss : drops over arrivals, above 0.
    rtt_s : mean RTT, including queueing.
    """
    if control in _WINDOWS:
        return _WINDOWS[control](loss, rtt_s)
    field, known = argument("congestion_control"), " or ".join(CONTROLS)
    raise MeasureError("measure.no-response", field=field, value=control, known=known)


def _reno(loss: float, growth: float) -> float:
    # Without a queue the mean window is 3/4 of the largest, for any n.
    return _inverted(lambda largest: float(loss_rate(0.0, largest, 1.0, growth)), loss) * 0.75


def _cubic(loss: float, rtt_s: float) -> float:
    def mean(largest: float) -> float:
        return float(CUBIC.mean(largest, rtt_s))

    def rate(largest: float) -> float:
        return rtt_s / (mean(largest) * float(CUBIC.epoch(largest, rtt_s)))

    return mean(_inverted(rate, loss))


_LAWS: dict[str, Callable[[float, float], list[float]]] = {
    "reno": lambda loss, _: [_reno(loss, growth) for growth in (1.0, DELAYED)],
    "cubic": lambda loss, rtt_s: [_cubic(loss, rtt_s)],
}
_WINDOWS = catalogue.registered(catalogue.CONTROLS, lambda each: each.population, _LAWS, __name__)


def _inverted(rate: Callable[[float], float], loss: float) -> float:
    """Return the largest window with the loss rate ``loss``; the rate decreases with it."""
    from scipy.optimize import brentq

    if rate(1.0) <= loss:
        return 1.0
    if rate(_LARGEST) >= loss:
        return _LARGEST
    return float(brentq(lambda window: rate(window) - loss, 1.0, _LARGEST, rtol=1e-9))


_FEWEST_DROPS = 20
_BUSY = 0.9
_LONGEST_WAIT_S = 3600.0
_PACKETS = (64, 65_535)
_SMALL_MEAN = 340
"""Mean size of a mix with many small packets: 7 of 40 B, 4 of 576 B and 1 of 1500 B (IMIX)."""
_REFUSED = ("rtt_s", "hurst", "flow_bytes", "unresponsive_share", "slow_start_burst")


class _Link(NamedTuple):
    """A link of ``bps`` for packets of ``size`` bytes, with the ends of its round trips in s."""

    bps: float
    size: int
    rtts: tuple[float, float]


def counters(
    table: str | os.PathLike[str],
    *,
    rate: str,
    rtt: str | None,
    packet: str = "1500 B",
    congestion_control: str | None = None,
    buffer: str | None = None,
    goal: float | None = None,
    source: str | None = None,
    busy_hour: bool = False,
) -> Measured:
    """Estimate the load, the loss rate and a range of n from an interface's counters.

    Parameters
    ----------
    table : CSV with columns ``time_s``, ``octets``, ``drops``, and if available ``packets`` and
        ``queue_packets``.
    rate : the link's rate.
    rtt : the mean round trip without queueing, ``"100 ms"``, or a range ``"50 ms..150 ms"``.
    packet : size of a full packet.
    congestion_control : its response function is inverted; None means all known ones, and their
        whole range.
    buffer : queue size: limits the queueing delay in the RTT, and is used in the scenario.
    goal : for the scenario: the target utilization, 0.98 if it is not given.
    source : name of the table in the result; default: its path.
    busy_hour : use only the hour with the most octets, which a note names.

    Raises MeasureError if a file is not a table of counters, or an option does not fit it.
    """
    link = _Link(bits_per_second(rate), _packet(packet), rtt_range(rtt))
    asked = Asked(rate, congestion_control, buffer, goal)
    bps, size, _ = link
    rows = read(table, bps)
    if busy_hour:
        busy = busiest(rows)
        alone = Fact("counters.alone", name=busy.name, when=busy.when)
        rows = replace(busy.rows, notes=[*rows.notes, alone])
    called = os.fspath(table) if source is None else source
    found = Measured(notes=list(map(str, rows.notes)), sources=[called])
    packets, least = rows.packets, size
    if packets is None:
        packets, least, found.assumed_bytes = rows.octets / size, min(_SMALL_MEAN, size), size
        found.note("counters.no-packets", size=size, least=least, times=size / least)
    found.packets, found.seconds = round(float(packets.sum())), float(rows.seconds.sum())
    share = rows.octets * 8 / (rows.seconds * bps)
    found.estimates["load"] = batch_mean(share)
    _loss(rows.drops, packets, size / least, found)
    waits = _queueing(rows, link, buffer, found)
    rounds = [end + wait for end, wait in zip(link.rtts, waits, strict=True)]
    _flows(rows, (packets, packets * size / least), rounds, congestion_control, found)
    for name in _REFUSED:
        found.refuse(name, "counters.not-shown")
    found.curves["load"] = {"step_s": float(np.median(rows.seconds)), "share": share.tolist()}
    _scenario(found, link, asked)
    return found


def _packet(text: str) -> int:
    size, (low, high) = parse("packet", DataSize, text), _PACKETS
    if not low <= size <= high:
        raise MeasureError(
            "measure.packet", field=argument("packet"), value=text, low=low, high=high
        )
    return int(size)


def rtt_range(text: str | None) -> tuple[float, float]:
    """Return both ends of a time or a range; MeasureError or ScenarioError if it is neither."""
    if text is None:
        raise MeasureError("measure.no-rtt")
    parts = text.split("..", 1) if isinstance(text, str) else [text]
    ends = [float(parse("rtt", Duration, part)) for part in parts]
    if not 0 < ends[0] <= ends[-1]:
        raise MeasureError("measure.rtt", field=argument("rtt"), value=text)
    return ends[0], ends[-1]


def _loss(drops: Floats, packets: Floats, most: float, found: Measured) -> None:
    """Add the loss rate, with the t interval of a ratio over batches (Cochran, chapter 6).

    The packets may be ``most`` times as many, where they were not counted.
    """
    arrivals = packets + drops
    if arrivals.sum() <= 0:
        found.refuse("loss_rate", "counters.nothing-sent")
        return
    value = float(drops.sum() / arrivals.sum())
    size = len(drops) // BATCHES
    if size < 1:
        found.add("loss_rate", value, len(drops), "bias.few-intervals", intervals=len(drops))
        return
    cut = size * BATCHES
    parts = [x[:cut].reshape(BATCHES, size).sum(axis=1) for x in (drops, arrivals)]
    spread = math.sqrt(float(((parts[0] - value * parts[1]) ** 2).sum()) / (BATCHES - 1))
    half = estimate.STUDENT_95 * spread / math.sqrt(BATCHES) / parts[1].mean()
    low, high = max(value - float(half), 0.0) / most, min(value + float(half), 1.0)
    bias = Fact("" if most == 1 else "bias.smaller-packets")
    found.estimates["loss_rate"] = Estimate(value, low, high, BATCHES, str(bias))


def _queueing(
    rows: Intervals, link: _Link, buffer: str | None, found: Measured
) -> tuple[float, float]:
    """Return the smallest and the largest possible mean queueing delay, in seconds."""
    bps, size, rtts = link
    if rows.queue_packets is not None:
        mean = float(rows.queue_packets.mean()) * size * 8 / bps
        if mean > _LONGEST_WAIT_S:
            raise MeasureError("measure.long-wait", wait=mean)
        found.estimates["queue_packets"] = batch_mean(rows.queue_packets)
        return mean, mean
    if buffer is None:
        found.note("counters.no-queueing")
        return 0.0, 0.0
    most = parse("buffer", BufferSize, buffer)
    packets = most.packets(rate_bps=bps, packet_bytes=size, bdp=bps * rtts[1] / (8 * size), flows=1)
    if packets * size * 8 / bps > _LONGEST_WAIT_S:
        raise MeasureError("measure.large-buffer", field=argument("buffer"), value=buffer)
    return 0.0, packets * size * 8 / bps


def _flows(
    rows: Intervals,
    packets: tuple[Floats, Floats],
    rounds: list[float],
    control: str | None,
    found: Measured,
) -> None:
    loss, load = found.estimates.get("loss_rate"), found.estimates["load"]
    if loss is None or rows.drops.sum() < _FEWEST_DROPS:
        drops = float(rows.drops.sum())
        found.refuse("long_flows", "counters.few-drops", drops=drops, least=_FEWEST_DROPS)
        return
    if load.value < _BUSY:
        found.refuse("long_flows", "counters.idle", load=load.value)
        return
    sent = dict.fromkeys(float(counts.sum()) for counts in packets)
    usual, *many = (count / float(rows.seconds.sum()) for count in sent)
    controls = CONTROLS if control is None else (control,)
    low = None if loss.low is None else loss.low * (many[0] / usual if many else 1)
    losses = [(usual, x) for x in (low, loss.value, loss.high) if x]
    losses += [(rate, x * usual / rate) for rate in many for _, x in list(losses)]
    windows = [
        (rate * rtt / w, w)
        for name, (rate, p), rtt in product(controls, losses, rounds)
        for w in mean_windows(name, p, rtt)
    ]
    smallest = min(w for _, w in windows)
    if smallest < SMALLEST:
        found.refuse("long_flows", "counters.small-window", window=smallest)
        return
    low, high = min(n for n, _ in windows), max(n for n, _ in windows)
    bias = str(Fact("bias.n-of-losses", controls=", ".join(controls), sizes=bool(many)))
    value = math.sqrt(low * high)
    found.estimates["long_flows"] = Estimate(value, low, high, len(rows.drops), bias)


def _scenario(found: Measured, link: _Link, asked: Asked) -> None:
    n, rtts = found.estimates.get("long_flows"), link.rtts
    if n is None:
        why = next(one.why for one in found.refused if one.name == "long_flows")
        found.not_made = Fact("no-scenario.without-n", why=why)
        return
    ends = rtts if rtts[1] > rtts[0] else (rtts[0] * 0.95, rtts[1] * 1.05)
    low, high = max(math.floor(n.low), 1), max(math.ceil(n.high), 1)
    trips = {"uniform": [str(Duration(end)) for end in ends]}
    one = {"flows": f"{low}..{high}", "rtt": trips, "packet": f"{link.size} B"}
    one |= {"congestion_control": asked.congestion_control or "cubic"}
    make([one], found, asked, GOAL if asked.goal is None else asked.goal)


def snmp(
    host: str,
    *,
    interface: str,
    rate: str,
    rtt: str | None,
    seconds: float = 300.0,
    every: float = 10.0,
    community: str = "public",
    keep: str | os.PathLike[str] | None = None,
    packet: str = "1500 B",
    congestion_control: str | None = None,
    buffer: str | None = None,
    goal: float | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Poll an interface's sent bytes and drops by SNMPv2c, then estimate as `counters`.

    Needs pysnmp: ``pip install "forebay[counters]"``. Only ``host`` is polled.

    Parameters
    ----------
    host : a router's address or name, with ``:PORT`` if it is not 161.
    interface : the router's name of the link's interface: ifName or ifDescr of IF-MIB (RFC 2863).
        The output is counted, including link headers: ifHCOutOctets, ifOutDiscards.
    seconds, every : duration and period of polling. Many routers update their counters every few
        seconds.
    community : the router's community for reading.
    keep : path at which the table is stored; `counters` can read it. None: it is not stored.
    rate, rtt, packet, congestion_control, buffer, goal : as in `counters`.
    progress : called with the fraction of the time done.

    Raises MeasureError if the router does not answer, has no such interface, or an option does not
    fit.
    """
    from forebay.measure.polling import Agent, poll  # asyncio, which nothing else needs here

    agent = Agent.parse(host, community)
    bits_per_second(rate)
    rtt_range(rtt)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "polled.csv") if keep is None else Path(keep)
        poll(agent, interface, table, seconds, every, progress)
        measured = counters(
            table, rate=rate, rtt=rtt, packet=packet, congestion_control=congestion_control,
            buffer=buffer, goal=goal, source=f"{interface} of {host} by SNMP",
        )  # fmt: skip
    measured.note("counters.of-interface")
    return measured
