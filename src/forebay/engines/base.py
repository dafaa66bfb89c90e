"""What an engine is, what else it may be able to do, and how one engine wraps another.

Engine              one method, `run`; `capabilities` declares the rest
├── ReplicatingEngine   its Outcome is made of one replication for each seed
├── LinksEngine         answers for a network whose sized links have the buffer ``queue.size``
├── Decorator           forwards everything to another engine; subclasses change one thing
└── OtherEngine         calls an engine of another distribution, which need not subclass ours
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import plugins
from forebay.effort import DEFAULT, Effort
from forebay.engines import GROUP
from forebay.outcome import Metric, Outcome, Quantiles, violations
from forebay.outcome.reading import Reading
from forebay.scenario import Scenario
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay.outcome.trace import Trace
    from forebay.topology import SizedLinks


def exact(value: float) -> Metric:
    """Return a metric of an engine that replicates nothing: n = 0, no interval."""
    return Metric(value=float(value), low=None, high=None, n=0)


def mean_alone(value: float) -> Quantiles:
    """Return a quantity of which such an engine has only the mean."""
    return Quantiles(mean=exact(value), p50=None, p95=None, p99=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an engine can do besides `run`; None means that it cannot.

    Attributes
    ----------
    limit_memory : sets the memory limit of a run, in bytes.
    buffers : the least and the largest buffer that it answers of a link, packets; it may raise.
    check : refuses a scenario that it cannot run, without running it; returns the bytes of one
        replication, 0 if they are not known.
    capture_to : writes the packets of the next run to this pcapng file.
    packets_to : writes what becomes of each packet of the next run to this .csv or .parquet file.
    record_flows : keeps a record of every flow of the next runs, for `Outcome.flows`.
    count_by : also counts packets by ``"snmp"``, ``"netflow"`` or both; the provenance has them.
    trace : traces one replication over time, with a sample at every ``step``; takes a scenario,
        and by name ``step``, ``flows``, ``seed`` and ``progress``.
    size_links : makes an engine that varies the buffer of one link of a network, or of one link
        class; takes a scenario, and by name ``link`` and ``link_class``, one of them None.
    route : routes a scenario's network, which the next run of it need not do again; takes by name
        ``progress``, and ``afford``, which is called before routes are searched for, with the
        number of links and the seconds that the search takes. It may raise.
    """

    limit_memory: Callable[[int], None] | None = None
    buffers: Callable[[Scenario], tuple[int, int]] | None = None
    check: Callable[[Scenario], float] | None = None
    capture_to: Callable[[Path], None] | None = None
    packets_to: Callable[[Path], None] | None = None
    record_flows: Callable[[], None] | None = None
    count_by: Callable[[Sequence[str]], None] | None = None
    trace: Callable[..., Trace] | None = None
    size_links: Callable[..., LinksEngine] | None = None
    route: Callable[..., NetworkTraffic] | None = None


def _methods(of: object, names: Iterable[str]) -> Capabilities:
    return Capabilities(**{name: getattr(of, name, None) for name in names})


class Engine(ABC):
    """Answers a scenario."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name on the command line, and in every Outcome."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do besides `run`: its methods with the name of a capability."""
        return _methods(self, [field.name for field in fields(Capabilities)])

    @abstractmethod
    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Answer `scenario`; intervals are over the replications, one for each seed.

        Of the effort it takes ``jobs``, on which the answer does not depend, and ``progress``:
        KeyboardInterrupt raised there stops the run.
        """


@dataclass(frozen=True, slots=True)
class Replication:
    """One replication: its raw readings, and what the provenance says of it (JSON types)."""

    reading: Reading
    facts: dict[str, Any]


class ReplicatingEngine(Engine):
    """An engine whose Outcome is made of one replication for each seed, in any order.

    So replications that were made before, even by another process, need not be made again.
    """

    @abstractmethod
    def replications(
        self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT
    ) -> dict[int, Replication]:
        """Return one replication for each seed."""

    @abstractmethod
    def outcome(
        self, scenario: Scenario, replications: Sequence[Replication], wall_s: float
    ) -> Outcome:
        """Make the Outcome of replications of `scenario`, which took so many seconds."""

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Make the replications, and the Outcome of them."""
        started = time.perf_counter()
        by_seed = self.replications(scenario, seeds, effort)
        effort.tell(1.0)
        wall_s = time.perf_counter() - started
        return self.outcome(scenario, [by_seed[seed] for seed in seeds], wall_s)


@dataclass(frozen=True, slots=True)
class NetworkTraffic:
    """What a simulation of a network has to move.

    Attributes
    ----------
    packets_per_second : from sender to receiver, in a simulated second.
    hops : mean number of links that one of them crosses.
    paths : number of paths of equal connections.
    links : number of links.
    """

    packets_per_second: float
    hops: float
    paths: int
    links: int


class LinksEngine(Engine):
    """An engine that answers for a network with the buffer of some links set to ``queue.size``.

    Attributes
    ----------
    scenario : the network; `run` takes ``links.question`` with the buffer to try.
    links : the links that are sized. Link ``bottleneck`` of the Outcome is the worst of them.
    """

    scenario: Scenario
    links: SizedLinks

    @property
    def traffic(self) -> NetworkTraffic | None:
        """What a run has to simulate; None if its time does not depend on packets."""
        return None


class Decorator(Engine):
    """Forwards everything to another engine. A subclass overrides what it changes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def name(self) -> str:
        """Name of the wrapped engine."""
        return self.engine.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the wrapped engine."""
        return self.engine.capabilities

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run the wrapped engine."""
        return self.engine.run(scenario, seeds, effort)


_PATIENCE_S = 600.0
"""Seconds without an answer, or a call of progress, after which an engine is said to hang."""


class OtherEngine(Engine):
    """Calls an object with ``name`` and ``run``; what else it can do are methods of these names:

    ``limit_memory``, ``capture_to``, ``count_by``, ``trace`` and ``size_links``.
    """

    def __init__(self, name: str, made: Any) -> None:
        self._name, self._made = name, made

    @property
    def name(self) -> str:
        """Name of its entry point."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """The methods that it has."""
        engine = self._made
        if isinstance(engine, Engine):
            return engine.capabilities
        return _methods(engine, ("limit_memory", "capture_to", "count_by", "trace", "size_links"))

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run it, and check what it returns.

        Raises BrokenPlugin: it raises, or returns no Outcome or an impossible one.
        """
        patience_s = getattr(self._made, "patience_s", _PATIENCE_S)
        asked = plugins.Asked(patience_s, effort.progress)
        with plugins.blamed(GROUP, self._name):
            outcome = asked.of(lambda told: self._made.run(scenario, seeds, effort.telling(told)))
        if outcome is plugins.NOTHING:
            why = Fact("broken-plugin.hangs", patience_s=patience_s)
            raise plugins.refuse(GROUP, self._name, why)
        if not isinstance(outcome, Outcome):
            why = Fact("broken-plugin.no-outcome", what=type(outcome).__name__)
            raise plugins.refuse(GROUP, self._name, why)
        try:
            faults = violations(outcome)
        except Exception as error:
            what = type(error).__name__
            why = Fact("broken-plugin.unchecked-outcome", what=what, error=str(error))
            raise plugins.refuse(GROUP, self._name, why) from error
        if faults:
            why = Fact("broken-plugin.impossible-outcome", fault=faults[0])
            raise plugins.refuse(GROUP, self._name, why)
        return outcome
