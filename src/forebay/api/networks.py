"""Whole networks: the steady state of every link and traffic class, from a topology's file.

>>> from forebay import networks
>>> answer = networks.solve(networks.load("abilene.graphml", connections=1000))
>>> answer.outcome.network.by_hops
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

from forebay.api.steady_state import Answer, smallest_buffers, solve, write_rows
from forebay.engines.fixed_point.solver import NoSteadyState
from forebay.engines.fixed_point.transient_run import step_through
from forebay.outcome.transient import Transient as Transient
from forebay.progress import Progress
from forebay.scenario import Rate, Scenario, ScenarioError, Topology, expect_scenario
from forebay.scenario import load as load_scenario
from forebay.scenario.base import listed
from forebay.scenario.io import of_tree
from forebay.scenario.overrides import SOURCE
from forebay.topology.building import connected, offered_bps, wire_names, wired
from forebay.words import argument

_FILES = (".graphml", ".xml", ".gml", ".graph")
_OTHERS = (
    (re.compile(rb"\?SNDlib native format"), "format.sndlib", ""),
    (re.compile(rb"[{]|\[\s*[{]"), "format.not-read", "JSON"),
    (re.compile(rb"(?i)(strict\s+)?(di)?graph\b[^\[\n=]*[{]"), "format.not-read", "Graphviz DOT"),
    (re.compile(rb"<"), "format.xml", ""),
    (re.compile(rb"(?s)(#[^\n]*\s+)*graph\s*\["), "format.gml", ""),
    (re.compile(rb"Topology:\s*\(\s*\d+ Nodes"), "format.not-read", "in BRITE's format"),
    (re.compile(rb"(?i)\*(vertices|network)\b"), "format.not-read", "in Pajek's format"),
    (re.compile(rb"(?i)\"?(source|from|src)\"?\s*[,;\t]"), "format.not-read", "a table of links"),
    (re.compile(rb"(?i)(name:\s*\S+\s+)?topology:\s*[\n#]"), "format.not-read", "YAML"),
    (re.compile(rb"-?\d+\s+@\S+,"), "format.not-read", "in Rocketfuel's format"),
    (re.compile(rb"NODES\s+\d+\s"), "format.repetita", ""),
)
"""How files begin that are no scenario, and what is said of them."""
_CARRIED = {"name": "demand", "kind": "short", "length": "100 kB", "load": 1.0}
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
    name, overrides = os.fspath(path), listed(SOURCE, overrides)
    if not name.lower().endswith(_FILES):
        _refuse_other_formats(name)
        scenario = load_scenario(name, overrides)
        for option, value in (("connections", connections), ("rate", rate)):
            if value is not None:
                raise ScenarioError("no-effect.beside-scenario", name=argument(option))
        return scenario
    greedy: dict[str, Any] = {"flows": connections or _CONNECTIONS}
    unless = Rate.parse_argument(argument("rate"), rate or _RATE)

    def read(traffic: list[dict[str, Any]], overrides: Sequence[str]) -> Scenario:
        link, topology = {"rate": unless}, {"file": name}
        tree = {"link": link, "topology": topology, "traffic": traffic}
        return of_tree(tree, name, overrides)

    # These overrides decide what the file says of capacities and demands.
    of_network = [each for each in overrides if each.lstrip().startswith(("topology.", "link."))]
    topology = topology_of(read([greedy], of_network))
    wiring = connected(topology)
    by_set = any(override.partition("=")[0].strip() == "link.rate" for override in overrides)
    asked = "link.rate" if by_set else rate and argument("rate")
    if asked and all(capacity is not None for capacity in wiring.rate_bps):
        raise ScenarioError("no-effect.of-capacities", name=asked)
    if offered_bps(topology, wiring) is not None:
        return read([_CARRIED, *([greedy] if connections else [])], overrides)
    return read([greedy], overrides)


def _refuse_other_formats(name: str) -> None:
    """Refuse a network's file of a format that is not read, or of a name that does not tell it."""
    try:
        with open(name, "rb") as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return  # a shipped scenario's name; else the reader of scenarios says what is wrong
    for begins, kind, of in _OTHERS:
        if begins.match(head):
            raise ScenarioError(kind, field=name, of=of)


