"""SONiC, BUFFER_PROFILE and BUFFER_QUEUE of CONFIG_DB; OpenConfig, a buffer-allocation-profile.

Both are JSON: OpenConfig's is that of YANG (RFC 7951).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import floor
from typing import Any

from forebay.platforms.notes import POOL_UNKNOWN, Note, note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served, at_rates
from forebay.platforms.registry import Order, Platform, Written, keys, line_of
from forebay.platforms.snippet import (
    MOST_QUEUES,
    PlatformError,
    Snippet,
    count,
    objects,
    plain,
    short,
    whole,
)

_Fields = dict[str, Any]
_LEAST_TH, _MOST_TH = -8, 7
_LAST_QUEUE = 31
_POOL = "egress_lossy_pool"
_KEYS = ("pool", "size", "static_th", "dynamic_th")
_COLOURS = ("green", "yellow", "red")
_CELLS = uncertain("rounding: the chip takes whole cells (some 200 to 300 B, by chip)")
_SHARED = trap("a threshold on shared memory guarantees nothing: other queues may already use it")


def _written(document: _Fields, indent: int, rounding: int, *notes: Note) -> Written:
    return Written(tuple(json.dumps(document, indent=indent).splitlines()), rounding, notes)


def share(exponent: int) -> Fraction:
    """Largest share of a free pool for one queue alone: alpha/(1 + alpha), alpha = 2^exponent."""
    alpha = Fraction(2) ** exponent
    return alpha / (1 + alpha)


def _write_sonic(order: Order) -> Written:
    queue, name, port = f"{order.interface}|0", order.name.lower(), order.port
    profile = {"pool": _POOL, "size": "0"}
    tables: _Fields = {
        "BUFFER_PROFILE": {name: profile},
        "BUFFER_QUEUE": {queue: {"profile": name}},
    }
    notes, rounding = tuple[Note, ...](), 0
    if order.form == "dynamic":
        threshold, rounding = _threshold(order)
        profile["dynamic_th"] = str(threshold)
        pool = {"type": "egress", "mode": "dynamic", "size": str(port.pool_bytes)}
        tables["BUFFER_POOL"] = {_POOL: pool}
    else:
        profile["static_th"] = str(order.wanted.bytes)
    if port.is_shaped:
        # The peak rate is the shaper's, in bytes per second.
        peak = {"type": "DWRR", "weight": "1", "meter_type": "bytes", "pir": f"{port.rate_in(8)}"}
        if port.burst_bytes:
            peak["pbs"] = str(port.burst_bytes)
        tables |= {"SCHEDULER": {name: peak}, "QUEUE": {queue: {"scheduler": name}}}
    if order.wanted.step is not None:
        tables["WRED_PROFILE"] = {name: _marks(order.wanted.step)}
        tables.setdefault("QUEUE", {}).setdefault(queue, {})["wred_profile"] = name
        notes = (
            note("a step K: every packet of ECN-capable flows above it is marked"),
            trap("PFC is not modelled: a lossless class pauses its senders before it drops"),
        )
    return _written(tables, 4, rounding, *notes)


def _marks(k: int) -> dict[str, str]:
    """Return the profile of a step of ECN marks."""
    step = {f"{colour}_{end}_threshold": str(k) for colour in _COLOURS for end in ("min", "max")}
    step |= {f"{colour}_drop_probability": "100" for colour in _COLOURS}
    return step | {f"wred_{colour}_enable": "true" for colour in _COLOURS} | {"ecn": "ecn_all"}


def _threshold(order: Order) -> tuple[int, int]:
    """Return the smallest dynamic_th whose share suffices, and the step below it in bytes.

    Each step of dynamic_th at most doubles the share, so the result is at most twice the wanted
    size. If even the smallest step is larger than that, the form is refused.
    """
    pool, size = order.port.pool_bytes, order.wanted.bytes
    if not pool:
        raise PlatformError("no-pool")
    least = floor(pool * share(_LEAST_TH))
    if least > 2 * size:
        raise PlatformError(
            "too-coarse.dynamic-th", value=_LEAST_TH, gives=least, pool=pool, times=least / size
        )
    for threshold in range(_LEAST_TH, _MOST_TH + 1):
        if floor(pool * share(threshold)) >= size:
            return threshold, _step(threshold, pool)
    raise PlatformError("too-large.dynamic-th", value=size, pool=pool)


def _step(threshold: int, pool: int) -> int:
    """Bytes from the next smaller dynamic_th to this one, rounded up."""
    below = pool * share(threshold - 1) if threshold > _LEAST_TH else 0
    return floor(pool * share(threshold) - below) + 1


def _read_sonic(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    document = snippet.json()
    tables = document if isinstance(document, dict) else {}
    pools, wred = _table(tables, "BUFFER_POOL"), _table(tables, "WRED_PROFILE")
    every, used = _queues(tables), set[str]()
    for name, fields in _table(tables, "BUFFER_PROFILE").items():
        queues = [queue for queue in every if queue.profile == name]
        rates: dict[Served | None, list[str]] = {}
        for queue in queues:
            rates.setdefault(_peak(tables, queue.rows, port), []).append(queue.place)
        early = next((queue.wred for queue in queues if queue.wred in wred), "")
        used.add(early)
        for served, where in at_rates(rates):
            said = ", ".join(f"{key} {plain(fields[key])}" for key in _KEYS if key in fields)
            place = Place.of(line_of(snippet, name), f"BUFFER_PROFILE|{name}", said, port, where)
            yield _marked(_profile(place, fields, pools).serving(served), wred.get(early, {}))
    for name, fields in wred.items():
        place = Place.of(line_of(snippet, name), f"WRED_PROFILE|{name}", "thresholds", port)
        if name not in used and None not in _ends(fields):
            yield _marked(place.unknown(trap("the queue's own size is not in this text")), fields)


def _ends(wred: _Fields) -> list[int | None]:
    return [count(wred.get(f"green_{end}_threshold")) for end in ("min", "max")]


def _marked(reading: ConfiguredQueue, wred: _Fields) -> ConfiguredQueue:
    """Return the reading with its ECN marks: a step if both thresholds are one."""
    least, most = _ends(wred)
    if least is None or most is None:
        return reading
    marks = wred.get("ecn") not in (None, "ecn_none")
    reading = reading.with_notes(also=("WRED_PROFILE",))
    if least == most and marks:
        return replace(reading, marks_bytes=least)
    what = "ECN-capable green packets are marked" if marks else "green packets are dropped"
    said = note(f"WRED: {what} with rising probability from {least} to {most} B")
    return reading.with_notes(said)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue of a port that has a buffer profile, with what is set for it and for its port."""

    place: str
    profile: str
    rows: list[_Fields]

    @property
    def wred(self) -> str:
        """The name of its WRED profile; "" without one."""
        names = (_reference(row.get("wred_profile")) for row in self.rows)
        return next((name for name in names if name), "")


