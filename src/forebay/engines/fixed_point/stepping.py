"""The slides' equations in discrete time: windows and queues, stepped from a given state.

Slide 9 gives the next windows from loss and round trips, slide 10 the next queues from the rates of
the windows just stepped (with the rates of the step before, links of n connections need steps about
n times shorter, or the queue oscillates by the method alone).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forebay.engines.fixed_point.balance import Balance
from forebay.engines.fixed_point.response import hisamatsu_step
from forebay.engines.fixed_point.solver import Solution
from forebay.scenario.errors import ScenarioError
from forebay.topology.errors import refuse
from forebay.topology.graph import Floats, Ints

_SHARE_OF_RTT, _SHARE_OF_PERIOD = 0.1, 0.5
_LAST = 0.25
"""Share of the steps, at the end, in which oscillations are looked for."""
_REVERSALS = 4
_SWING = 0.01  # of the buffer, and one packet at least
MOST_STEPS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A state in time.

    Attributes
    ----------
    window : shape (kinds that respond to loss, paths), packets.
    queue : shape (links,), packets.
    """

    window: Floats
    queue: Floats


@dataclass(frozen=True, slots=True, eq=False)
class NetworkSample:
    """What paths and links do at a moment; shapes (paths,) and (links,).

    ``sent_bps`` is as in `balance.Flow`; ``loss`` is that of links.
    """

    sent_bps: Floats
    rtt_s: Floats
    carried_bps: Floats
    loss: Floats
    queue: Floats


@dataclass(frozen=True, eq=False)
class Stepper:
    """Steps the equations of a network in the slides' model by ``step_s``."""

    balance: Balance
    step_s: float

    def cold(self) -> Moment:
        """Return windows of one packet and empty queues."""
        balance = self.balance
        paths = len(balance.problem.share)
        shape = (len(balance.responsive), paths)
        return Moment(np.ones(shape), np.zeros(len(balance.used)))

    def step(self, at: Moment) -> tuple[Moment, Floats]:
        """Return the next moment, and the bit/s brought to each link in between."""
        balance = self.balance
        hazard = self._hazard(at.queue)
        loss = -np.expm1(-(balance.heard.T @ hazard))
        rtt = balance.round_trips(at.queue)
        limits = np.array([kind.max_window for kind in balance.responsive])[:, None]
        stepped = hisamatsu_step(at.window, loss, self.step_s / rtt, balance.topology.timeouts)
        window = np.minimum(stepped, limits)
        carried = balance.carried(self._sent(window, rtt), hazard)
        more = self.step_s * (carried - balance.rate_bps) / self._packet_bits
        return Moment(window, np.maximum(at.queue + more, 0.0)), carried

    def read(self, at: Moment) -> NetworkSample:
        """Return rates, round trips and losses of a moment."""
        hazard = self._hazard(at.queue)
        rtt = self.balance.round_trips(at.queue)
        sent = self._sent(at.window, rtt)
        carried = self.balance.carried(sent, hazard)
        return NetworkSample(sent, rtt, carried, -np.expm1(-hazard), at.queue)

    def _hazard(self, queue: Floats) -> Floats:
        links = self.balance.queueing
        return np.exp(self.balance.log_hazard(links.state(queue / links.scale).log_loss))

    def _sent(self, window: Floats, rtt: Floats) -> Floats:
        return np.asarray(self._weights @ window / rtt)

    @cached_property
    def _weights(self) -> Floats:
        """Bits of all connections of a kind for one packet of window."""
        return np.array([8.0 * kind.packet_bytes * kind.flows for kind in self.balance.responsive])

    @cached_property
    def _packet_bits(self) -> float:
        return 8.0 * self.balance.problem.packet_bytes


def check_model(balance: Balance) -> None:
    """Refuse models that are not in discrete time. ScenarioError."""
    if not balance.is_slides:
        wrong = f"model {balance.topology.model} has a steady state but no equations in time"
        raise refuse(wrong, 'write model = "hisamatsu-2007"', "model")


def stable_step(balance: Balance, steady: Solution | None) -> float:
    """Return a step that follows the fastest link: a part of the time in which it responds.

    A link's queue grows with its windows, and they shrink with its loss: an oscillator, whose
    square frequency is the slope of the loss over the queue times the change of the rates with it.
    """
    problem = balance.problem
    longest = _SHARE_OF_RTT * float(problem.rtt_s.min(initial=math.inf))
    if steady is None or not balance.responsive:
        return longest
    links, state = balance.queueing, steady.state
    ahead = links.state((state.queue + 1e-3) / links.scale).log_loss
    here = links.state(state.queue / links.scale).log_loss
    slope = (np.exp(ahead) - np.exp(here)) / 1e-3
    loss = np.exp(steady.flow.log_loss)
    rate = problem.share * sum(kind.flows for kind in balance.responsive)
    answer = rate * (1.0 + 1.0 / loss) / steady.flow.rtt_s**2
    square = slope * (balance.incidence @ answer) / balance.count
    fastest = math.sqrt(max(float(np.max(square, initial=0.0)), 1e-300))
    return min(longest, _SHARE_OF_PERIOD / fastest)


