"""The answer of an engine: one closed, versioned type for all engines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, Self, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from forebay.catalogue import check_stated
from forebay.files.columns import BLOCK_ROWS, record_batch, write_columns
from forebay.outcome.document import Closed, Document, LinkRates, SlowdownBin, Text
from forebay.outcome.document import Metric as Metric
from forebay.outcome.document import Quantiles as Quantiles
from forebay.packages import import_package, installed_version
from forebay.scenario import Scenario
from forebay.scenario.model import document_and_hash
from forebay.words import Fact

UTILIZATION_PROBABILITY = "utilization_probability"
LOSS_PROBABILITY = "loss_rate_probability"
_FLOWS_AGAIN = "forebay.api.run"  # by name, because it imports the answers
_KEPT_FLOWS = "_flows_of_run"
_SCENARIO = "_scenario_of_run"
DELAY_MAXIMUM = "queue_delay_maximum"
FCT_INCREASE = "fct_increase"
"""Only if an engine gives the increase itself; otherwise two outcomes' `fct_s` give it."""


def delay_quantile_name(probability: float) -> str:
    """Return the name of a quantile of the waiting time, queue_delay_p99.9 for 0.999."""
    return f"queue_delay_p{100 * probability:.10g}"


class LinkOutcome(Closed):
    """One link in the measured window.

    ``goal_metrics`` has further metrics of the scenario's goals, by the names above; a goal that
    the engine does not measure has no entry. ``capacity_bps`` is the rate, including what a
    shaper's bucket may add in the window. ``most_packets`` is the maximum number of waiting
    packets; it exceeds ``buffer_packets`` if a limit in bytes admits more packets that are smaller
    than the mean. Both are None in older documents. ``link_class`` ("class" in JSON) and ``flows``,
    the connections that cross it, are only for networks. ``offered_load`` is what traffic that does
    not respond would bring as a share of the rate, were nothing lost on the way; None without such.
    """

    utilization: Metric | None
    loss_rate: Metric | None
    queue_packets: Quantiles | None
    queue_delay_s: Quantiles | None
    buffer_packets: int
    bdp_packets: float
    marks: Metric | None = None
    lost: Metric | None = None
    goal_metrics: dict[str, Metric] = Field(default_factory=dict)
    capacity_bps: float | None = None
    most_packets: int | None = None
    link_class: str | None = Field(default=None, alias="class")
    flows: float | None = None
    offered_load: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, document: Any) -> Any:
        if isinstance(document, dict) and "asked" in document:
            raise ValueError(Fact("document.asked"))
        return document


class ControllerOutcome(Closed):
    """The flows of one congestion control in a class that mixes several.

    ``flows`` is their number over the whole run, including flows that ended; ``n`` of each
    metric is the number of replications.
    """

    flows: int
    goodput_bps: Metric | None
    goodput_share: Metric | None
    jain: Metric | None
    loss_rate: Metric | None


class ClassOutcome(Closed):
    """One traffic class in the measured window.

    Attributes
    ----------
    name : the scenario's `name` of the class, else its kind and place, "long-0".
    flows_active : the flows that sent in the window, the mean over the replications; those that
        start after it, or ended before it, are among ``flows`` alone.
    link : the last link that its data crosses, where its throughput is measured; "" if unknown.
    transfers : transfers that began in the window or lasted through it. This and the next four
        fields are only for classes whose transfers end (short, session).
    unfinished : share of `transfers` that had not ended at the end of the window.
    fct_s : their completion times; a part is None if it is unknown because of unfinished ones.
    fct_least_s : lower bounds of the unknown parts; None if all are known.
    fct_open : why parts are unknown, as text; None if all are known.
    requests, request_s, request_least_s : the same as ``transfers``, ``fct_s`` and ``fct_least_s``
        of whole requests, from when one is asked to the arrival of its last answer; only of the
        kind requests.
    slowdown : of transfers by size, such as "10 to 100 kB": their completion time over `IDEAL`;
        only of the kind transfers, and of others whose run kept records of flows.
    slowdown_ideal : `IDEAL`, in words; None without ``slowdown``.
    queue_delay_s : waiting time of the class's packets at the link under study; None if none
        of them crosses it, or the engine does not measure it.
    controllers : by congestion control; None for a class with one.
    settled : whether its long flows are in their steady state in the window
        (docs/reference/readings.md); None for other flows, where none of them is active, and where
        an engine does not measure it.
    unsettled : what shows that they are not, as text; None if they are.
    """

    kind: str
    flows: int
    flows_active: Metric | None = None
    throughput_bps: Metric | None
    goodput_bps: Metric | None
    jain: Metric | None
    rtt_s: Quantiles | None
    loss_rate: Metric | None
    timeouts: Metric | None
    fct_s: Quantiles | None
    retransmissions: Metric | None = None
    name: str = ""
    link: str = ""
    transfers: Metric | None = None
    unfinished: Metric | None = None
    fct_least_s: Quantiles | None = None
    fct_open: Text | None = None
    requests: Metric | None = None
    request_s: Quantiles | None = None
    request_least_s: Quantiles | None = None
    slowdown: dict[str, SlowdownBin] | None = None
    slowdown_ideal: Text | None = None
    queue_delay_s: Quantiles | None = None
    controllers: dict[str, ControllerOutcome] | None = None
    settled: bool | None = None
    unsettled: Text | None = None


