"""The verbs `run`, `compare` and `trace`."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path

from forebay import laws
from forebay.api import arguments
from forebay.effort import Effort
from forebay.engines.base import Engine
from forebay.files.atomic import beside
from forebay.outcome import Outcome
from forebay.outcome.model import KeptFlows
from forebay.outcome.settling import needs
from forebay.outcome.trace import Trace
from forebay.progress import Progress
from forebay.scenario import MAX_FLOWS, Duration, Scenario, ScenarioError, expect_scenario
from forebay.scenario.base import listed, whole_number
from forebay.search import run_within
from forebay.search.budget import OutOfTime, Timed, TimeLimit
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.remarks import remarks
from forebay.words import Fact, argument

COUNTERS = ("snmp", "netflow")
"""Independent packet counts that can be taken next to the testbed's router."""


def run(
    scenario: Scenario,
    engine: str = "simulation",
    *,
    seeds: int = 1,
    seed: int = 1,
    jobs: int = 0,
    memory_limit: str | None = None,
    progress: Progress | None = None,
    capture: str | PathLike[str] | None = None,
    flows: str | PathLike[str] | None = None,
    packets: str | PathLike[str] | None = None,
    counters: Sequence[str] = (),
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
) -> Outcome:
    """Run one engine on one scenario.

    Parameters
    ----------
    scenario : the scenario; see `load`.
    engine : one of `engine_names()`.
    seeds : number of replications; two or more give intervals over replications (95 %, Student t),
        one gives intervals from batches inside the run.
    seed : the first seed; the replications use ``seed, seed + 1, …``.
    jobs : threads; 0 means one for each core. The result does not depend on it. The testbed ignores
        it and runs one replication after the other.
    memory_limit : memory limit of a run, such as ``"8 GB"``. A simulation whose estimate is larger
        is refused, and one that reaches the limit is stopped. The default is 2 GB, or half of the
        machine's memory if that is less.
    progress : called with the fraction done, 0 to 1. KeyboardInterrupt raised in it stops the run.
    capture : a pcapng file for the packets of one replication that leave each link in the measured
        window; behind the simulator's only link also their ACKs.
    flows : a .csv or, with pyarrow, .parquet file for the table of flows: one row for each flow or
        transfer (docs/reference/readings.md). `Outcome.flows` has it, and makes it later if this is
        not given. Simulation only; a run over one link takes longer with it.
    packets : a .csv or, with pyarrow, .parquet file with a row for everything that happens to a
        packet of one replication at a link in the measured window (docs/reference/readings.md).
        Simulation only.
    counters : counts by the papers' methods, in addition to the testbed's own: ``"snmp"``
        (interface counters), ``"netflow"``. ``provenance.runs[i]["counters"]`` has each, and its
        difference from the router's count.
    budget : wall time of a simulation, such as ``"2 min"``. If it would take longer, and the
        scenario does not fix the measured window, warm-up and window are shortened;
        ``provenance.cost`` has the details. If flows have not settled, warm-up and window are
        lengthened within this time. No limit by default.
    store : an SQLite file that keeps every replication; those that it has are not run again.

    Returns
    -------
    Outcome
        Metrics of every link and class, in SI units (their names end in the unit). A class of long
        flows says whether they have ``settled``; if not, nothing of it and its link has intervals.

    Raises
    ------
    UnknownEngine, EngineUnavailable
        See `forebay.engines`.
    TooMuchMemory
        The run needs more than `memory_limit`; the error has the number.
    TooLittleTime
        The run takes longer than `budget` even with the shortest window.
    ScenarioError
        `scenario` is not a Scenario; seeds or jobs out of range; a capture or counters of an
        engine without packets, a table of flows of one without records; packets of several
        replications; any of these with a store; a file of a table that has another ending, or no
        folder.
    StoreError
        The store cannot be used.
    MissingPackage, OSError
        A table cannot be written.

    >>> outcome = forebay.run(forebay.load("oc3-gsr"), "theory")
    >>> print(f"{outcome.links['bottleneck'].utilization:.3f}")
    0.982
    """
    expect_scenario(scenario)
    chosen = arguments.get_engine(engine, memory_limit)
    if counters:
        names = listed("counters", counters)
        count_by = arguments.needed(chosen, "count_by", "lacks.counts", "counters", "testbed")
        if unknown := [name for name in names if name not in COUNTERS]:
            raise ScenarioError(
                "out-of-range.counter", field=argument("counters"), value=unknown[0],
                known=", ".join(COUNTERS),
            )  # fmt: skip
        count_by(names)
    counted = arguments.seed_range(seed, seeds)
    arguments.check_budget(budget)
    effort = Effort(jobs=arguments.threads(jobs), budget=budget, progress=progress)
    if store is not None and (counters or (capture, flows, packets) != (None,) * 3):
        raise ScenarioError("contradiction.store-of-packets", field=argument("store"))
    arguments.check_tables(capture=capture, flows=flows, packets=packets)
    if flows is not None:
        keep_flows(chosen)
    if packets is not None:
        write_packets = arguments.needed(chosen, "packets_to", "lacks.log", "packets")
        _check_one("packets", seeds)
        write_packets(Path(packets))
    capturing = nullcontext() if capture is None else _capturing(chosen, capture, seeds)
    with capturing, arguments.storing(chosen, store) as chosen:
        outcome = _run(chosen, scenario, counted, effort)
    if flows is not None:
        kept_flows(outcome).export(flows)
    return outcome


