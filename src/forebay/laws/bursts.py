"""Bursts of flows in slow start: sizes, mean queue, waits, and a scenario as bursts (paper A, §4).

A flow of l packets sends bursts of w, 2w, 4w, ... packets, one in each round trip, and the rest in
the last one. Bursts of all flows arrive as one Poisson process, so the size of a burst is drawn
from the bursts of all flows with equal weights.

The mean queue is that of M/G/1 with bursts as jobs, packets served one by one. `load` is rho,
offered packets over those the link can carry, below one (ValueError otherwise); results in packets.
For single packets (M/D/1) use `SINGLE_PACKETS`.

A packet waits for the queue that its burst finds, and for those before it in the burst. A burst
finds the number in the system at a random time, because Poisson arrivals see time averages. Its
k-th packet then has k - 1 packets of the burst before it. A packet on the wire has a uniform part
left: the mean includes this exactly, and the quantiles neglect its dependence on the queue. All
times are packet times.

A scenario's traffic is one stream of bursts (paper A's remark on UDP). Short flows send the bursts
of slow start; datagrams arrive singly. The rates of all classes' bursts add up. Flows that never
congest the link queue only by coincidence: their packets arrive singly if slow access links space
them, and as whole windows if the receiver's window limits them (the worst case: a window stays in
one burst, as slow start sent it).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay.laws.arrays import Array, as_array
from forebay.laws.quantities import Held, bursts_only, held_back
from forebay.scenario import FlowLength, Long, Scenario, Short, Traffic
from forebay.scenario.distribution import lognormal_sigma, lognormal_tail, pareto_tail
from forebay.scenario.flow_length import PacketLaw, lower_end

Integers = NDArray[np.int64]


def stable(load: ArrayLike) -> Array:
    """Return `load` as an array. Raises ValueError unless all values are between 0 and 1."""
    rho = as_array(load)
    if not np.all((rho > 0.0) & (rho < 1.0)):
        raise ValueError(f"load {rho}: an unlimited queue is stable only above 0 and below 1")
    return rho


def of_flow(length: int, initial_window: int = 2, max_window: int | None = None) -> list[int]:
    """Bursts in which a flow of `length` packets is sent, in order; they sum to `length`.

    No burst is larger than the receiver's `max_window`, if given.

    l = 16 gives 2, 4, 8, 2. The paper's remainder, l mod (2^n - 1), sums to something else,
    and its example, a remainder of 4 for l = 16, follows from neither.
    """
    single = _rounds(np.array([length]), as_array([1.0]), initial_window, max_window)
    return [int(size[0]) for size, weight in single if size.size for _ in range(round(weight[0]))]


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """Distribution of burst sizes in packets; both arrays of shape (k,), sizes ascending."""

    sizes: Integers
    probabilities: Array

    @classmethod
    def given(cls, sizes: ArrayLike, weights: ArrayLike = 1.0) -> Self:
        """Sizes that occur in proportion to `weights`; a size may be listed twice.

        Raises ValueError for a size below one packet or a negative weight.
        """
        listed = np.asarray(sizes, dtype=np.int64).ravel()
        if np.any(listed < 1) or np.any(as_array(weights) < 0.0):
            raise ValueError("a burst has at least one packet and a weight of at least zero")
        shares = np.broadcast_to(as_array(weights), listed.shape)
        distinct, index = np.unique(listed, return_inverse=True)
        total = np.bincount(index, weights=shares)
        present = total > 0.0
        return cls(distinct[present], (total / total.sum())[present])

    @classmethod
    def of_lengths(
        cls,
        lengths: ArrayLike,
        weights: ArrayLike = 1.0,
        initial_window: int = 2,
        max_window: int | None = None,
    ) -> Self:
        """Bursts of flows whose lengths (packets) occur in proportion to `weights`."""
        listed = np.asarray(lengths, dtype=np.int64).ravel()
        shares = np.broadcast_to(as_array(weights), listed.shape)
        parts = list(_rounds(listed, shares, initial_window, max_window))
        sizes = np.concatenate([size for size, _ in parts])
        return cls.given(sizes, np.concatenate([weight for _, weight in parts]))

    @property
    def mean(self) -> float:
        """E[X], packets."""
        return self.moment(1)

    def moment(self, order: int) -> float:
        """E[X^order]."""
        return float(np.dot(self.probabilities, self.sizes.astype(np.float64) ** order))


SINGLE_PACKETS = Bursts.given([1])
"""Bursts that slow access links have spaced: X = 1 and the queue is M/D/1 (§4, end)."""


def _rounds(
    lengths: Integers, weights: Array, initial_window: int, max_window: int | None
) -> Iterator[tuple[Integers, Array]]:
    """Yield size and weight of each flow's burst, a round trip at a time; full windows at once."""
    left, window = lengths, initial_window
    while left.size:
        if max_window is not None and window >= max_window:
            full, rest = np.divmod(left, max_window)
            yield np.array([max_window]), np.array([float(np.dot(full, weights))])
            yield rest[rest > 0], weights[rest > 0]
            return
        yield np.minimum(left, window), weights
        more = left > window
        left, weights, window = left[more] - window, weights[more], 2 * window


