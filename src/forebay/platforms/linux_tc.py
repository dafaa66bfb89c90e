"""Linux: tc qdisc, as commands, and as the output of ``tc qdisc show``; OpenWrt's sqm-scripts, as
/etc/config/sqm or ``uci show sqm``; systemd-networkd's .network files.

Each section of systemd.network(5) is read as the line of tc that sets the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil

from forebay.outcome import Aqm
from forebay.platforms import tc
from forebay.platforms.notes import GUARD, Note, note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, Statement, whole

_MOST = 2**32 - 1
_LEAST_BURST = 10_000  # without a bucket in the scenario: some packets
_BOTTLENECK = trap(
    "packets wait here only if this device is the slowest link; the driver's ring (BQL) holds "
    "some more"
)
_BELOW_TBF = note("tbf shapes, and its child holds the packets: tbf's own limit is then not used")


def _write(order: Order) -> Written:
    """Write the commands for a leaf, below a tbf if the port is shaped."""
    port, device, notes = order.port, f"tc qdisc replace dev {order.interface}", [_BOTTLENECK]
    leaf, rounding = _leaf(order) if order.wanted.aqm is None else _managed(order, order.wanted.aqm)
    lines: tuple[str, ...] = (f"{device} root {leaf}",)
    if port.is_shaped:
        frame, (table, remarks) = _frame(port), _table(port)
        # A smaller bucket than a packet's lets none pass.
        burst = max(port.burst_bytes or _LEAST_BURST, frame)
        limit = min(_MOST, order.wanted.bytes * frame) // port.packet_bytes + 1
        shaper = f"{table}tbf rate {_rate(port)}bit burst {burst} limit {limit}"
        lines = (f"{device} root handle 1: {shaper}", f"{device} parent 1:1 {leaf}")
        notes = [_BELOW_TBF, *remarks]
    return Written(lines, rounding, (*((GUARD,) if order.wanted.aqm else ()), *notes))


def _leaf(order: Order) -> tuple[str, int]:
    port = order.port
    kind, limit, rounding = "pfifo", order.wanted.whole_packets(port), port.packet_bytes - 1
    if order.form == "bytes":
        # The same packets with their link-layer headers, rounded up.
        kind, limit = "bfifo", -(-order.wanted.bytes * _frame(port) // port.packet_bytes)
        rounding = 1
    if limit > _MOST:
        raise PlatformError("too-large.tc", value=limit, most=_MOST)
    return f"{kind} limit {limit}", rounding


def _managed(order: Order, aqm: Aqm) -> tuple[str, int]:
    """Return an AQM queue; its times are in whole microseconds, rounded up."""
    port, packets = order.port, order.wanted.packets
    _refuse_unwritable(order.interface, aqm, port)
    frame, rounding = _frame(port), port.packet_bytes - 1
    if aqm.parameter == "min":
        ends = (aqm.min_bytes, aqm.max_bytes)
        low, high = (-(-size * frame // port.packet_bytes) for size in ends)
        burst = -(-(2 * low + high) // (3 * frame))
        options = f"limit {packets * frame} min {low} max {high} avpkt {frame} burst {burst} "
        options += f"probability {aqm.probability:g}"
        rounding = 1
    else:
        times = order.wanted.times(1e6)
        options = " ".join([f"limit {packets}", *(f"{key} {ceil(times[key])}us" for key in times)])
    return f"{aqm.discipline} {options}{' ecn' if aqm.ecn else ''}", rounding


def _frame(port: Port) -> int:
    """Return the bytes that a full packet counts as, with the size table of a line's framing."""
    if not port.is_shaped or port.framing is None:
        return port.frame_bytes
    framing = port.framing
    if framing.extra and not framing.padded:  # PTM, which no size table has: in the rate
        return port.packet_bytes + framing.overhead
    return framing.packet(port.packet_bytes)


