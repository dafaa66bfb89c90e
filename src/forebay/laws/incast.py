"""The buffer that holds the first windows of workers that answer a request at once (incast).

N workers begin at the same instant, each with its initial window of w packets, or its whole answer
if that is shorter, over an access link a times as fast as the link. From the first arrival to the
last one, (w - 1) / a transmissions later, N w packets have come. One is then on the wire, and as
many have left as transmissions fitted:

    B = N w - 1 - floor((w - 1) / a)

With less, what is above it is lost, out of N w. That each flow has a least window whatever its
congestion control does, and that so many flows overflow any buffer, is said in Alizadeh et al.
2010 ("Data Center TCP (DCTCP)"), section 3.5. Round trips and service times with a spread keep the
windows apart and need less; answers longer than w go on in slow start and may need more.
"""

import math
from dataclasses import dataclass

from forebay.laws.assumptions import drop_tail
from forebay.laws.law import Law
from forebay.scenario import Requests, Scenario
from forebay.words import Fact

_LINUX, _NS2 = 10, 1
"""Initial windows of the senders' stacks (RFC 6928; ns-2)."""


@dataclass(frozen=True, slots=True)
class FirstWindows:
    """What a request brings before any ACK has come back.

    Attributes
    ----------
    workers : N.
    window : w, packets of each.
    access : a, the rate of a worker's own link over that of the link.
    answer : mean packets of an answer.
    """

    workers: int
    window: int
    access: float
    answer: float

    @property
    def packets(self) -> int:
        """N w."""
        return self.workers * self.window

    @property
    def sent_meanwhile(self) -> int:
        """Packets that leave the queue until the last of them has come."""
        return 1 + math.floor((self.window - 1) / self.access * (1.0 + 1e-12))

    @property
    def buffer(self) -> int:
        """B, packets; at least 1."""
        return max(1, self.packets - self.sent_meanwhile)

    def lost_share(self, buffer: int) -> float:
        """Return the share of N w that a smaller buffer loses."""
        return max(0, self.buffer - buffer) / self.packets


def first_windows(scenario: Scenario) -> FirstWindows | None:
    """Return those of the class with the most packets at once; None without requests."""
    groups = [group for group in scenario.crossing if isinstance(group, Requests)]
    windows = (_of(group, float(scenario.link.capacity)) for group in groups)
    return max(windows, key=lambda one: one.packets, default=None)


def _of(group: Requests, link_rate: float) -> FirstWindows:
    initial = group.initial_window or (_LINUX if group.sender == "linux" else _NS2)
    answer = float(group.response.mean_packets(group.packet))
    longest = group.max_window or initial
    window = max(1, min(initial, longest, math.ceil(answer - 1e-9)))
    return FirstWindows(group.together, window, group.access(link_rate) / link_rate, answer)


def one_group(scenario: Scenario) -> Fact | None:
    """Nothing crosses the link but the answers to one request at a time."""
    groups = scenario.crossing
    alone = len(groups) == 1 and isinstance(groups[0], Requests)
    if alone and groups[0].flows <= getattr(groups[0], "together", 0):
        return None
    return Fact("broken.one-group")


def at_once(scenario: Scenario) -> Fact | None:
    """All workers of a request begin at the same instant."""
    for group in scenario.crossing:
        if isinstance(group, Requests):
            spread = (group.rtt.high - group.rtt.low) / 2 + group.service_time.high
            spread -= group.service_time.low
            if spread > 0.0:
                return Fact("broken.at-once", spread_us=spread * 1e6)
    return None


def one_window(scenario: Scenario) -> Fact | None:
    """An answer is no longer than the initial window."""
    sizes = first_windows(scenario)
    if sizes is None or sizes.answer <= sizes.window:
        return None
    return Fact("broken.one-window", answer=sizes.answer, window=sizes.window)


def _packets(scenario: Scenario) -> float | None:
    windows = first_windows(scenario)
    return None if windows is None else float(windows.buffer)


LAW = Law(
    name="alizadeh-2010/first-windows",
    source="counted after Alizadeh et al. 2010, section 3.5",
    packets=_packets,
    utilization=lambda _: None,
    checks=(one_group, at_once, one_window, drop_tail),
)
