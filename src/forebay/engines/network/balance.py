"""All links and connections together: what is left of the equations, and its slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from forebay.engines.network.queueing import Queueing, Slides, State, Windows
from forebay.engines.network.response import RESPONSES, hisamatsu, spread
from forebay.errors import option
from forebay.network.errors import refuse
from forebay.network.graph import Floats, Ints
from forebay.network.problem import Kind, Problem
from forebay.scenario import Topology

_STEP = 1e-6
_LEAST_LOG = -300.0  # of a hazard: what is less is as good as none, and still a number


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """What paths see and send, and what links get; shapes (paths,) and (links,)."""

    log_loss: Floats
    log_total: Floats
    """Log of the sum of the links' hazards."""
    rtt_s: Floats
    sent_bps: Floats
    """By all connections that answer to loss, were they all on this path."""
    carried_bps: Floats
    """By each link of an entry."""
    log_hazard: Floats
    """Of a link: log of -log(1 - d), which adds up along a path."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The Jacobian of what is left: links by paths, times paths by links, less a diagonal.

    Attributes
    ----------
    incidence : sparse, shape (links, paths), 1 where a path crosses a link.
    share : shape (paths,), what a path carries; over ``carried``, shape (links,).
    by_hazard, by_wait : shape (paths,), d log rate of a path / d hazard, d wait.
    hazard, wait : shape (links,), d hazard, d wait of a link / d s.
    own : shape (links,), d log load / d s of the link's own state.
    """

    incidence: Any
    share: Floats
    carried: Floats
    by_hazard: Floats
    by_wait: Floats
    hazard: Floats
    wait: Floats
    own: Floats

    def dense(self) -> Floats:
        """Return the matrix, shape (links, links)."""
        matrix = np.zeros((len(self.own), len(self.own)))
        for by, of in ((self.by_hazard, self.hazard), (self.by_wait, self.wait)):
            weighted = self.incidence.multiply(self.share * by).tocsr()
            matrix += (weighted @ self.incidence.T).toarray() * of
        matrix /= self.carried[:, None]
        matrix[np.diag_indices(len(self.own))] -= self.own
        return matrix

    def times(self, v: Floats) -> Floats:
        """Return the matrix times a vector, without forming it."""
        along = self.incidence.T @ np.stack([self.hazard * v, self.wait * v], axis=1)
        change = self.by_hazard * along[:, 0] + self.by_wait * along[:, 1]
        return np.asarray((self.incidence @ (self.share * change)) / self.carried - self.own * v)

    def diagonal(self) -> Floats:
        """Return the matrix's diagonal."""
        by = np.stack([self.share * self.by_hazard, self.share * self.by_wait], axis=1)
        each = self.incidence @ by
        both = each[:, 0] * self.hazard + each[:, 1] * self.wait
        return np.asarray(both / self.carried - self.own)


