"""SONiC: BUFFER_PROFILE and BUFFER_QUEUE of CONFIG_DB, in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

from forebay.errors import argument, option
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, keys, line_of
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    at_rates,
    note,
    pool_unknown,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, count, plain, whole

LEAST_TH, MOST_TH = -8, 7
_LAST_QUEUE = 31
_POOL = "egress_lossy_pool"
_UNREAD = (
    "BUFFER_PG", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "WRED_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
)  # fmt: skip
_KEYS = ("pool", "size", "static_th", "dynamic_th")
_COLOURS = ("green", "yellow", "red")
_CELLS = uncertain("rounding: the chip takes whole cells (some 200 to 300 B, by chip)")
_SHARED = trap("a threshold on shared memory guarantees nothing: other queues may already use it")


def share(dynamic_th: int) -> Fraction:
    """Largest share of a free pool that one queue alone can hold: alpha/(1 + alpha)."""
    alpha = Fraction(2) ** dynamic_th
    return alpha / (1 + alpha)


def _write(order: Order) -> Written:
    queue, name = f"{order.interface}|0", order.name.lower()
    tables: dict[str, Any] = {
        "BUFFER_PROFILE": {name: {"pool": _POOL, "size": "0"}},
        "BUFFER_QUEUE": {queue: {"profile": name}},
    }
    profile = tables["BUFFER_PROFILE"][name]
    rounding = 0
    if order.form == "dynamic":
        threshold, rounding = _threshold(order)
        profile["dynamic_th"] = str(threshold)
        pool = {"type": "egress", "mode": "dynamic", "size": str(order.port.pool_bytes)}
        tables["BUFFER_POOL"] = {_POOL: pool}
    else:
        profile["static_th"] = str(order.wanted.bytes)
    if order.port.is_shaped:
        _shape(tables, order)
    marks = _mark(tables, order)
    return Written(tuple(json.dumps(tables, indent=4).splitlines()), rounding, marks)


def _mark(tables: dict[str, Any], order: Order) -> tuple[Note, ...]:
    """Add a profile of a step of ECN marks for the queue, if an answer has one."""
    aqm = order.wanted.aqm
    if aqm is None or aqm.parameter != "min":
        return ()
    k = str(aqm.min_bytes)
    step = {f"{colour}_{end}_threshold": k for colour in _COLOURS for end in ("min", "max")}
    step |= {f"{colour}_drop_probability": "100" for colour in _COLOURS}
    enabled = {f"wred_{colour}_enable": "true" for colour in _COLOURS}
    name = order.name.lower()
    tables["WRED_PROFILE"] = {name: step | enabled | {"ecn": "ecn_all"}}
    queue = tables.setdefault("QUEUE", {}).setdefault(f"{order.interface}|0", {})
    queue["wred_profile"] = name
    return (
        note("a step K: every packet of ECN-capable flows above it is marked"),
        trap("PFC is not modelled: a lossless class pauses its senders before it drops"),
    )


def _shape(tables: dict[str, Any], order: Order) -> None:
    """Add a scheduler whose peak rate, in bytes per second, is the shaper's."""
    peak = {"type": "DWRR", "weight": "1", "meter_type": "bytes", "pir": f"{order.port.rate_in(8)}"}
    if order.port.burst_bytes:
        peak["pbs"] = str(order.port.burst_bytes)
    name = order.name.lower()
    tables["SCHEDULER"] = {name: peak}
    tables["QUEUE"] = {f"{order.interface}|0": {"scheduler": name}}


