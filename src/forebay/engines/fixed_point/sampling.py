"""Samples of a network that is stepped through time, and the answer made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.engines.fixed_point.stepping import Moment, NetworkSample, Stepper, Swings
from forebay.outcome.transient import (
    HopsSeries,
    LinkSeries,
    Oscillation,
    SteadyLinks,
    Transient,
)

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.scenario import Scenario
    from forebay.topology.graph import Floats

_SHOWN = 5
_NOTHING = 1e-12  # smaller shares and rates count as this


class Recorder:
    """Keeps utilization, loss and queue by class of links, and throughput by hops."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, balance = stepper, stepper.balance
        graph, problem = balance.problem.graph, balance.problem
        of_link = graph.link_class[balance.used]
        self.classes = np.unique(of_link)
        self.members = [np.flatnonzero(of_link == each) for each in self.classes]
        self.by_hops = [np.flatnonzero(problem.hops == each) for each in np.unique(problem.hops)]
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
        each = reading.sent_bps / (problem.long_flows or 1.0)
        values += [np.average(each[m], weights=problem.share[m]) for m in self.by_hops]
        return np.array([*values, problem.share @ each, problem.share @ reading.rtt_s])

    @property
    def residual(self) -> float:
        """Largest |brought / capacity - 1| over links with a queue, at the last sample."""
        assert self.last is not None, "a run records its end"
        full = self.last.queue > 0.0
        apart = np.abs(self.last.carried_bps / self.stepper.balance.rate_bps - 1.0)
        return float(np.max(apart[full], initial=0.0))


def steady_row(recorder: Recorder, steady: Solution) -> Floats:
    """Return the sample of the steady state."""
    flow, state = steady.flow, steady.state
    loss = np.exp(state.log_loss)
    return recorder.row(
        NetworkSample(flow.sent_bps, flow.rtt_s, flow.carried_bps, loss, state.queue)
    )


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
    rows = np.array(recorder.rows)
    rest = None if steady is None else steady_row(recorder, steady)
    problem, hops = balance.problem, np.unique(balance.problem.hops)
    first = 3 * len(recorder.classes)
    found = swings.found
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
                hops=int(each),
                connections=float(problem.long_flows * problem.share[mine].sum()),
                throughput_bps=rows[:, first + k],
                steady_throughput_bps=None if rest is None else float(rest[first + k]),
            )
            for k, (each, mine) in enumerate(zip(hops, recorder.by_hops, strict=True))
        ],
        throughput_bps=rows[:, -2],
        rtt_s=rows[:, -1],
        steady_throughput_bps=None if rest is None else float(rest[-2]),
        steady_rtt_s=None if rest is None else float(rest[-1]),
        residual=recorder.residual,
        distance=None if rest is None else _distance(rows[-1], rest, first),
        oscillating_links=len(found),
        oscillations=[_oscillation(recorder, swings, at) for at in found[:_SHOWN].tolist()],
        cpu_s=cpu_s,
    )


def _links(recorder: Recorder, rows: Any, rest: Floats | None) -> dict[str, LinkSeries]:
    balance = recorder.stepper.balance
    graph, made = balance.problem.graph, {}
    buffers = balance.problem.buffer_packets[balance.used]
    for k, (place, mine) in enumerate(zip(recorder.classes, recorder.members, strict=True)):
        used, lost, queue = rows[:, 3 * k : 3 * k + 3].T
        still = None if rest is None else [float(value) for value in rest[3 * k : 3 * k + 3]]
        made[graph.classes[place]] = LinkSeries(
            links=len(mine),
            utilization=used,
            loss_rate=lost,
            queue_packets=queue,
            buffer_packets=float(buffers[mine].mean()),
            steady=None
            if still is None
            else SteadyLinks(utilization=still[0], loss_rate=still[1], queue_packets=still[2]),
        )
    return made


def _distance(end: Floats, rest: Floats, first: int) -> float:
    """Compare utilizations of classes, throughputs by hops and their mean."""
    compared = [*range(0, first, 3), *range(first, len(rest) - 1)]
    apart = np.abs(end[compared] - rest[compared]) / np.maximum(np.abs(rest[compared]), _NOTHING)
    return float(np.max(apart, initial=0.0))


def _oscillation(recorder: Recorder, swings: Swings, at: int) -> Oscillation:
    balance = recorder.stepper.balance
    link = int(balance.used[at])
    seconds = swings.steps * recorder.stepper.step_s
    return Oscillation(
        link=balance.problem.graph.link_names[link],
        buffer_packets=float(balance.problem.buffer_packets[link]),
        low_packets=float(swings.low[at]),
        high_packets=float(swings.high[at]),
        period_s=2.0 * seconds / int(swings.turns[at]),
    )
