"""A network's steady state as an engine, which also sizes one link or all links of a class.

The solution is deterministic: metrics have no interval and n = 0, like those of laws. Of the
smallest set of all buffers `ClassBuffers` has the equations and the goals;
`forebay.search.network_links` tries the sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine, LinksEngine
from forebay.engines.errors import Unsupported, refuse_features
from forebay.engines.fixed_point import solver
from forebay.engines.fixed_point.balance import MARKED, make_balance
from forebay.engines.fixed_point.summary import NAME, NO_MARKS, OfferedBursts, links, to_outcome
from forebay.engines.footprint import Limit, resident
from forebay.outcome import Outcome
from forebay.progress import Progress, enter, of_stages
from forebay.scenario import Scenario, ScenarioError
from forebay.topology import check_goals_of_links, choose_links, make_problem
from forebay.topology.graph import Floats
from forebay.topology.routing import NetworkCost
from forebay.topology.sized_links import worst_link


class NoBufferMeets(ScenarioError):
    """No sizes of a network's buffers meet a goal."""

    exit_status = 1


class NetworkEngine(Engine):
    """Engine for scenarios that have a topology."""

    name = NAME

    def __init__(self) -> None:
        self._octets: int | None = None

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a solution, in bytes."""
        self._octets = octets

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Solve `scenario`; `seeds` are recorded, but do not change the result."""
        started = time.perf_counter()
        solution, loading = self.solution(scenario, effort.progress)
        effort.tell(1.0)
        wall_s = time.perf_counter() - started
        return to_outcome(scenario, list(seeds), solution, loading, wall_s)

    def size_links(
        self, scenario: Scenario, *, link: str | None, link_class: str | None
    ) -> SizingSolver:
        """See `SizingSolver`."""
        return SizingSolver(scenario, link=link, link_class=link_class)

    def solution(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        expect: Callable[[float], None] | None = None,
    ) -> tuple[solver.Solution, float]:
        """Return the steady state, and the CPU seconds of loading and routing.

        ``expect`` is called once with the predicted CPU seconds, before the routes of many pairs.
        Raises TooMuchMemory: the paths would take more than the limit.
        """
        topology = solver.topology_of(scenario)

        def check(cost: NetworkCost) -> None:
            limit, held = Limit(self._octets), resident()
            pairs = cost.pairs_within(max(limit.octets - held, 0))
            limit.check_octets(held + cost.octets, "too-much-memory.routes", pairs=pairs)
            if expect is not None:
                expect(cost.seconds)

        begun = time.process_time()
        refuse_features(NAME, scenario, "stop")
        for index, group in enumerate(scenario.traffic):
            if KINDS[group.kind].has_no_steady_state:  # but a simulated network has it
                raise Unsupported(NAME, group.kind, f"traffic.{index}.kind")
        check_marks(scenario)
        progress = of_stages(progress)
        enter(progress, "reading")
        problem = make_problem(scenario, check, progress)
        enter(progress, "equations")
        balance = make_balance(problem, topology)
        loading = time.process_time() - begun
        return solver.solve(balance, progress=progress), loading


def check_marks(scenario: Scenario) -> None:
    """Refuse controls that respond to marks if the queue may mark. Raises ScenarioError."""
    names = {name for group in scenario.traffic for name in getattr(group, "shares", ())}
    for name in MARKED:
        if name in names and scenario.queue.discipline not in NO_MARKS:
            raise ScenarioError("topology.marks", field="topology", control=name)


