"""The equations of all links and connections: their residual and its derivatives.

docs/explanation/network.md derives them. Logs represent losses as small as 1e-300, and Newton's
method converges better in them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from forebay.catalogue import CONTROLS, registered
from forebay.engines.fixed_point.linear import Crossings, Linear, Slopes, sparse_paths
from forebay.engines.fixed_point.queueing import Queueing, Slides, State, Windows
from forebay.scenario import ScenarioError, Topology
from forebay.topology.graph import BETWEEN, Floats, Ints, sums
from forebay.topology.problem import Kind, Problem


def exposures(problem: Problem, paths: Ints) -> tuple[Floats, Floats]:
    """Return each path's loss relative to the link's, shapes (hops, paths), 0 beyond the last link.

    A packet comes to a full link at a uniform time within a packet time, and of the m bursts that
    come in it m' from other links. It finds the place taken with probability t = m' / 2. Of a burst
    of b packets the share 1 - (1 - t) / b is lost, and at least one packet of it with probability
    t + (1 - t) min(1, b - 1).

    Parameters
    ----------
    paths : shape (hops, paths), links, ``graph.links`` beyond the last.

    Returns
    -------
    events : loss events per sent packet, over the link's loss rate.
    packets : lost packets per sent packet, over the same; the mean over a link's connections is 1.
    """
    graph = problem.graph
    rate = np.append(graph.rate_bps, np.inf)
    burst = _bursts(mean_burst(problem), rate, paths)
    taken = 0.5 * _others(problem, paths, rate, burst)
    packets = 1.0 - (1.0 - taken) / burst
    events = (taken + (1.0 - taken) * np.minimum(1.0, burst - 1.0)) / burst
    n = graph.links + 1
    whole = np.maximum(sums(paths, problem.share, n), 1e-300)
    mean = (sums(paths, problem.share * packets, n) / whole)[paths]
    real = paths < graph.links
    alike = real & (mean < 1e-9)  # one link feeds this one, no faster: all paths are exposed alike
    mean = np.where(mean < 1e-9, 1.0, mean)
    of_events, of_packets = (
        np.where(alike, 1.0, np.where(real, loss / mean, 0.0)) for loss in (events, packets)
    )
    return of_events, of_packets


def mean_burst(problem: Problem) -> float:
    """Return the mean packets that senders that respond to loss send at once."""
    kinds = [kind for kind in problem.kinds if kind.control]
    total = sum(kind.flows for kind in kinds)
    return sum(kind.flows * kind.burst for kind in kinds) / total if total else 1.0


def _bursts(first: float, rate: Floats, paths: Ints) -> Floats:
    """Return burst size in packets within one packet time; a slower link before spreads bursts."""
    slowest, burst = np.full(paths.shape[1], np.inf), np.empty(paths.shape)
    for hop, row in enumerate(paths):
        burst[hop] = 1.0 + (first - 1.0) * np.maximum(0.0, 1.0 - rate[row] / slowest)
        slowest = np.minimum(slowest, rate[row])
    return np.where(np.isfinite(burst), burst, 1.0)


def _others(problem: Problem, paths: Ints, rate: Floats, burst: Floats) -> Floats:
    """Return the number of bursts of others in a packet time of a full link."""
    n = problem.graph.links
    before = np.vstack([np.full(paths.shape[1], n), paths[:-1]])
    key = paths.astype(np.int64) * (n + 1) + before
    _, place = np.unique(key, return_inverse=True)
    place = place.reshape(paths.shape)
    weight = problem.share / burst
    whole = np.maximum(sums(paths, problem.share, n + 1), 1e-300)
    every = sums(paths, weight, n + 1) / whole
    same = sums(place, weight, int(place.max(initial=0)) + 1)[place] / whole[paths]
    count = np.append(np.where(problem.graph.kind == BETWEEN, 1, problem.graph.count), 1)
    # One of the links of equal hosts is the packet's own; a first link has no previous one.
    real = (before < n) & (paths < n)
    alone = np.zeros(paths.shape)
    alone[real] = np.minimum(1.0, rate[paths[real]] / rate[before[real]]) / count[before[real]]
    return np.asarray(np.maximum(every[paths] - same * alone, 0.0))


Response = Callable[[Floats, Floats, Kind], Floats]

_CUBIC_C, _CUBIC_BETA = 0.4, 0.7  # RFC 9438, section 5 and 4.6
_SCALABLE_GAIN, _SCALABLE_BETA = 0.01, 0.875


def reno(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Window of RFC 5348, section 3.1, with b = 1: 1 / sqrt(2 p / 3) without timeouts."""
    return _with_timeouts(0.5 * (math.log(1.5) - log_loss), log_loss, rtt, kind)


