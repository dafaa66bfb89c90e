"""The steady state of a network: its solution, its tables, and its picture."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import rustworkx

from forebay.engines.fixed_point import ClassBuffers, NetworkEngine
from forebay.engines.fixed_point.solver import fixed_points, sensitivity
from forebay.engines.fixed_point.summary import seen, to_outcome
from forebay.files.atomic import replacing
from forebay.files.columns import write_table
from forebay.outcome import Outcome
from forebay.packages import check_file
from forebay.progress import Progress
from forebay.scenario import DataSize, Scenario, expect_scenario
from forebay.scenario.base import whole_number
from forebay.search.network_links import smallest_set
from forebay.search.remarks import assumed
from forebay.words import argument

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.topology import Graph


_LINK_COLUMNS = ("link", "class", "count", "rate_bps", "delay_s", "buffer_packets", "flows",
                 "offered_load", "utilization", "loss_rate", "queue_packets",
                 "queue_delay_s")  # fmt: skip
_PATH_COLUMNS = ("source", "target", "hops", "connections", "throughput_bps", "rtt_s",
                 "propagation_s", "loss_rate", "bottleneck")  # fmt: skip


def solve(
    scenario: Scenario,
    progress: Progress | None = None,
    *,
    multistart: int = 0,
    memory_limit: str | None = None,
    expect: Callable[[float], None] | None = None,
) -> Answer:
    """Find the steady state of a scenario's network.

    Parameters
    ----------
    memory_limit : with its unit, "8 GB"; not set: 2 GB, or half of the machine's.
    expect : called once with the predicted seconds, before the routes of many pairs.
    multistart
        Number of random states from which the problem is solved again. Then
        ``outcome.provenance.fixed_points`` has the number of steady states and their differences.

    Raises
    ------
    NoSteadyState, Unsupported, ScenarioError
        See `forebay.engines.fixed_point` and `forebay.engines`.
    TooMuchMemory
        The paths would take more than the limit.
    """
    expect_scenario(scenario)
    starts = whole_number("multistart", multistart, 0, 1000)
    engine = NetworkEngine()
    if memory_limit is not None:
        engine.limit_memory(int(DataSize.parse_argument(argument("memory_limit"), memory_limit)))
    solution, loading = engine.solution(scenario, progress, expect)
    outcome = to_outcome(scenario, [1], solution, loading)
    points = {"fixed_points": asdict(fixed_points(solution, starts))} if starts else {}
    return Answer(outcome.noting(points, {"assumptions": assumed(scenario)}), solution)


def smallest_buffers(scenario: Scenario, progress: Progress | None = None) -> Answer:
    """Find the smallest buffers that meet the goals: of each class of links, of a file each link.

    The goal ``loss_rate`` is met at every link, and ``utilization`` at every link that reaches it
    with four bandwidth-delay products. There may be other such sets.
    ``outcome.provenance.smallest_buffers`` has the sizes, the number of used ``links``, and the
    number of those to which utilization applies (``filled``; None without that goal).

    Raises
    ------
    NoSteadyState, Unsupported, ScenarioError
        See `forebay.engines.fixed_point.ClassBuffers`.
    """
    expect_scenario(scenario)
    classes = ClassBuffers(scenario)
    buffers = classes.smallest(smallest_set(classes, progress))
    outcome = to_outcome(scenario, [1], classes.last, 0.0, bursts=classes.bursts)
    assumptions = {"assumptions": assumed(scenario)}
    return Answer(outcome.noting({"smallest_buffers": buffers}, assumptions), classes.last)


def write_rows(
    path: str | os.PathLike[str], columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write a table, CSV or Parquet by its name."""
    check_file(path)
    write_table(path, columns, rows)


