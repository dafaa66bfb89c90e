"""MikroTik RouterOS: a queue type."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from forebay.platforms import tc
from forebay.platforms.notes import GUARD, Note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served, at_rates, lowest
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, short, suffixed, whole

_MOST, _MOST_BPS = 2**32 - 1, 10**22
_DEEPEST = 16
_MOST_BUCKET = 10
# kind: the key of its limit, its default, its unit
_KINDS = {
    "bfifo": ("bfifo-limit", 15_000, "bytes"),
    "pfifo": ("pfifo-limit", 50, "packets"),
    "mq-pfifo": ("mq-pfifo-limit", 50, "packets"),
    "red": ("red-limit", 60, "packets"),
    "fq-codel": ("fq-codel-limit", 10240, "packets"),
}
_HOLDERS = ("queue tree", "queue simple", "queue interface", "")
"""Menus whose commands give a type of queue a rate; "" where the text names none."""

_MANAGED = {"red": "red", "fq-codel": "fq_codel", "cake": "cake"}
"""Kinds that drop before they are full, with a scenario's names."""
_HEADER = uncertain("whether RouterOS counts the link-layer header (14 B a packet) is not verified")
_FINE = uncertain("whether RouterOS keeps times below 1 ms is not verified")
_ANY_SIZE = trap("the limit counts packets of any size: small packets fill it with fewer bytes")


def _write(order: Order) -> Written:
    wanted, aqm, port = order.wanted, order.wanted.aqm, order.port
    kind = "pfifo" if order.form == "packets" else "bfifo"
    kind = kind if aqm is None else "fq-codel"
    key, _, unit = _KINDS[kind]
    limit = wanted.whole_packets(port) if unit == "packets" else wanted.bytes
    if limit > _MOST:
        raise PlatformError("too-large.mikrotik", value=limit, most=_MOST)
    name = order.name.lower()
    bucket, notes = _bucket(port)
    attached = f"/queue interface set {order.interface} queue={name}"
    if port.is_shaped:
        attached = f"/queue tree add name={name} parent={order.interface} queue={name} "
        attached += f"max-limit={port.rate_in()}{bucket}"
    aim = "".join(f" fq-codel-{end}={ceil(us)}us" for end, us in wanted.times(1e6).items())
    if aqm is not None:
        aim += f" fq-codel-ecn={'yes' if aqm.ecn else 'no'}"
    lines = (f"/queue type add kind={kind} name={name} {key}={limit}{aim}", attached)
    rounding = port.packet_bytes - 1 if unit == "packets" else 0
    return Written(lines, rounding, notes if aqm is None else (GUARD, _FINE, *notes))


def _bucket(port: Port) -> tuple[str, tuple[Note, ...]]:
    """Return the shaper's bucket as a share of what max-limit sends in a second."""
    if not port.burst_bytes:
        return "", ()
    thousandths = ceil(1000 * port.seconds(port.burst_bytes))
    if thousandths > 1000 * _MOST_BUCKET:
        return "", port.burst_unwritten(f"bucket-size goes to {_MOST_BUCKET} s of max-limit")
    of = "the burst in seconds of max-limit, up to a whole thousandth; not verified"
    return f" bucket-size={thousandths / 1000:g}", (uncertain(f"bucket-size is {of}"),)


_Fields = dict[str, str]


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    every = list(_commands(snippet))
    rates = _rates([fields for _, menu, fields in every if menu in _HOLDERS])
    for line, menu, fields in every:
        limited = (kind for kind, (key, *_) in _KINDS.items() if key in fields)
        kind = fields.get("kind") or next(limited, "")  # a set may have no kind
        known = kind in (*_KINDS, "cake") or kind.startswith("pcq")
        if not known or menu not in ("", "queue type"):
            continue
        name = fields.get("name", "?")
        said = (f"{key}={text}" for key, text in fields.items() if key == "kind" or "limit" in key)
        written = " ".join(said)
        discipline = _MANAGED.get(kind, "drop-tail" if kind in _KINDS else None)
        for served, where in at_rates(rates.get(name, {})):
            place = Place.of(line, f"queue type {name}", written, port, where)
            reading = _type(place, kind, fields).serving(served)
            yield replace(reading, discipline=discipline, aims=_aims(kind, fields))


def _aims(kind: str, fields: _Fields) -> tuple[float, ...]:
    """Return the target of fq-codel in s, which is 5 ms by default; () if it is not understood."""
    target = tc.to_seconds(fields.get("fq-codel-target", "5ms")) if kind == "fq-codel" else None
    return () if target is None else (float(target),)


