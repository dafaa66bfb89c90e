"""The measured window on our own clock, for those who read from outside the router."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

_BEFORE_THE_END_S = 0.05


class Counted(NamedTuple):
    """What a counter gained between two looks at it.

    Attributes
    ----------
    octets, packets : int
        Of IP, headers included.
    span_s : float
        Time between the looks.
    flows : int, optional
        Of different addresses and ports, where the counter knows them.
    """

    octets: int
    packets: int
    span_s: float
    flows: int | None = None


class Moments:
    """Moments of the window, to wait for; none comes once the run is over.

    Attributes
    ----------
    window_s : float
        Length of the measured window.
    last_s : float
        When to look last, from the window's beginning: traffic ends with the window, so a look
        that came a little after it would tell of a time without any.
    """

    def __init__(self, warmup_s: float, window_s: float) -> None:
        self.window_s = window_s
        self.last_s = max(window_s / 2, window_s - _BEFORE_THE_END_S)
        self._warmup_s = warmup_s
        self._begins = 0.0
        self._over = threading.Event()

    def begin(self, at_s: float) -> None:
        """The router's clock began then, on the monotonic clock that it shares with us."""
        self._begins = at_s + self._warmup_s

    def end(self) -> None:
        """The run is over, whatever is still waited for."""
        self._over.set()

    def reached(self, after_s: float) -> bool:
        """Wait until so long into the window; False where the run is over before."""
        return not self._over.wait(max(0.0, self._begins + after_s - time.monotonic()))
