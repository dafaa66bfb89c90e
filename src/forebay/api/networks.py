"""Whole networks: the steady state of every link and traffic class, from a topology's file.

>>> from forebay import networks
>>> answer = networks.solve(networks.load("abilene.graphml", connections=1000))
>>> answer.outcome.network.by_hops
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.engines.fixed_point import NetworkEngine
from forebay.engines.fixed_point.sensitivity import sensitivity
from forebay.engines.fixed_point.smallest import ClassBuffers
from forebay.engines.fixed_point.solver import fixed_points
from forebay.engines.fixed_point.summary import seen, to_outcome
from forebay.engines.fixed_point.transient_run import step_through
from forebay.errors import argument
from forebay.files.atomic import replacing
from forebay.files.tables import write_table
from forebay.packages import check_file
from forebay.scenario import DataSize, ScenarioError, expect_scenario, loads
from forebay.scenario import load as load_scenario
from forebay.scenario.io import quoted
from forebay.search.network_links import smallest_set
from forebay.search.remarks import assumed
from forebay.topology.building import connected, offered_bps

if TYPE_CHECKING:
    from forebay.api.designs import Contrast, Failure
    from forebay.api.designs import State as State
    from forebay.engines.fixed_point.solver import Solution
    from forebay.outcome import Outcome
    from forebay.outcome.transient import Transient as Transient
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.topology import Graph


def write_graphml(
    path: str | os.PathLike[str], network: Graph, metrics: Mapping[int, Mapping[str, Any]]
) -> None:
    """Write routers, and the links between them with ``metrics`` by the number of the link."""
    import rustworkx

    graph: Any = rustworkx.PyDiGraph()
    places = zip(network.names, network.hosts.tolist(), network.place.tolist(), strict=True)
    for name, hosts, (x, y) in places:
        data = {"label": name, "hosts": hosts}
        graph.add_node(data | ({"Longitude": x, "Latitude": y} if x == x else {}))
    for link in range(network.links):
        if network.kind[link] == 0:  # unused links too, without metrics
            data = {
                "link_class": network.classes[network.link_class[link]],
                "LinkSpeedRaw": float(network.rate_bps[link]),
                "delay_s": float(network.delay_s[link]),
            }
            data |= {name: each for name, each in metrics.get(link, {}).items() if name != "class"}
            graph.add_edge(int(network.source[link]), int(network.target[link]), data)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "network.graphml")
        rustworkx.digraph_write_graphml(graph, made)
        with open(made, "rb") as file, replacing(path) as out:
            out.write(file.read())


def places(network: Graph) -> Any:
    """Return known positions, or else those of a spring layout."""
    place = network.place
    if np.isfinite(place).all():
        return place
    import rustworkx

    graph: Any = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(network.names)))
    between = network.kind == 0
    ends = zip(network.source[between].tolist(), network.target[between].tolist(), strict=True)
    graph.add_edges_from_no_data(list(ends))
    laid = rustworkx.spring_layout(graph, seed=1)
    return np.array([laid[index] for index in range(len(network.names))])


_FILES = (".graphml", ".xml", ".gml", ".graph")
_CONVERT = "convert it to GraphML, as networkx.write_graphml does"
_RENAME = "give it a name that ends in "
_OTHERS = (
    (re.compile(rb"\?SNDlib native format"), "in SNDlib's native format",
     "write the path of the same network's SNDlib XML file"),
    (re.compile(rb"[{]|\[\s*[{]"), "JSON, and no network's file that is read", _CONVERT),
    (re.compile(rb"(?i)(strict\s+)?(di)?graph\b[^\[\n=]*[{]"), "Graphviz DOT", _CONVERT),
    (re.compile(rb"<"), "XML, and its name does not say so", f"{_RENAME}.graphml or .xml"),
    (re.compile(rb"(?s)(#[^\n]*\s+)*graph\s*\["), "GML, and its name does not say so",
     f"{_RENAME}.gml"),
    (re.compile(rb"Topology:\s*\(\s*\d+ Nodes"), "in BRITE's format, which is not read", _CONVERT),
    (re.compile(rb"(?i)\*(vertices|network)\b"), "in Pajek's format, which is not read", _CONVERT),
    (re.compile(rb"(?i)\"?(source|from|src)\"?\s*[,;\t]"), "a table of links, which is not read",
     _CONVERT),
    (re.compile(rb"(?i)(name:\s*\S+\s+)?topology:\s*[\n#]"), "YAML, which is not read", _CONVERT),
    (re.compile(rb"-?\d+\s+@\S+,"), "in Rocketfuel's format, which is not read", _CONVERT),
    (re.compile(rb"NODES\s+\d+\s"), "REPETITA, and its name does not say so", f"{_RENAME}.graph"),
)  # fmt: skip
"""How files begin that are no scenario, what they are, and what to write instead."""
_CARRIED = '[[traffic]]\nname = "demand"\nkind = "short"\nlength = "100 kB"\nload = 1.0\n'
"""A class that carries the whole demand; engines of networks take no note of its length."""
_RATE, _CONNECTIONS = "10 Gbit/s", 1000


def load(
    path: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    *,
    connections: int | None = None,
    rate: str | None = None,
) -> Scenario:
    """Read a scenario with a [topology], or a plain GraphML, GML, SNDlib or REPETITA file.

    The demand of a plain file that gives one is offered load. Without one, connections are
    distributed by gravity, with a host on each router.

    Parameters
    ----------
    connections, rate
        For a plain file: the number of greedy Reno connections, 1000 in a file without demand and
        none beside one; and the capacity of links without one, 10 Gbit/s.

    Raises
    ------
    ScenarioError
        What is wrong, where, and what to write instead; ``rate`` or ``connections`` has no effect.
    """
    name = os.fspath(path)
    if not name.lower().endswith(_FILES):
        _refuse_other_formats(name)
        for option, value in (("connections", connections), ("rate", rate)):
            if value is not None:
                raise _without_effect(
                    argument(option), "the scenario says it", "leave it out, or use set"
                )
        return load_scenario(name, overrides)
    text = f"[link]\nrate = {quoted(rate or _RATE)}\n[topology]\nfile = {quoted(name)}\n"
    greedy = f"[[traffic]]\nflows = {connections or _CONNECTIONS}\n"
    scenario = loads(text + greedy, source=name, overrides=_of_network(overrides))
    by_set = any(each.partition("=")[0].strip() == "link.rate" for each in overrides)
    asked = "link.rate" if by_set else rate and argument("rate")
    has_demand = _check_plain(scenario, asked)
    if has_demand:
        traffic = _CARRIED + (greedy if connections else "")
        return loads(text + traffic, source=name, overrides=overrides)
    return loads(text + greedy, source=name, overrides=overrides)


def _refuse_other_formats(name: str) -> None:
    """Refuse a network's file of a format that is not read, or of a name that does not tell it."""
    try:
        with open(name, "rb") as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return  # a shipped scenario's name; else the reader of scenarios says what is wrong
    for begins, called, hint in _OTHERS:
        if begins.match(head):
            raise ScenarioError("format", f"is {called}", hint, field=name)