@dataclass(frozen=True, eq=False)
class Balance:
    """The equations of one problem, over the links that somebody crosses.

    ``used`` are those links, ``paths`` their numbers by hop, ``len(used)`` beyond the last;
    ``incidence`` says the same as a sparse matrix, shape (links, paths).
    """

    problem: Problem
    topology: Topology
    used: Ints
    paths: Ints
    incidence: Any
    queueing: Queueing

    @property
    def is_slides(self) -> bool:
        """Whether the equations are those of paper C."""
        return self.topology.model == "hisamatsu-2007"

    @cached_property
    def rate_bps(self) -> Floats:
        return np.asarray(self.problem.graph.rate_bps[self.used])

    @cached_property
    def count(self) -> Floats:
        return self.problem.graph.count[self.used].astype(np.float64)

    @cached_property
    def packet_s(self) -> Floats:
        """Seconds that a packet takes on the wire."""
        return 8.0 * self.problem.packet_bytes / self.rate_bps

    @cached_property
    def offered_bps(self) -> float:
        return sum(kind.offered_bps for kind in self.problem.kinds)

    @cached_property
    def responsive(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in self.problem.kinds if kind.control)

    def log_window(self, kind: Kind, log_loss: Floats, rtt: Floats) -> Floats:
        """Return the log of a connection's window, packets."""
        if self.is_slides:
            free = hisamatsu(log_loss, self.topology.timeouts)
            return np.minimum(free, math.log(kind.max_window))
        return RESPONSES[kind.control](log_loss, rtt, kind)

    def sent(self, log_loss: Floats, rtt: Floats) -> Floats:
        """Return bit/s of all that answer to loss, were they all to see this loss and rtt."""
        total = np.full(rtt.shape, 1e-300)
        for kind in self.responsive:
            log_rate = self.log_window(kind, log_loss, rtt) - np.log(rtt)
            total += kind.flows * 8.0 * kind.packet_bytes * np.exp(np.minimum(log_rate, 200.0))
        return total

    def flow(self, state: State) -> Flow:
        """Follow the packets along every path."""
        log_hazard = np.maximum(_log_hazard(state.log_loss), _LEAST_LOG)
        links = np.stack([np.exp(log_hazard), state.queue * self.packet_s], axis=1)
        along = self.incidence.T @ links
        rtt = self.problem.rtt_s + along[:, 1]
        log_total = np.log(along[:, 0])
        log_loss = log_total + _log_kept_share(log_total)
        sent = self.sent(log_loss, rtt)
        return Flow(log_loss, log_total, rtt, sent, self._carried(sent, log_hazard), log_hazard)

    def _carried(self, sent: Floats, log_hazard: Floats) -> Floats:
        """What does not answer to loss is thinned out by every link; the rest is what arrives."""
        total = np.asarray(self.incidence @ (self.problem.share * sent))
        if self.offered_bps:
            n = len(self.used)
            kept = np.append(np.exp(-np.exp(np.minimum(log_hazard, 700.0))), 1.0)
            passing = self.problem.share * self.offered_bps
            for row in self.paths:
                passing = passing * kept[row]
                total += np.bincount(row, weights=passing, minlength=n + 1)[:n]
        return np.asarray(total / self.count)

    def left(self, state: State, flow: Flow) -> Floats:
        """Return log of what a link would carry over what its state does carry: 0 at rest."""
        load = np.log(np.maximum(flow.carried_bps, 1e-300) / self.rate_bps)
        return np.asarray(load - state.log_load)

    def slopes(self, s: Floats, state: State, flow: Flow) -> Slopes:
        """Return how the equations' left sides change with s."""
        step = _STEP * np.maximum(1.0, np.abs(s)) * np.where(s < 0.0, -1.0, 1.0)
        ahead = self.queueing.state(s + step)
        hazard = (_log_hazard(ahead.log_loss) - flow.log_hazard) / step
        waiting = (ahead.queue - state.queue) / step * self.packet_s
        by_loss, by_rtt = self._answers(flow)
        own = (ahead.log_load - state.log_load) / step + self._thinning(hazard, flow)
        return Slopes(
            incidence=self.incidence,
            share=self.problem.share * flow.sent_bps,
            carried=self.count * flow.carried_bps,
            by_hazard=by_loss * np.exp(-flow.log_total),
            by_wait=by_rtt,
            hazard=hazard * np.exp(flow.log_hazard),
            wait=waiting,
            own=own,
        )

    def _thinning(self, hazard: Floats, flow: Flow) -> Floats:
        """Return by how much less (log) a link carries of what does not answer, for its own s."""
        if not self.offered_bps:
            return np.zeros(len(hazard))
        answering = self.incidence @ (self.problem.share * flow.sent_bps)
        other = 1.0 - answering / self.count / flow.carried_bps
        return np.asarray(np.maximum(other, 0.0) * hazard * np.exp(flow.log_hazard))

    def _answers(self, flow: Flow) -> tuple[Floats, Floats]:
        """Return d log rate / d log loss and d log rate / d rtt of every path."""
        more = flow.rtt_s * _STEP
        base = np.log(flow.sent_bps)
        by_loss = np.log(self.sent(flow.log_loss + _STEP, flow.rtt_s)) - base
        by_rtt = np.log(self.sent(flow.log_loss, flow.rtt_s + more)) - base
        return by_loss / _STEP, by_rtt / more


