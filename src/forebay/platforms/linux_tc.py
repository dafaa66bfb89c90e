"""Linux: tc qdisc, as commands, and as the output of ``tc qdisc show``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from forebay.errors import option, setting
from forebay.platforms import cake, openwrt_sqm, tc_units
from forebay.platforms.amounts import say_time
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.qdiscs import (
    CLASSFUL,
    QDISCS,
    TXQUEUELEN,
    WITHOUT_LIMIT,
    Qdisc,
    default_target_s,
    scenario_name,
)
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    inside,
    note,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet
from forebay.platforms.tc_tree import Node, Tree, value
from forebay.platforms.unread import matching
from forebay.scenario import Rate

if TYPE_CHECKING:
    from forebay.outcome import Aqm

_MOST = 2**32 - 1
LEAST_BURST = 10_000  # without a bucket in the scenario: some packets
_GUARD = note("the limit is a guard: what the discipline aims at decides the queue")
_BOTTLENECK = trap(
    "packets wait here only if this device is the slowest link; the driver's ring (BQL) holds "
    "some more"
)


def _write(order: Order) -> Written:
    if order.wanted.aqm is not None:
        return _managed(order, order.wanted.aqm)
    port = order.port
    frame = _frame(port)
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
    return Written(*_lines(order, f"{kind} limit {limit}", rounding))


def _lines(order: Order, leaf: str, rounding: int) -> tuple[tuple[str, ...], int, tuple[Note, ...]]:
    """Return the commands for a leaf, below a tbf if the port is shaped, with a remark."""
    port, device = order.port, f"tc qdisc replace dev {order.interface}"
    if not port.is_shaped:
        return (f"{device} root {leaf}",), rounding, (_BOTTLENECK,)
    frame, table = _frame(port), _table(port)
    # A smaller bucket than a packet's lets none pass.
    burst = max(port.burst_bytes or LEAST_BURST, frame)
    limit = min(_MOST, order.wanted.bytes * frame) // port.packet_bytes + 1
    shaper = f"{table[0]}tbf rate {_rate(port)}bit burst {burst} limit {limit}"
    said = note("tbf shapes, and its child holds the packets: tbf's own limit is then not used")
    lines = (f"{device} root handle 1: {shaper}", f"{device} parent 1:1 {leaf}")
    return lines, rounding, (said, *table[1])


def _frame(port: Port) -> int:
    """Return the bytes that a full packet counts as, with the size table of a line's framing."""
    if not port.is_shaped or port.framing is None:
        return port.packet_bytes + port.header_bytes
    framing = port.framing
    if framing.extra and not framing.padded:  # PTM, which no size table has: in the rate
        return port.packet_bytes + framing.overhead
    return framing.packet(port.packet_bytes)


def _table(port: Port) -> tuple[str, tuple[Note, ...]]:
    """Return the words of a size table for the line's framing, and remarks."""
    framing = port.framing
    if framing is None:
        return "", ()
    cells = framing.extra and framing.padded
    words = f"stab linklayer {'atm' if cells else 'ethernet'} "
    words += f"overhead {framing.overhead - port.header_bytes} "
    words += f"mpu {framing.least} " if framing.least else ""
    said = [note(f"the line's framing: a packet of {port.packet_bytes} B counts {_frame(port)} B")]
    if framing.extra and not cells:
        said.append(note("PTM's 64/65 encoding is in the rate: no size table has it"))
    return words, tuple(said)


def _rate(port: Port) -> int:
    """Return the line's rate in whole bit/s: for PTM that of the bytes before its encoding."""
    if port.framing is None:
        return port.rate_in()
    framed = port.framing.packet(port.packet_bytes)
    return round(port.framed_rate * _frame(port) / framed)


def _managed(order: Order, aqm: Aqm) -> Written:
    """Write an AQM queue; its times are in whole microseconds, rounded up."""
    port, kind, packets = order.port, aqm.discipline, order.wanted.packets
    _refuse_unwritable(order.interface, aqm, port)
    frame = _frame(port)
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
    lines, rounding, notes = _lines(order, f"{kind} {options}", rounding)
    return Written(lines, rounding, (_GUARD, *notes))


def _refuse_unwritable(interface: str, aqm: Aqm, port: Port) -> None:
    """Refuse a discipline without a limit in tc, or unknown to tc. Raises PlatformError."""
    if aqm.discipline == "cake":
        wrong = "tc's cake has no limit in packets or bytes that could be read back"
        rtt = ceil(1e6 * (aqm.interval_s or 0.0))
        line = f"tc qdisc replace dev {interface} root cake besteffort flows rtt {rtt}us"
        line += _of_cake(port)
        raise PlatformError(
            "managed", wrong, f"write by hand: {line} (and bandwidth, if it shapes)"
        )
    if aqm.discipline == "cobalt":
        wrong = "no kernel has cobalt as a discipline of its own: it is in cake"
        raise PlatformError("managed", wrong, f"size {setting('queue.discipline', 'cake')}")


