"""A named random stream for each use, so that draws do not depend on each other.

Processes with independent gaps (Poisson arrivals, datagrams, files and pauses) are drawn from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from forebay.scenario import Distribution, FlowLength, distribution
from forebay.scenario.flow_length import PacketLaw, lower_end

PS_PER_S = 1e12


def picoseconds(law: Distribution, u: _Floats) -> _Ints:
    """Return one draw for each uniform number; a larger number never gives a smaller draw."""
    low, high = round(law.low * PS_PER_S), round(law.high * PS_PER_S)
    if isinstance(law, distribution.Values) and law.stratified and u.size:
        u = _dealt(u)
    if law.kind in ("constant", "uniform"):
        steps: _Ints = np.rint(u * (high - low)).astype(np.int64)
        return low + steps
    drawn: _Ints = np.rint(_seconds(law, u) * PS_PER_S).astype(np.int64)
    return np.asarray(np.clip(drawn, low, high))  # rounding may exceed the bounds


def _dealt(u: _Floats) -> _Floats:
    """Return as many numbers in the same order, equally spaced: systematic sampling.

    Each interval of [0, 1] contains as many of them as its width gives, to within one. The first is
    uniform in the first step.
    """
    ranks = np.empty(u.size)
    ranks[np.argsort(u, axis=None, kind="stable")] = np.arange(u.size)
    return np.asarray((ranks + u.sum() % 1.0) / u.size).reshape(u.shape)


def whole_packets(law: FlowLength, packet_bytes: int, u: _Floats) -> _Ints:
    """Return the packets of one flow, at least 1, for each uniform number, in its order."""
    counted = law.in_packets(packet_bytes)
    drawn: _Floats
    match counted.kind:
        case "fixed":
            drawn = np.full(u.shape, np.ceil(counted.mean))
        case "geometric" if counted.mean <= 1:
            drawn = np.ones(u.shape)
        case "geometric":  # P(N > k) = (1 - 1/mean)^k
            drawn = np.ceil(np.log1p(-u) / np.log1p(-1 / counted.mean))
        case _:
            drawn = np.rint(_length(counted, u))
    return np.asarray(np.maximum(drawn, 1).astype(np.int64))


def _length(law: PacketLaw, u: _Floats) -> _Floats:
    low = lower_end(law.kind, law.mean, law.shape, law.deviation, law.high)
    if law.kind == "pareto":
        return _pareto(u, law.shape, low, law.high)
    return _lognormal(u, low, distribution.lognormal_sigma(law.mean, law.deviation), 0.0, law.high)


def _seconds(law: Distribution, u: _Floats) -> _Floats:
    low, high = float(law.low), float(law.high)
    match law:
        case distribution.Exponential(exponential=shape):
            kept = -np.expm1(-(high - low) / shape.mean)
            return np.asarray(low - float(shape.mean) * np.log1p(-u * kept))
        case distribution.Normal(normal=shape):
            mean, deviation = float(shape.mean), float(shape.deviation)
            ends = (low - mean) / deviation, (high - mean) / deviation
            return mean + deviation * _normal(u, *ends)
        case distribution.Lognormal(lognormal=shape):
            return _lognormal(u, shape.median, shape.sigma, low, high)
        case distribution.Pareto(pareto=shape):
            return _pareto(u, shape.shape, low, high)
        case distribution.Values(values=values, shares=shares):
            sums = np.cumsum(shares)
            place = np.minimum(np.searchsorted(sums, u, side="right"), len(sums) - 1)
            return np.asarray(values, dtype=np.float64)[place]
        case _:
            raise TypeError(f"no draw of {law!r}")


def _pareto(u: _Floats, shape: float, low: float, high: float) -> _Floats:
    kept = -np.expm1(-shape * np.log(high / low))
    return np.asarray(low * np.exp(-np.log1p(-u * kept) / shape))


def _lognormal(u: _Floats, median: float, sigma: float, low: float, high: float) -> _Floats:
    a = np.log(low / median) / sigma if low > 0 else -np.inf
    return np.asarray(median * np.exp(sigma * _normal(u, a, np.log(high / median) / sigma)))


def _normal(u: _Floats, a: float, b: float) -> _Floats:
    """Standard normal numbers on [a, b]."""
    from scipy.special import ndtr, ndtri  # slow to import; most draws need no normal numbers

    first, last = ndtr(a), ndtr(b)
    drawn: Any = ndtri(first + u * (last - first))
    return np.asarray(np.clip(drawn, a, b), dtype=np.float64)


MAX_SEED = 2**64 - 1
_FIRST_BLOCK = 4


def uniforms(seed: int, name: str, traffic_class: int, n: int) -> NDArray[np.float64]:
    """Return n numbers in [0, 1) for one use (``"rtt"``, ``"start"``, …) in one traffic class.

    They are made from PCG64's raw words, which NumPy guarantees for all versions (NEP 19). Methods
    of its Generator may change.
    """
    return _piece(seed, name, traffic_class, 0, n)


def normals(seed: int, name: str, traffic_class: int, n: int) -> NDArray[np.float64]:
    """Return n standard normal numbers, each from one word, by the inverse CDF."""
    return _normal(uniforms(seed, name, traffic_class, n) + 2.0**-54, -np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of columns of unlimited streams, one for each flow; each block is twice as wide.

    A flow's numbers depend neither on how many are used, nor on the flows after it, nor on the
    pieces in which they are drawn.
    """

    number: int
    columns: range
    flows: NDArray[np.int64]

    def uniforms(self, seed: int, name: str, traffic_class: int) -> NDArray[np.float64]:
        """Return numbers in [0, 1), one row for each flow."""
        width, taken = _FIRST_BLOCK << self.number, len(self.columns)
        first, last = int(self.flows[0]), int(self.flows[-1])
        use = f"{name}/{self.number}"
        if taken == width and last - first == len(self.flows) - 1:
            drawn = _piece(seed, use, traffic_class, first * width, len(self.flows) * width)
            return drawn.reshape(len(self.flows), width)
        generator, place = PCG64(_sequence(seed, use, traffic_class)), 0
        rows = np.empty((len(self.flows), taken))
        for row, flow in zip(rows, self.flows.tolist(), strict=True):
            first = flow * width + self.columns.start
            generator.advance(first - place)
            place = first + taken
            row[:] = _uniforms(generator, taken)
        return rows