def _table(port: Port) -> tuple[str, tuple[Note, ...]]:
    """Return the words of a size table for the line's framing, and remarks."""
    framing = port.framing
    if framing is None:
        return "", ()
    cells = framing.extra and framing.padded
    words = f"stab linklayer {'atm' if cells else 'ethernet'} "
    words += f"overhead {framing.overhead - port.header_bytes} "
    words += f"mpu {framing.least} " if framing.least else ""
    said = [note(f"the line's framing: a packet of {port.packet_bytes} B counts {_frame(port)} B")]
    if framing.extra and not cells:
        said.append(note("PTM's 64/65 encoding is in the rate: no size table has it"))
    return words, tuple(said)


def _rate(port: Port) -> int:
    """Return the line's rate in whole bit/s: for PTM that of the bytes before its encoding."""
    if port.framing is None:
        return port.rate_in()
    framed = port.framing.packet(port.packet_bytes)
    return round(port.framed_rate * _frame(port) / framed)


def _refuse_unwritable(interface: str, aqm: Aqm, port: Port) -> None:
    """Refuse a discipline without a limit in tc, or unknown to tc. Raises PlatformError."""
    if aqm.discipline == "cake":
        rtt = ceil(1e6 * (aqm.interval_s or 0.0))
        line = f"tc qdisc replace dev {interface} root cake besteffort flows rtt {rtt}us"
        raise PlatformError("managed.cake", line=f"{line}{_of_cake(port)}")
    if aqm.discipline == "cobalt":
        raise PlatformError("managed.cobalt")


def _of_cake(port: Port) -> str:
    """Return cake's words for the line's framing (tc-cake(8)), which counts from the IP packet."""
    framing = port.framing
    if framing is None:
        return ""
    cells = ("atm" if framing.padded else "ptm") if framing.extra else "noatm"
    least = f" mpu {framing.least}" if framing.least else ""
    return f" overhead {framing.overhead}{least} {cells}"


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    yield from _sqm(snippet, port)
    yield from tc.read(snippet, port)


_WAYS = (
    ("egress", "upload", "elimit", "eqdisc_opts"),
    ("ingress", "download", "ilimit", "iqdisc_opts"),
)
_DEFAULT = 1001  # LIMIT of sqm-scripts' defaults.sh
_GATED = uncertain(
    f"the limit is taken although qdisc_advanced is not 1; older scripts then have {_DEFAULT}"
)
_SHARED = trap("fq_codel and the like drop before they are full: the limit is a last resort")


@dataclass(slots=True)
class _Section:
    """A section of a file: its name, the line it begins at, its options and their lines."""

    name: str
    line: int
    options: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)

    def add(self, key: str, text: str, line: int) -> None:
        """Add an option."""
        self.options[key] = text
        self.lines.add(line)


def _sqm(snippet: Snippet, port: Port) -> Iterator[ConfiguredQueue]:
    """Yield the queue of each direction that has a rate; sqm does not shape at rate 0."""
    for queue in _queues(snippet):
        off = (trap("enabled is 0: nothing of it is set up"),)
        notes = off if queue.options.get("enabled") == "0" else ()
        for way, rate, limit, handed in _WAYS:
            kbits = whole(queue.options.get(rate, ""), 10**10)
            if kbits:
                served = Served(1000.0 * kbits, f"sqm's {rate}")
                reading = _way(queue, way, limit, handed, port.inside(served))
                yield reading.serving(served, *notes, also=queue.lines)


def _way(queue: _Section, way: str, limit: str, handed: str, port: Port) -> ConfiguredQueue:
    options = queue.options
    kind, device = options.get("qdisc", "fq_codel"), options.get("interface", queue.name)
    place = Place.of(queue.line, f"sqm {device}, {way}", f"qdisc {kind}", port)
    if kind == "cake":
        words = ["bandwidth", f"{int(port.rate_bps)}bit", *options.get(handed, "").split()]
        return tc.cake(Snippet(""), place, words)
    notes = (_SHARED,) if "codel" in kind or kind == "pie" else ()
    packets = whole(options.get(limit, ""), 10**9)
    if not packets:
        said = trap(f"nobody chose this: sqm's default of {_DEFAULT} packets")
        return place.of_packets(_DEFAULT, said, *notes)
    gated = () if options.get("qdisc_advanced") == "1" else (_GATED,)
    return place.of_packets(packets, *gated, *notes)