def _of_cake(port: Port) -> str:
    """Return cake's words for the line's framing (tc-cake(8)), which counts from the IP packet."""
    framing = port.framing
    if framing is None:
        return ""
    cells = ("atm" if framing.padded else "ptm") if framing.extra else "noatm"
    least = f" mpu {framing.least}" if framing.least else ""
    return f" overhead {framing.overhead}{least} {cells}"


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    yield from openwrt_sqm.read(snippet, port)
    yield from read_tc(snippet, port)


def read_tc(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
    """Yield the queues of tc's lines."""
    tree = Tree.of(snippet)
    above = {each.line for node in tree.qdiscs for each in tree.above(node)}
    for node in (each for each in tree.qdiscs if each.line not in above):
        yield _node(snippet, node, tree, port)


def _node(snippet: Snippet, node: Node, tree: Tree, port: Port) -> ConfiguredQueue:
    written = short(" ".join([node.kind, *node.options]))
    place = Place(node.line, short(f"dev {node.device}"), written)
    if node.kind == "cake":
        return replace(cake.read(snippet, place, node.options, port), discipline="cake")
    if node.kind in CLASSFUL:
        said = f"{node.kind} itself has no limit to read; see its leaves"
        return place.unknown(trap(WITHOUT_LIMIT.get(node.kind, said)))
    return _leaf(place, node, tree, port)


def _leaf(place: Place, node: Node, tree: Tree, port: Port) -> ConfiguredQueue:
    """Read a qdisc that holds packets, and the rate at which it may drain."""
    served, lowest, above = tree.served(node), tree.guaranteed(node), list(tree.above(node))
    plain, frame = port.packet_bytes + port.header_bytes, tree.framed(node, port)
    port = replace(port, header_bytes=frame - port.packet_bytes)
    seen = inside(port, served)
    tight = next((each for each in (node, *above) if _is_tight(each, frame)), None)
    if tight is not None:
        said = f"tbf's burst of {_burst(tight.options)} B: no larger packet ever leaves"
        return place.unknown(trap(said)).serving(None, also=(each.line for each in above))
    reading = _qdisc(place, node.kind, node.options, seen)
    line = tree.on_the_line(node, frame)
    if served is not None and line != plain:
        reading = _framed(reading, served, line, port)
    reading = reading.serving(served, also=(each.line for each in above))
    reading = replace(
        reading, discipline=scenario_name(node.kind), aims=_aims(node.kind, node.options, seen)
    )
    reading = _within_memory(reading, node.options, seen)
    for each in above:
        limit = value(each.options, "limit")
        if each.kind == "netem" and limit is not None:
            said = (
                f"netem above it holds at most {short(limit, 30)} packets, those in flight included"
            )
            reading = reading.serving(None, trap(said))
    if lowest is None or served is None or served.rate_bps is None or reading.bytes is None:
        return reading
    if lowest >= served.rate_bps:
        return reading
    slow = say_time(8 * reading.bytes / float(lowest))
    said = f"{slow} while others use the rest: {Rate(float(lowest))} is guaranteed"
    return reading.serving(None, note(said))


def _framed(reading: ConfiguredQueue, served: Served, line: int, port: Port) -> ConfiguredQueue:
    """Return a reading whose packets have ``line`` bytes each at the rate."""
    if reading.bytes is None or served.rate_bps is None:
        return reading
    said = note(f"a packet of {port.packet_bytes} B is {line} B on the line")
    if reading.served is None:
        drain = 8 * reading.bytes * line / port.packet_bytes / served.rate_bps
        reading = reading.serving(replace(served, drain_s=drain))
    return reading.serving(None, said)


def _is_tight(node: Node, frame: int) -> bool:
    """Whether a full packet is larger than the bucket of a tbf, which then drops it."""
    burst = _burst(node.options) if node.kind == "tbf" else None
    return burst is not None and burst < frame


def _burst(options: list[str]) -> int | None:
    keys = (value(options, key) for key in ("burst", "buffer", "maxburst"))
    return tc_units.size(next((each for each in keys if each), "").partition("/")[0])


def _within_memory(reading: ConfiguredQueue, options: list[str], port: Port) -> ConfiguredQueue:
    """Return fq_codel's reading by its memory limit, if that is the smaller one."""
    memory = tc_units.size(value(options, "memory_limit") or "")
    if memory is None or reading.bytes is None or memory >= reading.bytes:
        return reading
    said = trap("memory_limit comes first; it counts the kernel's memory, overhead included")
    held = replace(reading, bytes=memory, packets=memory // port.packet_bytes)
    return held.serving(None, said)


def _qdisc(place: Place, kind: str, options: list[str], port: Port) -> ConfiguredQueue:
    if kind == "tbf":
        return _tbf(place, options, port)
    about = QDISCS[kind]
    text = value(options, "limit")
    if text is None:
        return _default(place, kind, about, options, port)
    shown = text.endswith("p") or (about.unit == "bytes" and text.endswith("b"))
    limit = tc_units.size(text.removesuffix("p") if shown else text)
    if limit is None or limit > _MOST:
        return place.unknown(trap(f'"{short(text, 30)}" is no limit that tc takes'))
    if kind == "netem":
        return netem(place, limit, options, port)
    notes = about.notes
    if about.unit == "packets":
        return place.of_packets(limit, port, notes)
    if text[-2:].lower() in ("kb", "mb", "gb") or text[-1:].lower() in ("k", "m", "g"):
        notes = (*notes, trap("tc's k and m are 1024 and 1048576 bytes"))
    reading = _of_frames(place, limit, port)
    rounding = 1024 + limit // 1000 if shown and text[-2:-1].isalpha() else 1
    marks = _step(options, port) if kind == "red" else None
    notes = (*notes, *reading.notes)
    return replace(reading, notes=notes, rounding_bytes=rounding, marks_bytes=marks)


def _aims(kind: str, options: list[str], port: Port) -> tuple[float, ...]:
    """Return red's min and max in bytes without headers, or the target in s."""
    if kind == "red":
        frame = port.packet_bytes + port.header_bytes
        ends = [tc_units.size(value(options, end) or "") for end in ("min", "max")]
        return tuple(end * port.packet_bytes / frame for end in ends if end is not None)
    target = tc_units.time(value(options, "target") or "")
    default = default_target_s(kind)
    return () if default is None else (default if target is None else float(target),)


def _step(options: list[str], port: Port) -> int | None:
    """Return the step of a red that marks: its thresholds are at most a frame apart."""
    low, high = (tc_units.size(value(options, end) or "") for end in ("min", "max"))
    frame = port.packet_bytes + port.header_bytes
    if low is None or high is None or "ecn" not in options or not 0 < high - low <= frame:
        return None
    return low * port.packet_bytes // frame


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
            reading = netem(place, about.default, options, port)
        return replace(reading, notes=(said, *dict.fromkeys((*about.notes, *reading.notes))))
    if kind == "bfifo":
        frame = port.packet_bytes + port.header_bytes
        reading = _of_frames(place, TXQUEUELEN * frame, port)
        more = uncertain(f"assumed to be txqueuelen {TXQUEUELEN} times a full frame of {frame} B")
        return replace(reading, notes=(said, more, *about.notes))
    return place.unknown(said, *about.notes)


def netem(place: Place, limit: int, options: list[str], port: Port) -> ConfiguredQueue:
    """Subtract the packets in flight, because netem stores them in the same queue."""
    delay = tc_units.time(value(options, "delay") or value(options, "latency") or "0us")
    rate = tc_units.rate(value(options, "rate") or "") or Fraction(port.rate_bps)
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
    """Read a tbf: what waits behind its burst drains at its own rate."""
    rate = tc_units.rate(value(options, "rate") or "")
    burst = _burst(options)
    limit = tc_units.size(value(options, "limit") or "")
    latency = tc_units.time(value(options, "latency") or value(options, "lat") or "")
    said: tuple[Note, ...] = ()
    if limit is None and rate is not None and latency is not None and burst is not None:
        limit = floor(rate * latency / 8) + burst
        said = (note("limit = rate x latency + burst, at tbf's own rate"),)
    if limit is None or limit > _MOST:
        return place.unknown(trap("tbf needs rate, burst, and limit or latency"))
    reading = _of_frames(place, limit, port)
    if rate:
        drain = max(limit - (burst or 0), 0) * 8 / float(rate)
        reading = reading.serving(Served(float(rate), "tbf's own rate", drain))
    notes = (*said, *QDISCS["tbf"].notes, *reading.notes)
    return replace(reading, notes=notes, rounding_bytes=1)


PLATFORM = Platform(
    name="linux-tc",
    title="Linux tc",
    comment="#",
    forms=("bytes", "packets"),
    models=("linux",),
    interface="eth0",
    tells=(
        r"\btc\s+(-\S+\s+)*(qdisc|class)\b",
        r"^\s*qdisc\s+\w+\s+[0-9a-f]*:",
        r"\bdev\s+\S+\s+root\b",
        *openwrt_sqm.TELLS,
    ),
    source="iproute2's tc and the kernel's net/sched (sch_fifo, sch_netem), tried on 6.18",
    rounds=note("rounding: up to a whole byte or packet; the kernel takes the number as it stands"),
    write=_write,
    read=_read,
    unread=matching(
        r"\bqdisc\s+(add|replace|change|link)\b|^\s*qdisc\s|\btxqueuelen\b|\bbyte_queue_limits\b"
        r"|\bethtool\s+-G\b|\boption\s+(ilimit|elimit|qdisc|i?q?disc_opts|eqdisc_opts)\b|\.[ie]limit="
    ),
)
