"""The verbs `run` and `compare`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forebay import engines as _engines
from forebay.api.assumed import remarks
from forebay.errors import ForebayError, literal, option
from forebay.files.atomic import beside, fault
from forebay.packages import check_file
from forebay.scenario import Duration, Scenario, ScenarioError, expect_scenario, loads
from forebay.scenario.base import whole_number
from forebay.scenario.errors import show
from forebay.scenario.io import quoted
from forebay.search.budget import OutOfTime, Timed, TimeLimit
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.run_within import fitted, predict_run, routed, run_settled, settled_or_said

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.outcome.model import KeptFlows
    from forebay.progress import Progress
    from forebay.scenario import Scenario


T = TypeVar("T")


BUDGET, MAX_BUDGET_S = "60 s", 30 * 86400.0


_BUDGETLESS = {
    "testbed": "the testbed runs in real time and cannot run faster",
    "network": "the steady state is always solved completely",
}


MAX_SEED, MAX_SEEDS, MAX_JOBS = 2**63 - 1, 100_000, 1024


def get_engine(name: str, memory_limit: str | None) -> Engine:
    """Make an engine, with the memory limit if it supports one."""
    engine = _engines.get(name)
    limit = engine.capabilities.limit_memory
    if memory_limit is not None and limit is not None:
        from forebay.scenario import DataSize

        limit(int(DataSize.parse_argument("memory_limit", memory_limit)))
    return engine


def budget_seconds(engine: str, budget: str | None) -> float:
    """Return the time limit of a sizing, in seconds."""
    if budget is not None and engine in _BUDGETLESS:
        raise ScenarioError("contradiction", _BUDGETLESS[engine], "leave it out", field="budget")
    if isinstance(budget, int | float) and not isinstance(budget, Duration):
        hint = f'write it with one, such as "{budget:g} s"'
        raise ScenarioError("no-unit", f"{budget:g} has no unit", hint, field="budget")
    seconds = float(Duration.parse_argument("budget", BUDGET if budget is None else budget))
    if not 0.0 < seconds <= MAX_BUDGET_S:
        hint = 'write a time such as "2 min", up to 30 days'
        raise ScenarioError("out-of-range", f"{budget!r}", hint, field="budget")
    return seconds


def seed_range(seed: int, seeds: int, field: str = "seeds") -> range:
    """Return `seeds` seeds from `seed` on. Raises ScenarioError."""
    first = whole_number("seed", seed, 0, MAX_SEED)
    many = whole_number(field, seeds, 1, MAX_SEEDS)
    whole_number("seed", first, 0, MAX_SEED - many + 1, f", for {many} seeds from it on")
    return range(first, first + many)


def threads(jobs: int) -> int:
    return whole_number("jobs", jobs, 0, MAX_JOBS, "; 0 is one for each core")


def listed(argument: str, values: Sequence[T]) -> list[T]:
    """Return values as a list; refuse a string, which is not a list. Raises ScenarioError."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        return list(values)
    hint = f"write it in brackets: [{literal(values)}]"
    raise ScenarioError("wrong-type", f"{literal(values)} is not a list", hint, field=argument)


@contextmanager
def naming_theory(ask: Callable[[Engine], object]) -> Iterator[None]:
    """Let a refusal for want of time name the engine theory if theory answers the question."""
    try:
        yield
    except TooLittleTime as refused:
        try:
            ask(_engines.get("theory"))
        except ForebayError:
            raise refused from None
        raise refused.but(theory_answers=True) from None


@contextmanager
def storing(engine: Engine, store: str | PathLike[str] | None) -> Iterator[Engine]:
    """Give the engine with a store, which is closed in the end; without a store the engine."""
    if store is None:
        yield engine
        return
    from forebay.store import Store, with_store

    with Store(store) as opened:
        known = opened.count
        try:
            yield with_store(engine, opened)
        except TooLittleTime as refused:
            if opened.count == known:
                raise
            raise refused.but(kept_in=os.fspath(store)) from None


