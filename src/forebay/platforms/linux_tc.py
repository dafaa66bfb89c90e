"""Linux: tc qdisc, as commands, and as the output of ``tc qdisc show``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from forebay.errors import option, setting
from forebay.platforms import tc_units
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.qdiscs import CLASSFUL, QDISCS, TXQUEUELEN, Qdisc
from forebay.platforms.reading import ConfiguredQueue, Place, note, trap, uncertain
from forebay.platforms.snippet import Snippet

if TYPE_CHECKING:
    from forebay.outcome import Aqm

_MOST = 2**32 - 1
_KINDS = frozenset((*QDISCS, *CLASSFUL))
_ACTIONS = ("add", "replace", "change", "link")
_GUARD = note("the limit is a guard: what the discipline aims at decides the queue")
_BOTTLENECK = trap(
    "packets wait here only if this device is the slowest link; the driver's ring (BQL) holds "
    "some more"
)


def _write(order: Order) -> Written:
    if order.wanted.aqm is not None:
        return _managed(order, order.wanted.aqm)
    port = order.port
    frame = port.packet_bytes + port.header_bytes
    if order.form == "packets":
        kind, rounding = "pfifo", port.packet_bytes - 1
        limit = order.wanted.whole_packets(port)
    else:
        # The same packets with their link-layer headers, rounded up.
        limit = -(-order.wanted.bytes * frame // port.packet_bytes)
        kind, rounding = "bfifo", 1
    if limit > _MOST:
        wrong = f"a limit of {limit} is more than the {_MOST} that tc takes"
        raise PlatformError(
            "too-large", wrong, f"ask for less, or write {option('form', 'packets')}"
        )
    line = f"tc qdisc replace dev {order.interface} root {kind} limit {limit}"
    return Written((line,), rounding, (_BOTTLENECK,))


def _managed(order: Order, aqm: Aqm) -> Written:
    """Write an AQM queue; its times are in whole microseconds, rounded up."""
    port, kind, packets = order.port, aqm.discipline, order.wanted.packets
    _refuse_unwritable(order.interface, aqm)
    frame = port.packet_bytes + port.header_bytes
    rounding = port.packet_bytes - 1
    if aqm.parameter == "min":
        low, high = (
            -(-size * frame // port.packet_bytes) for size in (aqm.min_bytes, aqm.max_bytes)
        )
        burst = -(-(2 * low + high) // (3 * frame))
        options = f"limit {packets * frame} min {low} max {high} avpkt {frame} burst {burst} "
        options += f"probability {aqm.probability:g}"
        rounding = 1
    else:
        options = f"limit {packets} target {ceil(1e6 * aqm.target_s)}us"
        if aqm.interval_s is not None:
            options += f" interval {ceil(1e6 * aqm.interval_s)}us"
    if aqm.ecn:
        options += " ecn"
    line = f"tc qdisc replace dev {order.interface} root {kind} {options}"
    return Written((line,), rounding, (_GUARD, _BOTTLENECK))


def _refuse_unwritable(interface: str, aqm: Aqm) -> None:
    """Refuse a discipline without a limit in tc, or unknown to tc. Raises PlatformError."""
    if aqm.discipline == "cake":
        wrong = "tc's cake has no limit in packets or bytes that could be read back"
        rtt = ceil(1e6 * (aqm.interval_s or 0.0))
        line = f"tc qdisc replace dev {interface} root cake besteffort flows rtt {rtt}us"
        raise PlatformError(
            "managed", wrong, f"write by hand: {line} (and bandwidth, if it shapes)"
        )
    if aqm.discipline == "cobalt":
        wrong = "no kernel has cobalt as a discipline of its own: it is in cake"
        raise PlatformError("managed", wrong, f"size {setting('queue.discipline', 'cake')}")


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for statement in snippet.lines():
        words = list(statement.words)
        if "qdisc" not in words:
            continue
        after = words[words.index("qdisc") + 1 :]
        at = next((at for at, word in enumerate(after) if word in _KINDS), None)
        if at is None:
            continue
        kind, options = after[at], after[at + 1 :]
        device = _value(after, "dev") or "?"
        written = short(" ".join([kind, *options]))
        place = Place(statement.line, short(f"dev {device}"), written)
        if kind in QDISCS:
            shown = after[0] not in _ACTIONS
            yield _qdisc(place, kind, options, port, shown)
        else:
            yield place.unknown(trap(f"{kind} itself has no limit to read; see its leaves"))


def _qdisc(place: Place, kind: str, options: list[str], port: Port, shown: bool) -> ConfiguredQueue:
    if kind == "tbf":
        return _tbf(place, options, port)
    about = QDISCS[kind]
    text = _value(options, "limit")
    if text is None:
        return _default(place, kind, about, options, port)
    limit = tc_units.size(text.removesuffix("p") if shown else text)
    if limit is None or limit > _MOST:
        return place.unknown(trap(f'"{short(text, 30)}" is no limit that tc takes'))
    if kind == "netem":
        return _netem(place, limit, options, port)
    notes = about.notes
    if about.unit == "packets":
        return place.of_packets(limit, port, notes)
    if text[-2:].lower() in ("kb", "mb", "gb") or text[-1:].lower() in ("k", "m", "g"):
        notes = (*notes, trap("tc's k and m are 1024 and 1048576 bytes"))
    reading = _of_frames(place, limit, port)
    rounding = 1024 + limit // 1000 if shown and text.endswith("b") and text[-2:-1].isalpha() else 1
    return replace(reading, notes=(*notes, *reading.notes), rounding_bytes=rounding)


def _of_frames(place: Place, limit: int, port: Port) -> ConfiguredQueue:
    """Read a limit that includes link-layer headers, as bytes of packets without them."""
    frame = port.packet_bytes + port.header_bytes
    return place.of_bytes(limit * port.packet_bytes // frame, port)


def _default(
    place: Place, kind: str, about: Qdisc, options: list[str], port: Port
) -> ConfiguredQueue:
    said = trap(f"nobody chose this: {kind} without limit")
    if about.default is not None:
        reading = place.of_packets(about.default, port)
        if kind == "netem":
            reading = _netem(place, about.default, options, port)
        return replace(reading, notes=(said, *dict.fromkeys((*about.notes, *reading.notes))))
    if kind == "bfifo":
        frame = port.packet_bytes + port.header_bytes
        reading = _of_frames(place, TXQUEUELEN * frame, port)
        more = uncertain(f"assumed to be txqueuelen {TXQUEUELEN} times a full frame of {frame} B")
        return replace(reading, notes=(said, more, *about.notes))
    return place.unknown(said, *about.notes)


def _netem(place: Place, limit: int, options: list[str], port: Port) -> ConfiguredQueue:
    """Subtract the packets in flight, because netem stores them in the same queue."""
    delay = tc_units.time(_value(options, "delay") or _value(options, "latency") or "0us")
    rate = tc_units.rate(_value(options, "rate") or "") or Fraction(port.rate_bps)
    if delay is None:
        return place.unknown(trap("netem's delay could not be read, and it is part of the limit"))
    frame = port.packet_bytes + port.header_bytes
    flying = floor(min(rate, Fraction(port.rate_bps)) * delay / (8 * frame)) if delay else 0
    left = max(limit - flying, 0)
    said = trap(
        f"netem's limit of {limit} counts packets in flight too: at full rate {flying} fly, "
        f"{left} may queue"
    )
    if not left:
        return place.of_packets(0, port, (said, trap("the delay alone overflows the limit")))
    return place.of_packets(left, port, (said, *QDISCS["netem"].notes))


def _tbf(place: Place, options: list[str], port: Port) -> ConfiguredQueue:
    limit = tc_units.size(_value(options, "limit") or "")
    if limit is not None and limit <= _MOST:
        reading = _of_frames(place, limit, port)
        return replace(reading, rounding_bytes=1, notes=(*QDISCS["tbf"].notes, *reading.notes))
    rate = tc_units.rate(_value(options, "rate") or "")
    latency = tc_units.time(_value(options, "latency") or _value(options, "lat") or "")
    burst = tc_units.size((_value(options, "burst") or "").partition("/")[0])
    if rate is None or latency is None or burst is None:
        return place.unknown(trap("tbf needs rate, burst, and limit or latency"))
    reading = _of_frames(place, floor(rate * latency / 8) + burst, port)
    said = note("limit = rate x latency + burst, at tbf's own rate")
    return replace(reading, notes=(said, *QDISCS["tbf"].notes, *reading.notes))


def _value(options: list[str], key: str) -> str | None:
    """Return the word after ``key``, if there is one."""
    places = [at for at, word in enumerate(options[:-1]) if word == key]
    return options[places[0] + 1] if places else None


PLATFORM = Platform(
    name="linux-tc",
    title="Linux tc",
    comment="#",
    forms=("bytes", "packets"),
    models=("linux",),
    interface="eth0",
    tells=(r"\btc\s+(-\S+\s+)*qdisc\b", r"^\s*qdisc\s+\w+\s+[0-9a-f]*:", r"\bdev\s+\S+\s+root\b"),
    source="iproute2's tc and the kernel's net/sched (sch_fifo, sch_netem), tried on 6.18",
    rounds=note("rounding: up to a whole byte or packet; the kernel takes the number as it stands"),
    write=_write,
    read=_read,
)
