"""cake: a shaper and AQM that limits memory, not packets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from forebay.platforms import tc_tree
from forebay.platforms.port import Port
from forebay.platforms.reading import ConfiguredQueue, Note, Place, Served, note, say_time, trap
from forebay.platforms.snippet import Snippet
from forebay.platforms.tc_tree import value

_LEAST_MEMORY = 4 << 20
_RTTS = {
    "datacentre": 100, "lan": 1000, "metro": 10_000, "regional": 30_000, "internet": 100_000,
    "oceanic": 300_000, "satellite": 1_000_000, "interplanetary": 1_000_000_000,
}  # fmt: skip
_MEMORY = trap(
    "the limit counts the kernel's memory, overhead included, and only guards: cake drops when "
    "packets have waited longer than its target"
)


def read(snippet: Snippet, place: Place, options: list[str], port: Port) -> ConfiguredQueue:
    """Return cake's memory limit, its rate and its target.

    The limit is memlimit, or what "tc -s" shows below the line. Without either it is what
    sch_cake takes: four times rate x rtt, at least 4 MiB; without a rate it has none.
    """
    rate = tc_tree.rate(value(options, "bandwidth") or "") or None
    rtt = _rtt(options)
    shown = _shown(snippet, place.line)
    limit = tc_tree.size(value(options, "memlimit") or "")
    notes: list[Note] = [note(f"rtt {say_time(float(rtt))}, so target {say_time(float(rtt / 20))}")]
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


def _rtt(options: list[str]) -> Fraction:
    written = tc_tree.time(value(options, "rtt") or "")
    named = next((Fraction(_RTTS[word], 10**6) for word in options if word in _RTTS), None)
    return written or named or Fraction(1, 10)


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
