"""Queues of tc's lines: the tree of qdiscs and classes, and each leaf's size and rate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Literal

from forebay.catalogue import DISCIPLINES
from forebay.platforms.notes import Note, note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served, say_time
from forebay.platforms.snippet import Snippet, short, whole
from forebay.scenario import FRAMINGS, Rate

_MOST = 2**32 - 1
_NUMBER = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?([A-Za-z]{0,6})")
_SIZES: dict[str, int | Fraction] = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": Fraction(2**10, 8), "mbit": Fraction(2**20, 8), "gbit": Fraction(2**30, 8),
}  # fmt: skip
_RATES = {
    "": 1, "bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12,
    "kibit": 2**10, "mibit": 2**20, "gibit": 2**30, "tibit": 2**40,
    "bps": 8, "kbps": 8 * 10**3, "mbps": 8 * 10**6, "gbps": 8 * 10**9, "tbps": 8 * 10**12,
    "kibps": 8 * 2**10, "mibps": 8 * 2**20, "gibps": 8 * 2**30, "tibps": 8 * 2**40,
}  # fmt: skip
_SECONDS = {"": 1, "m": 10**3, "u": 10**6, "n": 10**9}
_TIMES = {"": Fraction(1, 10**6)} | {
    f"{prefix}{unit}": Fraction(1, parts)
    for prefix, parts in _SECONDS.items()
    for unit in ("s", "sec", "secs")
}


def to_bytes(text: str | None) -> int | None:
    """Return bytes; tc's k, m and g are powers of 1024."""
    amount = _amount(text, _SIZES)
    return None if amount is None else int(amount)


def to_rate(text: str | None) -> Fraction | None:
    """Return bit/s; in tc "bps" means bytes per second."""
    return _amount(text, _RATES)


def to_seconds(text: str | None) -> Fraction | None:
    """Return seconds; a bare number is microseconds."""
    return _amount(text, _TIMES)


def _amount(text: str | None, units: Mapping[str, int | Fraction]) -> Fraction | None:
    match = _NUMBER.fullmatch(text or "")
    if match is None or match[3].lower() not in units:
        return None
    before, part, unit = match.groups("")
    number = int(before) + Fraction(int(part or 0), 10 ** len(part))
    return number * units[unit.lower()]


_TXQUEUELEN = 1000
"""Linux's default length of an interface's queue, packets."""


@dataclass(frozen=True, slots=True)
class Qdisc:
    """``default`` is in ``unit``; None if there is practically no limit."""

    unit: Literal["bytes", "packets"]
    default: int | None
    notes: tuple[Note, ...] = ()


def _simulated(name: str, *notes: Note) -> Qdisc:
    """Return a qdisc that a scenario can have, from its record in the catalogue."""
    (record,) = (discipline for discipline in DISCIPLINES.values() if discipline.in_tc == name)
    return Qdisc("bytes" if record.counts_bytes else "packets", record.default_limit, notes)


_GSO = trap("a packet here may be a GSO super-packet of up to 64 kB: bfifo bounds bytes")
_HEADER = note("counts the link-layer header of each packet, but not preamble and checksum")
_AQM = trap("drops before it is full: the limit is a last resort, not the queue that forms")
_FLOWS = trap("shares its packets out to many queues: no one queue has this size")

QDISCS = {
    "bfifo": _simulated("bfifo", _HEADER),
    "pfifo": _simulated("pfifo", _GSO),
    "pfifo_head_drop": _simulated("pfifo_head_drop", _GSO, trap("drops the oldest packet")),
    "pfifo_fast": Qdisc("packets", _TXQUEUELEN, (_GSO, trap("three bands of this size each"))),
    "netem": Qdisc("packets", 1000, (_GSO,)),
    "tbf": Qdisc("bytes", None, (_HEADER,)),
    "red": _simulated("red", _HEADER, _AQM),
    "sfq": Qdisc("packets", 127, (_GSO, _FLOWS)),
    "codel": _simulated("codel", _GSO, _AQM),
    "fq_codel": _simulated("fq_codel", _GSO, _AQM, _FLOWS),
    "fq": Qdisc("packets", 10000, (_GSO, _FLOWS)),
    "pie": _simulated("pie", _GSO, _AQM),
    "fq_pie": Qdisc("packets", 10240, (_GSO, _AQM, _FLOWS)),
    "dualpi2": _simulated("dualpi2", _AQM, trap("shares its packets out to two queues")),
}

