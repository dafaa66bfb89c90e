"""The public verbs. They only pass a scenario and seeds to an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from forebay import engines as _engines
from forebay.errors import ForebayError, literal, option
from forebay.scenario import expect_scenario

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Outcome, SizeResult
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.search.options import Options


T = TypeVar("T")
COUNTERS = ("snmp", "netflow")
"""Independent packet counts that can be taken next to the testbed's router."""
BUDGET, MAX_BUDGET_S = "60 s", 30 * 86400.0
_BUDGETLESS = {
    "testbed": "the testbed runs in real time and cannot run faster",
    "network": "the steady state is always solved completely",
}
_OF_NETWORKS = ("network", "simulation")
MAX_SEED, MAX_SEEDS, MAX_JOBS = 2**63 - 1, 100_000, 1024


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
    counters: Sequence[str] = (),
    budget: str | None = None,
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
        A pcapng file for the packets of one replication: those that leave each link of the testbed,
        or those that leave the simulator's only link in the measured window, and the ACKs.
    counters : sequence of str
        Counts by the papers' methods, in addition to the testbed's own: ``"snmp"`` (interface
        counters), ``"netflow"``. ``provenance.runs[i]["counters"]`` has each, and its difference
        from the router's count.
    budget : str, optional
        Wall time of a simulation, such as ``"2 min"``. If it would take longer, and the scenario
        does not fix the measured window, warm-up and window are shortened; ``provenance.cost`` has
        the details. No limit by default.

    Returns
    -------
    Outcome
        Metrics of every link and class, in SI units (their names end in the unit).

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
        engine without packets; a capture of several replications.
    """
    expect_scenario(scenario)
    chosen = get_engine(engine, memory_limit)
    if counters:
        _count_by(chosen, listed("counters", counters))
    counted, threads = seed_range(seed, seeds), _threads(jobs)
    with nullcontext() if capture is None else _capturing(chosen, capture, seeds):
        return _run(chosen, scenario, counted, threads, progress, budget)


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
) -> list[Outcome]:
    """Run several engines on one scenario; return one Outcome for each, in their order.

    Parameters and errors are those of `run`.
    """
    expect_scenario(scenario)
    names = listed("engines", engines)
    chosen = [
        get_engine(name, memory_limit) for name in names
    ]  # an unknown one fails before any run
    counted, jobs = seed_range(seed, seeds), _threads(jobs)
    return [_run(each, scenario, counted, jobs, progress, budget) for each in chosen]


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
        return engine.run(scenario, seeds, jobs=jobs, progress=progress)
    from forebay.search.run_within import fitted, predict_run

    allowed = _budget(engine.name, budget)
    with _naming_theory(lambda theory: theory.run(scenario, seeds)):
        scenario = fitted(scenario, allowed, len(seeds), jobs)
    begun, predicted = time.monotonic(), predict_run(scenario, len(seeds), jobs)
    outcome = engine.run(scenario, seeds, jobs=jobs, progress=progress)
    cost = {"predicted_s": predicted, "spent_s": time.monotonic() - begun, "budget_s": allowed}
    provenance = outcome.provenance.model_copy(update={"cost": cost})
    return outcome.model_copy(update={"provenance": provenance})


def size(
    scenario: Scenario,
    engine: str = "simulation",
    *,
    seeds: int = 5,
    seed: int = 1,
    max_seeds: int | None = None,
    jobs: int = 0,
    memory_limit: str | None = None,
    progress: Progress | None = None,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    expect: Callable[[float], None] | None = None,
    link: str | None = None,
    link_class: str | None = None,
) -> SizeResult:
    """Find the smallest buffer that meets the scenario's goals.

    Parameters
    ----------
    seeds : int
        Replications of every buffer tried, on common random numbers.
    max_seeds : int, optional
        Maximum number of replications of a buffer whose intervals do not decide a goal; by default
        four times ``seeds``, and more if a budget is given and the range is then wide. The other
        parameters are those of `run`.
    budget : str, optional
        Wall time of a simulation, such as ``"2 min"``; ``"60 s"`` by default. If the whole search
        takes longer, the answer comes from fewer and longer runs near the crossing, or is
        extrapolated from smaller links of the same kind (docs/explanation/scaled-links.md). See
        ``cost`` and ``scaled`` of the result.
    store : path, optional
        An SQLite file that keeps every replication, by scenario, seed and code. A sizing that was
        stopped continues from it, and several processes may share it.
    expect : callable, optional
        Called once, before the first simulation, with the expected seconds.
    link, link_class : str, optional
        For a scenario with a topology: the name of the link to size, as in an Outcome
        (``"Denver->Seattle"``), or a class of links, whose buffers all get the same size; goals
        then apply to every link of the class. The simulator runs the whole network for each
        buffer, and `budget` limits only the search: no smaller network replaces it.

    Returns
    -------
    SizeResult
        The buffer in packets, bytes and seconds at line rate; the values reached; all sizes that
        meet the goals, and the binding goal at each end, or how far each goal must be relaxed; the
        law that governs and why; the size by each law; every Outcome of the search. If the number
        of flows is a range, the buffer meets the goals at both ends.

    Raises
    ------
    UnknownEngine, EngineUnavailable
        See `forebay.engines`.
    TooLittleTime
        Neither the link nor smaller links of its kind can be simulated within the budget.
    ScenarioError
        `scenario` is not a Scenario; seeds or jobs out of range; an invalid budget, or a budget of
        an engine without one.
    """
    from forebay.search.options import Options

    expect_scenario(scenario)
    chosen, allowed = get_engine(engine, memory_limit), _budget(engine, budget)
    most = 4 * seeds if max_seeds is None else len(seed_range(seed, max_seeds, "max_seeds"))
    options = Options(
        seed_range(seed, seeds), most, _threads(jobs), progress=progress, expect=expect,
        budget_s=allowed if engine == "simulation" else None,
        open_ended=max_seeds is None and budget is not None,
    )  # fmt: skip
    if link is not None or link_class is not None or scenario.topology is not None:
        _check_of_links(engine, link, link_class, store)
        return _size_links(chosen, scenario, link, link_class, options)
    with _storing(chosen, store) as chosen:
        return _size_link(chosen, scenario, options)


def _size_link(engine: Engine, scenario: Scenario, options: Options) -> SizeResult:
    """Size a link; let a refusal for want of time name theory if theory has an answer."""
    from forebay import laws
    from forebay.search.problem import LawContext, problem_of
    from forebay.search.search import search

    known = laws.for_scenario(scenario), laws.regime_of(scenario)
    context = LawContext(*known, laws.assumptions.sawtooths_s)

    def by_theory(theory: Engine) -> object:
        one = replace(options.with_seeds(options.seeds[:1]), budget_s=None, progress=None)
        return search(problem_of(scenario, theory.name, context), theory, one)

    with _naming_theory(by_theory):
        return search(problem_of(scenario, engine.name, context), engine, options)


@contextmanager
def _storing(engine: Engine, store: str | PathLike[str] | None) -> Iterator[Engine]:
    """Give the engine with a store, which is closed in the end; without a store the engine."""
    if store is None:
        yield engine
        return
    from forebay.store import Store, with_store

    with Store(store) as opened:
        yield with_store(engine, opened)


def _size_links(
    engine: Engine,
    scenario: Scenario,
    link: str | None,
    link_class: str | None,
    options: Options,
) -> SizeResult:
    """Size links of a network together."""
    from forebay.search.problem import problem_of_links
    from forebay.search.search import search

    size_links = engine.capabilities.size_links
    assert size_links is not None, "every engine of _OF_NETWORKS has it"
    sized = size_links(scenario, link=link, link_class=link_class)
    if engine.name == "network":  # a steady state is the same for every seed
        options = options.with_seeds(options.seeds[:1])
    return search(problem_of_links(sized), sized, options)


@contextmanager
def _naming_theory(ask: Callable[[Engine], object]) -> Iterator[None]:
    """Let a refusal for want of time name the engine theory if theory answers the question."""
    from forebay.search.cost import TooLittleTime

    try:
        yield
    except TooLittleTime as refused:
        try:
            ask(_engines.get("theory"))
        except ForebayError:
            raise refused from None
        raise refused.but(theory_answers=True) from None


def _check_of_links(engine: str, link: str | None, link_class: str | None, store: object) -> None:
    """Refuse arguments that do not fit links of a network: an engine, a store, no single link."""
    from forebay.scenario import ScenarioError

    def refused(field: str, wrong: str, hint: str) -> ScenarioError:
        return ScenarioError("contradiction", wrong, hint, field=field)

    if engine not in _OF_NETWORKS:
        wrong = f"engine {engine} cannot size links of a network"
        raise refused("engine", wrong, f"write {option('engine', 'network')}")
    if (link is None) == (link_class is None):
        wrong = "one link of the network, or one class of links, is sized at a time"
        raise refused(
            "link", wrong, f"write {option('link', 'NAME')} or {option('link_class', 'core')}"
        )
    if store is not None:
        wrong = "outcomes of a network's links are not stored"
        raise refused("store", wrong, "leave it out")


@contextmanager
def _capturing(engine: Engine, path: str | PathLike[str], seeds: int) -> Iterator[None]:
    """Let an engine write its packets; a run that fails leaves no file."""
    from forebay.outcome.replacing import beside
    from forebay.scenario import ScenarioError

    capture_to = engine.capabilities.capture_to
    if capture_to is None:
        wrong = f"{engine.name} has no packets to capture"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'simulation')}", field="capture"
        )
    if seeds != 1:
        wrong = f"{seeds} replications cannot be written to one file"
        raise ScenarioError("contradiction", wrong, f"write {option('seeds', 1)}", field="capture")
    with beside(path) as part:
        capture_to(part)
        yield


def _count_by(engine: Engine, names: Sequence[str]) -> None:
    from forebay.scenario import ScenarioError

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


def get_engine(name: str, memory_limit: str | None) -> Engine:
    """Make an engine, with the memory limit if it supports one."""
    engine = _engines.get(name)
    limit = engine.capabilities.limit_memory
    if memory_limit is not None and limit is not None:
        from forebay.scenario import DataSize

        limit(int(DataSize.parse_argument("memory_limit", memory_limit)))
    return engine


def _budget(engine: str, budget: str | None) -> float:
    """Return the time limit of a sizing, in seconds."""
    from forebay.scenario import Duration, ScenarioError

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
    from forebay.scenario.base import whole_number

    first = whole_number("seed", seed, 0, MAX_SEED)
    return range(first, first + whole_number(field, seeds, 1, MAX_SEEDS))


def _threads(jobs: int) -> int:
    from forebay.scenario.base import whole_number

    return whole_number("jobs", jobs, 0, MAX_JOBS, "; 0 is one for each core")


def listed(argument: str, values: Sequence[T]) -> list[T]:
    """Return values as a list; refuse a string, which is not a list. Raises ScenarioError."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        return list(values)
    from forebay.scenario import ScenarioError

    hint = f"write it in brackets: [{literal(values)}]"
    raise ScenarioError("wrong-type", f"{literal(values)} is not a list", hint, field=argument)
