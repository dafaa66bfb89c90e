"""MikroTik RouterOS: a queue type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from forebay.errors import option
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    burst_unwritten,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, Statement, whole
from forebay.platforms.unread import matching

DEFAULT_BYTES = 15_000
_MOST = 2**32 - 1
_DEEPEST = 16
_MOST_BUCKET = 10
# kind: the key of its limit, its default, its unit
_KINDS = {
    "bfifo": ("bfifo-limit", DEFAULT_BYTES, "bytes"),
    "pfifo": ("pfifo-limit", 50, "packets"),
    "mq-pfifo": ("mq-pfifo-limit", 50, "packets"),
    "red": ("red-limit", 60, "packets"),
    "fq-codel": ("fq-codel-limit", 10240, "packets"),
}
_MANAGED = {"red": "red", "fq-codel": "fq_codel"}
"""Kinds that drop before they are full, with a scenario's names."""
_HEADER = uncertain("whether RouterOS counts the link-layer header (14 B a packet) is not verified")
_ANY_SIZE = trap("the limit counts packets of any size: small packets fill it with fewer bytes")


def _write(order: Order) -> Written:
    kind = "pfifo" if order.form == "packets" else "bfifo"
    key, _, unit = _KINDS[kind]
    limit = order.wanted.bytes
    if unit == "packets":
        limit = order.wanted.whole_packets(order.port)
    if limit > _MOST:
        wrong = f"a limit of {limit} is more than {_MOST}"
        raise PlatformError(
            "too-large", wrong, f"ask for less, or write {option('form', 'packets')}"
        )
    rate = order.port.rate_in()
    name = order.name.lower()
    bucket, notes = _bucket(order.port)
    shaped = f"/queue tree add name={name} parent={order.interface} queue={name} "
    shaped += f"max-limit={rate}{bucket}"
    plain = f"/queue interface set {order.interface} queue={name}"
    lines = (
        f"/queue type add kind={kind} name={name} {key}={limit}",
        shaped if order.port.is_shaped else plain,
    )
    rounding = order.port.packet_bytes - 1 if unit == "packets" else 0
    return Written(lines, rounding, notes)


def _bucket(port: Port) -> tuple[str, tuple[Note, ...]]:
    """Return the shaper's bucket as a share of what max-limit sends in a second."""
    if not port.burst_bytes:
        return "", ()
    thousandths = ceil(1000 * port.seconds(port.burst_bytes))
    if thousandths > 1000 * _MOST_BUCKET:
        why = f"bucket-size goes to {_MOST_BUCKET} s of max-limit"
        return "", (burst_unwritten(port.burst_bytes, why),)
    said = (
        "bucket-size is the burst in seconds of max-limit, up to a whole thousandth; not verified"
    )
    return f" bucket-size={thousandths / 1000:g}", (uncertain(said),)


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    every = [_fields(statement) for statement in snippet.lines()]
    rates = _rates(every)
    for line, fields in every:
        kind = fields.get("kind") or _kind_of(fields)
        if kind not in _KINDS and not kind.startswith("pcq"):
            continue
        name = fields.get("name", "?")
        written = " ".join(
            f"{key}={value}" for key, value in fields.items() if key == "kind" or "limit" in key
        )
        place = Place(line, short(f"queue type {name}"), short(written))
        served = Served(min(rates[name]), "its queue's max-limit") if name in rates else None
        reading = _type(place, kind, fields, port).serving(served)
        yield replace(
            reading, discipline=_MANAGED.get(kind, "drop-tail" if kind in _KINDS else None)
        )


def _fields(statement: Statement) -> tuple[int, dict[str, str]]:
    """Return the line and its fields; the name of "set NAME" and "set [find name=NAME]" too."""
    words = [word.strip("[]") for word in statement.words]
    pairs = (word.partition("=") for word in words)
    fields = {key: value.strip('"') for key, equals, value in pairs if equals}
    if "set" in words[:-1] and "name" not in fields:
        after = words[words.index("set") + 1]
        fields["name"] = fields.get("default-name", "?") if "=" in after or not after else after
    return statement.line, fields


def _kind_of(fields: dict[str, str]) -> str:
    """Return the kind that a limit belongs to, for a set without kind."""
    return next((kind for kind, (key, *_) in _KINDS.items() if key in fields), "")


def _rates(every: list[tuple[int, dict[str, str]]]) -> dict[str, list[float]]:
    """Return the max-limits in bit/s by the type of queue that they apply to."""
    found: dict[str, list[float]] = {}
    queues = {fields["name"]: fields for _, fields in every if {"name", "parent"} <= fields.keys()}
    for _, fields in every:
        for at, name in enumerate(fields.get("queue", "").split("/")[:2]):
            limits = [_limit(each, at) for each in (fields, *_above(fields, queues))]
            known = [float(rate) for rate in limits if rate]
            if known and name:
                found.setdefault(name, []).append(min(known))
    return found


def _above(fields: dict[str, str], queues: dict[str, dict[str, str]]) -> Iterator[dict[str, str]]:
    """Yield the queue that is the parent of another, and so on; an interface is none."""
    for _ in range(_DEEPEST):
        if fields.get("parent") not in queues:
            return
        fields = queues[fields["parent"]]
        yield fields


def _limit(fields: dict[str, str], at: int) -> int | None:
    """Return the max-limit of one direction: the first is the upload's."""
    limits = fields.get("max-limit", "").split("/")
    return _rate(limits[min(at, len(limits) - 1)])


def _rate(text: str) -> int | None:
    """Return a rate in bit/s, which may end in k, M or G."""
    factor = {"k": 10**3, "m": 10**6, "g": 10**9}.get(text[-1:].lower(), 1)
    number = whole(text[:-1] if factor > 1 else text, 10**13)
    return None if number is None else number * factor


def _type(place: Place, kind: str, fields: dict[str, str], port: Port) -> ConfiguredQueue:
    if kind not in _KINDS:
        return place.unknown(trap(f"{kind} makes a queue for each address: no one size"))
    key, default, unit = _KINDS[kind]
    limit, notes = default, []
    if key in fields:
        value = whole(fields[key], _MOST)
        if not value:
            return place.unknown(trap(f"{key} takes a whole number from 1 to {_MOST}"))
        limit = value
    if limit == default:
        ten = " (ten packets of 1500 B)" if kind == "bfifo" else ""
        notes.append(trap(f"RouterOS's default of {default} {unit}{ten}: did anybody choose it?"))
    if f"{kind}-memlimit" in fields:
        memory = short(fields[f"{kind}-memlimit"], 30)
        notes.append(trap(f"its memory ends at {memory} too, which may be fewer packets"))
    if kind in _MANAGED:
        notes.append(trap("drops before it is full: the limit is a last resort"))
    if unit == "bytes":
        return place.of_bytes(limit, port, (*notes, _HEADER))
    return place.of_packets(limit, port, (*notes, _ANY_SIZE))


PLATFORM = Platform(
    name="mikrotik",
    title="MikroTik RouterOS",
    comment="#",
    forms=("bytes", "packets"),
    models=("routeros",),
    interface="ether1",
    tells=(r"^\s*/queue\b", r"\bkind=\S+", r"\b(bfifo|pfifo|mq-pfifo|pcq)-limit="),
    source="RouterOS documentation: queues, queue types",
    rounds=uncertain("rounding: none is documented; a switch chip's own queues are beyond it"),
    write=_write,
    read=_read,
    unread=matching(r"\b(?!max-limit)[\w-]+-(limit|memlimit|min-threshold|max-threshold)=|\bkind="),
)