def _commands(snippet: Snippet) -> Iterator[tuple[int, str, _Fields]]:
    """Yield the line of each command, the menu it stands in, and its fields.

    A line "/queue type" opens a menu; one with a command has it for itself. The name is that of
    "set NAME" and "set [find name=NAME]" too.
    """
    menu = ""
    for statement in snippet.lines():
        words = [word.strip("[]") for word in statement.words]
        verb = next((at for at, word in enumerate(words) if word in ("add", "set")), len(words))
        own = " ".join(words[:verb]).lstrip("/") if words[0].startswith("/") else menu
        menu = own if verb == len(words) and words[0].startswith("/") else menu
        pairs = (word.partition("=") for word in words)
        fields = {key: value.strip('"') for key, equals, value in pairs if equals}
        if "set" in words[:-1] and "name" not in fields:
            after = words[words.index("set") + 1]
            fields["name"] = fields.get("default-name", "?") if "=" in after or not after else after
        yield statement.line, own, fields


def _rates(holders: list[_Fields]) -> dict[str, dict[Served | None, list[str]]]:
    """Return the max-limits by the type of queue that they apply to, with what has them."""
    rates: dict[str, dict[Served | None, list[str]]] = {}
    queues = {fields["name"]: fields for fields in holders if {"name", "parent"} <= fields.keys()}
    for fields in holders:
        for at, name in enumerate(fields.get("queue", "").split("/")[:2]):
            slowest = lowest(_limit(queue, at) for queue in (fields, *_above(fields, queues)))
            if name:
                places = rates.setdefault(name, {}).setdefault(slowest, [])
                places.append(f"{fields.get('name', '?')}, {('up', 'down')[at]}")
    return rates


def _above(fields: _Fields, queues: dict[str, _Fields]) -> Iterator[_Fields]:
    """Yield the queue that is the parent of another, and so on; an interface is none."""
    for _ in range(_DEEPEST):
        if fields.get("parent") not in queues:
            return
        fields = queues[fields["parent"]]
        yield fields


def _limit(fields: _Fields, at: int) -> Served | None:
    """Return the max-limit of one direction: the first is the upload's. 0 is none."""
    limits = fields.get("max-limit", "0").split("/")
    text = limits[min(at, len(limits) - 1)]
    rate = suffixed(text, _MOST_BPS)
    if rate is None:
        return Served.untold(f"max-limit={text}")
    return Served(float(rate), "its queue's max-limit") if rate else None


def _type(place: Place, kind: str, fields: _Fields) -> ConfiguredQueue:
    if kind == "cake":  # by the words that tc has for its fields
        rate = suffixed(fields.get("cake-bandwidth", "0"), _MOST_BPS) or 0
        memory = fields.get("cake-memlimit", "").removesuffix("iB").lower()
        words = ["bandwidth", f"{rate}bit"] if rate else []
        words += ["rtt", fields.get("cake-rtt", ""), "memlimit", memory]
        return tc.cake(Snippet(""), place, [*words, fields.get("cake-rtt-scheme", "")])
    if kind not in _KINDS:
        return place.unknown(trap(f"{kind} makes a queue for each address: no one size"))
    key, default, unit = _KINDS[kind]
    limit, notes = whole(fields.get(key, str(default)), _MOST), []
    if not limit:
        return place.unknown(trap(f"{key} takes a whole number from 1 to {_MOST}"))
    if limit == default:
        ten = " (ten packets of 1500 B)" if kind == "bfifo" else ""
        notes.append(trap(f"RouterOS's default of {default} {unit}{ten}: did anybody choose it?"))
    if f"{kind}-memlimit" in fields:
        memory = short(fields[f"{kind}-memlimit"], 30)
        notes.append(trap(f"its memory ends at {memory} too, which may be fewer packets"))
    if kind in _MANAGED:
        notes.append(trap("drops before it is full: the limit is a last resort"))
    if unit == "bytes":
        return place.of_bytes(limit, *notes, _HEADER)
    return place.of_packets(limit, *notes, _ANY_SIZE)


MIKROTIK = Platform(
    name="mikrotik",
    title="MikroTik RouterOS",
    forms=("bytes", "packets"),
    models=("routeros",),
    manages=("fq_codel",),
    interface="ether1",
    tells=(r"^\s*/queue\b", r"\bkind=\S+", r"\b(bfifo|pfifo|mq-pfifo|pcq)-limit="),
    source="RouterOS documentation: queues, queue types",
    rounds=uncertain("rounding: none is documented; a switch chip's own queues are beyond it"),
    write=_write,
    read=_read,
    unread=matching(r"\b(?!max-limit)[\w-]+-(limit|memlimit|min-threshold|max-threshold)=|\bkind="),
)