def blocks(flows: NDArray[np.int64], most: int) -> Iterator[Block]:
    """Yield blocks of some flows' streams, in pieces of about ``most`` numbers."""
    for number in count():
        width = _FIRST_BLOCK << number
        # Row by row would be slow, so up to 8 times as many are drawn at once.
        step = width if width * len(flows) <= 8 * most else max(most // len(flows), _FIRST_BLOCK)
        for first in range(0, width, step):
            yield Block(number, range(first, min(first + step, width)), flows)


def _piece(seed: int, name: str, traffic_class: int, first: int, n: int) -> NDArray[np.float64]:
    generator = PCG64(_sequence(seed, name, traffic_class))
    if first:
        generator.advance(first)
    return _uniforms(generator, n)


def _uniforms(generator: PCG64, n: int) -> NDArray[np.float64]:
    words = generator.random_raw(n)
    return np.asarray(words >> np.uint64(11), dtype=np.float64) * 2.0**-53


def word(seed: int, name: str) -> int:
    """Return a number of 64 bits for a use with its own generator."""
    return int(_sequence(seed, name, 0).generate_state(1, np.uint64)[0])


def _sequence(seed: int, name: str, traffic_class: int) -> SeedSequence:
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed: {seed} is not from 0 to {MAX_SEED}")
    return SeedSequence(seed, spawn_key=(*_words(name), traffic_class))


@lru_cache(maxsize=1024)
def _words(name: str) -> tuple[int, ...]:
    """Return the first words of a name's hash; Python's own hash changes from run to run."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(np.frombuffer(digest[:16], dtype="<u4").tolist())


_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_AT_ONCE = 1 << 17
"""Numbers drawn at a time: a draw needs memory for its result and for a few times this."""


def poisson_arrivals(seed: int, name: str, traffic_class: int, rate: float, end_ps: int) -> _Ints:
    """Return the times in [0, end) of a Poisson process of ``rate`` per second.

    A later end only adds times after the others.
    """
    expected = rate * end_ps / PS_PER_S
    n = int(expected + 8 * expected**0.5) + 16
    while True:
        gaps = exponential_gaps(uniforms(seed, name, traffic_class, n), 1 / rate, end_ps)
        at = np.cumsum(gaps)
        if at[-1] >= end_ps:
            return at[at < end_ps]
        n *= 2


def exponential_gaps(u: _Floats, mean_s: float, most_ps: int) -> _Ints:
    """Return exponential gaps, at most ``most_ps`` long."""
    return np.asarray(
        np.rint(np.minimum(-np.log1p(-u) * (mean_s * PS_PER_S), most_ps)).astype(np.int64)
    )


@dataclass(frozen=True, slots=True)
class Steps:
    """Some steps of some flows: the start and length of each, and the values that belong to it.

    All arrays have one row for each flow. The exact value of a time after the end of the run has no
    meaning.
    """

    flows: _Ints
    begins: _Ints
    parts: tuple[_Ints, ...]


def until(
    end_ps: int, start_ps: _Ints, expected: float, steps: Callable[[Block], tuple[_Ints, ...]]
) -> Iterator[Iterator[Steps]]:
    """Yield the steps of flows, some flows at a time, each until the end of the run.

    Parameters
    ----------
    expected
        Approximate number of steps of a flow; it determines how many flows are drawn at a time.
    steps : returns, for a block of streams, a tuple of arrays with one row for each flow: first the
        length of each step, then the values that belong to it.
    """
    together = int(max(1, min(_AT_ONCE // max(expected, 1), _AT_ONCE // 4)))
    for first in range(0, len(start_ps), together):
        flows = np.arange(first, min(first + together, len(start_ps)))
        yield _walk(end_ps, start_ps, flows, steps)


def _walk(
    end_ps: int, start_ps: _Ints, flows: _Ints, steps: Callable[[Block], tuple[_Ints, ...]]
) -> Iterator[Steps]:
    now, far = start_ps[flows], 2 * end_ps + 1
    for block in blocks(flows, _AT_ONCE):
        taken = steps(block)
        # Times far after the end are cut, so that none overflows.
        rough = now[:, None] + np.cumsum(taken[0], axis=1, dtype=np.float64)
        exact = now[:, None] + np.cumsum(taken[0], axis=1)
        after = np.where(rough > far, far, exact)
        yield Steps(flows, np.concatenate([now[:, None], after[:, :-1]], axis=1), taken)
        now = after[:, -1]
        if not (now < end_ps).any():
            return