def measured(part: type[Closed]) -> list[str]:
    """Return the fields of a part of an Outcome that are metrics."""
    return [
        name
        for name, field in part.model_fields.items()
        if get_origin(field.annotation) is not dict
        and not {field.annotation, *get_args(field.annotation)}.isdisjoint((Metric, Quantiles))
    ]


check_stated("link", measured(LinkOutcome))
check_stated("class", measured(ClassOutcome))
check_stated("controller", measured(ControllerOutcome))


class HopsOutcome(Closed):
    """Connections with one number of hops."""

    hops: int
    connections: float
    throughput_bps: float | None
    rtt_s: float | None = None
    loss_rate: float | None = None


class NetworkOutcome(Closed):
    """A whole network, over its long-lived connections.

    Attributes
    ----------
    mean_propagation_s : two-way propagation delay, without queueing.
    residual : largest relative difference between a link's load by its connections and the load of
        its state; None for simulated packets.
    """

    connections: float
    mean_propagation_s: float
    mean_rtt_s: float | None
    mean_throughput_bps: float | None
    residual: float | None
    by_hops: list[HopsOutcome]


class Provenance(BaseModel):
    """Origin of an answer; engines may add further facts."""

    model_config = ConfigDict(frozen=True, extra="allow")

    version: str
    seeds: list[int]
    scenario_sha256: str
    wall_s: float
    packets: int | None = None

    @model_validator(mode="after")
    def _bounds_are_listed(self) -> Self:
        if not isinstance(getattr(self, "lower_bounds", []), list):
            raise ValueError(Fact("document.lower-bounds"))
        return self


