"""OpenWrt's sqm-scripts: /etc/config/sqm, or ``uci show sqm``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forebay.platforms import cake
from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.reading import ConfiguredQueue, Place, Served, inside, trap, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole

TELLS = (r"^\s*config queue\b", r"^\s*option (qdisc|script|upload|download)\b", r"\bsqm\.\S+=")

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


def read(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
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
        words = ["bandwidth", f"{int(port.rate_bps)}bit", *_extra(queue, limit)]
        return cake.read(Snippet(""), place, words, port)
    packets = whole(queue.options.get(limit, ""), 10**9)
    notes = (_SHARED,) if "codel" in kind or kind == "pie" else ()
    if packets and queue.options.get("qdisc_advanced") != "1":
        notes = (_GATED, *notes)
    if not packets:
        said = trap(f"nobody chose this: sqm's default of {_DEFAULT} packets")
        return place.of_packets(_DEFAULT, port, (said, *notes))
    return place.of_packets(packets, port, notes)


def _extra(queue: _Queue, limit: str) -> list[str]:
    """Return the options that are handed to cake as they stand."""
    key = "eqdisc_opts" if limit == "elimit" else "iqdisc_opts"
    return queue.options.get(key, "").split()


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
            _add(found[name], words[1], words[2:], statement)
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
        _add(queue, parts[2], (first, *words[1:]), statement)


def _add(queue: _Queue, key: str, words: tuple[str, ...], statement: Statement) -> None:
    queue.options[key] = " ".join(words).strip("'\"")
    queue.lines.add(statement.line)
