"""VyOS: a drop-tail policy, which is Linux's pfifo, or a shaper with such a queue."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from forebay.outcome import Aqm
from forebay.platforms import tc
from forebay.platforms.notes import GUARD, note, trap
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, Statement, whole

_MOST = 2**32 - 1
_READ = (
    "queue-limit", "queue-type", "codel-quantum", "flows", "interval", "target", "burst", "delay",
)  # fmt: skip
_DISCIPLINES = {
    "drop-tail": "drop-tail", "fq-codel": "fq_codel", "random-detect": "red",
    "fair-queue": "sfq", "network-emulator": "drop-tail",
}  # fmt: skip
_KINDS = {
    "drop-tail": "", "fair-queue": "", "fq-codel": "", "random-detect": "", "shaper": "",
    "network-emulator": "", "shaper-hfsc": "shaper", "priority-queue": "drop-tail",
    "round-robin": "drop-tail",
}  # fmt: skip
"""Kinds of policies: what their queues are without queue-type; "" for what the policy is."""
_CLASS = (("class",), 4)
_PFIFO = trap("a packet may be a GSO super-packet of up to 64 kB; small ones count as one too")
_BEFORE = trap("before VyOS 1.4 it is: set traffic-policy, not set qos policy")
_FEWEST, _MOST_OF_FQ_CODEL = 2, 10_999  # of a policy of fq-codel
_BOTTLENECK = trap("does not slow anything: packets wait here only if this is the slowest link")
_MANAGED = trap("not drop-tail: it drops before it is full, or shares its packets among flows")


def _write(order: Order) -> Written:
    port, attach = order.port, f"set qos interface {order.interface} egress '{order.name}'"
    if order.wanted.aqm is not None:
        return _fq_codel(order, order.wanted.aqm, attach)
    packets, rounding = order.wanted.whole_packets(port), port.packet_bytes - 1
    if packets > _MOST:
        raise PlatformError("too-large.vyos", value=packets, most=_MOST)
    if not port.is_shaped:
        lines = (f"set qos policy drop-tail {order.name} queue-limit '{packets}'", attach)
        return Written(lines, rounding, (_BOTTLENECK, _BEFORE))
    policy = f"set qos policy shaper {order.name}"
    lines = (
        f"{policy} bandwidth '{port.rate_in()}bit'",
        f"{policy} default bandwidth '100%'",
        *((f"{policy} default burst '{port.burst_bytes}'",) if port.burst_bytes else ()),
        f"{policy} default queue-type 'drop-tail'",
        f"{policy} default queue-limit '{packets}'",
        attach,
    )
    return Written(lines, rounding, (_BEFORE,))


def _fq_codel(order: Order, aqm: Aqm, attach: str) -> Written:
    """Write a policy of fq-codel; its times are in whole milliseconds, rounded up."""
    packets, port = order.wanted.packets, order.port
    if port.is_shaped:
        raise PlatformError("managed.below-a-shaper")
    if not _FEWEST <= packets <= _MOST_OF_FQ_CODEL:
        least, most = _FEWEST, _MOST_OF_FQ_CODEL
        raise PlatformError("too-large.vyos-fq-codel", value=packets, least=least, most=most)
    policy = f"set qos policy fq-codel {order.name}"
    times = order.wanted.times(1e3)
    lines = (
        f"{policy} queue-limit '{packets}'",
        *(f"{policy} {key} '{ceil(ms)}'" for key, ms in times.items()),
        attach,
    )
    exact = all(ms.is_integer() for ms in times.values())
    said = () if exact else (trap("target and interval are rounded up to whole milliseconds"),)
    marks = (trap("VyOS writes noecn: it drops where the scenario marks"),) if aqm.ecn else ()
    return Written(lines, port.packet_bytes - 1, (GUARD, *marks, *said, _BOTTLENECK, _BEFORE))


_Leaves = dict[str, Statement]


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    nodes: dict[tuple[str, ...], _Leaves] = {}
    for statement in snippet.statements():
        path = _path(statement.path)
        if _is_queue(path[:-2]):
            nodes.setdefault(path[:-2], {})[path[-2]] = statement
    for path, leaves in nodes.items():
        if any(key in leaves for key in ("queue-limit", "queue-type")):
            yield _queue(path, leaves, nodes.get(path[:2], {}), port)


def _path(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words from the kind of a policy on: (kind, name, ..., key, value)."""
    words = words[1:] if words[:1] == ("set",) else words
    for above in (("qos", "policy"), ("traffic-policy",), ("policy",)):
        if words[: len(above)] == above:
            return words[len(above) :]
    return words