def compare(
    scenario: Scenario,
    engines: Sequence[str] = ("theory", "simulation"),
    *,
    seeds: int = 1,
    seed: int = 1,
    jobs: int = 0,
    memory_limit: str | None = None,
    progress: Progress | None = None,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
) -> list[Outcome]:
    """Run several engines on one scenario; return one Outcome for each, in their order.

    Parameters and errors are those of `run`.

    >>> both = forebay.compare(forebay.load("oc3-gsr"), ["theory", "simulation"])
    >>> [f"{each.links['bottleneck'].utilization:.2f}" for each in both]
    ['0.98', '0.98']
    """
    expect_scenario(scenario)
    names = listed("engines", engines)
    # An unknown one fails before any run.
    chosen = [arguments.get_engine(name, memory_limit) for name in names]
    counted = arguments.seed_range(seed, seeds)
    arguments.check_budget(budget)
    effort = Effort(jobs=arguments.threads(jobs), budget=budget, progress=progress)
    outcomes = []
    for choice in chosen:
        with arguments.storing(choice, store) as engine:
            outcomes.append(_run(engine, scenario, counted, effort))
    return outcomes


def _run(engine: Engine, scenario: Scenario, seeds: range, effort: Effort) -> Outcome:
    """Run an engine, and say what was assumed; a budget applies to simulation only."""
    if effort.budget is None or engine.name != "simulation":
        outcome = engine.run(scenario, seeds, effort)
    else:
        outcome = _run_within(engine, scenario, seeds, effort)
    outcome = run_within.settled_or_said(outcome)
    return outcome.noting({}, remarks(scenario, seeds, outcome))


def _run_within(engine: Engine, scenario: Scenario, seeds: range, effort: Effort) -> Outcome:
    """Run within a time: over a shorter window if need be, and over longer ones that settle."""
    many = len(seeds)
    limit = TimeLimit.begin(arguments.budget_seconds(engine.name, effort.budget), time.monotonic)
    speed, predicted = Speed.under_load(effort.threads, time.monotonic), 0.0
    try:
        speed, after_s = run_within.routed(engine, scenario, speed, limit, effort.progress)
        with arguments.naming_theory(lambda theory: theory.run(scenario, seeds)):
            scenario = run_within.fitted(scenario, limit, many, speed)
        predicted = limit.spent_s + run_within.predict_run(scenario, many, speed)
        timed = Timed(engine, speed, time.monotonic)
        ending = effort.telling(limit.ending(effort.progress, after_s))
        outcome = run_within.run_settled(
            lambda each: timed.run(each, seeds, ending),
            scenario, lambda: limit.left_s, many, speed, laws.assumptions.sawtooths_s,
        )  # fmt: skip
    except OutOfTime:
        why, of_network = Fact("too-little-time.run"), scenario.topology is not None
        raise TooLittleTime(why, predicted, limit.seconds, of_network=of_network) from None
    cost = {"predicted_s": predicted, "spent_s": limit.spent_s, "budget_s": limit.seconds}
    return outcome.noting({"cost": cost})


