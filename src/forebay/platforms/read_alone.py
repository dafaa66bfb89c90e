"""Arista EOS and Huawei VRP, whose sizes are read and not written.

EOS: a step of ECN marks, DCTCP's K, of one transmit queue of a qos profile is written. Public
configurations of fabrics, and Arista's own public data model of a configuration, have the statement
with its units. No public page says how a tail-drop size of one queue is written: the queue keeps
the limit that it has.

VRP: lengths of queues in a traffic behavior or a queue profile. What the bytes include and how a
board rounds them was not verified, so nothing is written.
"""

from collections.abc import Iterator
from dataclasses import replace

from forebay.platforms.notes import note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served
from forebay.platforms.registry import Order, Platform, Written, matching, refused
from forebay.platforms.snippet import Snippet, whole

_MOST = 256_000_000  # largest threshold of the data model
_OUTER_OF_EOS = ("qos", "interface", "router", "platform")
_QUEUES = ("tx-queue", "uc-tx-queue", "mc-tx-queue")
_SIZES = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6}
_NOT_TRIED = uncertain(
    "not verified on a switch: whether the chip calls the queue tx-queue or uc-tx-queue, and takes "
    "a minimum that equals the maximum (else add one byte to it)"
)
_KEEPS = trap("the queue's own limit is not written: a drop comes where the chip's default has it")
_PFC = trap("PFC is not modelled: a lossless class pauses its senders before it drops")
_CELLS = uncertain("rounding: the chip takes whole cells (some 200 to 300 B, by chip)")


def _write_eos(order: Order) -> Written:
    k = order.wanted.step
    if k is None:
        raise refused("eos")
    ends = f"minimum-threshold {k} bytes maximum-threshold {k} bytes"
    lines = (
        f"qos profile {order.name}",
        "   tx-queue 0",
        f"      random-detect ecn {ends} max-mark-probability 100 weight 0",
        "!",
        f"interface {order.interface}",
        f"   service-profile {order.name}",
        "!",
    )
    said = note("a step K: every packet of ECN-capable flows above it is marked")
    return Written(lines, 0, (said, _NOT_TRIED, _KEEPS, _PFC))


def _read_eos(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for section in snippet.sections((_OUTER_OF_EOS, _QUEUES), ends=("exit", "end")):
        words, above = section.words, section.above
        known = above[:1] and (above[0][:2] == ("qos", "profile") or above[0][0] == "interface")
        if not known or words[:2] != ("random-detect", "ecn") or len(words) < 4:
            continue
        if not (len(above) == 1 or (len(above) == 2 and above[1][0] in _QUEUES)):
            continue
        where = ", ".join([" ".join(above[0]), *(" ".join(x[:2]) for x in above[1:])])
        place = Place.of(section.line, where, section.text, port)
        least, most = (_threshold(words, end) for end in ("minimum", "maximum"))
        if least is None or most is None:
            yield place.unknown(uncertain("thresholds in this unit depend on the chip"), _KEEPS)
        elif least == most:
            yield replace(place.unknown(_KEEPS, _CELLS), marks_bytes=least)
        else:
            rises = f"marked with rising probability from {least} to {most} B"
            yield place.unknown(note(f"ECN-capable packets are {rises}"), _KEEPS, _CELLS)


def _threshold(words: tuple[str, ...], end: str) -> int | None:
    named = f"{end}-threshold"
    if named not in words[:-2]:
        return None
    at = words.index(named)
    value, unit = whole(words[at + 1], _MOST), _SIZES.get(words[at + 2])
    return value * unit if value and unit else None


EOS = Platform(
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
    write=_write_eos,
    read=_read_eos,
    unread=matching(
        r"^(random-detect|queue-monitor|latency|drop-precedence)\b|^platform\b.*\bmmu\b"
        r"|^(egress|ingress)\b.*\b(threshold|reserved|limit)\b"
    ),
)


_OUTER_OF_VRP = (
    "traffic", "qos", "interface", "flow-wred", "port-wred", "flow-queue", "drop-profile",
    "port-queue-template",
)  # fmt: skip
_NOT_VERIFIED = uncertain("not verified: whether bytes include link-layer headers, and the steps")
_BOTH = trap("bytes and packets: whichever is full first; the bytes are taken here")


def _write_vrp(order: Order) -> Written:
    raise refused("vrp")


def _read_vrp(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    inner = [
        entry
        for entry in snippet.sections((_OUTER_OF_VRP,), ends=("quit", "return"))
        if len(entry.above) == 1
    ]
    rates = {
        entry.above[0]: Served(1000.0 * rate, "the behavior's gts")
        for entry in inner
        if entry.words[:2] == ("gts", "cir") and (rate := whole("".join(entry.words[2:3]), 10**10))
    }
    for entry in inner:
        words, section = entry.words, entry.above[0]
        if section[:2] == ("traffic", "behavior") and words[0] == "queue-length":
            value, name = words[1:], ""
        elif section[:2] == ("qos", "queue-profile") and "length" in words and words[0] == "queue":
            at = words.index("length")
            value, name = words[at + 1 :], f", queue {' '.join(words[1:at])}"
        else:
            continue
        place = Place.of(entry.line, " ".join(section) + name, entry.text, port)
        yield _length(place, value).serving(rates.get(section))


def _length(place: Place, words: tuple[str, ...]) -> ConfiguredQueue:
    amounts = dict(zip(words[::2], words[1::2], strict=False))
    size, packets = (whole(amounts.get(unit, ""), 2**32) for unit in ("bytes", "packets"))
    if size:
        return place.of_bytes(size, *((_BOTH,) if packets else ()), _NOT_VERIFIED)
    return place.of_packets(packets, _NOT_VERIFIED) if packets else place.unclear("a length")


VRP = Platform(
    name="vrp",
    title="Huawei VRP (read alone; not verified on a router)",
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
    write=_write_vrp,
    read=_read_vrp,
    unread=matching(
        r"^(queue-length|queue-depth|flow-wred|port-wred|color|drop-profile|qos max-queue-length)\b"
        r"|^queue\b.*\b(length|shaping|flow-wred|drop-profile)\b|\bbuffer\b"
    ),
)