def check_tables(**paths: str | PathLike[str] | None) -> None:
    """Refuse a capture or a table that could not be written, before a run.

    Raises
    ------
    ScenarioError, MissingPackage
        By the argument's name.
    """
    for name, given in paths.items():
        if given is None:
            continue
        path, shown = Path(given), show(os.fspath(given))
        if name != "capture" and path.suffix.lower() not in (".csv", ".parquet"):
            wrong, hint = f"{shown} is no table", "write a name that ends in .csv or .parquet"
            raise ScenarioError("out-of-range", wrong, hint, field=name, value=str(given))
        if (found := fault(path)) is not None:
            wrong, hint = found
            raise ScenarioError(
                "out-of-range", f"{shown}: {wrong}", hint, field=name, value=str(given)
            )
        check_file(path)


def scenario_of(outcome: Outcome) -> Scenario:
    """Return the scenario that ran: the run's own, or that of the document with its files.

    Raises
    ------
    ScenarioError
        A file cannot be read, or its content is no longer that of the run.
    """
    kept = outcome._scenario_of_run
    scenario = _read(outcome) if kept is None else kept
    # Without files the document is all of it, also one of an older version with another hash.
    if scenario.files and scenario.sha256() != outcome.provenance.scenario_sha256:
        wrong = f"{', '.join(scenario.files)}: the content is not that of the run"
        hint = "restore it, or run the scenario again"
        raise ScenarioError("file-changed", wrong, hint, file="outcome")
    return scenario


def _read(outcome: Outcome) -> Scenario:
    try:
        return Scenario.from_dict(outcome.scenario)
    except ScenarioError as error:
        if not error.code.startswith("file-"):
            raise error.at("outcome") from None
        hint = "relative paths start at the current folder: go to that of the run"
        raise ScenarioError(
            error.code, error.wrong, hint, file="outcome", field=error.field
        ) from None


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
    scenario : Scenario
        The scenario; see `load`.
    engine : str
        One of `engine_names()`.
    seeds : int
        Number of replications; two or more give intervals over replications (95 %, Student t),
        one gives intervals from batches inside the run.
    seed : int
        The first seed; the replications use ``seed, seed + 1, …``.
    jobs : int
        Threads; 0 means one for each core. The result does not depend on it. The testbed ignores
        it and runs one replication after the other.
    memory_limit : str, optional
        Memory limit of a run, such as ``"8 GB"``. A simulation whose estimate is larger is refused,
        and one that reaches the limit is stopped. The default is 2 GB, or half of the machine's
        memory if that is less.
    progress : callable, optional
        Called with the fraction done, 0 to 1. KeyboardInterrupt raised in it stops the run.
    capture : path, optional
        A pcapng file for the packets of one replication that leave each link in the measured
        window; behind the simulator's only link also their ACKs.
    flows : path, optional
        A .csv or, with pyarrow, .parquet file for the table of flows: one row for each flow or
        transfer (docs/reference/readings.md). `Outcome.flows` has it, and makes it later if this is
        not given. Simulation only; a run over one link takes longer with it.
    packets : path, optional
        A .csv or, with pyarrow, .parquet file with a row for everything that happens to a packet of
        one replication at a link in the measured window (docs/reference/readings.md). Simulation
        only.
    counters : sequence of str
        Counts by the papers' methods, in addition to the testbed's own: ``"snmp"`` (interface
        counters), ``"netflow"``. ``provenance.runs[i]["counters"]`` has each, and its difference
        from the router's count.
    budget : str, optional
        Wall time of a simulation, such as ``"2 min"``. If it would take longer, and the scenario
        does not fix the measured window, warm-up and window are shortened; ``provenance.cost`` has
        the details. If flows have not settled, warm-up and window are lengthened within this time.
        No limit by default.
    store : path, optional
        An SQLite file that keeps every replication; those that it has are not run again.

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
    """
    expect_scenario(scenario)
    chosen = get_engine(engine, memory_limit)
    if counters:
        _count_by(chosen, listed("counters", counters))
    counted, jobs = seed_range(seed, seeds), threads(jobs)
    if store is not None and (counters or (capture, flows, packets) != (None,) * 3):
        _refuse_store()
    check_tables(capture=capture, flows=flows, packets=packets)
    if flows is not None:
        keep_flows(chosen)
    if packets is not None:
        _write_packets(chosen, packets, seeds)
    capturing = nullcontext() if capture is None else _capturing(chosen, capture, seeds)
    with capturing, storing(chosen, store) as chosen:
        outcome = _run(chosen, scenario, counted, jobs, progress, budget)
    if flows is not None:
        kept_flows(outcome).export(flows)
    return outcome.model_copy(update=remarks(scenario, counted, outcome))


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
    """
    expect_scenario(scenario)
    names = listed("engines", engines)
    chosen = [
        get_engine(name, memory_limit) for name in names
    ]  # an unknown one fails before any run
    counted, jobs = seed_range(seed, seeds), threads(jobs)
    made = []
    for each in chosen:
        with storing(each, store) as engine:
            made.append(_run(engine, scenario, counted, jobs, progress, budget))
    return [each.model_copy(update=remarks(scenario, counted, each)) for each in made]