_CLASSFUL = ("htb", "hfsc", "prio", "drr", "ets", "mq", "mqprio", "cake", "noqueue")
"""Kinds whose packets wait in leaf qdiscs, or that choose their own size."""

_FIFOS = ("pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "netem", "tbf")
"""Kinds that drop what does not fit, and nothing before: a scenario's drop-tail."""


_DEEPEST = 16
_KINDS = frozenset((*QDISCS, *_CLASSFUL))
_OWN = {"tbf": "rate", "netem": "rate", "cake": "bandwidth"}
_WITH_CLASSES = ("htb", "hfsc", "drr", "qfq", "cbq")
"""Kinds whose classes someone makes; those of others are there without a line of their own."""

_VERBS = ("add", "change", "replace", "link")
_FLAGS, _NAMED = ("root", "ingress", "clsact"), ("dev", "parent", "handle", "classid")
_STAB = ("mtu", "mpu", "tsize", "overhead", "linklayer")
_CELLS = {"atm": FRAMINGS["atm"], "adsl": FRAMINGS["atm"], "ptm": FRAMINGS["ptm"]}


def value(words: list[str], key: str) -> str | None:
    """Return the word after ``key``, if there is one."""
    return words[words.index(key) + 1] if key in words[:-1] else None


@dataclass(frozen=True, slots=True)
class Node:
    """A qdisc or class of a device: its number (such as "1:30"), its parent's, and its words.

    ``stab`` has the words of a size table, which counts what the line adds to a packet.
    """

    line: int
    is_class: bool
    device: str
    number: str
    parent: str
    kind: str
    options: list[str]
    stab: list[str] = field(default_factory=list)

    @property
    def rates(self) -> tuple[Fraction | None, Fraction | None]:
        """The guaranteed rate and the ceiling of a class; the second is that of a qdisc."""
        if self.kind == "hfsc":
            return self._curve("sc") or self._curve("rt"), self._curve("ul")
        if self.kind == "htb":
            rate = self._rate("rate")
            return rate, self._rate("ceil") or rate
        return None, self._rate(_OWN[self.kind]) if self.kind in _OWN else None

    @property
    def untold(self) -> str:
        """Why the rate of a node is not known, though it has one; "" if it is known or has none."""
        key = {"htb": ("rate", "ceil")}.get(self.kind, (_OWN.get(self.kind, ""),))
        words = (value(self.options, name) for name in key)
        unknown = [word for word in words if word and to_rate(word) is None]
        if unknown:
            said = f'the rate "{short(unknown[0], 30)}" is not known'
            return f"{said}: the queue may drain more slowly"
        if self.kind in _KINDS:
            return ""
        return f"what {short(self.kind, 30)} above it does is not read"

    def _rate(self, key: str) -> Fraction | None:
        return to_rate(value(self.options, key))

    def _curve(self, key: str) -> Fraction | None:
        """Return the second slope of a service curve: "m2 50mbit" or "rate 50mbit"."""
        if key not in self.options:
            return None
        after = self.options[self.options.index(key) + 1 :][:8]
        return to_rate(value(after, "m2") or value(after, "rate"))


@dataclass(slots=True)
class Tree:
    """Nodes by device and number; a text of one device may leave its name out."""

    qdiscs: list[Node] = field(default_factory=list)
    nodes: dict[tuple[str, str], Node] = field(default_factory=dict)
    any_device: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, snippet: Snippet) -> Tree:
        """Return the tree of a snippet."""
        tree, last = cls(), None
        for statement in snippet.lines():
            node = _node(statement.line, list(statement.words))
            if statement.words[0] in _STAB and last is not None:
                last.stab.extend(statement.words)  # shown with -d, in a line of its own
            last = node
            if node is not None and node.number:
                tree.nodes[node.device, node.number] = node
                tree.any_device.setdefault(node.number, node)
            if node is not None and not node.is_class and node.kind in _KINDS:
                tree.qdiscs.append(node)
        return tree

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the class or qdisc above a node, and so on."""
        for _ in range(_DEEPEST):
            parent = self._parent(node)
            if parent is None or parent.line == node.line:
                return
            yield parent
            node = parent

    def _parent(self, node: Node) -> Node | None:
        if not node.parent and (node.number.endswith(":") or not node.number):
            return None  # a root; many may be called 0:
        major = (node.parent or node.number).partition(":")[0]
        return self._find(node.device, node.parent) or self._find(node.device, f"{major}:")

    def _find(self, device: str, number: str) -> Node | None:
        """Return a node of a device; without its name in the text, of any."""
        node = self.nodes.get((device, number)) or self.nodes.get(("?", number))
        return self.any_device.get(number) if node is None and device == "?" else node

    def _missing(self, node: Node) -> str:
        """Return the parent of a leaf that decides its rate and is not in the text; "" if it is."""
        major, _, minor = node.parent.partition(":")
        if not major or self._find(node.device, node.parent) is not None:
            return ""
        qdisc = self._find(node.device, f"{major}:")
        implied = qdisc is not None and qdisc.kind not in _WITH_CLASSES
        return "" if implied or (qdisc is not None and not minor) else node.parent

    def served(self, node: Node) -> Served | None:
        """Return the lowest rate on the way to the root at which a leaf may drain."""
        way = [node, *self.above(node)]
        untold = next((step.untold for step in way if step.untold), "")
        if untold:
            return Served(None, untold)
        known = [(rate, step) for step in way if (rate := step.rates[1])]
        missing = self._missing(node)
        if not known:
            said = f"the rate of its parent {short(missing, 20)} is not in this text"
            return Served(None, said) if missing else None
        rate, slowest = min(known, key=lambda pair: pair[0])
        if slowest is node:
            return Served(float(rate), f"{node.kind}'s own rate")
        of = "ceil of its class" if slowest.is_class else f"rate of its {slowest.kind}"
        return Served(float(rate), f"the {of}")

    def guaranteed(self, node: Node) -> Fraction | None:
        """Return the guaranteed rate of the class above a leaf."""
        return next((parent.rates[0] for parent in self.above(node) if parent.rates[0]), None)

    def framed(self, node: Node, port: Port) -> int:
        """Return the bytes that a full packet counts as: with what a stab above a leaf adds."""
        tables = (step.stab for step in (node, *self.above(node)) if step.stab)
        return next((wire(stab, port.frame_bytes) for stab in tables), port.frame_bytes)

    def on_the_line(self, node: Node, frame: int) -> int:
        """Return the bytes of a frame at the rate: htb and tbf may count cells of their own."""
        way = (step.options for step in (node, *self.above(node)) if step.kind in ("htb", "tbf"))
        return next((wire(options, frame) for options in way if "linklayer" in options), frame)


def wire(words: list[str], frame: int) -> int:
    """Return the bytes on the line of a frame, by overhead, mpu and linklayer (tc-stab(8))."""
    text = value(words, "overhead") or "0"
    overhead = whole(text.removeprefix("-"), 2000) or 0
    size = max(frame + (-overhead if text.startswith("-") else overhead), 1)
    least = whole(value(words, "mpu") or "0", 65_535) or 0
    cells = _CELLS.get(value(words, "linklayer") or "")
    return max(size, least) if cells is None else cells.on_line(max(size, least))


def _node(line: int, words: list[str]) -> Node | None:
    """Return the qdisc or class of a line, a command or what tc shows; None if it has none."""
    what = next((word for word in words[:6] if word in ("qdisc", "class")), "")
    after = words[words.index(what) + 1 :] if what else []
    if len(after) < 2:
        return None
    if after[0] in _VERBS:
        return _command(line, what == "class", after[1:])
    if words[0] != what or ":" not in after[1]:
        return None
    kind, number, options = after[0], after[1], after[2:]
    device, parent = (value(options, key) or "" for key in ("dev", "parent"))
    return Node(line, what == "class", device or "?", number, parent, kind, options)


def _command(line: int, is_class: bool, words: list[str]) -> Node | None:
    """Return the node of "dev eth0 parent 1: handle 2: stab ... KIND ...": the kind is no key."""
    at, named, stab = 0, dict[str, str](), list[str]()
    while at < len(words):
        word = words[at]
        if word in _NAMED:
            named[word] = "".join(words[at + 1 : at + 2])
            at += 2
        elif word == "stab" or (stab and word in _STAB):
            stab += words[at : at + (1 if word == "stab" else 2)]
            at += 1 if word == "stab" else 2
        elif word in _FLAGS or (word == "estimator"):
            at += 1 if word in _FLAGS else 3
        else:
            break
    if at >= len(words):
        return None
    number = named.get("classid" if is_class else "handle", "")
    device, parent = named.get("dev", "?"), named.get("parent", "")
    return Node(line, is_class, device, number, parent, words[at], words[at + 1 :], stab)


def read(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
    """Yield the queues of tc's lines."""
    tree = Tree.of(snippet)
    above = {parent.line for node in tree.qdiscs for parent in tree.above(node)}
    for node in (qdisc for qdisc in tree.qdiscs if qdisc.line not in above):
        written = " ".join([node.kind, *node.options])
        place = Place.of(node.line, f"dev {node.device}", written, port)
        if node.kind == "cake":
            yield replace(cake(snippet, place, node.options), discipline="cake")
        elif node.kind == "noqueue":
            yield place.unknown(trap("noqueue holds no packet: they go to the device at once"))
        elif node.kind in _CLASSFUL:
            said = f"{node.kind} itself has no limit to read; see its leaves"
            yield place.unknown(trap(said))
        else:
            yield _leaf(place, node, tree)


