"""Cisco Catalyst under IOS-XE: queues are shares of a port's buffer units."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forebay.platforms.policy_map import PolicyClass
from forebay.platforms.reading import ConfiguredQueue, trap
from forebay.platforms.snippet import Snippet

_SOFTMAX, _RATIO = "queue-softmax-multiplier", "queue-buffers"


@dataclass(frozen=True, slots=True)
class Catalyst:
    """The softmax multiplier in percent, "" for the default, and the lines that set it."""

    softmax: str
    lines: frozenset[int]

    @classmethod
    def of(cls, snippet: Snippet) -> Catalyst | None:
        """Return what a text says of the switch; None if nothing in it is of a Catalyst."""
        lines = list(snippet.lines())
        softmax = [each for each in lines if _SOFTMAX in each.words[:-1]]
        if not softmax and not any(each.words[0] == _RATIO for each in lines):
            return None
        found = softmax[-1].words if softmax else ()
        value = found[found.index(_SOFTMAX) + 1] if found else ""
        return cls(value, frozenset(each.line for each in softmax))

    def share(self, chosen: PolicyClass) -> ConfiguredQueue:
        """Return a class's share of the port's buffer units, whose bytes the model decides."""
        found = chosen.beginning(_RATIO)
        words = found[-1].words if found else ()
        size = "the bytes of a port's buffer units depend on the model; see show platform hardware"
        if words[1:2] == ("ratio",) and len(words) == 3:
            said = trap(f"a Catalyst: {words[2]} % of the port's buffer units; {size}")
        else:
            said = trap(f"a Catalyst: a share of the port's units that nobody chose; {size}")
        soft = f"softmax {self.softmax or 100} %: shared units that a queue may borrow on top"
        reading = chosen.place(found[-1] if found else None).unknown(said, trap(soft))
        return replace(reading, also=self.lines)
