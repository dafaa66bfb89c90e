"""What a link does for a state: its utilization, loss and queue, along one variable.

The variable s runs over all numbers. Below 0 the link is not full; above, the queue grows. So no
case has to be told apart, and one solver serves both models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from forebay.network.graph import Floats, Ints

_SQRT2, _SQRT2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class State:
    """Shapes (links,)."""

    log_load: Floats
    """Log of what the link carries over its capacity."""
    log_loss: Floats
    queue: Floats
    """Packets."""


class Queueing(Protocol):
    """A model of links."""

    def state(self, s: Floats) -> State: ...

    def log_loss(self, s: Floats) -> Floats:
        """Return the state's log loss alone: the cheaper half of it."""

    @property
    def below(self) -> Floats:
        """Log of the load for one of s, where there is no queue."""

    @property
    def scale(self) -> Floats:
        """What one of s is, where there is a queue."""

    def with_buffers(self, factor: float) -> Queueing:
        """Return the same links with so many times their buffers."""

    def start(self) -> Floats:
        """Return where to begin: links with a queue."""

    def most(self) -> Floats:
        """Return a state in which most is lost."""

    def widened(self, width: float) -> Queueing:
        """Return links whose queues vary by ``width`` more, 1 a good part of what they hold."""

    def only(self, links: Ints) -> Queueing:
        """Return these links alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The sum of the windows is normal, and the link and its buffer cut it (ours).

    W has mean v and standard deviation sigma; with a bandwidth-delay product D and a buffer B, the
    link sends min(W, D), the queue holds what is over D up to B, and what is over D + B is
    lost, each a round trip; the parts sum to v. sigma^2 is (c v)^2 / n, c the spread of one
    window, as in Appenzeller et al. 2004, section 3.2 (eq. 4 and 5), and the variance of a Poisson
    count for what does not answer to loss. log(v / D) is s below 0, and above it s times
    ``scale``, so that s counts deviations there.
    """

    bdp: Floats
    buffer: Floats
    relative: Floats
    """c / sqrt(n), n at least 1."""
    poisson: Floats
    """Standard deviation of what does not answer to loss, packets."""
    is_even: bool = False
    """Whether s counts deviations below 0 too: smooth there."""

    def state(self, s: Floats) -> State:
        mean, sigma = self._windows(s)
        over = mean - self.bdp
        idle, (room, log_loss) = _log_least_side(over, sigma), self._lost(mean, sigma)
        # E[min(W, D)] = v - E[(W - D)+] = D - E[(D - W)+]: neither side takes a small number from
        # two large ones.
        short = np.exp(idle)
        sent = np.where(over < 0.0, mean - short, self.bdp - short)
        held = np.clip(over, 0.0, self.buffer) + short - np.exp(room)
        return State(
            log_load=np.log(np.maximum(sent, 1e-12 * np.minimum(mean, self.bdp)) / self.bdp),
            log_loss=log_loss,
            queue=held,
        )

    def log_loss(self, s: Floats) -> Floats:
        return self._lost(*self._windows(s))[1]

    def _windows(self, s: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the deviation of the sum of the windows, packets."""
        mean = self.bdp * np.exp(np.where(s < 0.0, s * self.below, s * self.scale))
        return mean, np.sqrt((self.relative * mean) ** 2 + self.poisson**2)

    def _lost(self, mean: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Return the lesser side of what is over D + B, and the log loss."""
        beyond = mean - self.bdp - self.buffer
        room, full = _log_least_side(beyond, sigma), beyond >= 0.0
        more = np.maximum(beyond + np.exp(room), 1e-300)
        log_lost = np.where(full, np.log(np.where(full, more, 1.0)), room)
        return room, np.minimum(log_lost - np.log(mean), -1e-12)

    @property
    def scale(self) -> Floats:
        """Log of v for one of s, above 0."""
        return np.maximum(np.hypot(self.relative, self.poisson / self.bdp), 1e-6)

    @property
    def below(self) -> Floats:
        return self.scale if self.is_even else np.ones(len(self.bdp))

    def start(self) -> Floats:
        return np.log1p(0.5 * self.buffer / self.bdp) / self.scale

    def most(self) -> Floats:
        return np.log(30.0 * (1.0 + self.buffer / self.bdp)) / self.scale

    def with_buffers(self, factor: float) -> Windows:
        return replace(self, buffer=factor * self.buffer)

    def widened(self, width: float) -> Windows:
        more = width * (self.bdp + self.buffer) / 3.0
        return replace(self, poisson=np.hypot(self.poisson, more), is_even=True)

    def only(self, links: Ints) -> Windows:
        bdp, buffer = self.bdp[links], self.buffer[links]
        relative, poisson = self.relative[links], self.poisson[links]
        return Windows(bdp, buffer, relative, poisson, self.is_even)


def _log_least_side(mean: Floats, sigma: Floats) -> Floats:
    """Log of E[X+] or of E[(-X)+] of a normal X, the smaller, with its digits in the tail.

    The larger is |mean| more.
    """
    from scipy.special import erfcx

    z = np.clip(np.abs(mean) / np.maximum(sigma, 1e-300), 0.0, 1e8)
    a = z / _SQRT2
    # phi(z) - z (1 - Phi(z)) = phi(z) g(a); Mills's ratio in erfcx. Beyond 30 deviations g is
    # 1 / z^2 - 3 / z^4 to all digits that its difference would lose.
    near = 1.0 - math.sqrt(math.pi) * a * erfcx(a)
    far = 0.5 / np.maximum(a, 1.0) ** 2
    g = np.where(a < 30.0, np.maximum(near, 0.0), far * (1.0 - 3.0 * far))
    log_bell = -0.5 * z * z - math.log(_SQRT2PI)
    return np.log(np.maximum(sigma, 1e-300)) + log_bell + np.log(np.maximum(g, 1e-300))


@dataclass(frozen=True, slots=True, eq=False)
class Slides:
    """Slide 10 at rest: arrivals match the link where there is a queue; loss by a Gaussian tail.

    d = erfc((b - q) / (sqrt(2) sigma)) / 2, as corrected; sigma(q) as `kind` says, times
    ``factor``. For s < 0 the queue is empty and s is the log of the load; else q = s times
    ``scale``.
    """

    bdp: Floats
    buffer: Floats
    n: Floats
    kind: str
    factor: float
    more: float = 0.0
    """Deviation that is added, buffers."""

    def state(self, s: Floats) -> State:
        return State(np.minimum(s, 0.0), self.log_loss(s), np.maximum(s, 0.0) * self.scale)

    def log_loss(self, s: Floats) -> Floats:
        queue = np.maximum(s, 0.0) * self.scale
        apart = (self.buffer - queue) / self.sigma(queue)
        # erfc(x / sqrt(2)) / 2 is the normal distribution's tail
        return np.minimum(_log_tail(apart), -1e-12)

    @property
    def scale(self) -> Floats:
        """Packets of queue for one of s."""
        return np.maximum(self.sigma(self.buffer), 1.0)

    def sigma(self, queue: Floats) -> Floats:
        """Standard deviation of a queue of that mean, packets; below 1e-3 counts as that."""
        if self.kind == "windows":
            spread = (self.bdp + queue) / (3.0 * math.sqrt(3.0) * np.sqrt(np.maximum(self.n, 1.0)))
        elif self.kind == "geometric":
            spread = np.sqrt(queue * (queue + 1.0))
        else:
            spread = np.sqrt(queue)
        return np.maximum(np.hypot(self.factor * spread, self.more * self.buffer), 1e-3)

    @property
    def below(self) -> Floats:
        return np.ones(len(self.buffer))

    def start(self) -> Floats:
        return 0.5 * self.buffer / self.scale

    def most(self) -> Floats:
        return 2.0 * self.buffer / self.scale + 5.0

    def with_buffers(self, factor: float) -> Slides:
        return replace(self, buffer=factor * self.buffer)

    def widened(self, width: float) -> Slides:
        return replace(self, more=0.4 * width)

    def only(self, links: Ints) -> Slides:
        bdp, buffer, n = self.bdp[links], self.buffer[links], self.n[links]
        return Slides(bdp, buffer, n, self.kind, self.factor, self.more)


def _log_tail(z: Floats) -> Floats:
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(-z))
