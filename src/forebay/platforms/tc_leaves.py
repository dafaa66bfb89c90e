"""The queues of tc's lines: each leaf's size, and the rate at which it drains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor

from forebay.catalogue import DISCIPLINES
from forebay.platforms import tc_tree
from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    inside,
    note,
    say_time,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet
from forebay.platforms.tc_tree import (
    CLASSFUL,
    FIFOS,
    QDISCS,
    TXQUEUELEN,
    WITHOUT_LIMIT,
    Node,
    Qdisc,
    Tree,
    value,
)
from forebay.scenario import Rate

_MOST = 2**32 - 1


def read(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
    """Yield the queues of tc's lines."""
    tree = Tree.of(snippet)
    above = {each.line for node in tree.qdiscs for each in tree.above(node)}
    for node in (each for each in tree.qdiscs if each.line not in above):
        yield _node(snippet, node, tree, port)


def _node(snippet: Snippet, node: Node, tree: Tree, port: Port) -> ConfiguredQueue:
    written = short(" ".join([node.kind, *node.options]))
    place = Place(node.line, short(f"dev {node.device}"), written)
    if node.kind == "cake":
        return replace(cake(snippet, place, node.options, port), discipline="cake")
    if node.kind in CLASSFUL:
        said = f"{node.kind} itself has no limit to read; see its leaves"
        return place.unknown(trap(WITHOUT_LIMIT.get(node.kind, said)))
    return _leaf(place, node, tree, port)


