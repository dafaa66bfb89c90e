"""Linux: tc qdisc, as commands, and as the output of ``tc qdisc show``; also OpenWrt's sqm-scripts,
as /etc/config/sqm or ``uci show sqm``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from forebay.errors import option, setting
from forebay.platforms import tc_leaves
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import (
    GUARD,
    ConfiguredQueue,
    Note,
    Place,
    Served,
    inside,
    note,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, Statement, whole

if TYPE_CHECKING:
    from forebay.outcome import Aqm

_MOST = 2**32 - 1
LEAST_BURST = 10_000  # without a bucket in the scenario: some packets
BOTTLENECK = trap(
    "packets wait here only if this device is the slowest link; the driver's ring (BQL) holds "
    "some more"
)
BELOW_TBF = note("tbf shapes, and its child holds the packets: tbf's own limit is then not used")


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
        hint = f"ask for less, or write {option('form', 'packets')}"
        raise PlatformError("too-large", wrong, hint)
    return Written(*_lines(order, f"{kind} limit {limit}", rounding))


def _lines(order: Order, leaf: str, rounding: int) -> tuple[tuple[str, ...], int, tuple[Note, ...]]:
    """Return the commands for a leaf, below a tbf if the port is shaped, with a remark."""
    port, device = order.port, f"tc qdisc replace dev {order.interface}"
    if not port.is_shaped:
        return (f"{device} root {leaf}",), rounding, (BOTTLENECK,)
    frame, table = _frame(port), _table(port)
    # A smaller bucket than a packet's lets none pass.
    burst = max(port.burst_bytes or LEAST_BURST, frame)
    limit = min(_MOST, order.wanted.bytes * frame) // port.packet_bytes + 1
    shaper = f"{table[0]}tbf rate {_rate(port)}bit burst {burst} limit {limit}"
    lines = (f"{device} root handle 1: {shaper}", f"{device} parent 1:1 {leaf}")
    return lines, rounding, (BELOW_TBF, *table[1])


def _frame(port: Port) -> int:
    """Return the bytes that a full packet counts as, with the size table of a line's framing."""
    if not port.is_shaped or port.framing is None:
        return port.frame_bytes
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
        ends = (aqm.min_bytes, aqm.max_bytes)
        low, high = (-(-size * frame // port.packet_bytes) for size in ends)
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
    return Written(lines, rounding, (GUARD, *notes))


def _refuse_unwritable(interface: str, aqm: Aqm, port: Port) -> None:
    """Refuse a discipline without a limit in tc, or unknown to tc. Raises PlatformError."""
    if aqm.discipline == "cake":
        wrong = "tc's cake has no limit in packets or bytes that could be read back"
        rtt = ceil(1e6 * (aqm.interval_s or 0.0))
        line = f"tc qdisc replace dev {interface} root cake besteffort flows rtt {rtt}us"
        hint = f"write by hand: {line}{_of_cake(port)} (and bandwidth, if it shapes)"
        raise PlatformError("managed", wrong, hint)
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
    yield from _sqm(snippet, port)
    yield from tc_leaves.read(snippet, port)


_SQM_TELLS = (r"^\s*config queue\b", r"^\s*option (qdisc|script|upload|download)\b", r"\bsqm\.\S+=")

_WAYS = (("egress", "upload", "elimit"), ("ingress", "download", "ilimit"))
_DEFAULT = 1001  # LIMIT of sqm-scripts' defaults.sh
_GATED = uncertain(
    f"the limit is taken although qdisc_advanced is not 1; older scripts then have {_DEFAULT}"
)
_SHARED = trap("fq_codel and the like drop before they are full: the limit is a last resort")


@dataclass(slots=True)
class _Queue:
    """A section of sqm: the words and lines of its options."""

    name: str
    line: int
    options: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)

    def add(self, key: str, words: tuple[str, ...], line: int) -> None:
        """Add an option."""
        self.options[key] = " ".join(words).strip("'\"")
        self.lines.add(line)


def _sqm(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
    """Yield the queue of each direction that has a rate; sqm does not shape at rate 0."""
    for queue in _queues(snippet):
        off = (trap("enabled is 0: nothing of it is set up"),)
        notes = off if queue.options.get("enabled") == "0" else ()
        for way, rate, limit in _WAYS:
            kbits = whole(queue.options.get(rate, ""), 10**10)
            if kbits:
                served = Served(1000.0 * kbits, f"sqm's {rate}")
                reading = _way(snippet, queue, way, limit, inside(port, served))
                yield reading.serving(served, *notes, also=queue.lines)


def _way(snippet: Snippet, queue: _Queue, way: str, limit: str, port: Port) -> ConfiguredQueue:
    kind = queue.options.get("qdisc", "fq_codel")
    device = queue.options.get("interface", queue.name)
    place = Place(queue.line, short(f"sqm {device}, {way}"), short(f"qdisc {kind}"))
    if kind == "cake":
        handed = queue.options.get("eqdisc_opts" if limit == "elimit" else "iqdisc_opts", "")
        words = ["bandwidth", f"{int(port.rate_bps)}bit", *handed.split()]
        return tc_leaves.cake(Snippet(""), place, words, port)
    packets = whole(queue.options.get(limit, ""), 10**9)
    notes = (_SHARED,) if "codel" in kind or kind == "pie" else ()
    if packets and queue.options.get("qdisc_advanced") != "1":
        notes = (_GATED, *notes)
    if not packets:
        said = trap(f"nobody chose this: sqm's default of {_DEFAULT} packets")
        return place.of_packets(_DEFAULT, port, (said, *notes))
    return place.of_packets(packets, port, notes)


def _queues(snippet: Snippet) -> list[_Queue]:
    found: dict[str, _Queue] = {}
    name = ""
    for statement in snippet.lines():
        words = statement.words
        if words[:2] == ("config", "queue"):
            name = words[2].strip("'\"") if len(words) > 2 else f"@queue[{len(found)}]"
            found[name] = _Queue(name, statement.line)
        elif words[0] == "config":
            name = ""
        elif name and words[0] == "option" and len(words) > 2:
            found[name].add(words[1], words[2:], statement.line)
        else:
            _of_uci(found, statement)
    return list(found.values())


def _of_uci(found: dict[str, _Queue], statement: Statement) -> None:
    """Add a line of "uci show sqm", or "uci set sqm.wan.upload='10000'"."""
    words = statement.words[2:] if statement.words[:2] == ("uci", "set") else statement.words
    path, equals, first = words[0].partition("=") if words else ("", "", "")
    parts = path.split(".")
    if equals and parts[0] == "sqm" and len(parts) == 3:
        queue = found.setdefault(parts[1], _Queue(parts[1], statement.line))
        queue.add(parts[2], (first, *words[1:]), statement.line)


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
        *_SQM_TELLS,
    ),
    source="iproute2's tc and the kernel's net/sched (sch_fifo, sch_netem), tried on 6.18",
    rounds=note("rounding: up to a whole byte or packet; the kernel takes the number as it stands"),
    manages=("red", "pie", "codel", "fq_codel", "dualpi2", "cake", "cobalt"),
    write=_write,
    read=_read,
    unread=matching(
        r"\bqdisc\s+(add|replace|change|link)\b|^\s*qdisc\s|\btxqueuelen\b|\bbyte_queue_limits\b"
        r"|\bethtool\s+-G\b|\boption\s+(ilimit|elimit|qdisc|i?q?disc_opts|eqdisc_opts)\b|\.[ie]limit="
    ),
)
