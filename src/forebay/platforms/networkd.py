"""systemd-networkd: the queueing disciplines of a .network file, which are the kernel's.

Each section of systemd.network(5) is read as the line of tc that sets the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from forebay.platforms import linux_tc, tc_leaves
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Written, matching
from forebay.platforms.reading import GUARD, ConfiguredQueue, Note
from forebay.platforms.snippet import Snippet

if TYPE_CHECKING:
    from forebay.outcome import Aqm

# section: what tc calls it
_KINDS = {
    "BFIFO": "bfifo", "PFIFO": "pfifo", "PFIFOFast": "pfifo_fast",
    "PFIFOHeadDrop": "pfifo_head_drop", "TokenBucketFilter": "tbf", "NetworkEmulator": "netem",
    "CAKE": "cake", "ControlledDelay": "codel", "FairQueueingControlledDelay": "fq_codel",
    "FairQueueing": "fq", "PIE": "pie", "FlowQueuePIE": "fq_pie",
    "StochasticFairnessQueueing": "sfq", "HierarchyTokenBucket": "htb",
    "HierarchyTokenBucketClass": "htb", "DeficitRoundRobinScheduler": "drr",
    "EnhancedTransmissionSelection": "ets",
}  # fmt: skip
_OTHER_KEYS = {
    "PacketLimit": "limit", "LimitBytes": "limit", "BurstBytes": "burst", "LatencySec": "latency",
    "Rate": "rate", "CeilRate": "ceil", "Bandwidth": "bandwidth", "RTTSec": "rtt",
    "DelaySec": "delay", "TargetSec": "target", "IntervalSec": "interval",
    "MemoryLimitBytes": "memory_limit",
}  # fmt: skip
_RATES = ("Rate", "CeilRate", "Bandwidth")


def _write(order: Order) -> Written:
    if order.wanted.aqm is not None:
        return _managed(order, order.wanted.aqm)
    port = order.port
    limit, rounding = -(-order.wanted.bytes * port.frame_bytes // port.packet_bytes), 1
    section, size = "[BFIFO]", f"LimitBytes={limit}"
    if order.form == "packets":
        packets, rounding = order.wanted.whole_packets(port), port.packet_bytes - 1
        section, size = "[PFIFO]", f"PacketLimit={packets}"
    return Written(*_sections_for(order, section, (size,), rounding, limit))


def _managed(order: Order, aqm: Aqm) -> Written:
    """Write an AQM queue; its times are in whole microseconds, rounded up."""
    assert aqm.parameter == "target", "codel and fq_codel"
    section = next(f"[{name}]" for name, kind in _KINDS.items() if kind == aqm.discipline)
    keys = [f"PacketLimit={order.wanted.packets}", f"TargetSec={ceil(1e6 * aqm.target_s)}us"]
    if aqm.interval_s is not None:
        keys.append(f"IntervalSec={ceil(1e6 * aqm.interval_s)}us")
    keys.append(f"ECN={'yes' if aqm.ecn else 'no'}")
    limit = order.wanted.packets * order.port.frame_bytes
    rounding = order.port.packet_bytes - 1
    lines, rounding, notes = _sections_for(order, section, tuple(keys), rounding, limit)
    return Written(lines, rounding, (GUARD, *notes))


def _sections_for(
    order: Order, section: str, keys: tuple[str, ...], rounding: int, limit: int
) -> tuple[tuple[str, ...], int, tuple[Note, ...]]:
    """Return the sections for a leaf, below a tbf if the port is shaped, with a remark."""
    port = order.port
    match = ("[Match]", f"Name={order.interface}", "")
    if not port.is_shaped:
        return (*match, section, "Parent=root", *keys), rounding, (linux_tc.BOTTLENECK,)
    burst = max(port.burst_bytes or linux_tc.LEAST_BURST, port.frame_bytes)
    shaper = (
        "[TokenBucketFilter]", "Parent=root", "Handle=1", f"Rate={port.rate_in()}",
        f"BurstBytes={burst}", f"LimitBytes={limit + burst}", "",
    )  # fmt: skip
    lines = (*match, *shaper, section, "Parent=1:1", *keys)
    return lines, rounding, (linux_tc.BELOW_TBF,)


@dataclass(slots=True)
class _Section:
    name: str
    line: int
    keys: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)

    def command(self, device: str) -> str:
        """Return the line of tc that sets the same; "" for a section that is no qdisc."""
        kind = _KINDS.get(self.name)
        if kind is None:
            return ""
        what = "class" if self.name.endswith("Class") else "qdisc"
        parent = self.keys.get("Parent", "root")
        words = ["tc", what, "add", "dev", device]
        words += [parent] if parent == "root" else ["parent", parent]
        for key, named in (("Handle", "handle"), ("ClassId", "classid")):
            number = self.keys.get(key, "")
            words += [named, number if ":" in number else f"{number}:"] if number else []
        words.append(kind)
        for key, named in _OTHER_KEYS.items():
            if key in self.keys:
                words += [named, _value(key, self.keys[key])]
        return " ".join(words)


def _value(key: str, text: str) -> str:
    """Return a value in tc's units: a bare time is in seconds, a rate's k is 1000 bit/s."""
    text = "".join(text.split())
    if key in _RATES:
        return f"{text[:-1]}{text[-1:].lower()}bit" if text[-1:] in ("K", "M", "G") else text
    return f"{text}s" if key.endswith("Sec") and text[-1:].isdigit() else text


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    sections = list(_sections(snippet))
    device = next((x.keys["Name"] for x in sections if x.name == "Match" and "Name" in x.keys), "?")
    device = "".join(device.split()) or "?"
    rows = [""] * (snippet.text.count("\n") + 1)
    for each in sections:
        rows[each.line - 1] = each.command(device)
    lines = {each.line: each.lines for each in sections}
    for reading in tc_leaves.read(Snippet("\n".join(rows)), port):
        also = (row for line in (reading.line, *reading.also) for row in lines.get(int(line), ()))
        yield reading.serving(None, also=also)


def _sections(snippet: Snippet) -> Iterator[_Section]:
    found = _Section("", 1)
    for statement in snippet.lines():
        text = statement.text
        if text.startswith("[") and text.endswith("]"):
            yield found
            found = _Section(text[1:-1], statement.line)
        key, equals, value = text.partition("=")
        if equals:
            found.keys[key.strip()] = value.strip()
            found.lines.add(statement.line)
    yield found


PLATFORM = replace(
    linux_tc.PLATFORM,
    name="systemd-networkd",
    title="systemd-networkd",
    forms=("bytes", "packets"),
    manages=("codel", "fq_codel"),
    models=("linux",),
    tells=(
        rf"^\s*\[({'|'.join(_KINDS)})\]",
        r"^\s*\[(Match|Network|QDisc|TrafficControlQueueingDiscipline)\]",
        r"^\s*(PacketLimit|LimitBytes|BurstBytes|CeilRate|MemoryLimitBytes)\s*=",
    ),
    source="systemd.network(5): sections of queueing disciplines; sizes in K are of 1024 B",
    write=_write,
    read=_read,
    unread=matching(
        r"^(PacketLimit|LimitBytes|BurstBytes|LatencySec|MemoryLimitBytes|FlowLimit|QueueLength"
        r"|TransmitQueueLength|TxBufferSize|InitialQuantumBytes)\s*="
    ),
)