def _leaf(place: Place, node: Node, tree: Tree, port: Port) -> ConfiguredQueue:
    """Read a qdisc that holds packets, and the rate at which it may drain."""
    served, lowest, above = tree.served(node), tree.guaranteed(node), list(tree.above(node))
    plain, frame = port.frame_bytes, tree.framed(node, port)
    port = replace(port, header_bytes=frame - port.packet_bytes)
    seen = inside(port, served)
    bursts = (_burst(each.options) for each in (node, *above) if each.kind == "tbf")
    tight = next((burst for burst in bursts if burst is not None and burst < frame), None)
    if tight is not None:
        said = f"tbf's burst of {tight} B: no larger packet ever leaves"
        return place.unknown(trap(said)).serving(None, also=(each.line for each in above))
    reading = _qdisc(place, node.kind, node.options, seen)
    line = tree.on_the_line(node, frame)
    if served is not None and line != plain:
        reading = _framed(reading, served, line, port)
    reading = reading.serving(served, also=(each.line for each in above))
    aims = _aims(node.kind, node.options, seen)
    reading = replace(
        reading, discipline="drop-tail" if node.kind in FIFOS else node.kind, aims=aims
    )
    memory = tc_tree.size(value(node.options, "memory_limit") or "")
    if memory is not None and reading.bytes is not None and memory < reading.bytes:
        reading = replace(reading, bytes=memory, packets=memory // port.packet_bytes)
        said = "memory_limit comes first; it counts the kernel's memory, overhead included"
        reading = reading.serving(None, trap(said))
    for each in above:
        limit = value(each.options, "limit")
        if each.kind == "netem" and limit is not None:
            most = f"netem above it holds at most {short(limit, 30)} packets"
            reading = reading.serving(None, trap(f"{most}, those in flight included"))
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


def _burst(options: list[str]) -> int | None:
    keys = (value(options, key) for key in ("burst", "buffer", "maxburst"))
    return tc_tree.size(next((each for each in keys if each), "").partition("/")[0])


def _qdisc(place: Place, kind: str, options: list[str], port: Port) -> ConfiguredQueue:
    if kind == "tbf":
        return _tbf(place, options, port)
    about = QDISCS[kind]
    text = value(options, "limit")
    if text is None:
        return _default(place, kind, about, options, port)
    shown = text.endswith("p") or (about.unit == "bytes" and text.endswith("b"))
    limit = tc_tree.size(text.removesuffix("p") if shown else text)
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
        ends = [tc_tree.size(value(options, end) or "") for end in ("min", "max")]
        return tuple(end * port.packet_bytes / port.frame_bytes for end in ends if end is not None)
    target, record = tc_tree.time(value(options, "target") or ""), DISCIPLINES.get(kind)
    default = None if record is None else record.default_target_s
    return () if default is None else (default if target is None else float(target),)


def _step(options: list[str], port: Port) -> int | None:
    """Return the step of a red that marks: its thresholds are at most a frame apart."""
    low, high = (tc_tree.size(value(options, end) or "") for end in ("min", "max"))
    frame = port.frame_bytes
    if low is None or high is None or "ecn" not in options or not 0 < high - low <= frame:
        return None
    return low * port.packet_bytes // frame


def _of_frames(place: Place, limit: int, port: Port) -> ConfiguredQueue:
    """Read a limit that includes link-layer headers, as bytes of packets without them."""
    return place.of_bytes(limit * port.packet_bytes // port.frame_bytes, port)


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
        reading = _of_frames(place, TXQUEUELEN * port.frame_bytes, port)
        frames = f"{TXQUEUELEN} times a full frame of {port.frame_bytes} B"
        more = uncertain(f"assumed to be txqueuelen {frames}")
        return replace(reading, notes=(said, more, *about.notes))
    return place.unknown(said, *about.notes)


def netem(place: Place, limit: int, options: list[str], port: Port) -> ConfiguredQueue:
    """Subtract the packets in flight, because netem stores them in the same queue."""
    delay = tc_tree.time(value(options, "delay") or value(options, "latency") or "0us")
    rate = tc_tree.rate(value(options, "rate") or "") or Fraction(port.rate_bps)
    if delay is None:
        return place.unknown(trap("netem's delay could not be read, and it is part of the limit"))
    per_s = min(rate, Fraction(port.rate_bps)) / (8 * port.frame_bytes)
    flying = floor(per_s * delay)
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
    rate = tc_tree.rate(value(options, "rate") or "")
    burst = _burst(options)
    limit = tc_tree.size(value(options, "limit") or "")
    latency = tc_tree.time(value(options, "latency") or value(options, "lat") or "")
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


_LEAST_MEMORY = 4 << 20
_RTTS = {
    "datacentre": 100, "lan": 1000, "metro": 10_000, "regional": 30_000, "internet": 100_000,
    "oceanic": 300_000, "satellite": 1_000_000, "interplanetary": 1_000_000_000,
}  # fmt: skip
_MEMORY = trap(
    "the limit counts the kernel's memory, overhead included, and only guards: cake drops when "
    "packets have waited longer than its target"
)


def cake(snippet: Snippet, place: Place, options: list[str], port: Port) -> ConfiguredQueue:
    """Return cake's memory limit, its rate and its target.

    The limit is memlimit, or what "tc -s" shows below the line. Without either it is what
    sch_cake takes: four times rate x rtt, at least 4 MiB; without a rate it has none.
    """
    rate = tc_tree.rate(value(options, "bandwidth") or "") or None
    named = next((Fraction(_RTTS[word], 10**6) for word in options if word in _RTTS), None)
    rtt = tc_tree.time(value(options, "rtt") or "") or named or Fraction(1, 10)
    shown = _shown(snippet, place.line)
    limit = tc_tree.size(value(options, "memlimit") or "")
    notes = [note(f"rtt {say_time(float(rtt))}, so target {say_time(float(rtt / 20))}")]
    if limit is None and shown is None and rate is not None:
        limit = max(floor(rate * rtt / 2), _LEAST_MEMORY)
        notes.append(trap("nobody chose this: 4 x bandwidth x rtt, at least 4 MiB"))
    size = shown[1] if shown else limit
    served = Served(float(rate), "cake's bandwidth") if rate else None
    if size is None:
        said = trap("cake without bandwidth and memlimit has no limit of its own")
        return place.unknown(*notes, said)
    reading = place.of_bytes(size, port, (*notes, _MEMORY))
    return replace(reading, served=served, also=frozenset(shown[:1] if shown else ()))


def _shown(snippet: Snippet, line: int) -> tuple[int, int] | None:
    """Return line and bytes of "memory used: A of B" below a qdisc; None if it is not shown."""
    for statement in snippet.lines():
        words = statement.words
        if statement.line > line and words[0] == "qdisc":
            return None
        if statement.line > line and words[:2] == ("memory", "used:"):
            size = tc_tree.size(words[-1])
            return None if size is None else (statement.line, size)
    return None