def _leaf(place: Place, node: Node, tree: Tree) -> ConfiguredQueue:
    """Read a qdisc that holds packets, and the rate at which it may drain."""
    served, lowest, above = tree.served(node), tree.guaranteed(node), list(tree.above(node))
    plain, frame = place.port.frame_bytes, tree.framed(node, place.port)
    port = replace(place.port, header_bytes=frame - place.port.packet_bytes).inside(served)
    place, also = replace(place, port=port), [parent.line for parent in above]
    bursts = (_burst(step.options) for step in (node, *above) if step.kind == "tbf")
    tight = next((burst for burst in bursts if burst is not None and burst < frame), None)
    if tight is not None:
        said = f"tbf's burst of {tight} B: no larger packet ever leaves"
        return place.unknown(trap(said)).with_notes(also=also)
    reading = _qdisc(place, node.kind, node.options)
    line = tree.on_the_line(node, frame)
    if served is not None and line != plain:
        reading = _framed(reading, served, line, port)
    discipline = "drop-tail" if node.kind in _FIFOS else node.kind
    aims = _aims(node.kind, node.options, port)
    reading = replace(reading.serving(served, also=also), discipline=discipline, aims=aims)
    memory = to_bytes(value(node.options, "memory_limit"))
    if memory is not None and reading.bytes is not None and memory < reading.bytes:
        reading = replace(reading, bytes=memory, packets=memory // port.packet_bytes)
        said = "memory_limit comes first; it counts the kernel's memory, overhead included"
        reading = reading.with_notes(trap(said))
    for parent in above:
        limit = value(parent.options, "limit")
        if parent.kind == "netem" and limit is not None:
            most = f"netem above it holds at most {short(limit, 30)} packets"
            reading = reading.with_notes(trap(f"{most}, those in flight included"))
    known = None if served is None else served.rate_bps
    if lowest is None or known is None or reading.bytes is None or lowest >= known:
        return reading
    slow = say_time(8 * reading.bytes / float(lowest))
    said = f"{slow} while others use the rest: {Rate(float(lowest))} is guaranteed"
    return reading.with_notes(note(said))


def _framed(reading: ConfiguredQueue, served: Served, line: int, port: Port) -> ConfiguredQueue:
    """Return a reading whose packets have ``line`` bytes each at the rate."""
    if reading.bytes is None or served.rate_bps is None:
        return reading
    said = note(f"a packet of {port.packet_bytes} B is {line} B on the line")
    if reading.served is None:
        drain = 8 * reading.bytes * line / port.packet_bytes / served.rate_bps
        reading = reading.serving(replace(served, drain_s=drain))
    return reading.with_notes(said)


def _burst(options: list[str]) -> int | None:
    keys = (value(options, key) for key in ("burst", "buffer", "maxburst"))
    return to_bytes(next((text for text in keys if text), "").partition("/")[0])


def _qdisc(place: Place, kind: str, options: list[str]) -> ConfiguredQueue:
    if kind == "tbf":
        return _tbf(place, options)
    about = QDISCS[kind]
    text = value(options, "limit")
    if text is None:
        return _default(place, kind, about, options)
    shown = text.endswith("p") or (about.unit == "bytes" and text.endswith("b"))
    limit = to_bytes(text.removesuffix("p") if shown else text)
    if limit is None or limit > _MOST:
        return place.unknown(trap(f'"{short(text, 30)}" is no limit that tc takes'))
    if kind == "netem":
        return netem(place, limit, options)
    if about.unit == "packets":
        return place.of_packets(limit, *about.notes)
    notes = about.notes
    if text[-2:].lower() in ("kb", "mb", "gb") or text[-1:].lower() in ("k", "m", "g"):
        notes = (*notes, trap("tc's k and m are 1024 and 1048576 bytes"))
    rounding = 1024 + limit // 1000 if shown and text[-2:-1].isalpha() else 1
    marks = _step(options, place.port) if kind == "red" else None
    return replace(_of_frames(place, limit, *notes, rounding=rounding), marks_bytes=marks)


def _aims(kind: str, options: list[str], port: Port) -> tuple[float, ...]:
    """Return red's min and max in bytes without headers, or the target in s."""
    if kind == "red":
        ends = [to_bytes(value(options, end)) for end in ("min", "max")]
        return tuple(end * port.packet_bytes / port.frame_bytes for end in ends if end is not None)
    target, record = to_seconds(value(options, "target")), DISCIPLINES.get(kind)
    default = None if record is None else record.default_target_s
    return () if default is None else (default if target is None else float(target),)


def _step(options: list[str], port: Port) -> int | None:
    """Return the step of a red that marks: its thresholds are at most a frame apart."""
    low, high = (to_bytes(value(options, end)) for end in ("min", "max"))
    frame = port.frame_bytes
    if low is None or high is None or "ecn" not in options or not 0 < high - low <= frame:
        return None
    return low * port.packet_bytes // frame


def _of_frames(place: Place, limit: int, *notes: Note, rounding: int = 0) -> ConfiguredQueue:
    """Read a limit that includes link-layer headers, as bytes of packets without them."""
    size = limit * place.port.packet_bytes // place.port.frame_bytes
    return place.of_bytes(size, *notes, rounding=rounding)


def _default(place: Place, kind: str, about: Qdisc, options: list[str]) -> ConfiguredQueue:
    said = trap(f"nobody chose this: {kind} without limit")
    if kind == "netem" and about.default is not None:
        reading = netem(place, about.default, options)
        return replace(reading, notes=(said, *dict.fromkeys((*about.notes, *reading.notes))))
    if about.default is not None:
        return place.of_packets(about.default, said, *about.notes)
    if kind == "bfifo":
        full = place.port.frame_bytes
        more = f"assumed to be txqueuelen {_TXQUEUELEN} times a full frame of {full} B"
        return _of_frames(place, _TXQUEUELEN * full, said, uncertain(more), *about.notes)
    return place.unknown(said, *about.notes)


def netem(place: Place, limit: int, options: list[str]) -> ConfiguredQueue:
    """Subtract the packets in flight, because netem stores them in the same queue."""
    port = place.port
    delay = to_seconds(value(options, "delay") or value(options, "latency") or "0us")
    rate = to_rate(value(options, "rate")) or Fraction(port.rate_bps)
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
        return place.of_packets(0, said, trap("the delay alone overflows the limit"))
    return place.of_packets(left, said, *QDISCS["netem"].notes)


def _tbf(place: Place, options: list[str]) -> ConfiguredQueue:
    """Read a tbf: what waits behind its burst drains at its own rate."""
    rate = to_rate(value(options, "rate"))
    burst = _burst(options)
    limit = to_bytes(value(options, "limit"))
    latency = to_seconds(value(options, "latency") or value(options, "lat"))
    said: tuple[Note, ...] = ()
    if limit is None and rate is not None and latency is not None and burst is not None:
        limit = floor(rate * latency / 8) + burst
        said = (note("limit = rate x latency + burst, at tbf's own rate"),)
    if limit is None or limit > _MOST:
        return place.unknown(trap("tbf needs rate, burst, and limit or latency"))
    reading = _of_frames(place, limit, *said, *QDISCS["tbf"].notes, rounding=1)
    if not rate:
        return reading
    drain = max(limit - (burst or 0), 0) * 8 / float(rate)
    return reading.serving(Served(float(rate), "tbf's own rate", drain))


_LEAST_MEMORY = 4 << 20
_RTTS = {
    "datacentre": 100, "lan": 1000, "metro": 10_000, "regional": 30_000, "internet": 100_000,
    "oceanic": 300_000, "satellite": 1_000_000, "interplanetary": 1_000_000_000,
}  # fmt: skip
_MEMORY = trap(
    "the limit counts the kernel's memory, overhead included, and only guards: cake drops when "
    "packets have waited longer than its target"
)


def cake(snippet: Snippet, place: Place, options: list[str]) -> ConfiguredQueue:
    """Return cake's memory limit, its rate and its target.

    The limit is memlimit, or what "tc -s" shows below the line. Without either it is what
    sch_cake takes: four times rate x rtt, at least 4 MiB; without a rate it has none.
    """
    rate = to_rate(value(options, "bandwidth")) or None
    named = next((Fraction(_RTTS[word], 10**6) for word in options if word in _RTTS), None)
    rtt = to_seconds(value(options, "rtt")) or named or Fraction(1, 10)
    shown = _shown(snippet, place.line)
    limit = shown[1] if shown else to_bytes(value(options, "memlimit"))
    notes = [note(f"rtt {say_time(float(rtt))}, so target {say_time(float(rtt / 20))}")]
    if limit is None and rate is not None:
        limit = max(floor(rate * rtt / 2), _LEAST_MEMORY)
        notes.append(trap("nobody chose this: 4 x bandwidth x rtt, at least 4 MiB"))
    if limit is None:
        said = trap("cake without bandwidth and memlimit has no limit of its own")
        return place.unknown(*notes, said)
    served = Served(float(rate), "cake's bandwidth") if rate else None
    reading = place.of_bytes(limit, *notes, _MEMORY)
    return replace(reading, served=served, also=frozenset(shown[:1] if shown else ()))


def _shown(snippet: Snippet, line: int) -> tuple[int, int] | None:
    """Return line and bytes of "memory used: A of B" below a qdisc; None if it is not shown."""
    for statement in snippet.lines():
        words = statement.words
        if statement.line > line and words[0] == "qdisc":
            return None
        if statement.line > line and words[:2] == ("memory", "used:"):
            size = to_bytes(words[-1])
            return None if size is None else (statement.line, size)
    return None