def workload(load: ArrayLike, bursts: Bursts, *, as_printed: bool = False) -> Array:
    """Mean unfinished work U = rho E[X^2] / (2 (1 - rho) E[X]), in packet times.

    The paper's E[N] lacks the E[X]; `as_printed` omits it too.
    """
    rho = stable(load)
    scale = 1.0 if as_printed else bursts.mean
    return rho / (2.0 * (1.0 - rho)) * bursts.moment(2) / scale


def mean_waiting(load: ArrayLike, bursts: Bursts, *, as_printed: bool = False) -> Array:
    """Mean number of packets waiting, U - rho/2.

    On average half of the packet on the wire is unsent; U includes this half, the queue does not.
    The paper subtracts half a burst, U - rho E[X] / 2; `as_printed` does so too.
    """
    half = (bursts.mean if as_printed else 1.0) / 2.0
    return workload(load, bursts) - stable(load) * half


def mean_in_system(load: ArrayLike, bursts: Bursts) -> Array:
    """Mean number of packets waiting or on the wire, U + rho/2."""
    return workload(load, bursts) + stable(load) / 2.0


class Queue(Protocol):
    """A stationary queue with a limited or unlimited buffer."""

    @property
    def in_system(self) -> Array:
        """P(L = j) of the packets waiting or on the wire."""
        ...


def _ahead(queue: Queue, bursts: Bursts) -> tuple[Array, Array]:
    """P(j whole packets are ahead) with an idle wire, and with a busy one; shapes (k,), (m,).

    A packet has place i in its burst with probability P(X >= i) / E[X].
    """
    places = np.arange(1, int(bursts.sizes[-1]) + 1)
    place = bursts.probabilities @ (bursts.sizes[:, None] >= places) / bursts.mean
    return queue.in_system[0] * place, np.convolve(queue.in_system[1:], place)


def quantile(queue: Queue, bursts: Bursts, probability: float, buffer: int) -> float:
    """Wait that this share of the packets does not exceed; at most a full buffer."""
    idle, busy = _ahead(queue, bursts)
    steps = np.zeros((busy.size, 2))  # a step at j, then the uniform part from j to j + 1
    steps[: idle.size, 0], steps[:, 1] = idle, busy
    below = np.cumsum(steps.ravel())
    share = min(probability, float(below[-1]))
    at = int(np.searchsorted(below, share, side="left"))
    whole, spread = divmod(at, 2)
    part = (share - below[at - 1]) / busy[whole] if spread else 0.0
    return float(min(whole + part, buffer))


def mean(queue: Queue, bursts: Bursts, buffer: int) -> float:
    """Mean wait, each at most a full buffer; with an unlimited buffer E[Q] / rho."""
    idle, busy = _ahead(queue, bursts)
    met = np.minimum(np.arange(idle.size), buffer) @ idle
    return float(met + np.minimum(np.arange(busy.size) + 0.5, buffer) @ busy)


LONGEST = 20_000
"""In packets. Longer flows count as flows of this length; they have left slow start."""
_MASS = 1e-13