def make_balance(problem: Problem, topology: Topology) -> Balance:
    """Return the equations of a problem in the model that its topology asks for."""
    n = problem.graph.links
    crossed = np.bincount(problem.paths.ravel(), minlength=n + 1)[:n] > 0
    used = np.flatnonzero(crossed)
    number = np.full(n + 1, len(used), dtype=np.int64)
    number[used] = np.arange(len(used))
    _check_controls(problem)
    slides = topology.model == "hisamatsu-2007"
    queueing = _slides(problem, topology, used) if slides else _windows(problem, used)
    paths = number[problem.paths]
    return Balance(problem, topology, used, paths, _incidence(paths, len(used)), queueing)


def _incidence(paths: Ints, links: int) -> Any:
    from scipy.sparse import csc_array

    crossed = paths < links
    ends = np.concatenate([[0], np.cumsum(crossed.sum(axis=0))])
    columns = paths.T[crossed.T]
    return csc_array((np.ones(len(columns)), columns, ends), shape=(links, paths.shape[1])).tocsr()


def _check_controls(problem: Problem) -> None:
    for kind in problem.kinds:
        if kind.control and kind.control not in RESPONSES:
            wrong = f'the network engine knows no response function of "{kind.control}"'
            raise refuse(
                wrong, f"write one of {', '.join(RESPONSES)}, or {option('engine', 'simulation')}"
            )


def _own_bdp(problem: Problem, used: Ints) -> Floats:
    """Bandwidth times the mean round trip of the link's own connections, packets."""
    rate, rtt = problem.graph.rate_bps[used], problem.link_rtt_s[used]
    return np.maximum(rate * rtt / (8 * problem.packet_bytes), 1e-3)


def _slides(problem: Problem, topology: Topology, used: Ints) -> Slides:
    return Slides(
        bdp=_own_bdp(problem, used),
        buffer=problem.buffer_packets[used],
        n=problem.flows[used],
        kind=topology.sigma,
        factor=topology.sigma_factor,
    )


def _windows(problem: Problem, used: Ints) -> Windows:
    lasting = problem.long_flows
    kinds = [kind for kind in problem.kinds if kind.control]
    mean = sum(kind.flows * spread(kind.control) for kind in kinds) / lasting if lasting else 0.0
    offered = sum(kind.offered_bps for kind in problem.kinds)
    share = np.zeros(problem.graph.links + 1)
    for row in problem.paths:
        share += np.bincount(row, weights=problem.share, minlength=len(share))
    load = offered * share[used] / problem.graph.count[used]
    in_flight = load * problem.link_rtt_s[used] / (8 * problem.packet_bytes)
    return Windows(
        bdp=_own_bdp(problem, used),
        buffer=problem.buffer_packets[used],
        relative=mean / np.sqrt(np.maximum(problem.flows[used], 1.0)),
        poisson=np.sqrt(np.maximum(in_flight, 1e-6)),
    )


def _log_hazard(log_loss: Floats) -> Floats:
    """Log of -log(1 - d) from log d."""
    loss = np.exp(np.minimum(log_loss, -1e-12))
    small = loss < 1e-8
    ratio = np.where(small, 1.0 + 0.5 * loss, -np.log1p(-loss) / np.where(small, 1.0, loss))
    return np.asarray(log_loss + np.log(ratio))


def _log_kept_share(log_total: Floats) -> Floats:
    """Log of (1 - exp(-h)) / h from log h."""
    total = np.exp(np.minimum(log_total, 700.0))
    small = total < 1e-8
    ratio = np.where(small, 1.0 - 0.5 * total, -np.expm1(-total) / np.where(small, 1.0, total))
    return np.asarray(np.log(ratio))
