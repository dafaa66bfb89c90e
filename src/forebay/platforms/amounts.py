"""A buffer's size in three units: bytes, time at line rate, packets."""

from __future__ import annotations

from typing import Any

from forebay.platforms.port import Port
from forebay.scenario import Rate


def amounts(size: int | None, packets: int | None, port: Port) -> dict[str, Any]:
    """Return bytes, seconds at line rate and whole packets; None if unknown."""
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


def say_time(seconds: float) -> str:
    """Return a time to four digits, in s, ms or us."""
    if seconds >= 1e4:
        return f"{seconds:.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-6:.4g} us"