def _queues(tables: _Fields) -> list[_Queue]:
    of_queues, of_ports = _table(tables, "QUEUE"), _table(tables, "PORT_QOS_MAP")
    queues = {place: of_queues[key] for key in of_queues for place in _places(key)}
    ports = {name: of_ports[key] for key in of_ports for name in key.split(",")}
    every = []
    for key, fields in _table(tables, "BUFFER_QUEUE").items():
        profile = _reference(fields.get("profile"))
        for place in _places(key):
            rows = [table for table in (queues.get(place), ports.get(place[0])) if table]
            every.append(_Queue("|".join(place), profile, rows))
    return every


def _places(key: str) -> Iterator[tuple[str, str]]:
    """Yield port and queue of a key such as "Ethernet0,Ethernet4|3-4"."""
    ports, _, queues = key.rpartition("|")
    first, last = (whole(end, _LAST_QUEUE) for end in (queues.partition("-")[::2]))
    numbers = [queues]
    if first is not None and last is not None:
        numbers = [str(number) for number in range(first, last + 1)]
    for port in dict.fromkeys(ports.split(",")):
        yield from ((port, number) for number in numbers)


def _peak(tables: _Fields, rows: list[_Fields], port: Port) -> Served | None:
    """Return the lowest peak rate of the schedulers of a queue and of its port."""
    schedulers = _table(tables, "SCHEDULER")
    named = [name for row in rows if (name := _reference(row.get("scheduler")))]
    missing = [name for name in named if schedulers and name not in schedulers]
    if missing:
        return Served(None, f"the scheduler {short(missing[0], 30)} is not in this text")
    rates = []
    for scheduler in (schedulers.get(name, {}) for name in named):
        unit = port.packet_bytes if scheduler.get("meter_type") == "packets" else 1
        rates.append(8.0 * unit * (count(scheduler.get("pir")) or 0))  # bytes or packets a second
    peak = min((rate for rate in rates if rate), default=None)
    return Served(peak, "its scheduler's peak rate") if peak else None


def _table(tables: _Fields, name: str) -> dict[str, _Fields]:
    table = tables.get(name)
    if not isinstance(table, dict):
        return {}
    return {key: value for key, value in table.items() if isinstance(value, dict)}


