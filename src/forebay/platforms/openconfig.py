"""OpenConfig: a queue of a buffer-allocation-profile, as YANG JSON (RFC 7951)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from forebay.platforms.errors import short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, keys
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    inside,
    note,
    pool_unknown,
    trap,
    uncertain,
)
from forebay.platforms.snippet import MOST_QUEUES, Snippet, count, objects, plain

_BYTES, _TIME = "dedicated-buffer", "dedicated-buffer-temporal"
_STATIC, _STATIC_TIME = "static-shared-buffer-limit", "static-shared-buffer-limit-temporal"
_FACTOR = "dynamic-limit-scaling-factor"
_LEAVES = (_BYTES, _TIME, _STATIC, _STATIC_TIME, _FACTOR)
_UNREAD = (
    "max-queue-depth-bytes", "max-queue-depth-packets", "max-queue-depth-percent", "wred",
    "min-threshold", "max-threshold", "min-threshold-percent", "max-threshold-percent",
)  # fmt: skip
_QUEUE = "best-effort"


def _write(order: Order) -> Written:
    port, size, name = order.port, order.wanted.bytes, order.name.lower()
    if order.form == "time":
        leaf, value, rounding = _TIME, port.microseconds(size), port.microsecond_bytes
    else:
        leaf, value, rounding = _BYTES, size, 0
    # RFC 7951 section 6.1: a uint64 is written as a string.
    config = {"name": _QUEUE, leaf: str(value), "use-shared-buffer": False}
    queue = {"name": _QUEUE, "config": config}
    profile = {"name": name, "config": {"name": name}, "queues": {"queue": [queue]}}
    qos: dict[str, Any] = {"buffer-allocation-profiles": {"buffer-allocation-profile": [profile]}}
    if port.is_shaped:
        qos["scheduler-policies"] = {"scheduler-policy": [_shaper(name, port)]}
    document = {"openconfig-qos:qos": qos}
    attach = note(
        f"name it in qos/interfaces/interface[{order.interface}]/output/config as "
        "buffer-allocation-profile"
    )
    return Written(tuple(json.dumps(document, indent=2).splitlines()), rounding, (attach,))


def _shaper(name: str, port: Port) -> dict[str, Any]:
    """Return a policy with one scheduler whose peak rate is the shaper's."""
    peak: dict[str, str | int] = {"pir": str(port.rate_in())}
    if port.burst_bytes:
        peak |= {"be": port.burst_bytes}
    scheduler = {
        "sequence": 0,
        "config": {"sequence": 0, "type": "openconfig-qos-types:TWO_RATE_THREE_COLOR"},
        "two-rate-three-color": {"config": peak},
    }
    schedulers = {"scheduler": [scheduler]}
    return {"name": name, "config": {"name": name}, "schedulers": schedulers}


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    document = snippet.json()
    peaks = [peak for part in _with(document, ("pir",)) if (peak := count(part["pir"]))]
    served = Served(float(peaks[0]), "the scheduler's peak rate") if peaks else None
    if len(set(peaks)) > 1:
        served = Served(None, "several schedulers have peak rates, and which serves it is not here")
    for config in _with(document, _LEAVES):
        said = [leaf for leaf in _LEAVES if leaf in config]
        written = short(", ".join(f"{leaf} {plain(config[leaf])}" for leaf in said))
        name = config.get("name")
        place = Place(1, short(f"queue {name if isinstance(name, str) else '?'}"), written)
        reading = _queue(place, config, inside(port, served))
        timed = any(leaf in config for leaf in (_TIME, _STATIC_TIME))
        yield (reading.counted_at(served) if timed else reading).serving(served)


def _with(document: Any, leaves: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield each container with one of the leaves, with keys without their module's name."""
    parts = ({key.rpartition(":")[2]: part[key] for key in part} for part in objects(document))
    known = (part for part in parts if any(leaf in part for leaf in leaves))
    yield from islice(known, MOST_QUEUES + 1)


def _queue(place: Place, config: dict[str, Any], port: Port) -> ConfiguredQueue:
    notes: list[Note] = []
    if (_BYTES in config and _TIME in config) or (_STATIC in config and _STATIC_TIME in config):
        notes.append(trap("bytes and time of the same buffer exclude each other"))
    dedicated = _amount(config, _BYTES, _TIME, port)
    if dedicated is None:
        return place.unknown(*notes, trap("the dedicated buffer is no whole number"))
    if _TIME in config or _STATIC_TIME in config:
        notes.append(
            trap("temporal is at the queue's guaranteed share of the port; assumed to be all of it")
        )
    rounding = port.microsecond_bytes if _TIME in config or _STATIC_TIME in config else 0
    shared = config.get("use-shared-buffer")
    if shared is False:
        return place.of_bytes(dedicated, port, notes, rounding)
    if shared is not True:
        notes.append(trap("use-shared-buffer is not set: whether the pool helps is the device's"))
    if _FACTOR in config:
        return _dynamic(place, config[_FACTOR], dedicated, port, notes)
    limit = _amount(config, _STATIC, _STATIC_TIME, port)
    if limit is None:
        return place.unknown(*notes, trap("the shared limit is no whole number"))
    if shared is True and _STATIC not in config and _STATIC_TIME not in config:
        return place.unknown(*notes, trap("shared memory without a limit: no size of its own"))
    if limit:
        notes.append(trap("shared memory is not guaranteed: other queues may already use it"))
    return place.of_bytes(dedicated + limit, port, notes, rounding)


def _amount(config: dict[str, Any], size: str, time: str, port: Port) -> int | None:
    if size in config:
        return count(config[size])
    if time in config:
        microseconds = count(config[time])
        return None if microseconds is None else port.bytes_in(Fraction(microseconds, 10**6))
    return 0


def _dynamic(
    place: Place, factor: Any, dedicated: int, port: Port, notes: list[Note]
) -> ConfiguredQueue:
    if isinstance(factor, bool) or not isinstance(factor, int) or abs(factor) > 32:
        return place.unknown(*notes, trap(f"{_FACTOR} is no plausible exponent"))
    alpha = Fraction(2) ** factor
    said = trap(f"limit is 2^{factor} times what is free: alone {float(alpha / (1 + alpha)):.4g}")
    if not port.pool_bytes:
        return place.unknown(*notes, said, pool_unknown())
    limit = int(port.pool_bytes * alpha / (1 + alpha))
    return place.of_bytes(dedicated + limit, port, (*notes, said))


PLATFORM = Platform(
    name="openconfig",
    title="OpenConfig (YANG JSON)",
    comment=None,
    forms=("bytes", "time"),
    models=("qos",),
    interface="eth0",
    tells=(
        r'"(openconfig-qos:)?buffer-allocation-profiles?"',
        r'"[\w:-]*(dedicated-buffer(-temporal)?|static-shared-buffer-limit(-temporal)?)"',
        r'"openconfig-qos:',
    ),
    source="openconfig-qos-mem-mgmt.yang 0.11.1 (2023-09-06)",
    rounds=uncertain("rounding: by the device, not defined by the model; read its state"),
    write=_write,
    read=_read,
    unread=keys(*_UNREAD),
)
