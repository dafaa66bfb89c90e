"""The validity gate: an overloaded emulator reports a plausible, low utilization.

A run that fails any of these says something about the machine, not about the scenario, so it is
no number. Limits from the prototype: three runs read 87.1, 86.9 and 81.5 % where 97.2 is right,
and each of them failed the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Readings = Mapping[str, float]


class Limit(NamedTuple):
    """The largest value of a gate reading that is still valid."""

    reading: str
    says: str
    most: float
    scale: float = 1.0
    unit: str = ""

    def fault(self, read: Readings) -> str | None:
        """Return what is wrong, or None."""
        value = read.get(self.reading)
        if value is None:
            return f"{self.says} was not read"
        if value <= self.most:
            return None
        value, most = value * self.scale, self.most * self.scale
        return f"{self.says} {value:.4g}{self.unit}, at most {most:g}{self.unit}"


LIMITS = (
    Limit("lateness_p99_s", "delivery lateness p99", 1e-3, 1e3, " ms"),
    Limit("lateness_max_s", "largest delivery lateness", 20e-3, 1e3, " ms"),
    Limit("tun_tx_drops", "packets dropped by the TUN devices", 0),
    Limit("write_errors", "packets that could not be written", 0),
    Limit("rwnd_limited", "time limited by the receive window", 0.005, 100, " %"),
    Limit("sndbuf_limited", "time limited by the send buffer", 0.005, 100, " %"),
    Limit("failed_connections", "connections that broke", 0),
    Limit("refused_datagrams", "datagrams that the kernel did not take", 0),
    Limit("dsacks", "segments received twice (DSACK)", 0),
)


def faults(read: Readings, *, window_is_limited: bool = False) -> list[str]:
    """Return what makes a run invalid: nothing for a valid one.

    Parameters
    ----------
    window_is_limited : bool
        The scenario itself limits the receive window (max_window), so being limited by it is
        no fault of the machine.
    """
    limits = (each for each in LIMITS if not (window_is_limited and each.reading == "rwnd_limited"))
    return [fault for each in limits if (fault := each.fault(read)) is not None]