__all__ = [
    "Answer", "compare_designs", "load", "single_failures", "smallest_buffers",
    "solve", "transient", "write_series",
]  # fmt: skip


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
    for network in (scenario, start):
        if network is not None:
            expect_scenario(network)
    return step_through(
        scenario, duration, start=start, step=step, samples=samples,
        progress=progress, expect=expect,
    )  # fmt: skip


def write_series(course: Transient, path: str | os.PathLike[str]) -> None:
    """Write a row for each instant of `transient`, CSV or Parquet."""
    columns = course.columns()
    write_rows(path, list(columns), list(zip(*columns.values(), strict=True)))


_LEAST_LOSS = 1e-12
_MORE = 1.05
"""Offered load over that without a failure from which on a failure counts where it is above 1."""


class Failure(NamedTuple):
    """A network with one link down: its worst link, and who loses most.

    ``link`` is down in both directions; "" if none is. ``worst`` is the link that is offered most
    if that is more than it carries, else the one that loses most, or is offered or used most. A
    link that is offered more than it carries without any failure counts only where it gets worse.
    ``sufferers`` are the ends of the path that loses most, "" where none loses; ``error`` is one
    line where the network has no answer.
    """

    link: str
    worst: str = ""
    offered_load: float | None = None
    utilization: float = 0.0
    loss_rate: float = 0.0
    sufferers: str = ""
    error: str | None = None

    @property
    def severity(self) -> tuple[bool, float, float, float]:
        """What sorts networks that fall apart first, then by loss, offered load and utilization."""
        offered = self.offered_load or 0.0
        return self.error is None, -self.loss_rate, -offered, -self.utilization

    @property
    def is_overloaded(self) -> bool:
        """Whether a link is offered more than it carries, or the network is in parts."""
        return self.error is not None or (self.offered_load or 0.0) > 1


_Loads = dict[str, tuple[float, float, float, float]]
"""By link: offered load above 1, loss, offered load and utilization; of no failure."""


class _Job:
    """So many networks to solve: it tells how far it is, and once how long all take.

    That is predicted for a large network, else measured of the first one.
    """

    def __init__(
        self, steps: int, progress: Progress | None, expect: Callable[[float], None] | None
    ) -> None:
        self._steps, self._done, self._progress = steps, 0, progress
        self._expect, self._begun = expect, monotonic()

    def solved(
        self, scenario: Scenario, names: Mapping[str, str], before: _Loads | None = None
    ) -> dict[str, Failure]:
        """Solve a network as it is, "", and with each of the links down alone, by their keys.

        With ``before`` failures are told by what changes. Raises ScenarioError for the network as
        it is.
        """
        failures = {}
        for key, name in {"": "", **names}.items():
            failures[key] = self._with_link_down(scenario, name, {} if before is None else before)
            self._done += 1
            if self._progress is not None:
                self._progress(self._done / self._steps)
        return failures

    def _foresee(self, seconds: float) -> None:
        """Tell the seconds of all from those of one, unless they were told."""
        if self._expect is not None:
            self._expect(self._steps * seconds)
        self._expect = None

    def _with_link_down(self, scenario: Scenario, name: str, before: _Loads) -> Failure:
        """Solve a network without one link; with all of them for "", which fills ``before``."""
        down = (*topology_of(scenario).failed, *([name] if name else []))
        try:
            failed = scenario.replace({"topology.failed": list(down)})
            answer = solve(failed, expect=None if name else self._foresee)
        except (ScenarioError, NoSteadyState) as error:
            if not name and isinstance(error, ScenarioError):
                raise
            return Failure(name, error=str(error.but(hint="")))
        if not name:
            self._foresee(monotonic() - self._begun)
        links = answer.outcome.links
        values = {
            wire: (
                max(link.offered_load or 0.0, 1.0),
                0.0 if link.loss_rate is None or link.loss_rate.value < _LEAST_LOSS
                else link.loss_rate.value,
                link.offered_load or 0.0,
                link.utilization.value if link.utilization else 0.0,
            )
            for wire, link in links.items()
        }  # fmt: skip
        told = [
            wire
            for wire, now in values.items()
            if before.get(wire, (1.0,))[0] <= 1.0 or not 1.0 < now[0] <= _MORE * before[wire][0]
        ]
        if not name:
            before.update(values)
        worst = max(told or values, key=lambda wire: values[wire])
        _, lost, _, used = values[worst]
        ends = answer.most_lossy_path() if lost else ""
        return Failure(name, worst, links[worst].offered_load, used, lost, ends)


