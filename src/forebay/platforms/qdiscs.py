"""Linux queue disciplines: the unit of each one's limit, and its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forebay.catalogue import DISCIPLINES
from forebay.platforms.reading import Note, note, trap

TXQUEUELEN = 1000
"""Linux's default length of an interface's queue, packets."""


@dataclass(frozen=True, slots=True)
class Qdisc:
    """``default`` is in ``unit``; None if there is practically no limit."""

    unit: Literal["bytes", "packets"]
    default: int | None
    notes: tuple[Note, ...] = ()


def _simulated(name: str, *notes: Note) -> Qdisc:
    """Return a qdisc that a scenario can have, from its record in the catalogue."""
    (record,) = (each for each in DISCIPLINES.values() if each.in_tc == name)
    return Qdisc("bytes" if record.counts_bytes else "packets", record.default_limit, notes)


_GSO = trap("a packet here may be a GSO super-packet of up to 64 kB: bfifo bounds bytes")
_HEADER = note("counts the link-layer header of each packet, but not preamble and checksum")
_AQM = trap("drops before it is full: the limit is a last resort, not the queue that forms")
_FLOWS = trap("shares its packets out to many queues: no one queue has this size")

QDISCS = {
    "bfifo": _simulated("bfifo", _HEADER),
    "pfifo": _simulated("pfifo", _GSO),
    "pfifo_head_drop": _simulated("pfifo_head_drop", _GSO, trap("drops the oldest packet")),
    "pfifo_fast": Qdisc("packets", TXQUEUELEN, (_GSO, trap("three bands of this size each"))),
    "netem": Qdisc("packets", 1000, (_GSO,)),
    "tbf": Qdisc("bytes", None, (_HEADER,)),
    "red": _simulated("red", _HEADER, _AQM),
    "sfq": Qdisc("packets", 127, (_GSO, _FLOWS)),
    "codel": _simulated("codel", _GSO, _AQM),
    "fq_codel": _simulated("fq_codel", _GSO, _AQM, _FLOWS),
    "fq": Qdisc("packets", 10000, (_GSO, _FLOWS)),
    "pie": _simulated("pie", _GSO, _AQM),
    "fq_pie": Qdisc("packets", 10240, (_GSO, _AQM, _FLOWS)),
    "dualpi2": _simulated("dualpi2", _AQM, trap("shares its packets out to two queues")),
}

CLASSFUL = ("htb", "hfsc", "prio", "drr", "ets", "mq", "mqprio", "cake", "noqueue")
"""Kinds whose packets wait in leaf qdiscs, or that choose their own size."""

WITHOUT_LIMIT = {"noqueue": "noqueue holds no packet: they go to the device at once"}
"""What is said of a kind that has neither a limit nor leaves."""


_FIFOS = ("pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "netem", "tbf")
"""Kinds that drop what does not fit, and nothing before."""


def scenario_name(kind: str) -> str:
    """Return the name of a kind as a scenario has it; every FIFO is drop-tail."""
    return "drop-tail" if kind in _FIFOS else kind


def default_target_s(kind: str) -> float | None:
    """Return the target of a kind without one, s; None if it has none."""
    record = DISCIPLINES.get(kind)
    return None if record is None else record.default_target_s
