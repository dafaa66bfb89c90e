"""A buffer's size in three units: bytes, time at the rate of its queue, packets."""

from __future__ import annotations

from typing import Any

from forebay.platforms.port import Port
from forebay.platforms.reading import ConfiguredQueue
from forebay.scenario import Rate


def amounts(size: int | None, packets: int | None, port: Port) -> dict[str, Any]:
    """Return bytes, seconds at the rate of the queue and whole packets; None if unknown."""
    seconds = None if size is None else port.seconds(size)
    return {"bytes": size, "seconds": seconds, "packets": packets}


def say(size: int | None, packets: int | None, port: Port) -> str:
    """Return "193500 B = 9.987 ms at 155 Mbit/s = 129 packets of 1500 B"."""
    if size is None:
        return "a size that the text alone does not say"
    time = say_time(port.seconds(size))
    many = "packet" if packets == 1 else "packets"
    at = f"{time} at {Rate(port.rate_bps)}"
    return f"{size} B = {at} = {packets} {many} of {port.packet_bytes} B"


def say_step(k: int, port: Port) -> str:
    """Return "a step K of 30000 B = 9.6 us at 25 Gbit/s = 20 packets of 1500 B"."""
    return f"a step K of {say(k, k // port.packet_bytes, port)}"


def say_reading(reading: ConfiguredQueue, port: Port) -> str:
    """Return the size of a queue, with its time at the rate that the text gives it first."""
    served, size, seconds = reading.served, reading.bytes, reading.seconds(port)
    if served is None or size is None:
        return say(size, reading.packets, port)
    many = "packet" if reading.packets == 1 else "packets"
    packets = f"= {reading.packets} {many} of {port.packet_bytes} B"
    if served.rate_bps is None or seconds is None:
        return f"{size} B {packets}, in a time that is not known"
    own = f"{size} B = {say_time(seconds)} at {Rate(served.rate_bps)} ({served.by})"
    line = f"{say_time(8 * size / port.line)} at the port's {Rate(port.line)}"
    return f"{own}, {line} {packets}"


def say_time(seconds: float) -> str:
    """Return a time to four digits, in s, ms or us."""
    if seconds >= 1e4:
        return f"{seconds:.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} us"
