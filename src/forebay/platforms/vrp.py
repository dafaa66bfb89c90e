"""Huawei VRP: lengths of queues in a traffic behavior or a queue profile; read alone.

What the bytes include and how a board rounds them was not verified, so nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import ConfiguredQueue, Place, Served, trap, uncertain
from forebay.platforms.registry import refused
from forebay.platforms.snippet import Snippet, whole

_OUTER = ("traffic", "qos", "interface", "flow-wred", "port-wred", "flow-queue", "drop-profile",
          "port-queue-template")  # fmt: skip
_NOT_VERIFIED = uncertain("not verified: whether bytes include link-layer headers, and the steps")
_BOTH = trap("bytes and packets: whichever is full first; the bytes are taken here")


def _write(order: Order) -> Written:
    raise refused("vrp")


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    rates = {
        each.above[0]: Served(1000.0 * rate, "the behavior's gts")
        for each in snippet.sections((_OUTER,), ends=("quit", "return"))
        if len(each.above) == 1 and each.words[:2] == ("gts", "cir")
        and (rate := whole("".join(each.words[2:3]), 10**10))
    }  # fmt: skip
    for each in snippet.sections((_OUTER,), ends=("quit", "return")):
        words, section = each.words, each.above[0] if len(each.above) == 1 else ()
        if section[:2] == ("traffic", "behavior") and words[0] == "queue-length":
            value, name = words[1:], ""
        elif section[:2] == ("qos", "queue-profile") and "length" in words and words[0] == "queue":
            at = words.index("length")
            value, name = words[at + 1 :], f", queue {' '.join(words[1:at])}"
        else:
            continue
        place = Place(each.line, short(" ".join(section) + name), short(each.text))
        yield _size(place, value, port).serving(rates.get(section))


def _size(place: Place, words: tuple[str, ...], port: Port) -> ConfiguredQueue:
    amounts = dict(zip(words[::2], words[1::2], strict=False))
    size, packets = (whole(amounts.get(unit, ""), 2**32) for unit in ("bytes", "packets"))
    if size:
        return place.of_bytes(size, port, (*((_BOTH,) if packets else ()), _NOT_VERIFIED))
    if packets:
        return place.of_packets(packets, port, (_NOT_VERIFIED,))
    return place.unknown(uncertain("this form of a length is not understood"))


PLATFORM = Platform(
    name="vrp",
    title="Huawei VRP (read alone; not verified on a router)",
    comment="#",
    forms=("bytes",),
    models=("ar",),
    interface="GigabitEthernet0/0/1",
    tells=(
        r"^\s*traffic (behavior|classifier|policy)\s+\S+",
        r"^\s*qos queue-profile\s",
        r"^\s*queue-length\s+(bytes|packets)\b",
        r"^\s*(flow-wred|port-wred|flow-queue|port-queue)\s",
        r"^\s*sysname\s",
    ),
    source="Huawei AR series configuration guides: QoS, queue profiles, traffic behaviors",
    rounds=_NOT_VERIFIED,
    write=_write,
    read=_read,
    unread=matching(
        r"^(queue-length|queue-depth|flow-wred|port-wred|color|drop-profile|qos max-queue-length)\b"
        r"|^queue\b.*\b(length|shaping|flow-wred|drop-profile)\b|\bbuffer\b"
    ),
)