def _of_network(overrides: Sequence[str]) -> list[str]:
    """Return the overrides that decide what the file says of demands."""
    return [each for each in overrides if each.lstrip().startswith(("topology.", "link."))]


def _check_plain(scenario: Scenario, asked: str | None) -> bool:
    """Whether a plain file's demand is offered load; refuse a rate that no link takes."""
    assert scenario.topology is not None, "load has written one"
    wiring = connected(scenario.topology)
    if asked and all(each is not None for each in wiring.rate_bps):
        raise _without_effect(asked, "every link of the file has a capacity", "leave it out")
    return offered_bps(scenario.topology, wiring) is not None


def _without_effect(name: str, why: str, hint: str) -> ScenarioError:
    return ScenarioError("no-effect", f"{name} has no effect: {why}", hint)


__all__ = [
    "Answer", "check_file", "compare_designs", "load", "single_failures", "smallest_buffers",
    "solve", "transient", "write_series",
]  # fmt: skip

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
    engine = NetworkEngine()
    if memory_limit is not None:
        engine.limit_memory(int(DataSize.parse_argument("memory_limit", memory_limit)))
    solution, loading = engine.solution(scenario, progress, expect)
    outcome = to_outcome(scenario, [1], solution, loading)
    outcome = _with_assumptions(scenario, outcome)
    if multistart:
        from dataclasses import asdict

        outcome = outcome.noting({"fixed_points": asdict(fixed_points(solution, multistart))})
    return Answer(outcome, solution)