def _run(
    engine: Engine,
    scenario: Scenario,
    seeds: range,
    jobs: int,
    progress: Progress | None,
    budget: str | None,
) -> Outcome:
    """Run an engine; a budget applies to simulation only."""
    if budget is None or engine.name != "simulation":
        outcome = engine.run(scenario, seeds, jobs=jobs, progress=progress)
    else:
        outcome = _run_within(engine, scenario, seeds, jobs, progress, budget)
    if all(each.settled is not False for each in outcome.classes):
        return outcome
    return settled_or_said(outcome, scenario)


def _run_within(
    engine: Engine,
    scenario: Scenario,
    seeds: range,
    jobs: int,
    progress: Progress | None,
    budget: str,
) -> Outcome:
    """Run within a time: over a shorter window if need be, and over longer ones that settle."""
    from forebay import laws

    many, limit = len(seeds), TimeLimit.begin(budget_seconds(engine.name, budget), time.monotonic)
    speed, predicted = Speed.under_load(jobs or os.cpu_count() or 1, time.monotonic), 0.0
    try:
        speed, after_s = routed(engine, scenario, speed, limit, progress)
        with naming_theory(lambda theory: theory.run(scenario, seeds)):
            scenario = fitted(scenario, limit, many, speed)
        predicted = limit.spent_s + predict_run(scenario, many, speed)
        timed, ending = Timed(engine, speed, time.monotonic), limit.ending(progress, after_s)
        outcome = run_settled(
            lambda each: timed.run(each, seeds, jobs=jobs, progress=ending),
            scenario, lambda: limit.left_s, many, speed, laws.assumptions.sawtooths_s,
        )  # fmt: skip
    except OutOfTime:
        why, of_network = "the run had not ended by then", scenario.topology is not None
        raise TooLittleTime(why, predicted, limit.seconds, of_network=of_network) from None
    cost = {"predicted_s": predicted, "spent_s": limit.spent_s, "budget_s": limit.seconds}
    provenance = outcome.provenance.model_copy(update={"cost": cost})
    return outcome.model_copy(update={"provenance": provenance})


def _refuse_store() -> None:
    wrong = "a stored replication has no packets to capture or count, and no record of each flow"
    raise ScenarioError("contradiction", wrong, "leave the store out", field="store")


@contextmanager
def _capturing(engine: Engine, path: str | PathLike[str], seeds: int) -> Iterator[None]:
    """Let an engine write its packets; a run that fails leaves no file."""
    capture_to = engine.capabilities.capture_to
    if capture_to is None:
        wrong = f"{engine.name} has no packets to capture"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'simulation')}", field="capture"
        )
    _one_replication(seeds, "capture")
    with beside(path) as part:
        capture_to(part)
        yield


def _write_packets(engine: Engine, path: str | PathLike[str], seeds: int) -> None:
    """Let an engine write what becomes of its packets."""
    packets_to = engine.capabilities.packets_to
    if packets_to is None:
        wrong = f"{engine.name} has no log of packets"
        hint = f"write {option('engine', 'simulation')}"
        raise ScenarioError("contradiction", wrong, hint, field="packets")
    _one_replication(seeds, "packets")
    packets_to(Path(path))


def _one_replication(seeds: int, field: str) -> None:
    if seeds != 1:
        wrong = f"{seeds} replications cannot be written to one file"
        raise ScenarioError("contradiction", wrong, f"write {option('seeds', 1)}", field=field)


def _count_by(engine: Engine, names: Sequence[str]) -> None:
    count_by = engine.capabilities.count_by
    if count_by is None:
        wrong = f"{engine.name} has no packets to count"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'testbed')}", field="counters"
        )
    for name in names:
        if name not in COUNTERS:
            hint = f"write one of: {', '.join(COUNTERS)}"
            raise ScenarioError("out-of-range", f"there is no {name!r}", hint, field="counters")
    count_by(names)