class Outcome(Document):
    """One engine's answer to one scenario (schema 1).

    Attributes
    ----------
    broken_assumptions : of the engine, which the scenario breaks.
    assumptions : of the scenario: what nobody chose and moves the answer. `forebay.run` adds them.
    late_starts : for each class with flows that start after the warm-up, or stop within it, how
        many do; for a table of transfers, how many start after the end; for others, how many
        a window has on average, if it may have none.
    disturbed : of a real machine, the part of the losses that its own stalls explain, from 5 % on.
    rates : of each link whose rate varies, by its name.

    >>> outcome = forebay.run(forebay.load("oc3-gsr"), "theory")
    >>> forebay.Outcome.from_json(outcome.to_json()) == outcome
    True
    """

    scenario: dict[str, Any]
    engine: str
    links: dict[str, LinkOutcome] = Field(min_length=1)
    classes: list[ClassOutcome]
    broken_assumptions: list[Text]
    assumptions: tuple[Text, ...] = ()
    late_starts: tuple[Text, ...] = ()
    disturbed: tuple[Text, ...] = ()
    rates: dict[str, LinkRates] = Field(default={})
    provenance: Provenance
    network: NetworkOutcome | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        engine: str,
        links: dict[str, LinkOutcome],
        classes: list[ClassOutcome],
        facts: Mapping[str, object],
        *,
        broken: Iterable[str | Fact] = (),
        disturbed: Iterable[str | Fact] = (),
        network: NetworkOutcome | None = None,
    ) -> Outcome:
        """Return the answer of an engine to a scenario, which it holds.

        Parameters
        ----------
        facts : of its provenance, ``seeds`` and ``wall_s`` among them.
        broken : the engine's assumptions that the scenario breaks.
        """
        document, sha256 = document_and_hash(scenario)
        origin: dict[str, Any] = {"version": installed_version(), "scenario_sha256": sha256}
        outcome = cls(
            scenario=document, engine=engine, links=links, classes=classes,
            broken_assumptions=list(broken), disturbed=tuple(disturbed), network=network,
            provenance=Provenance(**origin, **facts),
        )  # fmt: skip
        outcome.__dict__[_SCENARIO] = scenario
        return outcome

    @classmethod
    def of_packets(
        cls, scenario: Scenario, engine: str, packets: Mapping[int, Mapping[str, Any]]
    ) -> Outcome:
        """Return the answer of another simulator, from what became of each packet.

        So all metrics and intervals are those of Forebay, whoever moved the packets.

        Parameters
        ----------
        scenario : of one link of one rate. Its window is cut out of the packets.
        engine : name of what moved them.
        packets : by seed, columns of shape (n,): ``arrived_s``, when a packet came to the queue;
            ``started_s``, when its transmission began, NaN if the queue dropped it; ``bytes``;
            ``class``, its place in the scenario's traffic, and ``flow``, a number (0 if not given).

        Raises
        ------
        ScenarioError
            The scenario has several links, or a column does not fit.
        ImpossibleOutcome
            No queue of this size and rate sends packets so.
        """
        from forebay.outcome.of_packets import outcome_of_packets

        return outcome_of_packets(scenario, engine, packets)

    def noting(self, facts: Mapping[str, object], fields: Mapping[str, object] = {}) -> Outcome:
        """Return the same Outcome with more in its provenance, and other fields."""
        noted = self.provenance.model_copy(update=facts)
        return self.model_copy(update={"provenance": noted, **fields})

    def of_another(
        self,
        scenario: Scenario,
        facts: Mapping[str, object],
        links: dict[str, LinkOutcome],
        classes: list[ClassOutcome],
    ) -> Outcome:
        """Return the answer to another scenario, for which this one stands, with more facts."""
        changes = {"scenario": scenario.to_dict(), "links": links, "classes": classes}
        outcome = self.noting(facts, changes)
        outcome.__dict__[_SCENARIO] = scenario
        return outcome

    def __repr__(self) -> str:
        name, first = self.scenario.get("name", "scenario"), next(iter(self.links.items()), None)
        seen = "" if first is None else f", {first[0]}: {_share(first[1].utilization)} used"
        seen += "" if first is None else f", {_share(first[1].loss_rate)} lost"
        seeds = len(self.provenance.seeds)
        return f"Outcome({name!r}, {self.engine}, {seeds} seed{'' if seeds == 1 else 's'}{seen})"

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash((self.engine, self.provenance.scenario_sha256))

    def to_row(self, *, intervals: bool = False) -> dict[str, float]:
        """Return all numbers as one flat dict, a row of a table: "link.bottleneck.utilization".

        Classes are "class.long-0.goodput_bps"; quantiles end in ".mean" or ".p99". Units are SI.
        The dict omits metrics that were not measured.

        Parameters
        ----------
        intervals : also the ends of each known interval: "link.bottleneck.utilization.low". What
            a law bounds from below has that end alone.
        """
        parts: list[tuple[str, Closed]] = [(f"link.{n}", link) for n, link in self.links.items()]
        parts += [(f"class.{kind.name}", kind) for kind in self.classes]
        row: dict[str, float] = {}
        for where, part in parts:
            _add_numbers(row, where, part, intervals)
        for bound in getattr(self.provenance, "lower_bounds", ()) if intervals else ():
            for name in (f"link.{link}.{bound}" for link in self.links):
                if name in row:
                    row[f"{name}.low"] = row[name]
        return row

    def flows(self) -> FlowTable:
        """Return the table of flows: one row for each flow or transfer that began in the run.

        If the run kept none (``flows`` of `forebay.run`), its seeds are simulated once more.

        Returns
        -------
        FlowTable
            Columns by name, for pandas, Polars and Arrow; docs/reference/readings.md defines them.

        Raises
        ------
        ScenarioError, EngineUnavailable
            The engine keeps no record of each flow, or cannot run here; a file that its scenario
            reads cannot be read, or is no longer that of the run.
        """
        kept = self._kept_flows
        if kept is None:
            kept = import_module(_FLOWS_AGAIN).flows_again(self)
            self._keep_flows(kept)
        return kept.table()

    @property
    def _kept_flows(self) -> KeptFlows | None:
        # Beside the fields, which are the document.
        kept: KeptFlows | None = self.__dict__.get(_KEPT_FLOWS)
        return kept

    def _keep_flows(self, kept: KeptFlows) -> None:
        self.__dict__[_KEPT_FLOWS] = kept

    @property
    def asked(self) -> Scenario:
        """The scenario that ran. Raises ScenarioError: a file of a document cannot be read."""
        held: Scenario | None = self.__dict__.get(_SCENARIO)
        return Scenario.from_dict(self.scenario) if held is None else held

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        fields = {name: of for name, of in state["__dict__"].items() if name != _SCENARIO}
        return state | {"__dict__": fields}

    @model_validator(mode="before")
    @classmethod
    def _named(cls, document: Any) -> Any:
        """Add names to the classes of older documents, which have none."""
        if not isinstance(document, dict) or not isinstance(document.get("classes"), list):
            return document
        named = [_with_name(index, part) for index, part in enumerate(document["classes"])]
        return document | {"classes": named}


