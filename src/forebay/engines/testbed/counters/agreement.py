"""Comparison of independent counters with the router's own, for the same packets."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

_BEFORE_THE_END_S = 0.05


class Counted(NamedTuple):
    """Increase of a counter between two readings.

    Attributes
    ----------
    octets, packets : of IP, including headers.
    span_s : time between the readings.
    flows : number of different addresses and ports, if the counter has it.
    """

    octets: int
    packets: int
    span_s: float
    flows: int | None = None


class WindowClock:
    """Waits for times of the window; waiting ends with the run.

    Attributes
    ----------
    window_s : length of the measured window.
    last_s : time of the last reading since the window's start. Traffic ends with the window, so a
        slightly later reading would include time without traffic.
    """

    def __init__(self, warmup_s: float, window_s: float) -> None:
        self.window_s = window_s
        self.last_s = max(window_s / 2, window_s - _BEFORE_THE_END_S)
        self._warmup_s = warmup_s
        self._begins = 0.0
        self._over = threading.Event()

    def begin(self, at_s: float) -> None:
        """Set the start of the router's clock, on the monotonic clock."""
        self._begins = at_s + self._warmup_s

    def end(self) -> None:
        """End the run and all waiting."""
        self._over.set()

    def reached(self, after_s: float) -> bool:
        """Wait until this time in the window; False if the run ends before."""
        return not self._over.wait(max(0.0, self._begins + after_s - time.monotonic()))


def agreement(
    router: Counted, others: Mapping[str, Counted], rate_bps: float | None
) -> dict[str, Any]:
    """Return each count, and its difference from the router's.

    Parameters
    ----------
    router : Counted
        Packets that the receivers' device accepted in the window.
    others : the same by other counters, over nearly the same time: rates are compared.
    rate_bps : rate of the link, bit/s, if the device is behind only one; without it there is no
        utilization (octets × 8 / rate / time).
    """
    rates = {"router": _rate(router, rate_bps)}
    for name, counted in others.items():
        rates[name] = _rate(counted, rate_bps) | {
            "octets_off_percent": off_percent(counted.octets, counted, router.octets, router),
            "packets_off_percent": off_percent(counted.packets, counted, router.packets, router),
        }
    return rates


def off_percent(count: int, of: Counted, reference: int, router: Counted) -> float | None:
    """Return the difference of two counts per second, in per cent of the reference, or None."""
    if not reference:
        return None
    return 100 * (count / of.span_s / (reference / router.span_s) - 1)


def _rate(counted: Counted, rate_bps: float | None) -> dict[str, Any]:
    used = None if rate_bps is None else counted.octets * 8 / rate_bps / counted.span_s
    read = {name: value for name, value in counted._asdict().items() if value is not None}
    return read | {"utilization": used}
