"""The tree of qdiscs and classes of tc: at which rate a leaf may drain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from forebay.catalogue import DISCIPLINES
from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.reading import Note, Served, note, trap
from forebay.platforms.snippet import Snippet, whole
from forebay.scenario import FRAMINGS

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
_TIMES = {
    "": Fraction(1, 10**6), "us": Fraction(1, 10**6), "usec": Fraction(1, 10**6),
    "usecs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "msec": Fraction(1, 1000),
    "msecs": Fraction(1, 1000), "s": Fraction(1), "sec": Fraction(1), "secs": Fraction(1),
    "ns": Fraction(1, 10**9), "nsec": Fraction(1, 10**9), "nsecs": Fraction(1, 10**9),
}  # fmt: skip


def size(text: str) -> int | None:
    """Return bytes; tc's k, m and g are powers of 1024."""
    amount = _amount(text, _SIZES)
    return None if amount is None else int(amount)


def rate(text: str) -> Fraction | None:
    """Return bit/s; in tc "bps" means bytes per second."""
    return _amount(text, _RATES)


def time(text: str) -> Fraction | None:
    """Return seconds; a bare number is microseconds."""
    return _amount(text, _TIMES)


def _amount(text: str, units: Mapping[str, int | Fraction]) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None or match[3].lower() not in units:
        return None
    whole, part, unit = match.groups()
    number = int(whole) + Fraction(int(part or 0), 10 ** len(part or ""))
    return number * units[unit.lower()]


TXQUEUELEN = 1000
"""Linux's default length of an interface's queue, packets."""


@dataclass(frozen=True, slots=True)
class Qdisc:
    """``default`` is in ``unit``; None if there is practically no limit."""

    unit: Literal["bytes", "packets"]
    default: int | None
    notes: tuple[Note, ...] = ()


def _simulated(name: str, *notes: Note) -> Qdisc:
    """Return a qdisc that a scenario can have, from its record in the catalogue."""
    (record,) = (each for each in DISCIPLINES.values() if each.in_tc == name)
    return Qdisc("bytes" if record.counts_bytes else "packets", record.default_limit, notes)


_GSO = trap("a packet here may be a GSO super-packet of up to 64 kB: bfifo bounds bytes")
_HEADER = note("counts the link-layer header of each packet, but not preamble and checksum")
_AQM = trap("drops before it is full: the limit is a last resort, not the queue that forms")
_FLOWS = trap("shares its packets out to many queues: no one queue has this size")

QDISCS = {
    "bfifo": _simulated("bfifo", _HEADER),
    "pfifo": _simulated("pfifo", _GSO),
    "pfifo_head_drop": _simulated("pfifo_head_drop", _GSO, trap("drops the oldest packet")),
    "pfifo_fast": Qdisc("packets", TXQUEUELEN, (_GSO, trap("three bands of this size each"))),
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

CLASSFUL = ("htb", "hfsc", "prio", "drr", "ets", "mq", "mqprio", "cake", "noqueue")
"""Kinds whose packets wait in leaf qdiscs, or that choose their own size."""

WITHOUT_LIMIT = {"noqueue": "noqueue holds no packet: they go to the device at once"}
"""What is said of a kind that has neither a limit nor leaves."""


FIFOS = ("pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "netem", "tbf")
"""Kinds that drop what does not fit, and nothing before: a scenario's drop-tail."""


_DEEPEST = 16
KINDS = frozenset((*QDISCS, *CLASSFUL))
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
        words = (value(self.options, each) for each in key)
        unknown = [word for word in words if word and rate(word) is None]
        if unknown:
            said = f'the rate "{short(unknown[0], 30)}" is not known'
            return f"{said}: the queue may drain more slowly"
        if self.kind in KINDS:
            return ""
        return f"what {short(self.kind, 30)} above it does is not read"

    def _rate(self, key: str) -> Fraction | None:
        return rate(value(self.options, key) or "")

    def _curve(self, key: str) -> Fraction | None:
        """Return the second slope of a service curve: "m2 50mbit" or "rate 50mbit"."""
        if key not in self.options:
            return None
        after = self.options[self.options.index(key) + 1 :][:8]
        return rate(value(after, "m2") or value(after, "rate") or "")


@dataclass(slots=True)
class Tree:
    """Nodes by device and number; a text of one device may leave its name out."""

    qdiscs: list[Node] = field(default_factory=list)
    nodes: dict[tuple[str, str], Node] = field(default_factory=dict)
    any_device: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, snippet: Snippet) -> Tree:
        """Return the tree of a snippet."""
        made, last = cls(), None
        for statement in snippet.lines():
            node = _node(statement.line, list(statement.words))
            if statement.words[0] in _STAB and last is not None:
                last.stab.extend(statement.words)  # shown with -d, in a line of its own
            last = node
            if node is not None and node.number:
                made.nodes[node.device, node.number] = node
                made.any_device.setdefault(node.number, node)
            if node is not None and not node.is_class and node.kind in KINDS:
                made.qdiscs.append(node)
        return made

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the class or qdisc above a node, and so on."""
        for _ in range(_DEEPEST):
            found = self._parent(node)
            if found is None or found.line == node.line:
                return
            yield found
            node = found

    def _parent(self, node: Node) -> Node | None:
        if not node.parent and (node.number.endswith(":") or not node.number):
            return None  # a root; many may be called 0:
        major = (node.parent or node.number).partition(":")[0]
        return self._find(node.device, node.parent) or self._find(node.device, f"{major}:")

    def _find(self, device: str, number: str) -> Node | None:
        """Return a node of a device; without its name in the text, of any."""
        found = self.nodes.get((device, number)) or self.nodes.get(("?", number))
        return self.any_device.get(number) if found is None and device == "?" else found

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
        untold = next((each.untold for each in way if each.untold), "")
        if untold:
            return Served(None, untold)
        known = [(rate, each) for each in way if (rate := each.rates[1])]
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
        return next((each.rates[0] for each in self.above(node) if each.rates[0]), None)

    def framed(self, node: Node, port: Port) -> int:
        """Return the bytes that a full packet counts as: with what a stab above a leaf adds."""
        tables = (each.stab for each in (node, *self.above(node)) if each.stab)
        return next((wire(stab, port.frame_bytes) for stab in tables), port.frame_bytes)

    def on_the_line(self, node: Node, frame: int) -> int:
        """Return the bytes of a frame at the rate: htb and tbf may count cells of their own."""
        way = (each.options for each in (node, *self.above(node)) if each.kind in ("htb", "tbf"))
        return next((wire(each, frame) for each in way if "linklayer" in each), frame)


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