def _queues(snippet: Snippet) -> list[_Section]:
    queues: dict[str, _Section] = {}
    name = ""
    for statement in snippet.lines():
        words = statement.words
        if words[:2] == ("config", "queue"):
            name = words[2].strip("'\"") if len(words) > 2 else f"@queue[{len(queues)}]"
            queues[name] = _Section(name, statement.line)
        elif words[0] == "config":
            name = ""
        elif name and words[0] == "option" and len(words) > 2:
            queues[name].add(words[1], _unquoted(words[2:]), statement.line)
        else:
            _of_uci(queues, statement)
    return list(queues.values())


def _of_uci(queues: dict[str, _Section], statement: Statement) -> None:
    """Add a line of "uci show sqm", or "uci set sqm.wan.upload='10000'"."""
    words = statement.words[2:] if statement.words[:2] == ("uci", "set") else statement.words
    path, equals, first = words[0].partition("=") if words else ("", "", "")
    parts = path.split(".")
    if equals and parts[0] == "sqm" and len(parts) == 3:
        queue = queues.setdefault(parts[1], _Section(parts[1], statement.line))
        queue.add(parts[2], _unquoted((first, *words[1:])), statement.line)


def _unquoted(words: tuple[str, ...]) -> str:
    return " ".join(words).strip("'\"")


LINUX_TC = Platform(
    name="linux-tc",
    title="Linux tc",
    forms=("bytes", "packets"),
    models=("linux",),
    tells=(
        r"\btc\s+(-\S+\s+)*(qdisc|class)\b",
        r"^\s*qdisc\s+\w+\s+[0-9a-f]*:",
        r"\bdev\s+\S+\s+root\b",
        r"^\s*config queue\b",
        r"^\s*option (qdisc|script|upload|download)\b",
        r"\bsqm\.\S+=",
    ),
    source="iproute2's tc and the kernel's net/sched (sch_fifo, sch_netem), tried on 6.18",
    rounds=note("rounding: up to a whole byte or packet; the kernel takes the number as it stands"),
    manages=("red", "pie", "codel", "fq_codel", "dualpi2", "cake", "cobalt"),
    write=_write,
    read=_read,
    unread=matching(
        r"\bqdisc\s+(add|replace|change|link)\b|^\s*qdisc\s|\btxqueuelen\b|\bbyte_queue_limits\b"
        r"|\bethtool\s+-G\b|\boption\s+(ilimit|elimit|qdisc|i?q?disc_opts|eqdisc_opts)\b|\.[ie]limit="
    ),
)