class Comparison(Document):
    """Several engines' answers to one scenario, or an engine's to variants of it (schema 1).

    ``titles`` are those of the variants; without them each answer is known by its engine.
    """

    outcomes: tuple[Outcome, ...]
    titles: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = [outcome.scenario.get("name", "scenario") for outcome in self.outcomes[:1]]
        parts = ", ".join([*map(repr, names), *(outcome.engine for outcome in self.outcomes)])
        return f"Comparison({parts})"

    __str__ = __repr__


def _with_name(index: int, part: Any) -> Any:
    if not isinstance(part, dict) or part.get("name"):
        return part
    return part | {"name": f"{part.get('kind')}-{index}"}


def _add_numbers(row: dict[str, float], where: str, value: object, intervals: bool) -> None:
    """Add the numbers of a part of an Outcome, each with its dotted name."""
    if isinstance(value, Metric):
        row[where] = value.value
        if intervals and value.low is not None:
            row[f"{where}.low"] = value.low
        if intervals and value.high is not None:
            row[f"{where}.high"] = value.high
    elif isinstance(value, (int, float)):
        row[where] = value
    elif isinstance(value, (BaseModel, dict)):
        for name, part in (value if isinstance(value, dict) else vars(value)).items():
            if part is not None:
                _add_numbers(row, f"{where}.{name}", part, intervals)


def _share(metric: Metric | None) -> str:
    return "–" if metric is None else f"{100 * metric.value:.4g} %"


_WHOLE_OR_NONE = ("size_bytes", "application_bytes")
"""Columns of whole numbers in which NaN says that there is none."""


class FlowTable(dict[str, NDArray[Any]]):
    """Read-only columns by name, each of shape (rows,); docs/reference/readings.md defines them.

    ``pandas.DataFrame(table)``, ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` take it as
    it is, and any reader of Arrow's stream protocol does. NaN is what there was none of.
    """

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__
    __ne__ = object.__ne__

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        super().__init__(columns)
        for column in self.values():
            column.setflags(write=False)

    @classmethod
    def concatenate(cls, tables: Sequence[FlowTable]) -> FlowTable:
        """Return the rows of all tables (at least one), in their order."""
        if len(tables) == 1:
            return tables[0]
        return cls({name: np.concatenate([table[name] for table in tables]) for name in tables[0]})

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values())))

    def __repr__(self) -> str:
        return f"FlowTable({self.rows} rows: {', '.join(self)})"

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame(dict(self))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a .csv or, with pyarrow, .parquet file; none is left half written.

        Raises
        ------
        OSError, MissingPackage
            It cannot be written; pyarrow is missing.
        """
        write_columns(path, self.blocks(), _WHOLE_OR_NONE)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream. Raises MissingPackage."""
        pyarrow = import_package("an Arrow stream", "pyarrow")
        batches = [record_batch(block, _WHOLE_OR_NONE) for block in self.blocks()]
        return pyarrow.Table.from_batches(batches).__arrow_c_stream__(requested_schema)

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks; of a table without rows, one without rows."""
        for first in range(0, max(self.rows, 1), BLOCK_ROWS):
            part = {name: column[first : first + BLOCK_ROWS] for name, column in self.items()}
            yield FlowTable(part)


class RowsInBlocks(Protocol):
    """Rows of the table of flows, all or of one replication."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks, at least one."""


class KeptFlows:
    """The rows that a run kept. A file of them is made without the table, which is larger."""

    def __init__(self, parts: Sequence[RowsInBlocks]) -> None:
        self._parts = list(parts)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(part.rows for part in self._parts)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write them as `FlowTable.export` does."""
        write_columns(path, self._blocks(), _WHOLE_OR_NONE)

    def table(self) -> FlowTable:
        """Return the table, which is kept instead of what it was made of."""
        match self._parts:
            case [FlowTable() as table]:
                return table
        table = FlowTable.concatenate(list(self._blocks()))
        self._parts = [table]
        return table

    def __reduce__(self) -> tuple[type[KeptFlows], tuple[list[FlowTable]]]:
        return KeptFlows, ([self.table()],)

    def _blocks(self) -> Iterator[FlowTable]:
        return (block for part in self._parts for block in part.blocks())
