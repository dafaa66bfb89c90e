"""A steady state as an Outcome, with notes where the equations do not determine or miss something.

docs/explanation/network.md has both: "One steady state or several", and bursts in "Not modelled".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import DISCIPLINES, KINDS
from forebay.engines.base import exact, mean_alone
from forebay.engines.fixed_point.balance import mean_burst
from forebay.engines.fixed_point.solver import Solution
from forebay.laws import effective_bandwidth
from forebay.laws.bursts import slow_start_bursts
from forebay.laws.effective_bandwidth import Order
from forebay.outcome import ClassOutcome, HopsOutcome, LinkOutcome, NetworkOutcome, Outcome
from forebay.scenario import Scenario
from forebay.topology import Problem
from forebay.topology.graph import Floats, Ints
from forebay.words import Fact

_LEAST_LOSS = 1e-4  # a smaller loss comes from few bursts and determines no load
_APART = 0.02
_LOADS = 1000
"""Loads are rounded up to one part of so many: 100,000 links have few different ones then."""
_MOST_LOAD = 0.999
"""More has no stationary queue; the loss of overload is that of the steady state."""
_NOTHING = 1e-12
MOST_LINKS = 600
"""Largest number of coupled links for `uniqueness`: its cost is the cube of their number."""
_SINGULAR = 1e-6
"""Relative. With a smaller singular value a residual of 1e-9 allows a step of 1e-3 or more."""
_NAMED = 4
NAME = "network"
NO_MARKS = tuple(discipline.name for discipline in DISCIPLINES.values() if discipline.drops_tail)
"""Disciplines that mark and drop nothing before the buffer is full."""


def burst_load(buffer: Floats, loss: Floats, burst: float) -> Floats:
    """Return the load at which bursts of so many packets overflow a buffer with this loss.

    Independent bursts of X packets fill a queue of b packets with the probability
    exp(-b 2 (1 - rho) / rho E[X] / E[X^2]) at the load rho (Appenzeller et al. 2004, section 4),
    solved here for rho. Behind an equally slow link bursts are spread, so the estimate is low.

    Parameters
    ----------
    buffer : packets, 1 or more.
    loss : between 0 and 1, without both.
    burst : mean packets of a burst; all are taken as equally long, E[X^2] / E[X].
    """
    return np.asarray(1.0 / (1.0 + burst * np.log(1.0 / loss) / (2.0 * buffer)))


def burst_note(solution: Solution, links: Ints | None = None) -> Fact | None:
    """Return a note about bursts at these links; None if bursts change little there.

    Parameters
    ----------
    links : indices into ``balance.used``; default: all.
    """
    balance = solution.balance
    loss = np.exp(solution.state.log_loss)
    used = np.minimum(solution.flow.carried_bps / balance.rate_bps, 1.0)
    buffer = balance.problem.buffer_packets[balance.used]
    if not balance.responsive:
        return None
    burst = mean_burst(balance.problem)
    load = burst_load(buffer, np.clip(loss, 1e-300, 1.0 - 1e-12), burst)
    wrong = (loss > _LEAST_LOSS) & (load < used - _APART)
    if links is not None:
        wrong &= np.isin(np.arange(len(wrong)), links)
    if not wrong.any():
        return None
    worst = int(np.argmin(np.where(wrong, load, np.inf)))
    name = balance.problem.graph.link_names[balance.used[worst]]
    return Fact(
        "network.bursts", links=int(np.count_nonzero(wrong)), name=name, burst=burst,
        buffer=buffer[worst], loss=loss[worst], load=load[worst], used=used[worst],
    )  # fmt: skip


class OfferedBursts:
    """The bursts at every link of a network; they do not depend on its buffers."""

    def __init__(self, scenario: Scenario, problem: Problem) -> None:
        bps = [0.0] * len(scenario.traffic)
        for kind in problem.kinds:
            bps[kind.traffic] += kind.offered_bps
        bursts = slow_start_bursts(scenario, bps)
        loads = np.ceil(_LOADS * problem.offered_bps / problem.graph.rate_bps) / _LOADS
        self._load = np.minimum(loads, _MOST_LOAD) if bursts else np.zeros_like(loads)
        self._exponent, self._factor = np.zeros((2, loads.size))
        self._crossed = self._load > 0.0
        if bursts and self._crossed.any():
            distinct, place = np.unique(self._load[self._crossed], return_inverse=True)
            exponent = effective_bandwidth.kappa(distinct, bursts, Order.FULL)
            factor = effective_bandwidth.prefactor(distinct, bursts, Order.FULL)
            self._exponent[self._crossed] = exponent[place]
            self._factor[self._crossed] = factor[place]

    def loss(self, solution: Solution) -> Floats:
        """Return each link's loss, shape (links,) as ``balance.used``: the larger of the two."""
        lost = np.exp(solution.state.log_loss)
        return np.maximum(lost, self._of_bursts(solution))

    def note(self, solution: Solution) -> Fact | None:
        """Return what a link's loss counts beside the steady state's; None if nothing."""
        bursts = self._of_bursts(solution)
        more = bursts > np.maximum(2.0 * np.exp(solution.state.log_loss), 1e-6)
        if not more.any():
            return None
        worst = int(np.argmax(np.where(more, bursts, 0.0)))
        name = solution.balance.problem.graph.link_names[solution.balance.used[worst]]
        return Fact("network.bursts-of-short-flows", loss=bursts[worst], name=name)

    def _of_bursts(self, solution: Solution) -> Floats:
        """Return what bursts lose at each link of ``balance.used``; 0 without short flows."""
        used = solution.balance.used
        buffer = solution.balance.problem.buffer_packets[used]
        load = self._load[used]
        tail = self._factor[used] * np.exp(-self._exponent[used] * buffer)
        exceeded = np.minimum(tail, load)
        return np.asarray((1.0 - load) * exceeded / (1.0 - load * exceeded))