def _profile(place: Place, fields: _Fields, pools: dict[str, _Fields]) -> ConfiguredQueue:
    reserved = count(fields.get("size", "0"))
    pool = pools.get(_reference(fields.get("pool")), {})
    if reserved is None or ("static_th" in fields) == ("dynamic_th" in fields):
        return place.unknown(trap("a profile needs size and one of static_th and dynamic_th"))
    notes = []
    if "xoff" in fields or "xon" in fields:
        notes.append(trap("a lossless (PFC) profile: it pauses the sender instead of dropping"))
    pool_bytes = count(pool.get("size", "")) or place.port.pool_bytes
    if "static_th" in fields:
        limit = count(fields["static_th"])
        if limit is None:
            return place.unknown(trap("static_th is no number of bytes"))
        notes += [*_mode(pool, "static"), _SHARED, _CELLS]
        if pool_bytes and limit > pool_bytes:
            above = trap(f"static_th is above its pool: at most the pool's {pool_bytes} B")
            return place.of_bytes(pool_bytes, above, *notes)
        return place.of_bytes(reserved + limit, *notes)
    known = {str(th): th for th in range(_LEAST_TH, _MOST_TH + 1)}
    threshold = known.get(plain(fields["dynamic_th"]))
    if threshold is None:
        return place.unknown(trap(f"dynamic_th goes from {_LEAST_TH} to {_MOST_TH}"))
    said = trap(
        f"alpha is 2^{threshold}: alone, the queue gets {float(share(threshold)):.4g} of what is "
        "free; beside other full queues less"
    )
    if not pool_bytes:
        return place.unknown(*notes, said, POOL_UNKNOWN)
    notes += [*_mode(pool, "dynamic"), said, _SHARED, _CELLS]
    reading = place.of_bytes(reserved + floor(pool_bytes * share(threshold)), *notes)
    return replace(reading, above_bytes=_step(threshold, pool_bytes))


def _mode(pool: _Fields, wanted: str) -> tuple[Note, ...]:
    mode = pool.get("mode")
    if mode is None:
        return (trap(f"the pool must have mode {wanted}; it is not in this text"),)
    other = trap(f"the pool's mode is not {wanted}: the threshold does not apply")
    return () if mode == wanted else (other,)


def _reference(value: Any) -> str:
    return value.strip("[]").rpartition("|")[2] if isinstance(value, str) else ""


