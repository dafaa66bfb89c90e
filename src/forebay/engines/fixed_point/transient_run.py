"""A scenario's network through time, by the slides' equations in discrete time.

Slide 9 gives the next windows from loss and round trips, slide 10 the next queues from the rates of
the windows just stepped (with those of the step before the method itself makes queues oscillate).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from forebay.engines.fixed_point import check_marks
from forebay.engines.fixed_point.balance import Balance, hisamatsu_step, make_balance
from forebay.engines.fixed_point.solver import NoSteadyState, Solution, solve, topology_of
from forebay.outcome.transient import HopsSeries, LinkSeries, Oscillation, SteadyLinks, Transient
from forebay.progress import Progress
from forebay.scenario import Duration, Scenario
from forebay.scenario.base import whole_number
from forebay.scenario.errors import ScenarioError
from forebay.topology import make_problem
from forebay.topology.graph import Floats, Ints
from forebay.words import Term, argument

_SHARE_OF_RTT, _SHARE_OF_PERIOD = 0.1, 0.5
_LAST = 0.25
"""Share of the steps, at the end, in which oscillations are looked for."""
_REVERSALS = 4
_SWING = 0.01  # of the buffer, and one packet at least
MOST_STEPS = 20_000_000


class Moment(NamedTuple):
    """A state in time: windows, shape (kinds that respond to loss, paths), and queues, (links,)."""

    window: Floats
    queue: Floats


class NetworkSample(NamedTuple):
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
        shape = (len(balance.responsive), len(balance.problem.share))
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
        packet_bits = 8.0 * balance.problem.packet_bytes
        more = self.step_s * (carried - balance.rate_bps) / packet_bits
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
        bits = [8.0 * kind.packet_bytes * kind.flows for kind in self.balance.responsive]
        return np.asarray(np.array(bits) @ window / rtt)


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
    balance, first = steady.balance, Stepper(target, 1.0).cold()
    names, now = balance.problem.graph.link_names, target.problem.graph.link_names
    if not set(names) & set(now):
        field = argument("start", "from")
        raise ScenarioError("contradiction.start", field=field, theirs=names[0], link=now[0])
    window = np.array([
        balance.sent_by(kind, steady.flow.log_loss, steady.flow.rtt_s)
        * steady.flow.rtt_s / (8.0 * kind.packet_bytes * max(kind.flows, 1e-300))
        for kind in balance.responsive
    ])  # fmt: skip
    whole = window.mean(axis=0) if 0 < len(window) != len(first.window) else None
    by_path = {key: place for place, key in enumerate(_path_names(balance)) if window.size}
    pairs = _pair_windows(balance, window) if window.size else {}
    for place, key in enumerate(_path_names(target)):
        before = window[:, by_path[key]] if key in by_path else pairs.get(key[:2])
        if before is not None:
            first.window[:, place] = before if whole is None else before.mean()
    queues = {names[link]: steady.state.queue[at] for at, link in enumerate(balance.used.tolist())}
    for at, link in enumerate(target.used.tolist()):
        first.queue[at] = queues.get(now[link], 0.0)
    buffers = target.problem.buffer_packets[target.used]
    return Moment(first.window, np.minimum(first.queue, buffers))


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
    ends = [(names[key // len(names)], names[key % len(names)]) for key in pairs.tolist()]
    return dict(zip(ends, columns, strict=True))


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
    recorder: Recorder, swings: Swings, begin: Moment, steps: int, samples: int
) -> Iterator[int]:
    """Step to the end, record so many moments, and yield the number of steps done after each."""
    wanted = set(np.round(np.linspace(0, steps, max(samples, 2))).astype(np.int64).tolist())
    at, last = begin, steps - max(1, int(_LAST * steps))
    for k in range(steps + 1):
        if k in wanted:
            recorder.record(k, at)
        if k == steps:
            return
        before = at.queue
        at, _ = recorder.stepper.step(at)
        if k >= last:
            swings.add(before, at.queue)
        yield k + 1


_SHOWN = 5
_NOTHING = 1e-12  # smaller shares and rates count as this


class Recorder:
    """Keeps utilization, loss and queue by class of links, and throughput by hops."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, balance = stepper, stepper.balance
        graph, problem = balance.problem.graph, balance.problem
        of_link = graph.link_class[balance.used]
        self.classes = np.unique(of_link)
        self.members = [np.flatnonzero(of_link == kind) for kind in self.classes]
        self.by_hops = [np.flatnonzero(problem.hops == hops) for hops in np.unique(problem.hops)]
        self.at: list[int] = []
        self.rows: list[Floats] = []
        self.last: NetworkSample | None = None

    def record(self, step: int, at: Moment) -> None:
        """Add the state after ``step`` steps."""
        self.last = self.stepper.read(at)
        self.at.append(step)
        self.rows.append(self.row(self.last))

    def row(self, reading: NetworkSample) -> Floats:
        """Return a sample: three values for each class, throughputs by hops, mean, round trip."""
        balance, values = self.stepper.balance, []
        used = np.where(reading.queue > 0.0, 1.0, reading.carried_bps / balance.rate_bps)
        used = np.minimum(used, 1.0)
        for mine in self.members:
            values += [used[mine].mean(), reading.loss[mine].mean(), reading.queue[mine].mean()]
        problem = balance.problem
        rates = reading.sent_bps / (problem.long_flows or 1.0)
        values += [np.average(rates[m], weights=problem.share[m]) for m in self.by_hops]
        return np.array([*values, problem.share @ rates, problem.share @ reading.rtt_s])

    @property
    def residual(self) -> float:
        """Largest |brought / capacity - 1| over links with a queue, at the last sample."""
        assert self.last is not None, "a run records its end"
        full = self.last.queue > 0.0
        apart = np.abs(self.last.carried_bps / self.stepper.balance.rate_bps - 1.0)
        return float(np.max(apart[full], initial=0.0))


