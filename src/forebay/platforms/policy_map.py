"""Statements of Cisco policy-maps by class; shared by IOS-XR and IOS-XE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.reading import Note, Place, Served, trap, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole
from forebay.scenario import Rate

BUFFERS = r"^(queue-limit|random-detect|fair-queue|queue-buffers|hold-queue|tx-ring-limit)\b"
"""The statements of a policy-map or an interface that touch buffers."""

_SCHEDULING = ("bandwidth", "shape", "priority")
BUNDLES = ("bundle-ether", "bundle-pos")
_MOST_STATEMENTS = 100
_MOST_PARENTS = 10
_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}
_RATE_UNITS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}


@dataclass(slots=True)
class PolicyClass:
    """One class of one policy-map; ``on_bundle`` if the policy is applied to a bundle's output.

    ``parents`` are the classes of other policies that have this policy as their child.
    """

    policy: str
    name: str
    line: int
    statements: list[Statement] = field(default_factory=list)
    on_bundle: bool = False
    alone: bool = True
    parents: tuple[PolicyClass, ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether it is class-default, which needs no scheduling of its own."""
        return self.name == "class-default"

    @property
    def has_child(self) -> bool:
        """Whether a child policy has the queues."""
        return any(each.words[0] == "service-policy" for each in self.statements)

    def scheduling(self) -> list[tuple[str, ...]]:
        """Return the bandwidth, shape and priority statements."""
        return [each.words for each in self.statements if each.words[0] in _SCHEDULING]

    def beginning(self, word: str) -> list[Statement]:
        """Return the statements that begin with a word."""
        return [each for each in self.statements if each.words[0] == word]

    def limits(self) -> list[Statement]:
        """Return the queue-limit statements."""
        return self.beginning("queue-limit")

    def place(self, limit: Statement | None = None) -> Place:
        """Return the position of a queue-limit, or of the class without one."""
        line = limit.line if limit else self.line
        written = short(" ".join(limit.words)) if limit else "no queue-limit"
        return Place(line, short(f"policy-map {self.policy}, class {self.name}"), written)


def classes(snippet: Snippet) -> list[PolicyClass]:
    """Return each class of each policy-map; keywords separate them, as indentation may be lost."""
    found: list[PolicyClass] = []
    bundled: set[str] = set()
    policy, interface, inside = "", "", False
    for statement in snippet.lines():
        words = statement.words
        if words[0] == "policy-map" and len(words) > 1:
            policy, interface, inside = words[-1], "", False
        elif words[0] == "interface" and len(words) > 1:
            interface, policy = words[1], ""
        elif words[0] == "end-policy-map":
            policy = ""
        elif interface and words[:2] == ("service-policy", "output") and len(words) > 2:
            if interface.lower().startswith(BUNDLES):
                bundled.add(words[2])
        elif policy and words[0] == "class" and len(words) > 1:
            found.append(PolicyClass(policy, words[-1], statement.line))
            inside = True
        elif policy and inside:
            _add(found[-1], statement)
    return _connect(found, bundled)


def _add(chosen: PolicyClass, statement: Statement) -> None:
    if len(chosen.statements) >= _MOST_STATEMENTS:
        wrong = f"line {statement.line}: a class with more than {_MOST_STATEMENTS} statements"
        raise PlatformError("too-long", wrong, "cut out the part about queues")
    chosen.statements.append(statement)


def _connect(found: list[PolicyClass], bundled: set[str]) -> list[PolicyClass]:
    many: dict[str, int] = {}
    parents: dict[str, list[PolicyClass]] = {}
    for each in found:
        many[each.policy] = many.get(each.policy, 0) + 1
        for child in each.beginning("service-policy"):
            parents.setdefault(child.words[-1], []).append(each)
    for each in found:
        each.on_bundle = each.policy in bundled
        each.alone = many[each.policy] == 1
        each.parents = tuple(parents.get(each.policy, ()))
    return found


def served(chosen: PolicyClass, port: Port) -> Served | None:
    """Return the shape of the class, else that of its parent; None if neither is shaped."""
    own = _shape(chosen, _parent_port(chosen, port))
    if own is not None:
        return Served(own, "the class's shape")
    above = _parent_shape(chosen, port)
    return None if above is None else Served(above, "the parent's shape")


def _shape(chosen: PolicyClass, port: Port) -> float | None:
    rates = (_rate(each.words, port) for each in chosen.beginning("shape"))
    return next((rate for rate in rates if rate is not None), None)


def _parent_shape(chosen: PolicyClass, port: Port) -> float | None:
    """Return the lowest shape of the parents, and of their parents one level up."""
    shapes = []
    for parent in chosen.parents[:_MOST_PARENTS]:
        above = (_shape(each, port) for each in parent.parents[:_MOST_PARENTS])
        limits = [rate for rate in (_shape(parent, port), *above) if rate is not None]
        shapes += [min(limits)] if limits else []
    return min(shapes, default=None)


def _parent_port(chosen: PolicyClass, port: Port) -> Port:
    """Return the port as the class sees it: served at the parent's shape."""
    above = _parent_shape(chosen, port)
    return port if above is None else port.served_at(above)


def guaranteed_rate(chosen: PolicyClass, port: Port) -> tuple[float, tuple[Note, ...]]:
    """Return the class's rate in bit/s, to which times and defaults refer, and notes about it."""
    port = _parent_port(chosen, port)
    for words in chosen.scheduling():
        rate = _rate(words, port)
        if rate is not None:
            said = trap(f"times count at the class's own {Rate(rate)}, not at line rate")
            return rate, (said,)
    notes = _shapes_differ(chosen)
    if chosen.alone and not chosen.scheduling():
        return port.rate_bps, notes
    what = "the parent's shape" if _parent_shape(chosen, port) is not None else "the line rate"
    said = uncertain(f"the class's guaranteed rate is not in this text; assumed to be {what}")
    return port.rate_bps, (said, *notes)


def _shapes_differ(chosen: PolicyClass) -> tuple[Note, ...]:
    if len(chosen.parents) < 2:
        return ()
    many = len(chosen.parents)
    return (uncertain(f"this policy has {many} parents: taken at the lowest of their shapes"),)


def _rate(words: Sequence[str], port: Port) -> float | None:
    """Return the rate of "bandwidth percent 30" or "shape average 1 gbps", else None."""
    if "remaining" in words or words[0] == "priority":
        return None
    numbers = ((at, number) for at, word in enumerate(words) if (number := _number(word)))
    at, number = next(numbers, (0, 0))
    if not number:
        return None
    if words[at - 1] == "percent":
        return port.rate_bps * number / 100 if 1 <= number <= 100 else None
    plain = 10**3 if words[0] == "bandwidth" else 1  # bandwidth in kbit/s, shape in bit/s
    plain = 1 if words[at][-1] in _SUFFIXES else plain
    unit = words[at + 1].lower() if at + 1 < len(words) else ""
    return float(number * _RATE_UNITS.get(unit, plain))


def _number(word: str) -> int | None:
    """Return a whole number, which may end in k, m or g."""
    number = whole(word.rstrip("kmg"), 10**13)
    return number and number * _SUFFIXES.get(word[-1:], 1)