SONIC = Platform(
    name="sonic",
    title="SONiC",
    comment=None,
    forms=("bytes", "dynamic"),
    models=("config-db",),
    interface="Ethernet0",
    tells=(
        r'"BUFFER_(POOL|PROFILE|QUEUE|PG)"',
        r'"(dynamic_th|static_th)"',
        r'"(WRED_PROFILE|SCHEDULER|PORT_QOS_MAP|(DSCP|DOT1P)_TO_TC_MAP|TC_TO_QUEUE_MAP)"',
    ),
    source="sonic-buffer-profile YANG (2021-07-01); SAI buffer profile attributes",
    rounds=_CELLS,
    write=_write_sonic,
    read=_read_sonic,
    unread=keys(
        "BUFFER_PG", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST",
        "WRED_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    ),
)  # fmt: skip


_BYTES, _TIME = "dedicated-buffer", "dedicated-buffer-temporal"
_STATIC, _STATIC_TIME = "static-shared-buffer-limit", "static-shared-buffer-limit-temporal"
_FACTOR = "dynamic-limit-scaling-factor"
_LEAVES = (_BYTES, _TIME, _STATIC, _STATIC_TIME, _FACTOR)
_QUEUE_NAME = "best-effort"


def _write_openconfig(order: Order) -> Written:
    port, size, name = order.port, order.wanted.bytes, order.name.lower()
    leaf, value, rounding = _BYTES, size, 0
    if order.form == "time":
        leaf, value, rounding = _TIME, port.microseconds(size), port.microsecond_bytes
    # RFC 7951 section 6.1: a uint64 is written as a string.
    config = {"name": _QUEUE_NAME, leaf: str(value), "use-shared-buffer": False}
    queues = {"queue": [{"name": _QUEUE_NAME, "config": config}]}
    profile = {"name": name, "config": {"name": name}, "queues": queues}
    qos: _Fields = {"buffer-allocation-profiles": {"buffer-allocation-profile": [profile]}}
    if port.is_shaped:
        burst = {"be": port.burst_bytes} if port.burst_bytes else {}
        scheduler = {
            "sequence": 0,
            "config": {"sequence": 0, "type": "openconfig-qos-types:TWO_RATE_THREE_COLOR"},
            "two-rate-three-color": {"config": {"pir": str(port.rate_in()), **burst}},
        }
        schedulers = {"scheduler": [scheduler]}
        policy = {"name": name, "config": {"name": name}, "schedulers": schedulers}
        qos["scheduler-policies"] = {"scheduler-policy": [policy]}
    attach = note(
        f"name it in qos/interfaces/interface[{order.interface}]/output/config as "
        "buffer-allocation-profile"
    )
    return _written({"openconfig-qos:qos": qos}, 2, rounding, attach)


def _read_openconfig(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    document = snippet.json()
    peaks = [peak for part in _with(document, ("pir",)) if (peak := count(part["pir"]))]
    served = Served(float(peaks[0]), "the scheduler's peak rate") if peaks else None
    if len(set(peaks)) > 1:
        served = Served(None, "several schedulers have peak rates, and which serves it is not here")
    for config in _with(document, _LEAVES):
        written = ", ".join(f"{leaf} {plain(config[leaf])}" for leaf in _LEAVES if leaf in config)
        name = config.get("name") if isinstance(config.get("name"), str) else "?"
        reading = _buffer(Place.of(1, f"queue {name}", written, port.inside(served)), config)
        yield (reading.counted_at(served) if _is_timed(config) else reading).serving(served)


def _with(document: Any, leaves: tuple[str, ...]) -> Iterator[_Fields]:
    """Yield each container with one of the leaves, with keys without their module's name."""
    parts = ({key.rpartition(":")[2]: part[key] for key in part} for part in objects(document))
    known = (part for part in parts if any(leaf in part for leaf in leaves))
    yield from islice(known, MOST_QUEUES + 1)


def _is_timed(config: _Fields) -> bool:
    return _TIME in config or _STATIC_TIME in config


def _buffer(place: Place, config: _Fields) -> ConfiguredQueue:
    notes, port, rounding = [], place.port, 0
    if (_BYTES in config and _TIME in config) or (_STATIC in config and _STATIC_TIME in config):
        notes.append(trap("bytes and time of the same buffer exclude each other"))
    dedicated = _amount(config, _BYTES, _TIME, port)
    if dedicated is None:
        return place.unknown(*notes, trap("the dedicated buffer is no whole number"))
    if _is_timed(config):
        of = "temporal is at the queue's guaranteed share of the port; assumed to be all of it"
        notes.append(trap(of))
        rounding = port.microsecond_bytes
    shared = config.get("use-shared-buffer")
    if shared is False:
        return place.of_bytes(dedicated, *notes, rounding=rounding)
    if shared is not True:
        notes.append(trap("use-shared-buffer is not set: whether the pool helps is the device's"))
    if _FACTOR in config:
        return _scaled(place, config[_FACTOR], dedicated, notes)
    limit = _amount(config, _STATIC, _STATIC_TIME, port)
    if limit is None:
        return place.unknown(*notes, trap("the shared limit is no whole number"))
    if shared is True and _STATIC not in config and _STATIC_TIME not in config:
        return place.unknown(*notes, trap("shared memory without a limit: no size of its own"))
    if limit:
        notes.append(trap("shared memory is not guaranteed: other queues may already use it"))
    return place.of_bytes(dedicated + limit, *notes, rounding=rounding)


def _amount(config: _Fields, size: str, time: str, port: Port) -> int | None:
    if size in config:
        return count(config[size])
    microseconds = count(config.get(time, 0))
    return None if microseconds is None else port.bytes_in(Fraction(microseconds, 10**6))


def _scaled(place: Place, factor: Any, dedicated: int, notes: list[Note]) -> ConfiguredQueue:
    if isinstance(factor, bool) or not isinstance(factor, int) or abs(factor) > 32:
        return place.unknown(*notes, trap(f"{_FACTOR} is no plausible exponent"))
    part, pool = share(factor), place.port.pool_bytes
    said = trap(f"limit is 2^{factor} times what is free: alone {float(part):.4g}")
    if not pool:
        return place.unknown(*notes, said, POOL_UNKNOWN)
    return place.of_bytes(dedicated + int(pool * part), *notes, said)


OPENCONFIG = Platform(
    name="openconfig",
    title="OpenConfig (YANG JSON)",
    comment=None,
    forms=("bytes", "time"),
    models=("qos",),
    tells=(
        r'"(openconfig-qos:)?buffer-allocation-profiles?"',
        r'"[\w:-]*(dedicated-buffer(-temporal)?|static-shared-buffer-limit(-temporal)?)"',
        r'"openconfig-qos:',
    ),
    source="openconfig-qos-mem-mgmt.yang 0.11.1 (2023-09-06)",
    rounds=uncertain("rounding: by the device, not defined by the model; read its state"),
    write=_write_openconfig,
    read=_read_openconfig,
    unread=keys(
        "max-queue-depth-bytes", "max-queue-depth-packets", "max-queue-depth-percent", "wred",
        "min-threshold", "max-threshold", "min-threshold-percent", "max-threshold-percent",
    ),
)  # fmt: skip