# section: what tc calls it
_SECTIONS = {
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
_RATE_KEYS = ("Rate", "CeilRate", "Bandwidth")


def _write_networkd(order: Order) -> Written:
    """Write the sections for a leaf, below a tbf if the port is shaped."""
    port, wanted, aqm = order.port, order.wanted, order.wanted.aqm
    limit = -(-wanted.bytes * port.frame_bytes // port.packet_bytes)
    rounding = port.packet_bytes - 1
    if aqm is not None:
        limit = wanted.packets * port.frame_bytes
        name = next(name for name, kind in _SECTIONS.items() if kind == aqm.discipline)
        times = [f"{key.title()}Sec={ceil(us)}us" for key, us in wanted.times(1e6).items()]
        keys = [f"PacketLimit={wanted.packets}", *times, f"ECN={'yes' if aqm.ecn else 'no'}"]
    elif order.form == "packets":
        name, keys = "PFIFO", [f"PacketLimit={wanted.whole_packets(port)}"]
    else:
        name, keys, rounding = "BFIFO", [f"LimitBytes={limit}"], 1
    lines, said = ["[Match]", f"Name={order.interface}", ""], _BOTTLENECK
    if port.is_shaped:
        burst, said = max(port.burst_bytes or _LEAST_BURST, port.frame_bytes), _BELOW_TBF
        lines += ["[TokenBucketFilter]", "Parent=root", "Handle=1", f"Rate={port.rate_in()}"]
        lines += [f"BurstBytes={burst}", f"LimitBytes={limit + burst}", ""]
    lines += [f"[{name}]", f"Parent={'1:1' if port.is_shaped else 'root'}", *keys]
    return Written(tuple(lines), rounding, (said,) if aqm is None else (GUARD, said))


def _command(section: _Section, device: str) -> str:
    """Return the line of tc that sets the same; "" for a section that is no qdisc."""
    kind, keys = _SECTIONS.get(section.name), section.options
    if kind is None:
        return ""
    what = "class" if section.name.endswith("Class") else "qdisc"
    parent = keys.get("Parent", "root")
    words = ["tc", what, "add", "dev", device]
    words += [parent] if parent == "root" else ["parent", parent]
    for key, named in (("Handle", "handle"), ("ClassId", "classid")):
        number = keys.get(key, "")
        words += [named, number if ":" in number else f"{number}:"] if number else []
    words.append(kind)
    for key, named in _OTHER_KEYS.items():
        words += [named, _value(key, keys[key])] if key in keys else []
    return " ".join(words)


def _value(key: str, text: str) -> str:
    """Return a value in tc's units: a bare time is in seconds, a rate's k is 1000 bit/s."""
    text = "".join(text.split())
    if key in _RATE_KEYS:
        return f"{text[:-1]}{text[-1:].lower()}bit" if text[-1:] in ("K", "M", "G") else text
    return f"{text}s" if key.endswith("Sec") and text[-1:].isdigit() else text


def _read_networkd(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    sections = list(_sections(snippet))
    names = (section.options["Name"] for section in sections
             if section.name == "Match" and "Name" in section.options)  # fmt: skip
    device = "".join(next(names, "?").split()) or "?"
    rows = [""] * (snippet.text.count("\n") + 1)
    for section in sections:
        rows[section.line - 1] = _command(section, device)
    lines = {section.line: section.lines for section in sections}
    for reading in tc.read(Snippet("\n".join(rows)), port):
        also = (row for line in (reading.line, *reading.also) for row in lines.get(int(line), ()))
        yield reading.with_notes(also=also)


def _sections(snippet: Snippet) -> Iterator[_Section]:
    section = _Section("", 1)
    for statement in snippet.lines():
        text = statement.text
        if text.startswith("[") and text.endswith("]"):
            yield section
            section = _Section(text[1:-1], statement.line)
        key, equals, value = text.partition("=")
        if equals:
            section.add(key.strip(), value.strip(), statement.line)
    yield section


SYSTEMD_NETWORKD = replace(
    LINUX_TC,
    name="systemd-networkd",
    title="systemd-networkd",
    manages=("codel", "fq_codel"),
    tells=(
        rf"^\s*\[({'|'.join(_SECTIONS)})\]",
        r"^\s*\[(Match|Network|QDisc|TrafficControlQueueingDiscipline)\]",
        r"^\s*(PacketLimit|LimitBytes|BurstBytes|CeilRate|MemoryLimitBytes)\s*=",
    ),
    source="systemd.network(5): sections of queueing disciplines; sizes in K are of 1024 B",
    write=_write_networkd,
    read=_read_networkd,
    unread=matching(
        r"^(PacketLimit|LimitBytes|BurstBytes|LatencySec|MemoryLimitBytes|FlowLimit|QueueLength"
        r"|TransmitQueueLength|TxBufferSize|InitialQuantumBytes)\s*="
    ),
)