def _is_queue(path: tuple[str, ...]) -> bool:
    """Whether packets may wait at a path: a policy of a known kind, or a class of one."""
    known = path[:1] and path[0] in _KINDS
    return bool(known) and (path[2:] in ((), ("default",)) or (path[2:3], len(path)) == _CLASS)


def _queue(path: tuple[str, ...], leaves: _Leaves, policy: _Leaves, port: Port) -> ConfiguredQueue:
    first = leaves.get("queue-limit") or leaves["queue-type"]
    place = Place.of(first.line, " ".join(path), " ".join(first.words[-2:]), port)
    lines = [leaf.line for key, leaf in leaves.items() if key in _READ]
    own = leaves["queue-type"].words[-1] if "queue-type" in leaves else ""
    kind = own or _KINDS[path[0]] or path[0]
    served = _served("policy" if len(path) == 2 else "class", leaves, policy, port)
    reading = _size(place, kind, leaves).serving(served, also=lines)
    return replace(reading, discipline=_DISCIPLINES.get(kind), aims=_aims(path, leaves))


def _aims(path: tuple[str, ...], leaves: _Leaves) -> tuple[float, ...]:
    """Return the target in s of a policy of fq-codel, 5 ms by default; () where it is not told."""
    if len(path) != 2 or path[0] != "fq-codel":
        return ()
    milliseconds = whole(leaves["target"].words[-1] if "target" in leaves else "5")
    return () if milliseconds is None else (milliseconds / 1000,)


def _size(place: Place, kind: str, leaves: _Leaves) -> ConfiguredQueue:
    managed = [] if kind in ("drop-tail", "network-emulator") else [_MANAGED]
    if kind == "shaper":
        managed.insert(0, trap("no queue-type: fq-codel since VyOS 1.4, before fair-queue"))
    limit = leaves.get("queue-limit")
    if limit is None:
        return place.unknown(*managed, trap("nobody chose this: without queue-limit"))
    value = whole(limit.words[-1], _MOST)
    if not value:
        return place.unknown(trap(f"queue-limit takes a whole number from 1 to {_MOST}"))
    if kind == "network-emulator":
        delay = leaves["delay"].words[-1] if "delay" in leaves else "0"
        return tc.netem(place, value, ["delay", f"{delay}ms" if delay.isdigit() else delay])
    return place.of_packets(value, *managed, _PFIFO)


def _served(what: str, leaves: _Leaves, policy: _Leaves, port: Port) -> Served | None:
    """Return the ceiling of a class, else its bandwidth, else the policy's."""
    above = _rate(policy.get("bandwidth"), Fraction(port.line), "the policy's bandwidth")
    base = Fraction(port.line if above is None else above.rate_bps or 0)
    for key in ("ceiling", "bandwidth"):
        rate = _rate(leaves.get(key), base, f"the {what}'s {key}")
        if rate is not None:
            return rate
    return above


def _rate(statement: Statement | None, base: Fraction, by: str) -> Served | None:
    """Return a bandwidth in tc's units, or in percent of what is above it; "auto" is the port's."""
    text = statement.words[-1] if statement else "auto"
    if text in ("auto", "0"):
        return None
    if text.endswith("%"):
        share = whole(text[:-1], 100)
        rate = base * share / 100 if share else None
    else:
        rate = tc.to_rate(text)
    return Served(float(rate), by) if rate else Served.untold(text)


VYOS = Platform(
    name="vyos",
    title="VyOS",
    forms=("packets",),
    models=("vyos",),
    manages=("fq_codel",),
    tells=(
        r"\b(qos policy|traffic-policy)\s+(drop-tail|shaper|fq-codel|fair-queue|random-detect"
        r"|priority-queue|round-robin|network-emulator|rate-control|limiter|cake)\b",
        r"^\s*(drop-tail|fq-codel|fair-queue|rate-control|shaper|shaper-hfsc|limiter|cake"
        r"|network-emulator|priority-queue|random-detect|round-robin)\s+\S+\s*\{",
        r"^\s*(qos|traffic-policy)\s*\{",
        r"^\s*queue-type\s+['\"]?(drop-tail|fair-queue|fq-codel|priority|random-detect)\b",
        r"\bset qos interface\b",
    ),
    source="VyOS documentation: traffic policy, drop tail (pfifo)",
    rounds=note("rounding: up to a whole packet; the kernel compares with the number as it stands"),
    write=_write,
    read=_read,
    unread=matching(
        r"\b(queue-limit|queue-type|(min|max)imum-threshold|codel-quantum|average-packet)\b"
        r"|\b(qos policy|traffic-policy)\b.*\b(latency|burst|rtt|target|interval|flows)\b"
        r"|\bring-buffer\b",
        Snippet.statements,
    ),
)