def keep_flows(engine: Engine) -> None:
    """Let an engine keep a record of every flow.

    Raises
    ------
    ScenarioError
        It has none.
    """
    record_flows = engine.capabilities.record_flows
    if record_flows is None:
        from forebay.scenario import ScenarioError

        wrong = f"{engine.name} keeps no record of each flow"
        hint = f"write {option('engine', 'simulation')}"
        raise ScenarioError("contradiction", wrong, hint, field="flows")
    record_flows()


def flows_again(outcome: Outcome) -> KeptFlows:
    """Return the rows of the runs of an Outcome, which are made once more.

    Raises
    ------
    ScenarioError, EngineUnavailable
        Its engine keeps none, or cannot run here; a file of its scenario is not that of the run.
    """

    engine = get_engine(outcome.engine, None)
    keep_flows(engine)
    return kept_flows(engine.run(scenario_of(outcome), outcome.provenance.seeds))


def kept_flows(outcome: Outcome) -> KeptFlows:
    """Return the rows that a run kept, in blocks."""
    kept = outcome._kept_flows
    assert kept is not None, "keep_flows before the run"
    return kept


_DEFAULT_GOAL = "utilization=0.98"


def link_scenario(
    rate: str = "",
    flows: str = "",
    rtt: str = "",
    mix: str = "",
    goal: Sequence[str] = (),
    set: Sequence[str] = (),
) -> Scenario:
    """Return the scenario of a link that long flows share.

    Parameters
    ----------
    rate : such as ``"10 Gbit/s"``.
    flows : a number, or a range ``"50..200"``.
    rtt : a time, or ``"20 ms..120 ms"`` for round trips spread evenly between them.
    mix : shares of congestion controls, ``"cubic=0.5,bbr=0.5"``, or one control.
    goal : goals of the link, ``"utilization=0.95"``; that of 0.98 by default.
    set : ``PATH=VALUE`` strings, as in `load`.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        What is missing or wrong, and what to write.

    Examples
    --------
    >>> import forebay
    >>> link = forebay.link_scenario(rate="1 Gbit/s", flows="100", rtt="20 ms..80 ms")
    >>> round(link.bdp_packets)
    4167
    """
    if not rate or not flows:
        name, example = ("rate", "10 Gbit/s") if not rate else ("flows", "1000")
        hint = f"write {option(name, example)}, or SCENARIO, a file"
        raise ScenarioError("missing", "nothing says which link", hint, field=name)
    text = "\n".join(_lines(rate, flows, rtt, mix, goal or (_DEFAULT_GOAL,)))
    return loads(text, source="options", overrides=set)


def _lines(rate: str, flows: str, rtt: str, mix: str, goals: Sequence[str]) -> Iterator[str]:
    yield f"name = {quoted(f'{rate}, {flows} flows')}"
    yield f"[link]\nrate = {quoted(rate)}"
    yield f"[[traffic]]\nflows = {flows if flows.isdigit() else quoted(flows)}"
    low, both, high = (part.strip() for part in rtt.partition(".."))
    if low:
        spread = f"{{ uniform = [{quoted(low)}, {quoted(high)}] }}"
        yield f"rtt = {spread if both else quoted(low)}"
    if mix:
        yield f"congestion_control = {_mix(mix)}"
    yield "[goals]"
    for each in goals:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not value:
            hint = 'write NAME=VALUE, such as utilization=0.95 or queue_delay_p99="10 ms"'
            raise ScenarioError("bad-goal", f"{each!r} is no goal", hint, field="goal")
        yield f"{name} = {value if _is_number(value) else quoted(value.strip(chr(34)))}"


def _mix(mix: str) -> str:
    parts = [[part.strip() for part in each.partition("=")[::2]] for each in mix.split(",")]
    if len(parts) == 1 and not parts[0][1]:
        return quoted(parts[0][0])
    wrong = next((name for name, share in parts if not name or not _is_number(share)), None)
    if wrong is not None or len({name for name, _ in parts}) < len(parts):
        hint = "write each control once with its share, such as cubic=0.5,bbr=0.5"
        raise ScenarioError("bad-mix", f"{mix!r} is no mix", hint, field="mix")
    return "{ " + ", ".join(f"{quoted(name)} = {float(share):g}" for name, share in parts) + " }"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
