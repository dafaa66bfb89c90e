"""Cisco policy-maps by class, with the rates that their text gives; of IOS-XR, IOS-XE and NX-OS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from forebay.platforms.notes import Note, note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served, at_rates, lowest
from forebay.platforms.snippet import PlatformError, Snippet, Statement, short, suffixed, whole
from forebay.scenario import Rate

BUFFERS = r"^(queue-limit|random-detect|fair-queue|queue-buffers|hold-queue|tx-ring-limit)\b"
"""The statements of a policy-map or an interface that touch buffers."""

SELECTORS = ("dscp", "precedence", "prec", "cos", "exp", "discard-class", "qos-group", "clp")
"""Words before the values of the packets that a limit or a threshold is of."""

TIMES = {"us": 10**6, "ms": 10**3}
Amount = Callable[[int, str], int | None]
"""Converts a number and its unit (may be "") to bytes; None if unknown."""

_OUTER = ("policy-map", "interface", "class-map", "router", "line", "vrf", "control-plane")
_LEVELS = (_OUTER, ("class",))
_ENDS = ("exit", "end", "end-policy-map", "end-class-map", "root")
_SCHEDULING = ("bandwidth", "shape", "priority")
_LEAVES = (*_SCHEDULING, "queue-limit", "random-detect", "service-policy", "description")
BUNDLES = ("bundle-ether", "bundle-pos")
_MOST_STATEMENTS, _MOST_SAID = 100, 3
_MOST_PARENTS, _MOST_LEVELS = 10, 2
_RATE_UNITS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}


@dataclass(slots=True)
class PolicyClass:
    """One class of one policy-map; ``on_bundle`` if the policy is applied to a bundle's output.

    ``parents`` are the classes of other policies that have this policy as their child, ``above``
    the lowest shape of some of them, and ``within`` says of which, if their shapes differ.
    """

    policy: str
    name: str
    line: int
    port: Port
    statements: list[Statement] = field(default_factory=list)
    on_bundle: bool = False
    alone: bool = True
    parents: tuple[PolicyClass, ...] = ()
    above: Served | None = None
    within: str = ""

    @property
    def lacks_scheduling(self) -> bool:
        """Whether it is not class-default, which needs no scheduling of its own, and has none."""
        return self.name != "class-default" and not self._scheduling()

    @property
    def has_priority(self) -> bool:
        """Whether it is a priority queue."""
        return bool(self.beginning("priority"))

    @property
    def is_parent(self) -> bool:
        """Whether a child policy has the queues."""
        return bool(self.beginning("service-policy")) and self.limit is None

    def _scheduling(self) -> list[tuple[str, ...]]:
        return [
            statement.words for statement in self.statements if statement.words[0] in _SCHEDULING
        ]

    def beginning(self, word: str) -> list[Statement]:
        """Return the statements that begin with a word."""
        return [statement for statement in self.statements if statement.words[0] == word]

    @property
    def limit(self) -> Statement | None:
        """The queue-limit of all packets, which is the last."""
        every = [limit for limit in self.beginning("queue-limit") if not _is_of_some(limit)]
        return every[-1] if every else None

    def place(self, limit: Statement | None = None) -> Place:
        """Return the position of a queue-limit, or of the class without one."""
        line, text = (limit.line, limit.text) if limit else (self.line, "no queue-limit")
        name = f"policy-map {self.policy}, class {self.name}"
        return Place.of(line, name, text, self.port, self.within)

    def reading(
        self, own: ConfiguredQueue, sizes: Mapping[str, int], rate: Served | None
    ) -> ConfiguredQueue:
        """Return its one queue, whose limit or default is ``own``; limits of some are notes.

        ``sizes`` are the bytes of the units in which thresholds of WRED are, and times of those
        count at ``rate``.
        """
        every = self.beginning("queue-limit")
        some = [limit for limit in every if _is_of_some(limit)]
        said = [note(f"{short(each.text)} is of these packets alone") for each in some[:_MOST_SAID]]
        if some and self.limit is None and not self.beginning("queue-buffers"):
            why = trap("of some packets alone: the limit of the others is not in this text")
            own, said = self.place(some[0]).unknown(why), []
        own = own.serving(self.served, *said, also=(limit.line for limit in every))
        return _with_wred(self, own, _converter(sizes, self.port, rate))

    @property
    def served(self) -> Served | None:
        """The shape of the class, else that of its parent; None if neither is shaped."""
        return self.shape(self.above, "the class's shape") or self.above

    def shape(self, above: Served | None, by: str) -> Served | None:
        """Return its own shape below another one; None without one."""
        shapes, port = self.beginning("shape"), self.port.inside(above)
        rates = (rate_of(shape.words, port) for shape in shapes)
        rate = next((rate for rate in rates if rate is not None), None)
        if rate is None:
            return Served.untold(shapes[0].text) if shapes else None
        return Served(rate, by)

    def guaranteed(self, *, inherits: bool) -> tuple[Served | None, tuple[Note, ...]]:
        """Return the rate to which times and defaults refer, and notes about it.

        None is the rate of what is above it. A share of what others leave is that too if the
        platform takes what a class ``inherits``; else the text does not tell it.
        """
        port, scheduling = self.port.inside(self.above), self._scheduling()
        rate = next(filter(None, (rate_of(words, port) for words in scheduling)), None)
        if rate is not None:
            said = trap(f"times count at the class's own {Rate(rate)}, not at line rate")
            return Served(rate, "the class's own rate"), (said,)
        if self.alone and not scheduling:
            return self.above, ()
        untold = "the class's guaranteed rate is not in this text"
        if self.has_priority or inherits:
            what = "the line rate" if self.above is None else "the parent's shape"
            return self.above, (uncertain(f"{untold}; taken is {what}"),)
        return Served(None, untold), ()


def _is_of_some(limit: Statement) -> bool:
    return limit.words[1:2] != () and limit.words[1] in SELECTORS


def classes(snippet: Snippet, port: Port, kind: tuple[str, ...] = ()) -> Iterator[PolicyClass]:
    """Yield each class of each policy-map of a kind; once for each rate that parents give it."""
    by_line: dict[tuple[str, int], PolicyClass] = {}
    bundled: set[str] = set()
    policies, every = ("policy-map", *kind), ("class", *kind)
    names, starts = len(kind) + 2, len(kind) + 1
    line = 0
    for statement in snippet.sections(_LEVELS, ends=_ENDS, leaves=_LEAVES):
        words, above = statement.words, statement.above
        if words[:starts] == every and len(words) >= names and len(above) == 1:
            if above[0][:starts] == policies and len(above[0]) == names:
                line = statement.line
                by_line[above[0][-1], line] = PolicyClass(above[0][-1], words[-1], line, port)
        elif len(above) == 2 and (above[0][-1], line) in by_line and above[1][:starts] == every:
            own = by_line[above[0][-1], line].statements
            own.append(statement)
            if len(own) > _MOST_STATEMENTS:
                line = statement.line
                raise PlatformError("too-long.class", line=line, most=_MOST_STATEMENTS)
        elif above[:1] and above[0][0] == "interface" and words[0] == "service-policy":
            bundled |= {words[-1]} if above[0][-1].lower().startswith(BUNDLES) else set()
    _connect(list(by_line.values()), bundled)
    for entry in by_line.values():
        for above_, within in at_rates(_above(entry)):
            yield replace(entry, above=above_, within=within)


def _connect(entries: list[PolicyClass], bundled: set[str]) -> None:
    many = Counter(entry.policy for entry in entries)
    parents: dict[str, list[PolicyClass]] = {}
    for entry in entries:
        for child in entry.beginning("service-policy"):
            parents.setdefault(child.words[-1], []).append(entry)
    for entry in entries:
        entry.on_bundle = entry.policy in bundled
        entry.alone = many[entry.policy] == 1
        entry.parents = tuple(parents.get(entry.policy, ()))


def _above(chosen: PolicyClass, level: int = 0) -> Mapping[Served | None, list[str]]:
    """Return the lowest shape above a class by each of its parents, and theirs one level up."""
    shapes: dict[Served | None, list[str]] = {}
    for parent in chosen.parents[:_MOST_PARENTS] if level < _MOST_LEVELS else ():
        for above in _above(parent, level + 1) or (None,):
            own = parent.shape(above, "the parent's shape")
            places = shapes.setdefault(lowest((above, own)), [])
            places.append(f"policy-map {parent.policy}, class {parent.name}")
    return shapes


def _converter(sizes: Mapping[str, int], port: Port, rate: Served | None) -> Amount:
    """Return the conversion of numbers to bytes by unit; times count at a rate."""
    untold = rate is not None and rate.rate_bps is None

    def read(value: int, unit: str) -> int | None:
        if unit in TIMES:
            seconds = Fraction(value, TIMES[unit])
            return None if untold else port.inside(rate).bytes_in(seconds)
        return value * sizes[unit] if unit in sizes else None

    return read


def rate_of(words: Sequence[str], port: Port) -> float | None:
    """Return the rate of "bandwidth percent 30", "shape average 1 gbps", "shape min 0 max 9"."""
    if "remaining" in words or words[0] == "priority":
        return None
    words = [words[0], *words[words.index("max") + 1 :]] if "max" in words else words
    numbers = ((at, number) for at, word in enumerate(words) if (number := suffixed(word, 10**13)))
    at, number = next(numbers, (0, 0))
    if not number:
        return None
    if words[at - 1] == "percent":
        return port.rate_bps * number / 100 if 1 <= number <= 100 else None
    plain = 10**3 if words[0] == "bandwidth" else 1  # bandwidth in kbit/s, shape in bit/s
    plain = plain if words[at].isdigit() else 1
    unit = words[at + 1].lower() if at + 1 < len(words) else ""
    return float(number * _RATE_UNITS.get(unit, plain))


_PLAIN = (
    *(f"{selector}-based" for selector in SELECTORS),
    "exponential-weighting-constant",
    "default",
)
_MOST = 2**32 - 1
_MOST_CURVES = 3
_FAIR = trap("fair-queue: each flow has a queue of its own within the limit")


@dataclass(frozen=True, slots=True)
class _Early:
    """A random-detect statement: the packets it is of ("" for all), and its thresholds in bytes."""

    line: int
    of: str
    least: int | None
    most: int | None
    is_read: bool


def _with_wred(chosen: PolicyClass, reading: ConfiguredQueue, amount: Amount) -> ConfiguredQueue:
    """Return the reading of a class's limit with what random-detect does before.

    Above its maximum threshold WRED drops every packet, so the average queue does not exceed it:
    that is the size, if the threshold is of all packets and they are not marked. If the text gives
    no thresholds, the size is unknown.
    """
    fair = chosen.beginning("fair-queue")
    if fair:
        plain = (statement.line for statement in fair if "queue-limit" not in statement.words)
        reading = reading.with_notes(_FAIR, also=plain)
    statements = chosen.beginning("random-detect")
    if not statements:
        return reading
    early = [_early(statement, amount) for statement in statements]
    reading = reading.with_notes(also=(curve.line for curve in early if curve.is_read))
    reading = replace(reading, discipline="red")
    known = [curve for curve in early if curve.most is not None]
    if any("ecn" in statement.words for statement in statements):
        return _marking(reading, known)
    every = [curve.most for curve in known if not curve.of and curve.most is not None]
    if every:
        return _dropping(reading, max(every), chosen.port)
    if known:
        said = (_of_some(curve, reading.bytes) for curve in known[:_MOST_CURVES])
        return reading.with_notes(*said)
    limit = "" if reading.bytes is None else f" of {reading.bytes} B"
    unknown = trap(
        f"random-detect drops before the limit{limit} is reached, at thresholds that this text "
        "does not give: no drop-tail queue of that size"
    )
    return replace(reading, bytes=None, packets=None).with_notes(unknown)


def _dropping(reading: ConfiguredQueue, most: int, port: Port) -> ConfiguredQueue:
    above, limit = None, reading.bytes
    if limit is None or limit > most:
        reading = replace(reading, bytes=most, packets=most // port.packet_bytes)
    else:
        above = _above_threshold(most, limit)
    all_dropped = trap(
        f"random-detect drops before the limit is reached, and every packet once the average "
        f"queue is at {most} B"
    )
    return reading.with_notes(above or all_dropped)


def _above_threshold(most: int, limit: int, of: str = "") -> Note | None:
    if most <= limit:
        return None
    return trap(
        f"random-detect{of} may drop before the limit, but its maximum threshold, {most} B, is "
        f"above it: every packet is dropped at {limit} B"
    )


def _of_some(curve: _Early, limit: int | None) -> Note:
    """Return what happens to the packets of one selector; others have what is not in the text."""
    most = curve.most or 0
    above = None if limit is None else _above_threshold(most, limit, f" of {curve.of}")
    return above or trap(
        f"random-detect of {curve.of} alone: dropped from {curve.least} B on, and all of them once "
        f"the average queue is at {most} B; what is dropped of others early is not in this text"
    )


def _marking(reading: ConfiguredQueue, known: Iterable[_Early]) -> ConfiguredQueue:
    """Return a queue whose random-detect marks: its limit is that of queue-limit."""
    ends = {(curve.least, curve.most) for curve in known}
    if not ends:
        said = trap("ECN-capable packets are marked, and others dropped, at thresholds not here")
        return reading.with_notes(said)
    lows, highs = zip(*ends, strict=True)
    least, most = min(low or 0 for low in lows), max(high or 0 for high in highs)
    step = most if least == most else None
    span = f"from {most} B on" if step else f"with rising probability from {least} to {most} B"
    drop = "" if reading.bytes is not None else "; where all are dropped is not in this text"
    said = note(f"ECN-capable packets are marked {span}, and others dropped{drop}")
    return replace(reading.with_notes(said), marks_bytes=step)


def _early(statement: Statement, amount: Amount) -> _Early:
    """Read one statement: thresholds by name (NX-OS), or the first two numbers with a unit."""
    words = [word for word in statement.words[1:] if word != "ecn"]
    of = ""
    if words[:1] and words[0] in SELECTORS:
        of, words = short(" ".join(words[:2]), 30), words[2:]
    names = ("minimum-threshold", "maximum-threshold")
    if any(name in words for name in names):
        ends = [words[words.index(name) + 1 :] if name in words else [] for name in names]
        least, most = (_amount(end, amount)[0] for end in ends)
    else:
        least, after = _amount(words, amount)
        most, _ = _amount(after, amount)
    is_read = most is not None or not words or words[0] in _PLAIN
    return _Early(statement.line, of, least, most, is_read)


def _amount(words: list[str], amount: Amount) -> tuple[int | None, list[str]]:
    """Return the bytes of a number with an optional unit, and the words after it."""
    number = whole(words[0], _MOST) if words else None
    if number is None:
        return None, []
    unit = words[1] if len(words) > 1 and not words[1].isdigit() else ""
    unit = "" if unit.endswith("-threshold") else unit
    return amount(number, unit), words[2 if unit else 1 :]