@lru_cache(maxsize=64)
def flow_lengths(length: FlowLength, packet_bytes: int) -> tuple[Array, Array]:
    """Lengths in packets, ascending, and the probability of each; both of shape (k,).

    Lengths are rounded as in the draw: to the nearest number, at least one.
    """
    if length.kind == "fixed":
        return as_array([length.mean_packets(packet_bytes)]), as_array([1.0])
    law = length.in_packets(packet_bytes)
    if law.kind == "geometric":  # each packet is the last with the same probability
        stays = 1.0 - 1.0 / law.mean
        last = min(LONGEST, math.ceil(math.log(_MASS) / math.log(stays)) + 1)
        above = as_array(stays ** np.arange(last))
    else:
        above = _rounded(law)
    return np.arange(1.0, above.size + 1), -np.diff(np.append(above, 0.0))


def _rounded(law: PacketLaw) -> Array:
    """P(max(1, round X) >= j), j = 1, 2, ..., which is P(X > j - 1/2) from j = 2 on."""
    low = lower_end(law.kind, law.mean, law.shape, law.deviation, law.high)
    last = min(LONGEST, max(1, math.floor(law.high + 0.5)))
    at = [j - 0.5 for j in range(2, last + 1)]
    if law.kind == "pareto":
        tail = [pareto_tail(x, law.shape, low, law.high) for x in at]
    else:
        sigma = lognormal_sigma(law.mean, law.deviation)
        tail = [lognormal_tail(x, low, sigma, law.high) for x in at]
    return as_array([1.0, *tail])


INITIAL_WINDOWS = {"linux": 10, "ns2": 2}
"""Initial window of a stack in packets: RFC 6928 for Linux, paper A's two for ns-2."""


@dataclass(frozen=True, slots=True, eq=False)
class BurstTraffic:
    """Bursts of all classes; `load` is their offered rate over the link's rate, may exceed 1."""

    load: float
    bursts: Bursts


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    rate_bps: float
    packet: int
    bursts: Bursts

    @property
    def bursts_per_second(self) -> float:
        return self.rate_bps / (8.0 * self.packet * self.bursts.mean)


def burst_traffic(scenario: Scenario) -> BurstTraffic | None:
    """Return the bursts at the link; None if other traffic crosses it too, or none at all.

    Other traffic is long flows that can congest the link, users, and real-time traffic with a
    varying rate.
    """
    if not bursts_only(scenario):
        return None
    held = held_back(scenario)
    streams = [_stream(scenario, group, held) for group in scenario.crossing]
    load = sum(s.rate_bps for s in streams) / scenario.link.capacity
    return BurstTraffic(float(load), _together(streams))


def _together(streams: Sequence[_Stream]) -> Bursts:
    sizes = np.concatenate([s.bursts.sizes for s in streams])
    weights = np.concatenate([s.bursts_per_second * s.bursts.probabilities for s in streams])
    return Bursts.given(sizes, weights)


def slow_start_bursts(scenario: Scenario, offered_bps: Sequence[float]) -> Bursts | None:
    """Return the bursts of the short flows alone; None without any.

    Parameters
    ----------
    offered_bps : of each class of ``scenario.traffic``.
    """
    short = [
        _Stream(bps, int(group.packet), _slow_start(group))
        for group, bps in zip(scenario.traffic, offered_bps, strict=True)
        if isinstance(group, Short) and bps > 0.0
    ]
    return _together(short) if short else None


def _stream(scenario: Scenario, group: Traffic, held: Held) -> _Stream:
    rate, packet = scenario.link.capacity, int(group.packet)
    if isinstance(group, Short):
        return _Stream(float(group.offered(rate) or 0.0), packet, _slow_start(group))
    if isinstance(group, Long) and held is Held.BY_ACCESS:
        return _Stream(group.access_links * group.access(rate), packet, SINGLE_PACKETS)
    if isinstance(group, Long) and group.max_window is not None:
        sent = group.flows * group.max_window * 8 * packet / group.rtt.mean
        return _Stream(sent, packet, Bursts.given([group.max_window]))
    return _Stream(float(group.offered(rate) or 0.0), packet, SINGLE_PACKETS)


def _slow_start(group: Short) -> Bursts:
    lengths, weights = flow_lengths(group.length, int(group.packet))
    window = group.initial_window or INITIAL_WINDOWS[group.sender]
    return Bursts.of_lengths(lengths, weights, window, group.max_window)