def transient_of(
    recorder: Recorder,
    swings: Swings,
    steady: Solution | None,
    scenario: Scenario,
    start: Scenario | None,
    cpu_s: float,
) -> Transient:
    """Return the answer of a run that has ended."""
    balance, step_s = recorder.stepper.balance, recorder.stepper.step_s
    rows, rest = np.array(recorder.rows), None
    if steady is not None:
        flow, state = steady.flow, steady.state
        loss = np.exp(state.log_loss)
        rest = recorder.row(
            NetworkSample(flow.sent_bps, flow.rtt_s, flow.carried_bps, loss, state.queue)
        )
    problem, hops = balance.problem, np.unique(balance.problem.hops)
    first, distance = 3 * len(recorder.classes), None
    if rest is not None:  # utilizations of classes, throughputs by hops and their mean
        compared = [*range(0, first, 3), *range(first, len(rest) - 1)]
        apart = np.abs(rows[-1][compared] - rest[compared])
        apart /= np.maximum(np.abs(rest[compared]), _NOTHING)
        distance = float(np.max(apart, initial=0.0))
    oscillating = swings.found
    return Transient(
        scenario=scenario.to_dict(),
        start="cold" if start is None else "steady",
        start_scenario=None if start is None else start.to_dict(),
        step_s=step_s,
        steps=recorder.at[-1],
        at_s=np.array(recorder.at) * step_s,
        links=_links(recorder, rows, rest),
        hops=[
            HopsSeries(
                hops=int(number),
                connections=float(problem.long_flows * problem.share[mine].sum()),
                throughput_bps=rows[:, first + k],
                steady_throughput_bps=None if rest is None else float(rest[first + k]),
            )
            for k, (number, mine) in enumerate(zip(hops, recorder.by_hops, strict=True))
        ],
        throughput_bps=rows[:, -2],
        rtt_s=rows[:, -1],
        steady_throughput_bps=None if rest is None else float(rest[-2]),
        steady_rtt_s=None if rest is None else float(rest[-1]),
        residual=recorder.residual,
        distance=distance,
        oscillating_links=len(oscillating),
        oscillations=[
            Oscillation(
                link=problem.graph.link_names[link],
                buffer_packets=float(problem.buffer_packets[link]),
                low_packets=float(swings.low[at]),
                high_packets=float(swings.high[at]),
                period_s=2.0 * swings.steps * step_s / int(swings.turns[at]),
            )
            for at in oscillating[:_SHOWN].tolist()
            for link in (int(balance.used[at]),)
        ],
        cpu_s=cpu_s,
    )