@dataclass(frozen=True, eq=False)
class Answer:
    """A steady state: its Outcome, and tables that are too large for it."""

    outcome: Outcome
    solution: Solution

    def write_links(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each link, CSV or Parquet; ``count`` equal links of hosts share one."""
        write_rows(path, _LINK_COLUMNS, self._links())

    def write_paths(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each path: a connection's values, and the link with the most loss."""
        write_rows(path, _PATH_COLUMNS, self._paths())

    def write_sensitivities(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each link: by how many per cent throughputs grow with 1 % more buffer.

        Raises
        ------
        ScenarioError
            The network has too many links for this.
        """
        growth = sensitivity(self.solution)
        groups = (f"hops_{hops}" for hops in growth.hops.tolist())
        columns = ("link", "class", "buffer_packets", "all", *groups)
        rows = [
            (row[0], row[1], row[5], total, *by_hops)
            for row, total, by_hops in zip(
                self._links(), growth.total.tolist(), growth.throughput.T.tolist(), strict=True
            )
        ]
        write_rows(path, columns, rows)

    def to_graphml(self, path: str | os.PathLike[str]) -> None:
        """Write the routers, the links between them and their metrics, as GraphML."""
        balance = self.solution.balance
        metrics = dict(zip(balance.used.tolist(), self._links(), strict=True))
        network, graph = balance.problem.graph, rustworkx.PyDiGraph()
        hosts = network.hosts.tolist()
        for name, count, (x, y) in zip(network.names, hosts, network.place.tolist(), strict=True):
            known = {"Longitude": x, "Latitude": y} if x == x else {}
            graph.add_node({"label": name, "hosts": count} | known)
        for link in range(network.links):
            if network.kind[link] == 0:  # unused links too, without metrics
                data: dict[str, Any] = {
                    "link_class": network.classes[network.link_class[link]],
                    "LinkSpeedRaw": float(network.rate_bps[link]),
                    "delay_s": float(network.delay_s[link]),
                }
                row = zip(_LINK_COLUMNS, metrics.get(link, ()), strict=False)
                data |= {name: cell for name, cell in row if name != "class" and cell is not None}
                graph.add_edge(int(network.source[link]), int(network.target[link]), data)
        with tempfile.TemporaryDirectory() as folder:
            draft = os.path.join(folder, "network.graphml")
            rustworkx.digraph_write_graphml(graph, draft)
            with open(draft, "rb") as file, replacing(path) as out:
                out.write(file.read())

    @cached_property
    def drawing(self) -> dict[str, Any]:
        """Return router positions, and ends, class, utilization and loss of their links."""
        problem = self.solution.balance.problem
        network, used = problem.graph, self.solution.balance.used
        between = network.kind[used] == 0
        rows = [row for row, is_it in zip(self._links(), between, strict=True) if is_it]
        return {
            "names": network.names,
            "place": places(network),
            "source": network.source[used][between],
            "target": network.target[used][between],
            "utilization": [row[8] for row in rows],
            "loss": [row[9] for row in rows],
        }

    def most_lossy_path(self) -> str:
        """Return the ends of the path that loses most, "source->target".

        By what its links lose, bursts of short flows too: a path's own ``loss_rate`` is that of the
        steady state, in which they lose nothing.
        """
        rates = [link.loss_rate for link in self.outcome.links.values()]
        kept = [1.0 if rate is None else 1.0 - rate.value for rate in rates]
        paths, problem = self.solution.balance.paths, self.solution.balance.problem
        through = np.append(kept, 1.0)[paths].prod(axis=0)
        most = int(np.argmin(through))
        ends = problem.source[most], problem.target[most]
        return "->".join(problem.graph.names[end] for end in ends)

    def _links(self) -> list[tuple[Any, ...]]:
        network = self.solution.balance.problem.graph
        rows = []
        for link, (name, outcome) in zip(
            self.solution.balance.used.tolist(), self.outcome.links.items(), strict=True
        ):
            queue = None if outcome.queue_packets is None else outcome.queue_packets.mean
            delay = None if outcome.queue_delay_s is None else outcome.queue_delay_s.mean
            values = (outcome.utilization, outcome.loss_rate, queue, delay)
            rows.append((
                name, outcome.link_class, int(network.count[link]), float(network.rate_bps[link]),
                float(network.delay_s[link]), outcome.buffer_packets, outcome.flows,
                outcome.offered_load, *(None if value is None else value.value for value in values),
            ))  # fmt: skip
        return rows

    def _paths(self) -> list[tuple[Any, ...]]:
        solution, problem = self.solution, self.solution.balance.problem
        names, used = problem.graph.names, solution.balance.used
        lasting = problem.long_flows
        hazard = np.append(solution.flow.log_hazard, -np.inf)
        worst = np.argmax(hazard[solution.balance.paths], axis=0)
        links = solution.balance.paths[worst, np.arange(len(worst))]
        columns = (
            problem.source, problem.target, problem.hops, problem.share * lasting,
            solution.flow.sent_bps / max(lasting, 1e-300), solution.flow.rtt_s, problem.rtt_s,
            seen(np.exp(solution.flow.log_loss)), links,
        )  # fmt: skip
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            (names[a], names[b], hops, count, throughput if count else None, *rest,
             problem.graph.link_names[used[link]])
            for a, b, hops, count, throughput, *rest, link in rows
        ]  # fmt: skip


def places(network: Graph) -> Any:
    """Return known positions, or else those of a spring layout."""
    place = network.place
    if np.isfinite(place).all():
        return place
    graph: Any = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(network.names)))
    between = network.kind == 0
    ends = zip(network.source[between].tolist(), network.target[between].tolist(), strict=True)
    graph.add_edges_from_no_data(list(ends))
    laid = rustworkx.spring_layout(graph, seed=1)
    return np.array([laid[index] for index in range(len(network.names))])