def links(solution: Solution, bursts: OfferedBursts) -> dict[str, LinkOutcome]:
    """Return every link that some path uses, named ``from->to``; equal hosts share one entry.

    The loss is that of the steady state, or that by the bursts of short flows where it is more.
    """
    balance = solution.balance
    problem, graph = balance.problem, balance.problem.graph
    utilization = solution.flow.carried_bps / balance.rate_bps
    loss, queue = seen(bursts.loss(solution)), seen(solution.state.queue)
    delay = queue * balance.packet_s
    by_name = {}
    for place, link in enumerate(balance.used.tolist()):
        offered = float(problem.offered_bps[link] / graph.rate_bps[link])
        by_name[graph.link_names[link]] = LinkOutcome(
            utilization=exact(min(utilization[place], 1.0)),
            loss_rate=exact(loss[place]),
            queue_packets=mean_alone(queue[place]),
            queue_delay_s=mean_alone(delay[place]),
            buffer_packets=int(problem.buffer_packets[link]),
            bdp_packets=float(problem.bdp_packets[link]),
            capacity_bps=float(graph.rate_bps[link]),
            link_class=graph.classes[graph.link_class[link]],
            flows=float(problem.connections[link]),
            offered_load=offered or None,
        )
    return by_name


def seen(value: Floats | float) -> Floats:
    """Return 0 where a loss rate or a queue in packets is too small to be seen, below 1e-12."""
    return np.where(value < _NOTHING, 0.0, value)


def classes(scenario: Scenario, solution: Solution) -> list[ClassOutcome]:
    """Return each traffic class, divided by the hops of its paths, fewest first."""
    problem = solution.balance.problem
    parts = []
    for index, group in enumerate(scenario.traffic):
        rates = _rates(solution, index)
        for hops in np.unique(problem.hops):
            mine, share, rtt_s, loss_rate = _of_hops(solution, hops)
            parts.append(
                ClassOutcome(
                    kind=group.kind,
                    name=f"{group.name or f'{group.kind}-{index}'}, {hops} hops",
                    flows=round(float(group.flows) * float(share.sum())),
                    throughput_bps=exact(float(share @ rates[mine])), goodput_bps=None, jain=None,
                    rtt_s=mean_alone(rtt_s), loss_rate=exact(float(seen(loss_rate))),
                    timeouts=None, fct_s=None,
                )
            )  # fmt: skip
    return parts


def _of_hops(solution: Solution, hops: int) -> tuple[NDArray[np.bool_], Floats, float, float]:
    """Return the paths of so many hops and their shares, and their mean round trip and loss."""
    mine = solution.balance.problem.hops == hops
    share = solution.balance.problem.share[mine]
    weight = share / share.sum()
    loss_rate = float(weight @ (1.0 - solution.flow.kept[mine]))
    return mine, share, float(weight @ solution.flow.rtt_s[mine]), loss_rate


