"""Linux queue disciplines: the unit of each one's limit, and its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forebay.platforms.reading import Note, note, trap

TXQUEUELEN = 1000
"""Linux's default length of an interface's queue, packets."""


@dataclass(frozen=True, slots=True)
class Qdisc:
    """``default`` is in ``unit``; None if there is practically no limit."""

    unit: Literal["bytes", "packets"]
    default: int | None
    notes: tuple[Note, ...] = ()


_GSO = trap("a packet here may be a GSO super-packet of up to 64 kB: bfifo bounds bytes")
_HEADER = note("counts the link-layer header of each packet, but not preamble and checksum")
_AQM = trap("drops before it is full: the limit is a last resort, not the queue that forms")
_FLOWS = trap("shares its packets out to many queues: no one queue has this size")

QDISCS = {
    "bfifo": Qdisc("bytes", None, (_HEADER,)),
    "pfifo": Qdisc("packets", TXQUEUELEN, (_GSO,)),
    "pfifo_head_drop": Qdisc("packets", TXQUEUELEN, (_GSO, trap("drops the oldest packet"))),
    "pfifo_fast": Qdisc("packets", TXQUEUELEN, (_GSO, trap("three bands of this size each"))),
    "netem": Qdisc("packets", 1000, (_GSO,)),
    "tbf": Qdisc("bytes", None, (_HEADER,)),
    "red": Qdisc("bytes", None, (_HEADER, _AQM)),
    "sfq": Qdisc("packets", 127, (_GSO, _FLOWS)),
    "codel": Qdisc("packets", 1000, (_GSO, _AQM)),
    "fq_codel": Qdisc("packets", 10240, (_GSO, _AQM, _FLOWS)),
    "fq": Qdisc("packets", 10000, (_GSO, _FLOWS)),
    "pie": Qdisc("packets", 1000, (_GSO, _AQM)),
    "fq_pie": Qdisc("packets", 10240, (_GSO, _AQM, _FLOWS)),
    "dualpi2": Qdisc("packets", 10000, (_AQM, trap("shares its packets out to two queues"))),
}

CLASSFUL = ("htb", "hfsc", "prio", "drr", "ets", "mq", "mqprio", "cake", "noqueue")
"""Kinds whose packets wait in leaf qdiscs, or that choose their own size."""