def single_failures(
    scenario: Scenario,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Failure]:
    """Solve a network as it is, then with each link between routers down, one at a time.

    The network as it is comes first, then the worst failure.

    Parameters
    ----------
    expect : called once with the predicted seconds of all, at the latest after the first failure.

    Raises
    ------
    ScenarioError
        There is no network, or it is invalid as it is.
    """
    names = wire_names(wired(topology_of(scenario)))
    job = _Job(1 + len(names), progress, expect)
    as_it_is, *failures = job.solved(scenario, dict(zip(names, names, strict=True)), {}).values()
    return [as_it_is, *sorted(failures, key=lambda failure: failure.severity)]


def topology_of(scenario: Scenario) -> Topology:
    """Return the topology. Raises ScenarioError if there is none."""
    expect_scenario(scenario)
    if scenario.topology is None:
        raise ScenarioError("missing.topology", field="topology")
    return scenario.topology


_NUMBERED = re.compile(r"(.*?)(#\d+)?", re.DOTALL)


class State(NamedTuple):
    """The link that is down, "" for none, and both designs without it; None if one has no such."""

    link: str
    sides: tuple[Failure | None, Failure | None]

    @property
    def severity(self) -> tuple[bool, float, float, float]:
        """That of the worse one."""
        return min(side.severity for side in self.sides if side is not None)


class Contrast(NamedTuple):
    """Both designs at one demand.

    Attributes
    ----------
    growth : factor on the demand of both.
    demand_bps : demand of each design, bit/s; None where only greedy connections come.
    rows : with all links, then each failure, the worst first.
    """

    growth: float
    demand_bps: tuple[float | None, float | None]
    rows: tuple[State, ...]

    def overloaded(self, which: int) -> int:
        """In how many single failures of a design (0 or 1) a link is overloaded."""
        sides = (row.sides[which] for row in self.rows[1:])
        return sum(side is not None and side.is_overloaded for side in sides)


def compare_designs(
    first: Scenario,
    second: Scenario,
    *,
    growth: float | None = None,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
) -> list[Contrast]:
    """Solve both networks as they are and with each link of either down alone.

    A link is the same in both if it joins routers of the same names.

    Parameters
    ----------
    growth : factor on the demand, such as 1.5: everything is solved again with it.
    expect : called once with the predicted seconds of all, at the latest after the first network.

    Raises
    ------
    ScenarioError
        A network is invalid as it is; a growth without offered load.
    """
    both = [topology_of(scenario) for scenario in (first, second)]
    names = [{_either_way(name): name for name in wire_names(wired(topology))} for topology in both]
    factors = [1.0] if growth is None else [1.0, growth]
    job = _Job(len(factors) * sum(1 + len(known) for known in names), progress, expect)
    contrasts = []
    for factor in factors:
        grown = [
            scenario if factor == 1.0
            else scenario.replace({"topology.demand_growth": factor * topology.demand_growth})
            for scenario, topology in zip((first, second), both, strict=True)
        ]  # fmt: skip
        demands = _demand(grown[0]), _demand(grown[1])
        states = [job.solved(scenario, known) for scenario, known in zip(grown, names, strict=True)]
        contrasts.append(Contrast(factor, demands, _rows(*states)))
    return contrasts


def _demand(scenario: Scenario) -> float | None:
    topology = topology_of(scenario)
    return offered_bps(topology, connected(topology))


def _either_way(name: str) -> str:
    """Return a link's name in either direction; the number of a parallel one stays last."""
    ends, number = _NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr]
    return "->".join(sorted(ends.split("->"))) + (number or "")


def _rows(first: dict[str, Failure], second: dict[str, Failure]) -> tuple[State, ...]:
    """Return the state with all links, then each failure, the worst of both designs first."""
    rows = {
        name: State((first.get(name) or second[name]).link, (first.get(name), second.get(name)))
        for name in sorted(first | second)
    }
    as_they_are = rows.pop("")
    return as_they_are, *sorted(rows.values(), key=lambda row: row.severity)
