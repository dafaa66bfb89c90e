"""Arista EOS: a step of ECN marks, DCTCP's K, of one transmit queue of a qos profile.

Public configurations of fabrics, and Arista's own public data model of a configuration, have the
statement with its units. No public page says how a tail-drop size of one queue is written, so none
is: the queue keeps the limit that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import ConfiguredQueue, Place, note, trap, uncertain
from forebay.platforms.registry import refused
from forebay.platforms.snippet import Snippet, whole

_MOST = 256_000_000  # largest threshold of the data model
_OUTER = ("qos", "interface", "router", "platform")
_QUEUES = ("tx-queue", "uc-tx-queue", "mc-tx-queue")
_SIZES = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6}
_NOT_VERIFIED = uncertain(
    "not verified on a switch: whether the chip calls the queue tx-queue or uc-tx-queue, and takes "
    "a minimum that equals the maximum (else add one byte to it)"
)
_KEEPS = trap("the queue's own limit is not written: a drop comes where the chip's default has it")
_PFC = trap("PFC is not modelled: a lossless class pauses its senders before it drops")
_CELLS = uncertain("rounding: the chip takes whole cells (some 200 to 300 B, by chip)")


def _write(order: Order) -> Written:
    aqm = order.wanted.aqm
    if aqm is None or aqm.parameter != "min":
        raise refused("eos")
    k = f"minimum-threshold {aqm.min_bytes} bytes maximum-threshold {aqm.min_bytes} bytes"
    lines = (
        f"qos profile {order.name}",
        "   tx-queue 0",
        f"      random-detect ecn {k} max-mark-probability 100 weight 0",
        "!",
        f"interface {order.interface}",
        f"   service-profile {order.name}",
        "!",
    )
    said = note("a step K: every packet of ECN-capable flows above it is marked")
    return Written(lines, 0, (said, _NOT_VERIFIED, _KEEPS, _PFC))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for each in snippet.sections((_OUTER, _QUEUES), ends=("exit", "end")):
        words, above = each.words, each.above
        known = above[:1] and (above[0][:2] == ("qos", "profile") or above[0][0] == "interface")
        if not known or words[:2] != ("random-detect", "ecn") or len(words) < 4:
            continue
        if not (len(above) == 1 or (len(above) == 2 and above[1][0] in _QUEUES)):
            continue
        where = ", ".join([" ".join(above[0]), *(" ".join(x[:2]) for x in above[1:])])
        place = Place(each.line, short(where), short(each.text))
        least, most = (_threshold(words, end) for end in ("minimum", "maximum"))
        if least is None or most is None:
            yield place.unknown(uncertain("thresholds in this unit depend on the chip"), _KEEPS)
        elif least == most:
            yield replace(place.unknown(_KEEPS, _CELLS), marks_bytes=least)
        else:
            said = (
                f"ECN-capable packets are marked with rising probability from {least} to {most} B"
            )
            yield place.unknown(note(said), _KEEPS, _CELLS)


def _threshold(words: tuple[str, ...], end: str) -> int | None:
    named = f"{end}-threshold"
    if named not in words[:-2]:
        return None
    at = words.index(named)
    value, unit = whole(words[at + 1], _MOST), _SIZES.get(words[at + 2])
    return value * unit if value and unit else None


PLATFORM = Platform(
    name="eos",
    title="Arista EOS (a step of ECN marks alone; not verified on a switch)",
    comment="!",
    forms=("ecn",),
    models=("eos",),
    interface="Ethernet1",
    tells=(
        r"^\s*(tx-queue|uc-tx-queue|mc-tx-queue)\s+\d",
        r"^\s*queue-monitor\b",
        r"^\s*random-detect\s+ecn\s+minimum-threshold\b",
        r"^\s*service-profile\s",
    ),
    source="Arista's public data model of EOS configurations: qos profiles, random-detect ecn",
    rounds=_CELLS,
    write=_write,
    read=_read,
    unread=matching(
        r"^(random-detect|queue-monitor|latency|drop-precedence)\b|^platform\b.*\bmmu\b"
        r"|^(egress|ingress)\b.*\b(threshold|reserved|limit)\b"
    ),
)
