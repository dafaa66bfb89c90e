"""Converts a steady state to an Outcome's links, classes by hops, and network totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.outcome import (
    ClassOutcome,
    HopsOutcome,
    LinkOutcome,
    Metric,
    NetworkOutcome,
    Quantiles,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.engines.fixed_point.offered_bursts import OfferedBursts
    from forebay.engines.fixed_point.solver import Solution
    from forebay.scenario import Scenario
    from forebay.topology import Problem

    Floats = NDArray[np.float64]


_NOTHING = 1e-12


def links(solution: Solution, bursts: OfferedBursts) -> dict[str, LinkOutcome]:
    """Return every link that some path uses, named ``from->to``; equal hosts share one entry.

    The loss is that of the steady state, or that by the bursts of short flows where it is more.
    """
    balance = solution.balance
    problem, graph = balance.problem, balance.problem.graph
    utilization = solution.flow.carried_bps / balance.rate_bps
    loss, queue = seen(bursts.loss(solution)), seen(solution.state.queue)
    delay = queue * balance.packet_s
    made = {}
    for place, link in enumerate(balance.used.tolist()):
        made[graph.link_names[link]] = LinkOutcome(
            utilization=_exact(min(utilization[place], 1.0)),
            loss_rate=_exact(loss[place]),
            queue_packets=_mean(queue[place]),
            queue_delay_s=_mean(delay[place]),
            buffer_packets=int(problem.buffer_packets[link]),
            bdp_packets=float(problem.bdp_packets[link]),
            capacity_bps=float(graph.rate_bps[link]),
            link_class=graph.classes[graph.link_class[link]],
            flows=float(problem.connections[link]),
            offered_load=_offered(problem, link),
        )
    return made


def seen(value: Floats) -> Floats:
    """Return 0 where a loss rate or a queue in packets is too small to be seen, below 1e-12."""
    return np.where(value < _NOTHING, 0.0, value)


def _offered(problem: Problem, link: int) -> float | None:
    """Return the load that is offered to a link as a share of its rate; None without one."""
    load = float(problem.offered_bps[link] / problem.graph.rate_bps[link])
    return load or None


def classes(scenario: Scenario, solution: Solution) -> list[ClassOutcome]:
    """Return each traffic class, divided by the hops of its paths, fewest first."""
    problem = solution.balance.problem
    rates = [_rates(solution, index) for index in range(len(scenario.traffic))]
    made = []
    for index, group in enumerate(scenario.traffic):
        for hops in np.unique(problem.hops):
            mine = problem.hops == hops
            share = problem.share[mine]
            weight = share / share.sum()
            throughput = _exact(float(share @ rates[index][mine]))
            made.append(
                ClassOutcome(
                    kind=group.kind,
                    name=f"{group.name or f'{group.kind}-{index}'}, {hops} hops",
                    flows=round(float(group.flows) * float(share.sum())),
                    throughput_bps=throughput,
                    goodput_bps=None,
                    jain=None,
                    rtt_s=_mean(float(weight @ solution.flow.rtt_s[mine])),
                    loss_rate=_exact(float(seen(weight @ (1.0 - solution.flow.kept[mine])))),
                    timeouts=None,
                    fct_s=None,
                )
            )
    return made


def network(solution: Solution) -> NetworkOutcome:
    """Return the totals over long-lived connections."""
    problem = solution.balance.problem
    lasting = problem.long_flows
    each = solution.flow.sent_bps * solution.flow.delivered / lasting if lasting else None
    return NetworkOutcome(
        connections=lasting,
        mean_propagation_s=problem.mean_rtt_s,
        mean_rtt_s=float(problem.share @ solution.flow.rtt_s),
        mean_throughput_bps=None if each is None else float(problem.share @ each),
        residual=solution.residual,
        by_hops=[_hops(solution, int(hops), each) for hops in np.unique(problem.hops)],
    )


def _hops(solution: Solution, hops: int, each: Floats | None) -> HopsOutcome:
    problem = solution.balance.problem
    mine = problem.hops == hops
    share = problem.share[mine]
    weight = share / share.sum()
    return HopsOutcome(
        hops=hops,
        connections=float(problem.long_flows * share.sum()),
        throughput_bps=None if each is None else float(weight @ each[mine]),
        rtt_s=float(weight @ solution.flow.rtt_s[mine]),
        loss_rate=float(weight @ (1.0 - solution.flow.kept[mine])),
    )


def _rates(solution: Solution, traffic: int) -> Floats:
    """Return the bit/s of a class's connections on each path, if all were on that path."""
    balance, flow = solution.balance, solution.flow
    total = np.zeros(flow.rtt_s.shape)
    for kind in balance.problem.kinds:
        if kind.traffic == traffic and kind.control:
            total += balance.sent_by(kind, flow.log_loss, flow.rtt_s) * flow.delivered
        elif kind.traffic == traffic:
            total += kind.offered_bps * flow.kept
    return total


def _exact(value: float) -> Metric:
    return Metric(value=float(value), low=None, high=None, n=0)


def _mean(value: float) -> Quantiles:
    return Quantiles(mean=_exact(value), p50=None, p95=None, p99=None)