def moment_of(steady: Solution, target: Balance) -> Moment:
    """Return a steady state as the first moment of ``target``, which may be another network.

    Connections keep the window of their path, or else the mean window of their pair of routers;
    new pairs begin with one packet. Links keep their queue by name, as far as their buffer holds
    it; new ones are empty. Raises ScenarioError if they have no link in common.
    """
    balance, made = steady.balance, Stepper(target, 1.0).cold()
    names, now = balance.problem.graph.link_names, target.problem.graph.link_names
    if not set(names) & set(now):
        wrong = f"no link of it, such as {names[0]}, is in this network"
        hint = f"write a scenario with links such as {now[0]}"
        raise ScenarioError("contradiction", wrong, hint, field="from")
    window = np.array([
        balance.sent_by(kind, steady.flow.log_loss, steady.flow.rtt_s)
        * steady.flow.rtt_s / (8.0 * kind.packet_bytes * max(kind.flows, 1e-300))
        for kind in balance.responsive
    ])  # fmt: skip
    whole = window.mean(axis=0) if 0 < len(window) != len(made.window) else None
    by_path = {key: place for place, key in enumerate(_path_names(balance)) if window.size}
    pairs = _pair_windows(balance, window) if window.size else {}
    for place, key in enumerate(_path_names(target)):
        before = window[:, by_path[key]] if key in by_path else pairs.get(key[:2])
        if before is not None:
            made.window[:, place] = before if whole is None else before.mean()
    queues = {names[link]: steady.state.queue[at] for at, link in enumerate(balance.used.tolist())}
    for at, link in enumerate(target.used.tolist()):
        made.queue[at] = queues.get(now[link], 0.0)
    buffers = target.problem.buffer_packets[target.used]
    return Moment(made.window, np.minimum(made.queue, buffers))


def _path_names(balance: Balance) -> list[tuple[str, ...]]:
    """Return source, target, and the links of each path, by name."""
    graph, problem = balance.problem.graph, balance.problem
    names = [*graph.link_names, ""]
    ends = zip(problem.source.tolist(), problem.target.tolist(), strict=True)
    steps = problem.paths.T.tolist()
    return [
        (graph.names[a], graph.names[b], *filter(None, (names[link] for link in row)))
        for (a, b), row in zip(ends, steps, strict=True)
    ]


def _pair_windows(balance: Balance, window: Floats) -> dict[tuple[str, ...], Floats]:
    """Return the mean windows of each pair of routers, shape (kinds,)."""
    problem, names = balance.problem, balance.problem.graph.names
    key = problem.source * len(names) + problem.target
    pairs, at = np.unique(key, return_inverse=True)
    weight = np.bincount(at, weights=problem.share)
    means = [np.bincount(at, weights=problem.share * row) / weight for row in window]
    columns = np.array(means).T if means else np.zeros((len(pairs), 0))
    ends = zip((pairs // len(names)).tolist(), (pairs % len(names)).tolist(), strict=True)
    return {(names[a], names[b]): column for (a, b), column in zip(ends, columns, strict=True)}


class Swings:
    """How far queues still move up and down, over the last steps."""

    def __init__(self, buffer: Floats) -> None:
        self._least_swing = np.maximum(_SWING * buffer, 1.0)
        self._rises = np.zeros(len(buffer), dtype=bool)
        self.turns = np.zeros(len(buffer), dtype=np.int64)
        self.low, self.high = np.full(len(buffer), np.inf), np.full(len(buffer), -np.inf)
        self.steps = 0

    def add(self, before: Floats, after: Floats) -> None:
        """Count a step."""
        self.steps += 1
        change = after - before
        rises = np.where(change == 0.0, self._rises, change > 0.0)
        self.turns += rises != self._rises
        self._rises = rises
        self.low, self.high = np.minimum(self.low, after), np.maximum(self.high, after)

    @property
    def found(self) -> Ints:
        """Links whose queues oscillate, the largest swing over its buffer first."""
        size = np.where(self.turns > 0, self.high - self.low, 0.0) / self._least_swing
        some = np.flatnonzero((self.turns >= _REVERSALS) & (size > 1.0))
        return np.asarray(some[np.argsort(-size[some])])


def run(
    stepper: Stepper,
    begin: Moment,
    steps: int,
    every: Ints,
    record: Callable[[int, Moment], None],
    swings: Swings,
) -> Iterator[int]:
    """Step to the end, and yield the number of steps done after each.

    Parameters
    ----------
    every : steps after which ``record`` is called with the moment, in order, from 0 on.
    """
    wanted = set(every.tolist())
    at, last = begin, steps - max(1, int(_LAST * steps))
    for k in range(steps + 1):
        if k in wanted:
            record(k, at)
        if k == steps:
            return
        before = at.queue
        at, _ = stepper.step(at)
        if k >= last:
            swings.add(before, at.queue)
        yield k + 1
