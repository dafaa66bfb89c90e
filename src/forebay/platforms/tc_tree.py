"""The tree of qdiscs and classes of tc: at which rate a leaf may drain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from forebay.platforms import tc_units
from forebay.platforms.qdiscs import CLASSFUL, QDISCS
from forebay.platforms.reading import Served
from forebay.platforms.snippet import Snippet

_DEEPEST = 16
KINDS = frozenset((*QDISCS, *CLASSFUL))
_OWN = {"tbf": "rate", "netem": "rate", "cake": "bandwidth"}


def value(words: list[str], key: str) -> str | None:
    """Return the word after ``key``, if there is one."""
    places = [at for at, word in enumerate(words[:-1]) if word == key]
    return words[places[0] + 1] if places else None


@dataclass(frozen=True, slots=True)
class Node:
    """A qdisc or class of a device: its number (such as "1:30"), its parent's, and its words."""

    line: int
    device: str
    number: str
    parent: str
    kind: str
    options: list[str]

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
    def unread_rates(self) -> list[str]:
        """The words of a rate that is no number: a share of the device, or a shell's variable."""
        key = {"htb": ("rate", "ceil")}.get(self.kind, (_OWN.get(self.kind, ""),))
        words = (value(self.options, each) for each in key)
        return [word for word in words if word and tc_units.rate(word) is None]

    def _rate(self, key: str) -> Fraction | None:
        return tc_units.rate(value(self.options, key) or "")

    def _curve(self, key: str) -> Fraction | None:
        """Return the second slope of a service curve: "m2 50mbit" or "rate 50mbit"."""
        if key not in self.options:
            return None
        after = self.options[self.options.index(key) + 1 :][:8]
        return tc_units.rate(value(after, "m2") or value(after, "rate") or "")


@dataclass(slots=True)
class Tree:
    """Nodes by device and number; a text of one device may leave its name out."""

    nodes: dict[tuple[str, str], Node] = field(default_factory=dict)
    any_device: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, snippet: Snippet) -> Tree:
        """Return the tree of a snippet."""
        made = cls()
        for statement in snippet.lines():
            node = _node(statement.line, list(statement.words))
            if node is not None and node.number:
                made.nodes[node.device, node.number] = node
                made.any_device.setdefault(node.number, node)
        return made

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the class or qdisc above a node, and so on."""
        for _ in range(_DEEPEST):
            if not node.parent and node.number.endswith(":"):  # a root; many may be called 0:
                return
            major = (node.parent or node.number).partition(":")[0]
            found = self._find(node.device, node.parent) or self._find(node.device, f"{major}:")
            if found is None or found.line == node.line:
                return
            yield found
            node = found

    def _find(self, device: str, number: str) -> Node | None:
        """Return a node of a device; without its name in the text, of any."""
        found = self.nodes.get((device, number)) or self.nodes.get(("?", number))
        return self.any_device.get(number) if found is None and device == "?" else found

    def served(self, node: Node) -> Served | None:
        """Return the lowest rate on the way to the root at which a leaf may drain."""
        limits = [(each.rates[1], each) for each in (node, *self.above(node))]
        known = [(rate, each) for rate, each in limits if rate]
        if not known:
            return None
        rate, slowest = min(known, key=lambda pair: pair[0])
        if slowest is node:
            return Served(float(rate), f"{node.kind}'s own rate")
        is_class = slowest.kind in ("htb", "hfsc")
        of = "ceil of its class" if is_class else f"rate of its {slowest.kind}"
        return Served(float(rate), f"the {of}")

    def guaranteed(self, node: Node) -> Fraction | None:
        """Return the guaranteed rate of the class above a leaf."""
        return next((each.rates[0] for each in self.above(node) if each.rates[0]), None)


def _node(line: int, words: list[str]) -> Node | None:
    """Return the qdisc or class of a line; None if it has none."""
    what = next((word for word in words[:4] if word in ("qdisc", "class")), "")
    if not what:
        return None
    after = words[words.index(what) + 1 :]
    kind = next((word for word in after if word in KINDS), "")
    number = value(after, "handle" if what == "qdisc" else "classid") or ""
    at = after.index(kind) if kind else 0
    shown = bool(kind) and at == 0 and len(after) > 1 and ":" in after[1]
    number = after[1] if shown else number
    parent = value(after, "parent") or ""
    return Node(line, value(after, "dev") or "?", number, parent, kind, after[at + 1 :])


def node_of(line: int, words: list[str]) -> Node | None:
    """Return the qdisc of a line; None if it has none that is known."""
    node = _node(line, words) if "qdisc" in words[:4] else None
    return node if node is not None and node.kind else None