def _threshold(order: Order) -> tuple[int, int]:
    """Return the smallest dynamic_th whose share suffices, and the step below it in bytes.

    Each step of dynamic_th at most doubles the share, so the result is at most twice the wanted
    size. If even the smallest step is larger than that, the form is refused.
    """
    pool = order.port.pool_bytes
    if not pool:
        wrong = "a dynamic threshold is a share of the pool, and its size is not given"
        raise PlatformError("no-pool", wrong, f"write {argument('pool_bytes', 'pool')} too")
    least = floor(pool * share(LEAST_TH))
    if least > 2 * order.wanted.bytes:
        times = f"{least / order.wanted.bytes:.3g} times what is wanted"
        gives = f"gives {least} B of a pool of {pool} B, {times}"
        wrong = f"dynamic_th {LEAST_TH}, the least there is, {gives}"
        raise PlatformError("too-coarse", wrong, f"write {option('form', 'bytes')}")
    for threshold in range(LEAST_TH, MOST_TH + 1):
        if floor(pool * share(threshold)) >= order.wanted.bytes:
            return threshold, _step(threshold, pool)
    wrong = f"{order.wanted.bytes} B is more than any one queue gets of a pool of {pool} B"
    raise PlatformError("too-large", wrong, f"ask for less, or write {option('form', 'bytes')}")


def _step(threshold: int, pool: int) -> int:
    """Bytes from the next smaller dynamic_th to this one, rounded up."""
    below = pool * share(threshold - 1) if threshold > LEAST_TH else 0
    return floor(pool * share(threshold) - below) + 1


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    document = snippet.json()
    tables = document if isinstance(document, dict) else {}
    pools, wred = _table(tables, "BUFFER_POOL"), _table(tables, "WRED_PROFILE")
    every, used = _queues(tables), set[str]()
    for name, fields in _table(tables, "BUFFER_PROFILE").items():
        queues = [each for each in every if each.profile == name]
        rates: dict[Served | None, list[str]] = {}
        for each in queues:
            rates.setdefault(_served(tables, each.rows, port), []).append(each.place)
        early = next((each.wred for each in queues if each.wred in wred), "")
        used.add(early)
        for served, where in at_rates(rates or {None: []}):
            said = short(", ".join(f"{key} {plain(fields[key])}" for key in _KEYS if key in fields))
            place = Place(line_of(snippet, name), short(f"BUFFER_PROFILE|{name}") + where, said)
            reading = _profile(place, fields, pools, port).serving(served)
            yield _marked(reading, wred.get(early, {}))
    for name, fields in wred.items():
        place = Place(line_of(snippet, name), short(f"WRED_PROFILE|{name}"), "thresholds")
        if name not in used and None not in _ends(fields):
            yield _marked(place.unknown(trap("the queue's own size is not in this text")), fields)


def _ends(wred: dict[str, Any]) -> list[int | None]:
    return [count(wred.get(f"green_{end}_threshold")) for end in ("min", "max")]


