"""MikroTik RouterOS: a queue type."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.errors import option
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import ConfiguredQueue, Place, trap, uncertain
from forebay.platforms.snippet import Snippet, whole

DEFAULT_BYTES = 15_000
_MOST = 2**32 - 1
# kind: the key of its limit, its default, its unit
_KINDS = {
    "bfifo": ("bfifo-limit", DEFAULT_BYTES, "bytes"),
    "pfifo": ("pfifo-limit", 50, "packets"),
    "mq-pfifo": ("mq-pfifo-limit", 50, "packets"),
    "red": ("red-limit", 60, "packets"),
    "fq-codel": ("fq-codel-limit", 10240, "packets"),
}
_MANAGED = ("red", "fq-codel")
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
    lines = (
        f"/queue type add kind={kind} name=forebay {key}={limit}",
        f"/queue interface set {order.interface} queue=forebay",
    )
    rounding = order.port.packet_bytes - 1 if unit == "packets" else 0
    return Written(lines, rounding)


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for statement in snippet.lines():
        fields = {
            key: value.strip('"')
            for key, equals, value in (word.partition("=") for word in statement.words)
            if equals
        }
        kind = fields.get("kind", "")
        if kind not in _KINDS and not kind.startswith("pcq"):
            continue
        name = fields.get("name", "?")
        written = " ".join(word for word in statement.words if "kind=" in word or "limit=" in word)
        place = Place(statement.line, short(f"queue type {name}"), short(written))
        yield _type(place, kind, fields, port)


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
)