@contextmanager
def _capturing(engine: Engine, path: str | PathLike[str], seeds: int) -> Iterator[None]:
    """Let an engine write its packets; a run that fails leaves no file."""
    capture_to = arguments.needed(engine, "capture_to", "lacks.packets", "capture")
    _check_one("capture", seeds)
    with beside(path) as part:
        capture_to(part)
        yield


def _check_one(field: str, seeds: int) -> None:
    if seeds != 1:
        raise ScenarioError("contradiction.replications", field=argument(field), seeds=seeds)


def keep_flows(engine: Engine) -> None:
    """Let an engine keep a record of every flow. Raises ScenarioError if it has none."""
    arguments.needed(engine, "record_flows", "lacks.records", "flows")()


def flows_again(outcome: Outcome) -> KeptFlows:
    """Return the rows of the runs of an Outcome, which are made once more.

    Raises ScenarioError or EngineUnavailable if its engine keeps none, or cannot run here; if a
    file of its scenario is not that of the run.
    """
    engine = arguments.get_engine(outcome.engine, None)
    keep_flows(engine)
    return kept_flows(engine.run(arguments.scenario_of(outcome), outcome.provenance.seeds))


def kept_flows(outcome: Outcome) -> KeptFlows:
    """Return the rows that a run kept, in blocks."""
    kept = outcome._kept_flows
    assert kept is not None, "keep_flows before the run"
    return kept


def trace(
    scenario: Scenario,
    engine: str = "simulation",
    *,
    step: str = "10 ms",
    flows: Sequence[int] = (0,),
    seed: int = 1,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Trace one replication over time.

    Parameters
    ----------
    engine : an engine with packets: ``"simulation"`` or ``"testbed"``.
    step : time between two samples, with its unit.
    flows : flows whose window, round-trip time and state are sampled, numbered from 0 through the
        traffic classes in their order.

    Returns
    -------
    Trace
        Arrays over the measured window, histograms of every link, ``synchronization``,
        ``window_sum_fit``, ``long_flows``; ``to_csv``, ``to_npz``. docs/reference/readings.md
        defines each.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; an invalid step, or a flow that does not exist.
    EngineUnavailable
        See `forebay.engines`.

    >>> brief = {"measure.warmup": "1 s", "measure.duration": "1 s"}
    >>> seen = forebay.trace(forebay.load("oc3-gsr").replace(brief), step="100 ms")
    >>> seen.links["bottleneck"].queue_packets.shape
    (10,)
    """
    expect_scenario(scenario)
    asked = listed("flows", flows)
    numbers = [whole_number(argument("flows"), flow, 0, MAX_FLOWS - 1) for flow in asked]
    every = Duration.parse_argument(argument("step"), step)
    chosen = arguments.get_engine(engine, memory_limit)
    traces = arguments.needed(chosen, "trace", "lacks.trace", "engine")
    (checked,) = arguments.seed_range(seed, 1)
    seen: Trace = traces(scenario, step=every, flows=numbers, seed=checked, progress=progress)
    if not any(seen.unsettled.values()):
        return seen
    warmup, said = run_within.warmup_for(scenario), seen.unsettled.items()
    unsettled = {name: why and needs(why, warmup) for name, why in said}
    return seen.model_copy(update={"unsettled": unsettled})