def _marked(reading: ConfiguredQueue, wred: dict[str, Any]) -> ConfiguredQueue:
    """Return the reading with its ECN marks: a step if both thresholds are one."""
    least, most = _ends(wred)
    if least is None or most is None:
        return reading
    marks = wred.get("ecn") not in (None, "ecn_none")
    reading = reading.serving(None, also=("WRED_PROFILE",))
    if least == most and marks:
        return replace(reading, marks_bytes=least)
    what = "ECN-capable green packets are marked" if marks else "green packets are dropped"
    said = note(f"WRED: {what} with rising probability from {least} to {most} B")
    return reading.serving(None, said)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue of a port that has a buffer profile, with what is set for it and for its port."""

    place: str
    profile: str
    rows: list[dict[str, Any]]

    @property
    def wred(self) -> str:
        """The name of its WRED profile; "" without one."""
        names = (_reference(row.get("wred_profile")) for row in self.rows)
        return next((name for name in names if name), "")


def _queues(tables: dict[str, Any]) -> list[_Queue]:
    of_queues, of_ports = _table(tables, "QUEUE"), _table(tables, "PORT_QOS_MAP")
    queues = {place: of_queues[key] for key in of_queues for place in _places(key)}
    ports = {name: of_ports[key] for key in of_ports for name in key.split(",")}
    found = []
    for key, fields in _table(tables, "BUFFER_QUEUE").items():
        profile = _reference(fields.get("profile"))
        for place in _places(key):
            rows = [table for table in (queues.get(place), ports.get(place[0])) if table]
            found.append(_Queue("|".join(place), profile, rows))
    return found


def _places(key: str) -> Iterator[tuple[str, str]]:
    """Yield port and queue of a key such as "Ethernet0,Ethernet4|3-4"."""
    ports, _, queues = key.rpartition("|")
    first, last = (whole(each, _LAST_QUEUE) for each in (queues.partition("-")[::2]))
    numbers = [queues]
    if first is not None and last is not None:
        numbers = [str(number) for number in range(first, last + 1)]
    for port in dict.fromkeys(ports.split(",")):
        yield from ((port, number) for number in numbers)


def _served(tables: dict[str, Any], rows: list[dict[str, Any]], port: Port) -> Served | None:
    """Return the lowest peak rate of the schedulers of a queue and of its port."""
    schedulers = _table(tables, "SCHEDULER")
    named = [name for each in rows if (name := _reference(each.get("scheduler")))]
    missing = [name for name in named if schedulers and name not in schedulers]
    if missing:
        return Served(None, f"the scheduler {short(missing[0], 30)} is not in this text")
    rates = []
    for scheduler in (schedulers.get(name, {}) for name in named):
        unit = port.packet_bytes if scheduler.get("meter_type") == "packets" else 1
        rates.append(8.0 * unit * (count(scheduler.get("pir")) or 0))  # bytes or packets a second
    peak = min((rate for rate in rates if rate), default=None)
    return Served(peak, "its scheduler's peak rate") if peak else None


def _table(tables: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    table = tables.get(name)
    if not isinstance(table, dict):
        return {}
    return {key: value for key, value in table.items() if isinstance(value, dict)}


def _profile(
    place: Place, fields: dict[str, Any], pools: dict[str, dict[str, Any]], port: Port
) -> ConfiguredQueue:
    reserved = count(fields.get("size", "0"))
    pool = pools.get(_reference(fields.get("pool")), {})
    if reserved is None or ("static_th" in fields) == ("dynamic_th" in fields):
        return place.unknown(trap("a profile needs size and one of static_th and dynamic_th"))
    mode, notes = pool.get("mode"), tuple[Note, ...]()
    if "xoff" in fields or "xon" in fields:
        notes = (trap("a lossless (PFC) profile: it pauses the sender instead of dropping"),)
    if "static_th" in fields:
        limit = count(fields["static_th"])
        if limit is None:
            return place.unknown(trap("static_th is no number of bytes"))
        notes = (*notes, *_mode(mode, "static"), _SHARED, _CELLS)
        whole_pool = count(pool.get("size", "")) or port.pool_bytes
        if whole_pool and limit > whole_pool:
            above = trap(f"static_th is above its pool: at most the pool's {whole_pool} B")
            return place.of_bytes(whole_pool, port, (above, *notes))
        return place.of_bytes(reserved + limit, port, notes)
    return _dynamic(place, fields["dynamic_th"], reserved, pool, port, notes)


def _dynamic(
    place: Place,
    text: Any,
    reserved: int,
    pool: dict[str, Any],
    port: Port,
    notes: tuple[Note, ...],
) -> ConfiguredQueue:
    threshold = {str(th): th for th in range(LEAST_TH, MOST_TH + 1)}.get(plain(text))
    if threshold is None:
        return place.unknown(trap(f"dynamic_th goes from {LEAST_TH} to {MOST_TH}"))
    size = count(pool.get("size", "")) or port.pool_bytes
    said = trap(
        f"alpha is 2^{threshold}: alone, the queue gets {float(share(threshold)):.4g} of what is "
        "free; beside other full queues less"
    )
    if not size:
        return place.unknown(*notes, said, pool_unknown())
    limit = reserved + floor(size * share(threshold))
    every = (*notes, *_mode(pool.get("mode"), "dynamic"), said, _SHARED, _CELLS)
    reading = place.of_bytes(limit, port, every)
    return replace(reading, above_bytes=_step(threshold, size))


def _mode(mode: Any, wanted: str) -> tuple[Note, ...]:
    if mode == wanted:
        return ()
    if mode is None:
        return (trap(f"the pool must have mode {wanted}; it is not in this text"),)
    return (trap(f"the pool's mode is not {wanted}: the threshold does not apply"),)


def _reference(value: Any) -> str:
    return value.strip("[]").rpartition("|")[2] if isinstance(value, str) else ""


PLATFORM = Platform(
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
    write=_write,
    read=_read,
    unread=keys(*_UNREAD),
)