def cubic(log_loss: Floats, rtt: Floats, kind: Kind, left: float = _CUBIC_BETA) -> Floats:
    """The larger of Reno's window and RFC 9438's average, section 5 (figure 6 there).

    Its Reno-friendly region has Reno's average by construction (section 4.3). Timeouts as in
    `reno`. ``left`` is what a loss leaves of the window: 0.8 for CUBIC' of Yang et al. 2013.
    """
    constant = 0.25 * math.log(_CUBIC_C * (3.0 + left) / (4.0 * (1.0 - left)))
    own = constant + 0.75 * (np.log(rtt) - log_loss)
    friendly = 0.5 * (math.log(1.5) - log_loss)
    return _with_timeouts(np.maximum(own, friendly), log_loss, rtt, kind)


def scalable(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Kelly 2003, as in Linux's tcp_scalable: +0.01 for each ACKed packet, times 7/8 at a loss.

    An epoch from 7/8 w to w takes ln(8/7) / 0.01 round trips and 12.5 w packets, one of which is
    lost. So w = 0.08 / p, and the mean window is w (1/8) / ln(8/7). Below 100 packets a window
    grows by one packet in a round trip; its mean is then sqrt((1 + b) / (2 (1 - b) p)), b = 7/8.
    """
    left = _SCALABLE_BETA
    mean = (1.0 - left) / -math.log(left)
    own = math.log(mean * _SCALABLE_GAIN / (1.0 - left)) - log_loss
    linear = 0.5 * (math.log((1.0 + left) / (2.0 * (1.0 - left))) - log_loss)
    return _with_timeouts(np.maximum(own, linear), log_loss, rtt, kind)


def hisamatsu(log_loss: Floats, timeouts: str) -> Floats:
    """Steady state of slide 9: w^2 (1 + d_to) = 3 (1 - d) / (2 d), d_to = min(1, 3 / w) or 0.

    min(1, 3 / w) is from Padhye et al. 1998; the slide names the probability without a formula.
    """
    log_square = math.log(1.5) - log_loss + np.log1p(-np.exp(np.minimum(log_loss, -1e-12)))
    if timeouts == "none":
        return 0.5 * log_square
    # w^2 + 3 w = K for w >= 3 (K >= 18), else 2 w^2 = K
    some = np.exp(np.minimum(log_square, 300.0))
    root = np.sqrt(2.25 + some)
    above = np.where(log_square < 300.0, np.log(some / (root + 1.5)), 0.5 * log_square)
    return np.where(log_square < math.log(18.0), 0.5 * (log_square - math.log(2.0)), above)


def hisamatsu_step(
    window: Floats, loss: Floats | float, round_trips: Floats | float, timeouts: str
) -> Floats:
    """Slide 9: the window after ``round_trips`` round trips, with d_to as in `hisamatsu`.

    w(k+1) = w(k) + D / r {(1 - d) - d (1 - d_to) w 2 w / 3 - d d_to w 4 w / 3}. One factor w of the
    decrease is w(k+1), which keeps windows above 0 with any D. The steady state is the same.
    """
    by_timeout = 0.0 if timeouts == "none" else np.minimum(1.0, 3.0 / window)
    decrease = loss * (1.0 + by_timeout) * window * (2.0 / 3.0)
    grown = window + round_trips * (1.0 - loss)
    return np.asarray(grown / (1.0 + round_trips * decrease))


def _with_timeouts(log_window: Floats, log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Reduce the window by RFC 5348's second term: t_RTO 3 sqrt(3 p / 8) p (1 + 32 p^2), in RTTs.

    t_RTO is the RTT plus the minimum RTO, as in Linux when the RTT hardly varies. SACK detects most
    losses, and lost retransmissions too. With SACK a timeout is therefore assumed to need the same
    packet lost three times: p^2 of the loss events (in the simulator, 12 of 2,400 at p = 6 %).
    """
    loss = np.exp(log_loss)
    share = loss * loss if kind.sack else np.minimum(1.0, 3.0 * np.sqrt(0.375 * loss))
    late = (rtt + kind.least_rto_s) / rtt * share * loss * (1.0 + 32.0 * loss * loss)
    with_late = log_window - np.log1p(late * np.exp(np.minimum(log_window, 600.0)))
    return np.asarray(np.minimum(with_late, math.log(kind.max_window)))


_FUNCTIONS: dict[str, Response] = {
    "reno": reno,
    "cubic": cubic,
    "cubic-beta-0.8": partial(cubic, left=0.8),
    "cubic-beta-0.7": cubic,
    "scalable": scalable,
}
"""By the names of response functions in the catalogue."""

RESPONSES = registered(CONTROLS, lambda control: control.response, _FUNCTIONS, __name__)
"""Congestion controls with a known response to loss. Without marks DCTCP and Prague halve at a loss
(RFC 8257, section 3.5). A standing queue reduces Compound's delay window to zero."""

MARKED = tuple(each.name for each in CONTROLS.values() if each.answers_marks == "in proportion")
"""Congestion controls that respond to marks; no response function to marks is implemented."""


def spread(control: str) -> float:
    """Standard deviation over mean of a linear sawtooth: (1 - b) / (sqrt(3) (1 + b))."""
    left = CONTROLS[control].kept_after_loss
    assert left is not None  # all with a response function have one: a test
    return (1.0 - left) / (math.sqrt(3.0) * (1.0 + left))


_STEP = 1e-6
_LEAST_LOG = -300.0  # of a hazard; smaller hazards are negligible, and this one is finite


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Loss, RTT and rate of the paths, and load of the links; shapes (paths,) and (links,)."""

    log_loss: Floats
    """Log of the loss events per sent packet, the signal to congestion control."""
    log_total: Floats
    """Log of the sum of the links' hazards, weighted by this path's exposure."""
    rtt_s: Floats
    sent_bps: Floats
    """Rate of all connections that respond to loss, if all were on this path."""
    kept: Floats
    """Share of a path's packets that no link drops."""
    delivered: Floats
    """Share of ``sent_bps`` that counts as throughput: ``kept``, or 1 in the slides' model."""
    passing_bps: Floats
    """Rate of all traffic of the path through each of its links, shape (hops, paths)."""
    carried_bps: Floats
    """Rate that each link of an entry carries."""
    log_hazard: Floats
    """Log of a link's hazard -log(1 - d). Hazards add up along a path."""


@dataclass(frozen=True, eq=False)
class Balance(Crossings):
    """The equations of one problem, over the links that some path uses: ``used``.

    In the slides' model all paths are exposed alike. ``linear`` solves its Newton steps.
    """

    problem: Problem
    topology: Topology
    used: Ints
    queueing: Queueing
    linear: Linear

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
        """Transmission time of a packet, in seconds."""
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
        """Return the bit/s of all connections that respond to loss, if all had this loss and RTT.

        With response functions, no connection exceeds the rate of the slowest link of its path.
        """
        total = np.full(rtt.shape, 1e-300)
        for kind in self.responsive:
            total += self.sent_by(kind, log_loss, rtt)
        return total

    def sent_by(self, kind: Kind, log_loss: Floats, rtt: Floats) -> Floats:
        """Return the bit/s of one kind's connections, like `sent`."""
        log_rate = self.log_window(kind, log_loss, rtt) - np.log(rtt)
        bps = 8.0 * kind.packet_bytes * np.exp(np.minimum(log_rate, 200.0))
        return kind.flows * (bps if self.is_slides else np.minimum(bps, self.slowest_bps))

    @cached_property
    def slowest_bps(self) -> Floats:
        """Rate of the slowest link of each path, shape (paths,)."""
        return np.asarray(np.append(self.rate_bps, np.inf)[self.paths].min(axis=0))

    @cached_property
    def least_rtt_s(self) -> Floats:
        """Time of a packet on the slowest link of each path: part of every round trip."""
        return 8.0 * self.problem.packet_bytes / self.slowest_bps

    def flow(self, state: State) -> Flow:
        """Compute loss, RTT and rate along every path."""
        felt = self.log_hazard(state.log_loss)
        hazard = np.exp(felt)
        rtt = self.round_trips(state.queue)
        log_total = np.log(np.maximum(self.heard.T @ hazard, 1e-300))
        total = np.exp(np.minimum(log_total, 700.0))
        small = total < 1e-8  # (1 - exp(-h)) / h
        ratio = np.where(small, 1.0 - 0.5 * total, -np.expm1(-total) / np.where(small, 1.0, total))
        log_loss = log_total + np.log(ratio)
        sent = self.sent(log_loss, rtt)
        passing, kept = self._passing(sent, hazard)
        delivered = np.ones(kept.shape) if self.is_slides else kept
        carried = self._on_links(passing)
        return Flow(log_loss, log_total, rtt, sent, kept, delivered, passing, carried, felt)

    def round_trips(self, queue: Floats) -> Floats:
        """Return the round trip of every path for queues in packets, shape (links,)."""
        waiting = self.incidence.T @ (queue * self.packet_s)
        return np.asarray(np.maximum(self.problem.rtt_s + waiting, self.least_rtt_s))

    def carried(self, sent: Floats, hazard: Floats) -> Floats:
        """Return the bit/s that ``sent`` by path brings to each link of an entry."""
        if self.is_slides and not self.offered_bps:  # nothing is lost on the way to later links
            return np.asarray(self.incidence @ (self.problem.share * sent) / self.count)
        return self._on_links(self._passing(sent, hazard)[0])

    def _on_links(self, passing: Floats) -> Floats:
        return np.asarray(sums(self.paths, passing, len(self.used) + 1)[:-1] / self.count)

    def _passing(self, sent: Floats, hazard: Floats) -> tuple[Floats, Floats]:
        """Dropped packets do not reach later links, except those of TCP in the slides' model."""
        kept, passing = np.ones(sent.shape), np.empty(self.paths.shape)
        felt = np.append(np.minimum(hazard, 700.0), 0.0)
        for hop, row in enumerate(self.paths):
            exposed = felt[row] if self.packets is None else self.packets[hop] * felt[row]
            kept = kept * np.exp(-exposed)
            answers = sent if self.is_slides else sent * kept
            passing[hop] = self.problem.share * (answers + self.offered_bps * kept)
        return passing, kept

    @staticmethod
    def log_hazard(log_loss: Floats) -> Floats:
        """Return the log of -log(1 - d) from log d, as `flow` uses it."""
        return np.maximum(log_hazard(log_loss), _LEAST_LOG)

    def left(self, state: State, flow: Flow) -> Floats:
        """Return the log of offered load over the load of the state: 0 in the steady state."""
        load = np.log(np.maximum(flow.carried_bps, 1e-300) / self.rate_bps)
        return np.asarray(load - state.log_load)

    def slopes(self, s: Floats, state: State, flow: Flow) -> Slopes:
        """Return the derivatives of the equations' left sides with respect to s."""
        step = _STEP * np.maximum(1.0, np.abs(s)) * np.where(s < 0.0, -1.0, 1.0)
        ahead = self.queueing.state(s + step)
        hazard = (log_hazard(ahead.log_loss) - flow.log_hazard) / step
        by_loss, more = self.by_loss(flow), flow.rtt_s * _STEP
        later = np.log(self.sent(flow.log_loss, flow.rtt_s + more))
        here = np.append(self.count * flow.carried_bps, 1.0)
        # The decrease of a link's log load of unresponsive traffic. `Slopes` has it if links
        # remove all dropped packets.
        thinning = np.zeros(len(hazard))
        if self.offered_bps and self.packets is None:
            answering = self.incidence @ (self.problem.share * flow.sent_bps)
            other = np.maximum(1.0 - answering / self.count / flow.carried_bps, 0.0)
            thinning = np.asarray(other * hazard * np.exp(flow.log_hazard))
        return Slopes(
            self.paths, self.incidence, self.heard, self.events, self.packets,
            passing=flow.passing_bps / here[self.paths],
            elastic=flow.sent_bps / (flow.sent_bps + self.offered_bps),
            by_hazard=by_loss * np.exp(-np.exp(flow.log_total) - flow.log_loss),
            by_wait=(later - np.log(flow.sent_bps)) / more,
            hazard=hazard * np.exp(flow.log_hazard),
            wait=(ahead.queue - state.queue) / step * self.packet_s,
            own=(ahead.log_load - state.log_load) / step + thinning,
        )  # fmt: skip

    def by_loss(self, flow: Flow) -> Floats:
        """Return d log rate / d log loss of every path, shape (paths,)."""
        ahead = np.log(self.sent(flow.log_loss + _STEP, flow.rtt_s))
        return np.asarray((ahead - np.log(flow.sent_bps)) / _STEP)


def make_balance(problem: Problem, topology: Topology) -> Balance:
    """Return the equations of a problem in the model of its topology."""
    n = problem.graph.links
    crossed = np.bincount(problem.paths.ravel(), minlength=n + 1)[:n] > 0
    used = np.flatnonzero(crossed)
    number = np.full(n + 1, len(used), dtype=np.int64)
    number[used] = np.arange(len(used))
    for kind in problem.kinds:
        if kind.control and kind.control not in RESPONSES:
            known = ", ".join(RESPONSES)
            raise ScenarioError(
                "topology.control", field="congestion_control", value=kind.control, known=known
            )
    paths = number[problem.paths]
    crosses = paths < len(used)
    incidence = sparse_paths(paths, crosses.astype(np.float64), len(used))
    rate, rtt = problem.graph.rate_bps[used], problem.link_rtt_s[used]
    own_bdp = np.maximum(rate * rtt / (8 * problem.packet_bytes), 1e-3)
    queueing: Queueing
    if topology.model == "hisamatsu-2007":
        queueing = Slides(
            own_bdp, problem.buffer_packets[used], problem.flows[used], topology.sigma,
            topology.sigma_factor,
        )  # fmt: skip
        events, packets, heard = crosses.astype(np.float64), None, incidence
    else:
        queueing = _windows(problem, used, own_bdp)
        events, packets = exposures(problem, problem.paths)
        heard = sparse_paths(paths, events, len(used))
    return Balance(
        paths, incidence, heard, events, packets, problem, topology, used, queueing, Linear(paths)
    )


def _windows(problem: Problem, used: Ints, own_bdp: Floats) -> Windows:
    lasting = problem.long_flows
    kinds = [kind for kind in problem.kinds if kind.control]
    mean = sum(kind.flows * spread(kind.control) for kind in kinds) / lasting if lasting else 0.0
    offered = sum(kind.offered_bps for kind in problem.kinds)
    share = sums(problem.paths, problem.share, problem.graph.links + 1)
    load = offered * share[used] / problem.graph.count[used]
    in_flight = load * problem.link_rtt_s[used] / (8 * problem.packet_bytes)
    return Windows(
        bdp=np.maximum(own_bdp, 1.0),  # the packet that is being sent
        buffer=problem.buffer_packets[used],
        relative=mean / np.sqrt(np.maximum(problem.flows[used], 1.0)),
        poisson=np.sqrt(np.maximum(in_flight, 1e-6)),
    )


def log_hazard(log_loss: Floats) -> Floats:
    """Return the log of -log(1 - d) from log d."""
    loss = np.exp(np.minimum(log_loss, -1e-12))
    small = loss < 1e-8
    ratio = np.where(small, 1.0 + 0.5 * loss, -np.log1p(-loss) / np.where(small, 1.0, loss))
    return np.asarray(log_loss + np.log(ratio))