def network(solution: Solution) -> NetworkOutcome:
    """Return the totals over long-lived connections."""
    problem = solution.balance.problem
    lasting = problem.long_flows
    rates = solution.flow.sent_bps * solution.flow.delivered / lasting if lasting else None
    return NetworkOutcome(
        connections=lasting,
        mean_propagation_s=problem.mean_rtt_s,
        mean_rtt_s=float(problem.share @ solution.flow.rtt_s),
        mean_throughput_bps=None if rates is None else float(problem.share @ rates),
        residual=solution.residual,
        by_hops=[
            HopsOutcome(
                hops=int(hops),
                connections=float(problem.long_flows * share.sum()),
                throughput_bps=None if rates is None else float(share / share.sum() @ rates[mine]),
                rtt_s=rtt_s,
                loss_rate=loss_rate,
            )
            for hops in np.unique(problem.hops)
            for mine, share, rtt_s, loss_rate in (_of_hops(solution, hops),)
        ],
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


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """The directions in which the equations do not determine the state.

    Attributes
    ----------
    open_directions : number of independent directions in which the residuals hardly change;
        0 if no other steady state is near.
    links : names of the links that change most in these directions.
    """

    open_directions: int
    links: tuple[str, ...]


def uniqueness(solution: Solution) -> Uniqueness | None:
    """Return the directions that are not determined; None for too many links."""
    balance = solution.balance
    slopes = balance.slopes(solution.s, solution.state, solution.flow)
    jacobian = balance.linear.jacobian(slopes, MOST_LINKS)
    if jacobian is None:
        return None
    coupled, matrix = jacobian
    if not len(coupled):
        return Uniqueness(0, ())
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    squares, directions = np.linalg.eigh(matrix.T @ matrix)
    small = squares < _SINGULAR**2
    moved = np.abs(directions[:, small]).max(axis=1, initial=0.0)
    most = np.argsort(-moved, kind="stable")[: _NAMED if small.any() else 0]
    names = balance.problem.graph.link_names
    return Uniqueness(int(small.sum()), tuple(names[balance.used[coupled[link]]] for link in most))


def to_outcome(
    scenario: Scenario,
    seeds: list[int],
    solution: Solution,
    loading: float,
    wall_s: float = 0.0,
    sized: Ints | None = None,
    bursts: OfferedBursts | None = None,
) -> Outcome:
    """Return a steady state as an answer.

    Parameters
    ----------
    loading, wall_s : CPU seconds of loading and routing, and seconds of the whole run.
    sized : places in ``balance.used`` of links that are sized; bursts at others are not named then.
    bursts : those of the scenario's short flows, if they were computed before.
    """
    left = uniqueness(solution)
    problem = solution.balance.problem
    bursts = bursts or OfferedBursts(scenario, problem)
    facts = {
        "seeds": seeds,
        "wall_s": wall_s,
        "cpu_s": solution.cpu_s,
        "loading_cpu_s": loading,
        "model": solution.balance.topology.model,
        "steps": solution.steps,
        "conservation": solution.conservation,
        "open_directions": None if left is None else left.open_directions,
        "paths": len(problem.share),
        "pairs": problem.pairs,
        "pairs_drawn": problem.drawn,
    }
    return Outcome.of(
        scenario, NAME, links(solution, bursts), classes(scenario, solution), facts,
        broken=[*broken(scenario, solution, bursts, sized), *_open(left)],
        network=network(solution),
    )  # fmt: skip


def broken(
    scenario: Scenario, solution: Solution, bursts: OfferedBursts, sized: Ints | None = None
) -> list[Fact]:
    """Return the features of this scenario that the model does not represent."""
    said = [burst_note(solution, sized), bursts.note(solution)]
    notes = [note for note in said if note is not None]
    if scenario.queue.discipline not in NO_MARKS:
        notes.append(Fact("network.early-drops", discipline=scenario.queue.discipline))
    if any(KINDS[g.kind].completes for g in scenario.traffic):
        notes.append(Fact("network.short-flows"))
    few = solution.balance.problem.flows[solution.balance.used]
    full = solution.s > 0.0
    if full.any() and few[full].min() < 1.0:
        notes.append(Fact("network.few-connections", mean=few[full].min()))
    return notes


def _open(left: Uniqueness | None) -> list[Fact]:
    """Return the note of an answer that is one of several, or that was not tested for it."""
    if left is None:
        return [Fact("network.untested", most=MOST_LINKS)]
    if not left.open_directions:
        return []
    return [Fact("network.open", ways=left.open_directions, links=", ".join(left.links))]