class SizingSolver(LinksEngine):
    """Engine that solves a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals. Raises ScenarioError (see
    `forebay.topology.choose_links`) and NoNetwork.
    """

    name = NAME

    def __init__(self, scenario: Scenario, *, link: str | None, link_class: str | None) -> None:
        self.scenario, self.topology = scenario, solver.topology_of(scenario)
        self.links = choose_links(scenario, link=link, link_class=link_class)

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Solve with `scenario`'s buffer at the sized links; link ``bottleneck`` is their worst."""
        packets, progress = max(1, scenario.buffer_packets), of_stages(effort.progress)
        problem, links = self.links.problem, self.links.links
        solution = solver.solve_with(problem, self.topology, links, packets, progress)
        places = np.flatnonzero(np.isin(solution.balance.used, self.links.links))
        outcome = to_outcome(
            self.scenario, list(seeds), solution, 0.0, sized=places, bursts=self._bursts
        )
        sized = {name: outcome.links[name] for name in self.links.names if name in outcome.links}
        filled = [link for name, link in sized.items() if name in self._filled]
        combined = worst_link(list(sized.values()), filled)
        return outcome.model_copy(update={"links": {BOTTLENECK: combined, **outcome.links}})

    @cached_property
    def _bursts(self) -> OfferedBursts:
        return OfferedBursts(self.scenario, self.links.problem)

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The links to which a goal on utilization applies: those that some buffer fills."""
        goal = self.scenario.goals.utilization
        if goal is None:
            return frozenset(self.links.names)
        target = float(goal)
        sized = self.links
        full = solver.solve_with(sized.problem, self.topology, sized.links, sized.limit)
        outcomes = links(full, self._bursts)
        used = {name: outcomes[name].utilization for name in self.links.names if name in outcomes}
        shares = {name: float(metric or 0.0) for name, metric in used.items()}
        filled = frozenset(name for name, share in shares.items() if share >= target)
        if not filled:
            most = max(shares, key=lambda name: shares[name])
            raise NoBufferMeets(
                "goals.fullest", field="goals.utilization", link=most, percent=100 * shares[most]
            )
        return filled


_LARGEST = 4.0
"""Largest buffer of the search, in bdp."""
_GOALS = ("utilization", "loss_rate")


class ClassBuffers:
    """Solves the network with one buffer for each place, as a share of each link's bdp.

    A place is a class of links; of a network's file, whose links carry what they carry, a link.

    ``utilization`` applies to every link that reaches it with the largest buffers, because no
    buffer fills a link without demand. ``loss_rate`` applies to every link.

    ``last`` is the steady state that was tried last.

    Raises ScenarioError: no goals, goals of another kind, or goals that the largest buffers do not
    meet; NoSteadyState: the solver does not converge with these; NoNetwork.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.topology = solver.topology_of(scenario)
        check_goals_of_links(scenario)
        self.loss, self.utilization = _targets(scenario)
        self.problem = make_problem(scenario)
        self.bursts = OfferedBursts(scenario, self.problem)
        self.solved = self.unsolved = 0
        graph = self.problem.graph
        self.used = np.unique(self.problem.paths)
        self.used = self.used[self.used < graph.links]
        alone = self.topology.file is not None
        of_link = self.used if alone else graph.link_class[self.used]
        self.places, self.place = np.unique(of_link, return_inverse=True)
        self.last = self._solve(self.largest)
        self.filled = _used_share(self.last) >= (self.utilization or 0.0)
        self._check_largest()

    @property
    def largest(self) -> Floats:
        """The largest share of every place."""
        return np.full(len(self.places), _LARGEST)

    @property
    def least(self) -> Floats:
        """The share with which the largest bdp of a place is one packet."""
        largest = np.zeros(len(self.places))
        np.maximum.at(largest, self.place, self.problem.bdp_packets[self.used])
        return 1.0 / largest

    def meet(self, shares: Floats) -> NDArray[np.bool_]:
        """Whether the links of each place are shown to meet the goals: none, if nothing settles."""
        try:
            self.last = self._solve(shares)
        except solver.NoSteadyState:
            self.unsolved += 1
            return np.zeros(len(self.places), bool)
        missed = self.bursts.loss(self.last) > self.loss
        missed |= self.filled & (_used_share(self.last) < (self.utilization or 0.0))
        return np.asarray(np.bincount(self.place, missed, len(self.places)) == 0.0)

    def _check_largest(self) -> None:
        """Refuse goals that the largest buffers do not meet."""
        losses = self.bursts.loss(self.last)
        worst = int(np.argmax(losses))
        lost = float(losses[worst])
        if lost > self.loss:
            at = self.last.balance.used[worst]
            name = self.problem.graph.link_names[at]
            offered = float(self.problem.offered_bps[at] / self.last.balance.rate_bps[worst])
            raise NoBufferMeets(
                "goals.overload" if offered >= 1.0 else "goals.loss", field="goals.loss_rate",
                link=name, offered=offered, percent=100 * lost, bdp=_LARGEST,
            )  # fmt: skip
        if not self.filled.any():
            fullest = float(_used_share(self.last).max(initial=0.0))
            raise NoBufferMeets("goals.unused", field="goals.utilization", percent=100 * fullest)

    def _solve(self, shares: Floats) -> solver.Solution:
        self.solved += 1
        return solver.solve_with(self.problem, self.topology, self.used, self._packets(shares))

    def _packets(self, shares: Floats) -> Floats:
        """Return the packets of every used link."""
        of_bdp = shares[self.place] * self.problem.bdp_packets[self.used]
        return np.maximum(1.0, np.ceil(of_bdp - 1e-9))

    def smallest(self, shares: Floats) -> dict[str, Any]:
        """Return the result of a search that ended with these shares and the state ``last``.

        ``classes`` are those of links that some path uses, ``bytes`` the sum of all buffers,
        ``links`` and ``filled`` the number of entries of links that some path uses, and of those
        that reach the utilization goal with the largest buffers; the goal applies to these (None
        without it). ``solved`` and ``unsolved`` are the number of sets that were tried, and of
        those, most of them smaller, whose steady state was not found: with some the goals may be
        met by less.
        """
        graph, sizes = self.problem.graph, {}
        of_class, every = graph.link_class[self.used], self._packets(shares)
        for kind in np.unique(of_class):
            mine = of_class == kind
            packets, count = every[mine], graph.count[self.used[mine]]
            sizes[graph.classes[kind]] = {
                "name": graph.classes[kind],
                "links": int(count.sum()),
                "packets_min": int(packets.min()),
                "packets_max": int(packets.max()),
                "bytes": int(packets @ count) * self.problem.packet_bytes,
                "of_bdp": float(shares[self.place[mine]].max()),
            }
        return {
            "bytes": sum(size["bytes"] for size in sizes.values()),
            "solved": self.solved,
            "links": len(self.used),
            "filled": None if self.utilization is None else int(self.filled.sum()),
            "unsolved": self.unsolved,
            "classes": sizes,
        }


def _targets(scenario: Scenario) -> tuple[float, float | None]:
    """Return the targets of loss rate (1 without a goal) and of utilization."""
    goals = scenario.goals
    stated = [name for name in type(goals).model_fields if getattr(goals, name) is not None]
    for name in stated:
        if name not in _GOALS or getattr(getattr(goals, name), "probability", None) is not None:
            raise ScenarioError("goals.plain", field=f"goals.{name}", known=" and ".join(_GOALS))
    if not stated:
        raise ScenarioError("goals.none", field="goals")
    loss, used = goals.loss_rate, goals.utilization
    return 1.0 if loss is None else float(loss), None if used is None else float(used)


def _used_share(solution: solver.Solution) -> Floats:
    return np.minimum(solution.flow.carried_bps / solution.balance.rate_bps, 1.0)
