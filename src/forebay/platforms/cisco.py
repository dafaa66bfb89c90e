"""Cisco IOS-XR, IOS-XE and NX-OS: queue-limit of a policy-map's class.

The statements of NX-OS and the list of its alphas are from the Nexus 9000 configuration commands,
9.3(x), queue-limit. The reference does not say what the bytes include, how chips round them, and
which releases accept which unit. Each size therefore has a note that it is uncertain.
"""

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from math import floor

from forebay.platforms.notes import POOL_UNKNOWN, Note, note, trap, uncertain
from forebay.platforms.policy_map import BUFFERS, BUNDLES, TIMES, PolicyClass, classes
from forebay.platforms.reading import ConfiguredQueue, Place, Port
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import PlatformError, Snippet, Statement, whole

_MOST = 2**32 - 1


def _lines(
    order: Order,
    statements: Iterable[str],
    *,
    of: str = "class-default",
    kind: str = "",
    step: str = " ",
    ends: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return a policy-map of one class with these statements, applied to the interface."""
    return (
        f"policy-map {kind}{order.name}",
        f"{step}class {kind}{of}",
        *(2 * step + statement for statement in statements),
        *ends,
        "!",
        f"interface {order.interface}",
        f"{step}service-policy {kind}output {order.name}",
        "!",
    )


def _amount(
    words: tuple[str, ...], units: Collection[str], unit: str = ""
) -> tuple[int, str] | None:
    """Return number and unit of "128 packets"; None if it is something else."""
    number = whole(words[0], _MOST) if 1 <= len(words) <= 2 else None
    unit = words[1] if len(words) == 2 else unit
    return (number, unit) if number and unit in units else None


_XR_PACKET = 256
"""Size in bytes of a packet in the unit of queue-limit, independent of real packet sizes."""

_XR_MOST_BYTES = 10**9  # the queueing chips' packet memory (CRS command reference)
_XR_LEAST_BYTES = 9 * 1024
_PORT_PERCENT_S = Fraction(40, 1000)
_XR_DEFAULT_MS = {"asr9000": 100, "crs": 100, "ncs540": 10, "ncs5500": 10}
_XR_PRIORITY_MS = 10
_SIZES = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6}
_XR_SIZES = {**_SIZES, "packets": _XR_PACKET}
_XR_PORTS = {
    1e9: "GigabitEthernet", 1e10: "TenGigE", 2.5e10: "TwentyFiveGigE", 4e10: "FortyGigE",
    5e10: "FiftyGigE", 1e11: "HundredGigE", 2e11: "TwoHundredGigE", 4e11: "FourHundredGigE",
    8e11: "EightHundredGigE",
}  # fmt: skip


def _write_xr(order: Order) -> Written:
    size, port, rounding = order.wanted.bytes, order.port, 0
    if size > _XR_MOST_BYTES:
        raise PlatformError("too-large.ios-xr", value=size)
    said = trap('on a bundle only a time is taken: write --form time, in Python form="time"')
    value = f"{size} bytes"
    if order.form == "packets":
        value, rounding = f"{-(-size // _XR_PACKET)} packets", _XR_PACKET
    elif order.form == "time":
        whose = "its shape" if port.is_shaped else "the whole port's"
        said = note(f"a time is taken at the class's guaranteed rate: here {whose}")
        microseconds, rounding = port.microseconds(size), port.microsecond_bytes
        if microseconds > _MOST:
            raise PlatformError("too-large.queue-limit-in-time", value=microseconds, most=_MOST)
        value = f"{microseconds} us"
    burst = f" {port.burst_bytes} bytes" if port.burst_bytes else ""
    shape = (f"shape average {port.rate_in()} bps{burst}",) if port.is_shaped else ()
    lines = _lines(order, (*shape, f"queue-limit {value}"), ends=(" !", " end-policy-map"))
    return Written(lines, rounding, (said,))


def _read_xr(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for kind in classes(snippet, port):
        if not kind.is_parent:
            rate, _ = kind.guaranteed(inherits=False)
            limit = kind.limit
            own = _xr_default(kind, model) if limit is None else _xr_limit(kind, limit)
            yield kind.reading(own, {"": _XR_PACKET, **_XR_SIZES}, rate)


def _xr_limit(chosen: PolicyClass, limit: Statement) -> ConfiguredQueue:
    place, port, words = chosen.place(limit), chosen.port, limit.words[1:]
    warnings = []
    if chosen.lacks_scheduling:
        wanting = "bandwidth, shape, priority or bandwidth remaining"
        said = f"refused: a class that is not class-default needs {wanting} beside it"
        warnings.append(trap(said))
    if chosen.on_bundle and words[-1:] not in (("us",), ("ms",)):
        warnings.append(trap("refused: on a bundle queue-limit takes time units only (us, ms)"))
    if len(words) == 2 and words[0] == "percent":
        share = whole(words[1], 100)
        if not share:
            return place.unknown(*warnings, trap("queue-limit percent goes from 1 to 100"))
        size = port.bytes_in(_PORT_PERCENT_S * Fraction(share, 100))
        of = "percent of what the port may buffer, taken as 40 ms at port rate (NCS 540/5500)"
        return place.of_bytes(size, *warnings, trap(of), rounding=size // share)
    amount = _amount(words, (*TIMES, *_XR_SIZES), "packets")
    if amount is None:
        return place.unclear("queue-limit")
    value, unit = amount
    if unit in TIMES:
        rate, notes = chosen.guaranteed(inherits=False)
        size = port.inside(rate).bytes_in(Fraction(value, TIMES[unit]))
        rounding = (1 if unit == "us" else 1000) * port.microsecond_bytes
        notes = (*warnings, *notes, *_extremes(size))
        return place.of_bytes(size, *notes, rounding=rounding).counted_at(rate)
    size, rounding = value * _XR_SIZES[unit], 0
    if unit == "packets":
        full = f"{value} of them are {size // port.packet_bytes} of {port.packet_bytes} B"
        warnings.append(trap(f"a packet counts as {_XR_PACKET} B here: {full}"))
        rounding = _XR_PACKET
    elif unit != "bytes":
        doubt = f"{unit} are taken as powers of 1000; if they are of 1024, up to 5 % more"
        warnings.append(uncertain(doubt))
        rounding = size // 20
    return place.of_bytes(size, *warnings, *_extremes(size), rounding=rounding)


def _xr_default(chosen: PolicyClass, model: str) -> ConfiguredQueue:
    rate, notes = chosen.guaranteed(inherits=False)
    ms = _XR_DEFAULT_MS[model]
    ms = min(ms, _XR_PRIORITY_MS) if chosen.has_priority else ms
    said = trap(f"nobody chose this: without queue-limit it is {ms} ms ({model})")
    rounding = chosen.port.microsecond_bytes
    return chosen.place().of_time(Fraction(ms, 1000), rate, said, *notes, rounding=rounding)


def _extremes(size: int) -> tuple[Note, ...]:
    if size > _XR_MOST_BYTES:
        return (trap("more than the 1 GB of packet memory that a queue can have"),)
    if size < _XR_LEAST_BYTES:
        return (trap("less than 9 kB: it should hold at least the largest MTU, 9216 B"),)
    return ()


IOS_XR = Platform(
    name="ios-xr",
    title="Cisco IOS-XR",
    comment="!",
    forms=("bytes", "time", "packets"),
    models=tuple(_XR_DEFAULT_MS),
    interface="EightHundredGigE0/0/0/0",
    tells=(
        r"^\s*end-policy-map\b",
        r"^\s*queue-limit\s+\d+\s+(kbytes|mbytes|us|ms|bytes)\b",
        r"^\s*interface\s+(Bundle-Ether|(Ten|Forty|Fifty|(Two|Four|Eight)?Hundred)GigE)",
        r"^\s*policy-map\s+\S+\s*$",
    ),
    source="Cisco IOS XR QoS command references: CRS (4.0), NCS 540/5500 (6.x)",
    rounds=uncertain(
        "rounding: line cards take steps of their own; show qos interface tells what was programmed"
    ),
    write=_write_xr,
    read=_read_xr,
    unread=matching(BUFFERS),
    timed=BUNDLES,
    ports=tuple((rate, f"{kind}0/0/0/0") for rate, kind in _XR_PORTS.items()),
)


_SOFTMAX, _RATIO = "queue-softmax-multiplier", "queue-buffers"
_XE_MOST_PACKETS = 2_000_000
_ME3600X_PACKET = 200
_LEAST_DEFAULT = 64
_PRIORITY_DEFAULT = 512
_DEFAULT_PACKET = 1500
_XE_DEFAULT_MS = {"asr1000": 50, "esp40": 25}
_XE_PORTS = {
    1e9: "GigabitEthernet", 1e10: "TenGigabitEthernet", 2.5e10: "TwentyFiveGigE",
    4e10: "FortyGigabitEthernet", 1e11: "HundredGigE", 4e11: "FourHundredGigE",
}  # fmt: skip
_BC = uncertain(
    "the shaper's burst is Bc, in bits; some platforms take it and use one of their own"
)
_ONE_UNIT = uncertain(
    "all classes of a policy must use one unit; a platform that takes packets only refuses bytes"
)
_BESIDE = uncertain("some releases want bandwidth, shape or priority in class-default too")
_ANY_SIZE = trap("the limit counts packets of any size: small packets fill it with fewer bytes")


def _write_xe(order: Order) -> Written:
    size, port, me = order.wanted.bytes, order.port, order.model == "me3600x"
    rounding = _ME3600X_PACKET if me else port.packet_bytes - 1
    packets = -(-size // _ME3600X_PACKET) if me else order.wanted.whole_packets(port)
    value = f"{packets} packets"
    if order.form == "bytes":
        value, rounding = f"{size} bytes", 0
        if size > _MOST:
            raise PlatformError("too-large.queue-limit-in-bytes", value=size, most=_MOST)
    elif packets > _XE_MOST_PACKETS:
        raise PlatformError("too-large.ios-xe", value=packets, most=_XE_MOST_PACKETS)
    burst = f" {8 * port.burst_bytes}" if port.burst_bytes else ""
    shape = (f"shape average {port.rate_in()}{burst}",) if port.is_shaped else ()
    notes = [_ONE_UNIT] if order.form == "bytes" else []
    notes += ([] if shape else [_BESIDE]) + ([_BC] if burst else [])
    return Written(_lines(order, (*shape, f"queue-limit {value}")), rounding, tuple(notes))


def _read_xe(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    lines = list(snippet.lines())
    softmax = [line for line in lines if _SOFTMAX in line.words[:-1]]
    is_catalyst = bool(softmax) or any(line.words[0] == _RATIO for line in lines)
    packet = _ME3600X_PACKET if model == "me3600x" else port.packet_bytes
    for kind in classes(snippet, port):
        if kind.is_parent:
            continue
        rate, _ = kind.guaranteed(inherits=True)
        if kind.limit is not None:
            own = _xe_limit(kind, kind.limit, model)
        else:
            own = _units(kind, softmax) if is_catalyst else _xe_default(kind, model)
        yield kind.reading(own, {"": packet, "packets": packet, "bytes": 1}, rate)


def _units(chosen: PolicyClass, softmax: list[Statement]) -> ConfiguredQueue:
    """Return a class's share of the port's buffer units, whose bytes the model decides."""
    ratios = chosen.beginning(_RATIO)
    words = ratios[-1].words if ratios else ()
    share = "a share of the port's units that nobody chose"
    if words[1:2] == ("ratio",) and len(words) == 3:
        share = f"{words[2]} % of the port's buffer units"
    size = "the bytes of a port's buffer units depend on the model; see show platform hardware"
    last = softmax[-1].words if softmax else (_SOFTMAX, "100")
    soft = (
        f"softmax {last[last.index(_SOFTMAX) + 1]} %: shared units that a queue may borrow on top"
    )
    reading = chosen.place(ratios[-1] if ratios else None)
    said = (trap(f"a Catalyst: {share}; {size}"), trap(soft))
    return reading.unknown(*said).with_notes(also=(statement.line for statement in softmax))


def _xe_limit(chosen: PolicyClass, limit: Statement, model: str) -> ConfiguredQueue:
    place, words, needs = chosen.place(limit), limit.words[1:], []
    if chosen.lacks_scheduling:
        said = "likely refused: a class needs bandwidth, shape or priority beside it"
        needs.append(trap(said))
    if words[:1] == ("percent",):
        return place.unknown(*needs, trap("percent of the port's queue memory, not of its rate"))
    amount = _amount(words, ("packets", "bytes", *TIMES), "packets")
    if amount is None:
        return place.unclear("queue-limit", *needs)
    value, unit = amount
    if unit == "packets":
        if value > _XE_MOST_PACKETS:
            most = f"refused on an ASR 1000: queue-limit goes to {_XE_MOST_PACKETS}"
            needs.append(trap(most))
        if model != "me3600x":
            return place.of_packets(value, *needs, _ANY_SIZE)
        counted = trap(f"an ME 3600X counts packets of {_ME3600X_PACKET} B")
        size = value * _ME3600X_PACKET
        return place.of_bytes(size, *needs, counted, rounding=_ME3600X_PACKET)
    if unit == "bytes":
        return place.of_bytes(value, *needs)
    rate, notes = chosen.guaranteed(inherits=True)
    rounding = floor(chosen.port.inside(rate).rate_bps / 8 / TIMES[unit]) + 1
    seconds = Fraction(value, TIMES[unit])
    return place.of_time(seconds, rate, *needs, *notes, rounding=rounding)


def _xe_default(chosen: PolicyClass, model: str) -> ConfiguredQueue:
    place = chosen.place()
    if model not in _XE_DEFAULT_MS:
        return place.unknown(uncertain(f"the default of an {model} was not verified"))
    if chosen.has_priority:
        said = trap(f"nobody chose this: a priority queue's default is {_PRIORITY_DEFAULT} packets")
        return place.of_packets(_PRIORITY_DEFAULT, said)
    rate, notes = chosen.guaranteed(inherits=True)
    ms = _XE_DEFAULT_MS[model]
    per_second = chosen.port.inside(rate).rate_bps / (8 * _DEFAULT_PACKET)
    packets = max(_LEAST_DEFAULT, floor(per_second * ms / 1000))
    said = trap(
        f"nobody chose this: without queue-limit it is {ms} ms of {_DEFAULT_PACKET}-B packets, "
        f"at least {_LEAST_DEFAULT} ({model})"
    )
    return place.of_packets(packets, said, *notes).counted_at(rate)


IOS_XE = Platform(
    name="ios-xe",
    title="Cisco IOS-XE",
    comment="!",
    forms=("packets", "bytes"),
    models=(*_XE_DEFAULT_MS, "me3600x"),
    interface="FourHundredGigE0/0/0",
    tells=(
        r"^\s*queue-limit\s+\d+\s+packets\b",
        r"^\s*interface\s+(GigabitEthernet|TenGigabitEthernet|Port-channel)",
        r"^\s*policy-map\s+\S+\s*$",
        r"^\s*(shape average|bandwidth) percent\b",
        r"^\s*shape average \d+\s*$",
        r"^\s*queue-buffers ratio\b",
        r"\bqueue-softmax-multiplier\b",
    ),
    source="Cisco IOS XE QoS congestion management guide (16.12): queue depth, ASR 1000",
    rounds=note("rounding: up to a whole packet; software platforms count them one by one"),
    write=_write_xe,
    read=_read_xe,
    unread=matching(
        BUFFERS + r"|queue-softmax-multiplier|^platform\b.*\b(queue-limit|wred|buffer)"
    ),
    ports=tuple((rate, f"{kind}0/0/0") for rate, kind in _XE_PORTS.items()),
)


_NX_CLASS = "c-out-8q-q-default"
_ALPHAS = tuple(Fraction(2) ** power for power in range(-7, 4))
"""alpha for dynamic 0 to 10: 1/128 to 8."""

_NOT_VERIFIED = uncertain(
    "not verified: which Nexus families take a size in bytes (some only dynamic), whether all "
    "eight queues must be in the policy, and that the size is of packets without headers of the "
    "chip's own; try it with show queuing interface before it carries traffic"
)
_PFC = (
    note("a step K: every packet of ECN-capable flows above it is marked, by the present queue"),
    trap("PFC is not modelled: a lossless class pauses its senders before it drops"),
)


def _write_nx(order: Order) -> Written:
    size, k, port = order.wanted.bytes, order.wanted.step, order.port
    if size > _MOST:
        raise PlatformError("too-large.nx-os", value=size, most=_MOST)
    body = [f"queue-limit {size} bytes"]
    if k is not None:  # minimum and maximum threshold are K
        ends = f"minimum-threshold {k} bytes maximum-threshold {k} bytes"
        body.insert(0, f"random-detect {ends} drop-probability 100 weight 0 ecn")
    if port.is_shaped:
        body.insert(0, f"shape min 0 kbps max {port.rate_in(1000)} kbps")
    named = note(f"{_NX_CLASS} is the default queue of a switch with eight; see show class-map")
    left = port.burst_unwritten("shape has no word for it")
    lines = _lines(order, body, of=_NX_CLASS, kind="type queuing ", step="  ")
    return Written(lines, 0, (_NOT_VERIFIED, named, *left, *(_PFC if k is not None else ())))


def _read_nx(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for kind in classes(snippet, port, ("type", "queuing")):
        early = kind.beginning("random-detect")
        if kind.limit is not None:
            own = _nx_limit(kind, kind.limit)
        elif early:
            said = trap("its queue-limit is not in this text")
            own = kind.place(early[-1]).unknown(said, _NOT_VERIFIED)
        else:
            continue
        yield kind.reading(own, {"packets": port.packet_bytes, **_SIZES}, kind.served)


def _nx_limit(chosen: PolicyClass, limit: Statement) -> ConfiguredQueue:
    place, words, rate = chosen.place(limit), limit.words[1:], chosen.served
    if words[:1] == ("dynamic",) and len(words) == 2:
        return _nx_dynamic(place, whole(words[1], len(_ALPHAS) - 1))
    if words[:1] == ("percent",):
        return place.unknown(trap("percent of the buffer, whose size is not in this text"))
    amount = _amount(words, (*_SIZES, *TIMES))
    if amount is None:
        return place.unclear("queue-limit")
    value, unit = amount
    if unit in TIMES:
        step = chosen.port.inside(rate).bytes_in(Fraction(1, 10**6)) + 1
        return place.of_time(Fraction(value, TIMES[unit]), rate, _NOT_VERIFIED, rounding=step)
    powers = () if unit == "bytes" else (uncertain(f"{unit} are taken as powers of 1000"),)
    return place.of_bytes(value * _SIZES[unit], *powers, _NOT_VERIFIED)


def _nx_dynamic(place: Place, value: int | None) -> ConfiguredQueue:
    if value is None:
        return place.unknown(trap(f"dynamic goes from 0 to {len(_ALPHAS) - 1}"))
    share = _ALPHAS[value] / (1 + _ALPHAS[value])
    of = f"alone, the queue gets {float(share):.4g} of what is free"
    said = trap(f"alpha is {_ALPHAS[value]}: {of}")
    lists = uncertain("other Nexus families count their alphas by another list")
    if not place.port.pool_bytes:
        return place.unknown(said, lists, POOL_UNKNOWN)
    return place.of_bytes(floor(place.port.pool_bytes * share), said, lists, _NOT_VERIFIED)


NX_OS = Platform(
    name="nx-os",
    title="Cisco NX-OS (not verified on a switch)",
    comment="!",
    forms=("bytes",),
    models=("nexus9000",),
    interface="Ethernet1/1",
    tells=(
        r"^\s*policy-map\s+type\s+queuing\b",
        r"^\s*class\s+type\s+queuing\b",
        r"^\s*service-policy\s+type\s+queuing\b",
        r"^\s*queue-limit\s+dynamic\b",
    ),
    source="Cisco Nexus 9000 Series NX-OS configuration commands, 9.3(x): queue-limit",
    rounds=uncertain("rounding: the chip takes whole cells, whose size the reference does not say"),
    write=_write_nx,
    read=_read_nx,
    unread=matching(
        r"^(queue-limit|random-detect|hold-queue|hardware qos)\b|\bburst-detect\b"
        r"|\bbuffer-profile\b|^hardware\b.*\b(queue-limit|buffer)\b"
    ),
    ports=tuple(
        (rate, "Ethernet1/1") for rate in (1e9, 1e10, 2.5e10, 4e10, 5e10, 1e11, 4e11, 8e11)
    ),
)
