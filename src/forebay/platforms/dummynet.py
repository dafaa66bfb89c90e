"""dummynet of FreeBSD and macOS: a pipe of ipfw or dnctl, or a queue of one."""

import re
from collections.abc import Iterator
from dataclasses import replace

from forebay.platforms.notes import note, trap
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, short, whole

_SLOTS, _MOST_SLOTS, _MOST_BYTES = 50, 100, 1 << 20
_RATE = re.compile(
    r"([0-9]{1,12})(?:\.([0-9]{1,6}))?([kmg]?)(bit/s|bits/s|bps|byte/s|bytes/s|b/s)?", re.I
)
_SIZE = re.compile(r"([0-9]{1,12})(?:(k?)(b|bytes?)?)", re.I)
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_ANY_SIZE = trap("slots count packets of any size: small packets fill them with fewer bytes")
_LIMITS = trap(
    f"more than the {_MOST_SLOTS} slots or 1 MiB that a queue has until "
    "net.inet.ip.dummynet.pipe_slot_limit or pipe_byte_limit is raised"
)
_FLYING = note("packets of the pipe's own delay are not in its queue")
_MANAGED = {
    "codel": "codel", "fq_codel": "fq_codel", "pie": "pie", "fq_pie": None, "red": "red",
    "gred": None,
}  # fmt: skip


def _write(order: Order) -> Written:
    port, size = order.port, order.wanted.bytes
    slots, kilobytes = order.wanted.whole_packets(port), -(-size // 1024)
    if max(size, slots) > 2**31:
        raise PlatformError("too-large.dummynet", value=size)
    value, rounding, above = f"{slots}", port.packet_bytes - 1, slots > _MOST_SLOTS
    if order.form == "bytes":
        value, rounding, above = f"{kilobytes}KBytes", 1024, kilobytes * 1024 > _MOST_BYTES
    lines = (
        f"ipfw pipe {order.number} config bw {port.rate_in()}bit/s queue {value}",
        f"ipfw add pipe {order.number} ip from any to any out via {order.interface}",
    )
    left = port.burst_unwritten("a pipe's burst is after idle times alone")
    return Written(lines, rounding, (*left, *((_LIMITS,) if above else ())))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    every = [(each.line, *found) for each in snippet.lines() if (found := _configured(each.words))]
    pipes = {number: words for _, kind, number, words in every if kind == "pipe"}
    queued = {_after(words, "pipe") for _, kind, _, words in every if kind == "queue"}
    for line, kind, number, words in every:
        if kind == "sched" or (kind == "pipe" and number in queued):
            continue
        named = _after(words, "pipe", "sched")
        served = _served(number if kind == "pipe" else named, pipes)
        managed = next((word for word in words if word in _MANAGED), "")
        early = (trap(f"{managed} drops before it is full: the limit is a last resort"),)
        also = (row for row, what, own, _ in every if what == "pipe" and own == named)
        reading = _size(Place.of(line, f"{kind} {number}", " ".join(words), port), words)
        reading = reading.serving(served, *(early if managed else ()), also=also)
        yield replace(reading, discipline=_MANAGED[managed] if managed else "drop-tail")


def _configured(words: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]] | None:
    """Return kind, number and options of "ipfw pipe 1 config ..."; None for another line."""
    for at, word in enumerate(words[:6]):
        if word in ("pipe", "queue", "sched") and words[at + 2 : at + 3] == ("config",):
            return word, words[at + 1], words[at + 3 :]
    return None


def _after(words: tuple[str, ...], *keys: str) -> str:
    return next((words[at + 1] for at, word in enumerate(words[:-1]) if word in keys), "")


def _served(name: str, pipes: dict[str, tuple[str, ...]]) -> Served | None:
    if name not in pipes:
        return Served(None, f"pipe {short(name or '?', 20)} of the queue is not in this text")
    text = _after(pipes[name], "bw", "bandwidth")
    match = _RATE.fullmatch(text)
    if not text or text == "0":
        return None
    if match is None:
        return Served.untold(f"bw {text}")
    number, part, scale, unit = match.groups("")
    bits = 8 if unit.lower() in ("byte/s", "bytes/s", "b/s") and "B" in unit else 1
    rate = float(f"{number}.{part or 0}") * _SCALES[scale.lower()] * bits
    return Served(rate, "its pipe's bw") if rate else None


def _size(place: Place, words: tuple[str, ...]) -> ConfiguredQueue:
    text = _after(words, "queue")
    notes = (_FLYING,) if "delay" in words else ()
    if not text:
        said = trap(f"nobody chose this: without queue it is {_SLOTS} slots")
        return place.of_packets(_SLOTS, said, _ANY_SIZE, *notes)
    match = _SIZE.fullmatch(text)
    value = whole(match[1], 2**31) if match else None
    if match is None or not value:
        return place.unclear("queue")
    if not match[2] and not match[3]:
        above = (_LIMITS,) if value > _MOST_SLOTS else ()
        return place.of_packets(value, *above, _ANY_SIZE, *notes)
    step = 1024 if match[2] else 1
    above = (_LIMITS,) if value * step > _MOST_BYTES else ()
    return place.of_bytes(value * step, *above, *notes, rounding=step if match[2] else 0)


DUMMYNET = Platform(
    name="dummynet",
    title="dummynet (ipfw, dnctl)",
    forms=("bytes", "packets"),
    models=("freebsd",),
    interface="em0",
    tells=(
        r"\b(ipfw|dnctl)\b.*\b(pipe|queue|sched)\s+\d+\s+config\b",
        r"^\s*(pipe|queue)\s+\d+\s+config\b.*\b(bw|queue|delay|weight)\b",
        r"\bnet\.inet\.ip\.dummynet\.",
    ),
    source="ipfw(8): pipe, queue and sched configuration; K of a queue is 1024 B",
    rounds=note("rounding: up to a whole slot or kilobyte of 1024 B"),
    write=_write,
    read=_read,
    unread=matching(r"\b(pipe|queue|sched)\s+\d+\s+config\b|\bpipe_(slot|byte)_limit\b"),
)