def _links(recorder: Recorder, rows: Any, rest: Floats | None) -> dict[str, LinkSeries]:
    balance = recorder.stepper.balance
    graph, series = balance.problem.graph, {}
    buffers = balance.problem.buffer_packets[balance.used]
    for k, (place, mine) in enumerate(zip(recorder.classes, recorder.members, strict=True)):
        own = slice(3 * k, 3 * k + 3)
        used, lost, queue = rows[:, own].T
        steady = None
        if rest is not None:
            full, loss, packets = rest[own].tolist()
            steady = SteadyLinks(utilization=full, loss_rate=loss, queue_packets=packets)
        series[graph.classes[place]] = LinkSeries(
            links=len(mine), utilization=used, loss_rate=lost, queue_packets=queue,
            buffer_packets=float(buffers[mine].mean()), steady=steady,
        )  # fmt: skip
    return series


_TRIED = 20
_REPORT_EVERY = 50


def step_through(
    scenario: Scenario,
    duration: str,
    *,
    start: Scenario | None = None,
    step: str | None = None,
    samples: int = 400,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> Transient:
    """See `forebay.api.networks.transient`."""
    samples = whole_number("samples", samples, 1, MOST_STEPS)
    length_s = _seconds(argument("duration", "transient"), duration, "2 s")
    own_s = None if step is None else _seconds(argument("step"), step, "100 us")
    if own_s is not None and own_s > length_s:
        raise ScenarioError("time.step", field=argument("step"), value=step, duration=duration)
    balance = _balance(scenario)
    if not balance.is_slides:
        model = balance.topology.model
        raise ScenarioError("topology.model-in-time", field="topology.model", value=model)
    steady = None
    with suppress(NoSteadyState):
        steady = solve(balance)
    step_s = stable_step(balance, steady) if own_s is None else own_s
    steps = max(1, math.ceil(length_s / step_s * (1.0 - 1e-9)))
    if steps > MOST_STEPS:
        raise ScenarioError(
            "time.steps", field=argument("step"), length_s=length_s, steps=steps, step_s=step_s,
            most=MOST_STEPS,
        )  # fmt: skip
    stepper = Stepper(balance, length_s / steps)
    begin = stepper.cold() if start is None else moment_of(solve(_balance(start)), balance)
    if expect is not None:
        at, begun = begin, time.perf_counter()
        for _ in range(_TRIED):
            at, _ = stepper.step(at)
        expect(steps * (time.perf_counter() - begun) / _TRIED)
    recorder, swings = Recorder(stepper), Swings(balance.problem.buffer_packets[balance.used])
    begun = time.process_time()

    def answer() -> Transient:
        spent_s = time.process_time() - begun
        return transient_of(recorder, swings, steady, scenario, start, spent_s)

    try:
        with np.errstate(over="ignore", under="ignore"):
            for done in run(recorder, swings, begin, steps, samples):
                if progress is not None and done % _REPORT_EVERY == 0:
                    progress(done / steps)
    except KeyboardInterrupt as stop:
        if recorder.rows:
            stop.result = answer()  # type: ignore[attr-defined]  # as that of a stopped sizing
        raise
    return answer()


def _seconds(name: Term, text: str, instead: str) -> float:
    """Read a time above 0. Raises ScenarioError."""
    seconds = float(Duration.parse_argument(name, text))
    if not seconds > 0.0:
        raise ScenarioError("time.zero", field=name, value=text, instead=instead)
    return seconds


def _balance(scenario: Scenario) -> Balance:
    topology = topology_of(scenario)
    check_marks(scenario)
    return make_balance(make_problem(scenario), topology)