def transient(
    scenario: Scenario,
    duration: str,
    *,
    start: Scenario | None = None,
    step: str | None = None,
    samples: int = 400,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> Transient:
    """Step a network through time by the slides' equations (Hisamatsu 2007, slides 9 and 10).

    Parameters
    ----------
    duration : a time with its unit, "2 s".
    start
        Begin at the steady state of this scenario, of which paths and links are known by their
        names; not set: windows of one packet and empty queues.
    step : the equations' time slot; not set: short enough for the fastest link.
    samples : instants that are kept, the first and the last among them; fewer with fewer steps.
    expect : called once, with the predicted seconds, before the steps.

    Raises
    ------
    KeyboardInterrupt
        Stopped; its ``result`` is the Transient up to the last instant that is kept.
    ScenarioError
        Another model than hisamatsu-2007; more steps than 20,000,000.
    NoSteadyState, Unsupported
        ``start`` has no steady state; no network.
    """
    for each in (scenario, start):
        if each is not None:
            expect_scenario(each)
    return step_through(
        scenario, duration, start=start, step=step, samples=samples,
        progress=progress, expect=expect,
    )  # fmt: skip


def smallest_buffers(scenario: Scenario, progress: Progress | None = None) -> Answer:
    """Find the smallest buffers that meet the goals: of each class of links, of a file each link.

    The goal ``loss_rate`` is met at every link, and ``utilization`` at every link that reaches it
    with four bandwidth-delay products. There may be other such sets.
    ``outcome.provenance.smallest_buffers`` has the sizes, the number of used ``links``, and the
    number of those to which utilization applies (``filled``; None without that goal).

    Raises
    ------
    NoSteadyState, Unsupported, ScenarioError
        See `forebay.engines.fixed_point.smallest`.
    """
    expect_scenario(scenario)
    classes = ClassBuffers(scenario)
    found = classes.smallest(smallest_set(classes, progress))
    outcome = _with_assumptions(
        scenario, to_outcome(scenario, [1], found.solution, 0.0, bursts=classes.bursts)
    )
    sizes = {each.name: each._asdict() for each in found.classes}
    said = {
        "bytes": found.bytes, "solved": found.solved, "links": found.links,
        "filled": found.filled, "unsolved": found.unsolved, "classes": sizes,
    }  # fmt: skip
    return Answer(outcome.noting({"smallest_buffers": said}), found.solution)


def _with_assumptions(scenario: Scenario, outcome: Outcome) -> Outcome:
    return outcome.model_copy(update={"assumptions": assumed(scenario)})


def single_failures(
    scenario: Scenario,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Failure]:
    """Solve with each link down alone; see `forebay.api.designs`."""
    from forebay.api import designs

    return designs.single_failures(scenario, progress, expect)


def compare_designs(
    first: Scenario,
    second: Scenario,
    *,
    growth: float | None = None,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Contrast]:
    """Solve two networks with each link down alone; see `forebay.api.designs`."""
    from forebay.api import designs

    return designs.compare_designs(first, second, growth=growth, progress=progress, expect=expect)


def write_series(course: Transient, path: str | os.PathLike[str]) -> None:
    """Write a row for each instant of `transient`, CSV or Parquet."""
    columns = course.columns()
    check_file(path)
    write_table(path, list(columns), list(zip(*columns.values(), strict=True)))


@dataclass(frozen=True, eq=False)
class Answer:
    """A steady state: its Outcome, and tables that are too large for it."""

    outcome: Outcome
    solution: Solution

    def write_links(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each link, CSV or Parquet; ``count`` equal links of hosts share one."""
        check_file(path)
        write_table(path, _LINK_COLUMNS, self._links())

    def write_paths(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each path: a connection's values, and the link with the most loss."""
        check_file(path)
        write_table(path, _PATH_COLUMNS, self._paths())

    def write_sensitivities(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each link: by how many per cent throughputs grow with 1 % more buffer.

        Raises
        ------
        ScenarioError
            The network has too many links for this.
        """
        found = sensitivity(self.solution)
        groups = (f"hops_{hops}" for hops in found.hops.tolist())
        columns = ("link", "class", "buffer_packets", "all", *groups)
        rows = [
            (row[0], row[1], row[5], total, *each)
            for row, total, each in zip(
                self._links(), found.total.tolist(), found.throughput.T.tolist(), strict=True
            )
        ]
        check_file(path)
        write_table(path, columns, rows)

    def to_graphml(self, path: str | os.PathLike[str]) -> None:
        """Write the routers, the links between them and their metrics, as GraphML."""

        known = (
            {name: each for name, each in zip(_LINK_COLUMNS, row, strict=True) if each is not None}
            for row in self._links()
        )
        used = self.solution.balance.used.tolist()
        write_graphml(
            path, self.solution.balance.problem.graph, dict(zip(used, known, strict=True))
        )

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
        rates = [each.loss_rate for each in self.outcome.links.values()]
        kept = [1.0 if rate is None else 1.0 - rate.value for rate in rates]
        paths, problem = self.solution.balance.paths, self.solution.balance.problem
        through = np.append(kept, 1.0)[paths].prod(axis=0)
        most = int(np.argmin(through))
        ends = problem.source[most], problem.target[most]
        return "->".join(problem.graph.names[each] for each in ends)

    def _links(self) -> list[tuple[Any, ...]]:
        network = self.solution.balance.problem.graph
        rows = []
        for link, (name, each) in zip(
            self.solution.balance.used.tolist(), self.outcome.links.items(), strict=True
        ):
            queue = None if each.queue_packets is None else each.queue_packets.mean
            delay = None if each.queue_delay_s is None else each.queue_delay_s.mean
            values = (each.utilization, each.loss_rate, queue, delay)
            rows.append((
                name, each.link_class, int(network.count[link]), float(network.rate_bps[link]),
                float(network.delay_s[link]), each.buffer_packets, each.flows,
                each.offered_load, *(None if value is None else value.value for value in values),
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
