"""The measured window on our own clock, for readers outside of the router."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

_BEFORE_THE_END_S = 0.05


class Counted(NamedTuple):
    """Increase of a counter between two readings.

    Attributes
    ----------
    octets, packets : int
        Of IP, including headers.
    span_s : float
        Time between the readings.
    flows : int, optional
        Number of different addresses and ports, if the counter has it.
    """

    octets: int
    packets: int
    span_s: float
    flows: int | None = None


class WindowClock:
    """Waits for times of the window; waiting ends with the run.

    Attributes
    ----------
    window_s : float
        Length of the measured window.
    last_s : float
        Time of the last reading since the window's start. Traffic ends with the window, so a
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
