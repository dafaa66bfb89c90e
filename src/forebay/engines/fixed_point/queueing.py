"""Models of a link: load, loss and queue as functions of one state variable s.

s is any real number. For s < 0 the link is not full; for s > 0 the queue grows. The equations are
then the same in both cases, and one solver serves both models.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from scipy.special import erfcx, log_ndtr

from forebay.topology.graph import Floats, Ints

_SQRT2, _SQRT2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class State:
    """Shapes (links,)."""

    log_load: Floats
    """Log of the carried rate over the capacity."""
    log_loss: Floats
    queue: Floats
    """Packets."""


@dataclass(frozen=True, slots=True, eq=False)
class Queueing(ABC):
    """A model of links; bandwidth-delay products and buffers in packets."""

    bdp: Floats
    buffer: Floats

    @abstractmethod
    def state(self, s: Floats) -> State: ...

    @abstractmethod
    def log_loss(self, s: Floats) -> Floats:
        """Return the state's log loss alone: the cheaper half of it."""

    @property
    def below(self) -> Floats:
        """Change of the log of the load for one unit of s, where there is no queue."""
        return np.ones(len(self.buffer))

    @property
    @abstractmethod
    def scale(self) -> Floats:
        """Change of the queue's variable for one unit of s, where there is a queue."""

    @abstractmethod
    def start(self) -> Floats:
        """Return an initial state in which every link has a queue."""

    @abstractmethod
    def most(self) -> Floats:
        """Return a state in which most packets are lost."""

    @abstractmethod
    def widened(self, width: float) -> Self:
        """Return links with more queue variance; at ``width`` 1, a large part of the buffer."""

    def only(self, links: Ints) -> Self:
        """Return only these links."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        own = {name: v[links] for name, v in values.items() if isinstance(v, np.ndarray)}
        return replace(self, **own)


@dataclass(frozen=True, slots=True, eq=False)
class Windows(Queueing):
    """Model of our own: the sum W of the windows is normal; the link and its buffer truncate it.

    W has mean v and standard deviation sigma. With a bandwidth-delay product D and a buffer B, the
    link sends min(W, D) in a round trip, the queue holds the part above D, up to B, and the part
    above D + B is lost. The three parts sum to v. sigma^2 is (c v)^2 / n, where c is the relative
    deviation of one window, as in Appenzeller et al. 2004, section 3.2 (eq. 4 and 5), plus the
    variance of a Poisson count for traffic that does not respond to loss. log(v / D) is s for
    s < 0, and s times ``scale`` for s > 0, so that s is in standard deviations there.
    """

    relative: Floats
    """c / sqrt(n), n at least 1."""
    poisson: Floats
    """Standard deviation of the traffic that does not respond to loss, packets."""
    is_even: bool = False
    """Whether s is in standard deviations below 0 too, which makes it smooth at 0."""

    def state(self, s: Floats) -> State:
        mean, sigma = self._windows(s)
        over = mean - self.bdp
        idle, (room, log_loss) = _log_least_side(over, sigma), self._lost(mean, sigma)
        # E[min(W, D)] = v - E[(W - D)+] = D - E[(D - W)+]. Each is used where its expectation is
        # the smaller one, so that no digits cancel.
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
        """Change of log v for one unit of s, above 0."""
        return np.maximum(np.hypot(self.relative, self.poisson / self.bdp), 1e-6)

    @property
    def below(self) -> Floats:
        return self.scale if self.is_even else np.ones(len(self.bdp))

    def start(self) -> Floats:
        return np.log1p(0.5 * self.buffer / self.bdp) / self.scale

    def most(self) -> Floats:
        return np.log(30.0 * (1.0 + self.buffer / self.bdp)) / self.scale

    def widened(self, width: float) -> Windows:
        more = width * (self.bdp + self.buffer) / 3.0
        return replace(self, poisson=np.hypot(self.poisson, more), is_even=True)


def _log_least_side(mean: Floats, sigma: Floats) -> Floats:
    """Log of the smaller of E[X+] and E[(-X)+] of a normal X, precise in the tail.

    The larger one exceeds it by |mean|.
    """
    z = np.clip(np.abs(mean) / np.maximum(sigma, 1e-300), 0.0, 1e8)
    a = z / _SQRT2
    # phi(z) - z (1 - Phi(z)) = phi(z) g(a), with Mills's ratio by erfcx. Beyond a = 30 the
    # difference in g loses its digits; g is then 1 / z^2 - 3 / z^4.
    near = 1.0 - math.sqrt(math.pi) * a * erfcx(a)
    far = 0.5 / np.maximum(a, 1.0) ** 2
    g = np.where(a < 30.0, np.maximum(near, 0.0), far * (1.0 - 3.0 * far))
    log_bell = -0.5 * z * z - math.log(_SQRT2PI)
    return np.log(np.maximum(sigma, 1e-300)) + log_bell + np.log(np.maximum(g, 1e-300))


@dataclass(frozen=True, slots=True, eq=False)
class Slides(Queueing):
    """Steady state of slide 10: arrivals match the capacity if there is a queue; Gaussian loss.

    d = erfc((b - q) / (sqrt(2) sigma)) / 2, the corrected formula. sigma(q) depends on `kind` and
    is multiplied by ``factor``. For s < 0 the queue is empty and s is the log of the load; else
    q = s times ``scale``.
    """

    n: Floats
    kind: str
    factor: float
    more: float = 0.0
    """Standard deviation that is added, in buffers."""

    def state(self, s: Floats) -> State:
        return State(np.minimum(s, 0.0), self.log_loss(s), np.maximum(s, 0.0) * self.scale)

    def log_loss(self, s: Floats) -> Floats:
        queue = np.maximum(s, 0.0) * self.scale
        apart = (self.buffer - queue) / self.sigma(queue)
        # erfc(x / sqrt(2)) / 2 is the normal distribution's tail
        return np.asarray(np.minimum(log_ndtr(-apart), -1e-12))

    @property
    def scale(self) -> Floats:
        """Change of the queue for one unit of s, packets."""
        return np.maximum(self.sigma(self.buffer), 1.0)

    def sigma(self, queue: Floats) -> Floats:
        """Standard deviation of a queue with this mean, packets; at least 1e-3."""
        if self.kind == "windows":
            spread = (self.bdp + queue) / (3.0 * math.sqrt(3.0) * np.sqrt(np.maximum(self.n, 1.0)))
        elif self.kind == "geometric":
            spread = np.sqrt(queue * (queue + 1.0))
        else:
            spread = np.sqrt(queue)
        return np.maximum(np.hypot(self.factor * spread, self.more * self.buffer), 1e-3)

    def start(self) -> Floats:
        return 0.5 * self.buffer / self.scale

    def most(self) -> Floats:
        return 2.0 * self.buffer / self.scale + 5.0

    def widened(self, width: float) -> Slides:
        return replace(self, more=0.4 * width)
