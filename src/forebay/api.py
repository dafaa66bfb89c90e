"""The public verbs: they hand an engine its scenario and seeds, and nothing more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from forebay import engines as _engines
from forebay.errors import ForebayError, literal, option
from forebay.scenario import expect_scenario

if TYPE_CHECKING:
    from forebay.budget import TooLittleTime
    from forebay.engines.protocol import Capturing, Counting, Engine, Limited
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.sizing import SizeResult


T = TypeVar("T")
COUNTERS = ("snmp", "netflow")
"""Readings that can be taken beside the testbed's router."""
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
        Threads; 0 means one for each core. The answer does not depend on it, and the testbed runs
        one replication after the other whatever it says.
    memory_limit : str, optional
        The most that a run may take of the machine's memory, such as ``"8 GB"``: a simulation that
        is estimated to take more is refused, one that comes to it is stopped. 2 GB if not given,
        or half of the machine's where that is less.
    progress : callable, optional
        Called with the fraction done, 0 to 1. KeyboardInterrupt raised in it stops the run.
    capture : path, optional
        A pcapng file for the packets of one replication: what leaves each link of the testbed, or
        what leaves the simulator's one link within the measured window, and the ACKs.
    counters : sequence of str
        Readings as the papers took them, beside the testbed's own: ``"snmp"`` (interface
        counters), ``"netflow"``. ``provenance.runs[i]["counters"]`` has each, and by how much it
        differs from the router's count.
    budget : str, optional
        The time that a simulation may take by the clock, such as ``"2 min"``. Where it would
        take longer, and the scenario leaves open what is measured, warm-up and window are
        shorter; ``provenance.cost`` tells. No limit if not given.

    Returns
    -------
    Outcome
        Metrics of every link and class, in SI units (their names end in the unit).

    Raises
    ------
    UnknownEngine, EngineUnavailable
        See `forebay.engines`.
    TooMuchMemory
        More than `memory_limit`; the number is in it.
    TooLittleTime
        More than `budget`, however short the window.
    ScenarioError
        No Scenario; seeds or jobs out of range; a capture or counters of an engine that has no
        packets; a capture of several replications.
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
    """Run several engines on one scenario; one Outcome each, in their order.

    Parameters and errors are those of `run`.
    """
    expect_scenario(scenario)
    names = listed("engines", engines)
    chosen = [get_engine(name, memory_limit) for name in names]  # a wrong one fails before any run
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
    """Run an engine; one that computes, within its budget."""
    if budget is None or engine.name != "simulation":
        return engine.run(scenario, seeds, jobs=jobs, progress=progress)
    from forebay.budget import fitted, predict_run

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
        How many replications may be spent where noise hides the answer; four times ``seeds``
        if not given. The others are those of `run`.
    budget : str, optional
        The time that a simulation may take by the clock, such as ``"2 min"``; ``"60 s"`` if not
        given. If the whole search takes longer, the answer is the crossing of fewer and
        longer runs, or of smaller links of the same kind, extrapolated
        (docs/explanation/scaled-links.md). See ``cost`` and ``scaled`` of the result.
    store : path, optional
        A folder that keeps every outcome, so that a sizing that was stopped goes on from there.
    expect : callable, optional
        Called once, before anything is simulated, with the seconds that it should take.
    link, link_class : str, optional
        Of a scenario with a topology: the name of the link to size, as answers have it
        (``"Denver->Seattle"``), or the class of links whose buffers are all made alike; goals then
        hold at every link of it. The simulator runs the whole network for each buffer tried, and
        `budget` bounds the search alone: no smaller network can replace it.

    Returns
    -------
    SizeResult
        The buffer in packets, bytes and seconds at line rate, what was reached, all sizes that
        meet the goals and which goal binds at each end, or how little each goal would have to
        give way, which law governs and why, what each law would have said, and every Outcome
        on the way. Where flows are a range the buffer serves both of its ends.

    Raises
    ------
    UnknownEngine, EngineUnavailable
        See `forebay.engines`.
    TooLittleTime
        Neither the link nor smaller ones of its kind can be simulated in the budget.
    ScenarioError
        No Scenario; seeds or jobs out of range; a budget that is no time, or of an engine that
        cannot keep to one.
    """
    from forebay import laws, sizing

    expect_scenario(scenario)
    chosen, allowed = get_engine(engine, memory_limit), _budget(engine, budget)
    most = 4 * seeds if max_seeds is None else len(seed_range(seed, max_seeds, "max_seeds"))
    if link is not None or link_class is not None or scenario.topology is not None:
        _check_of_links(engine, link, link_class, store)
        sized = cast("Any", chosen).sized(scenario, link=link, link_class=link_class)
        if engine == "network":  # a steady state is the same for every seed
            return _size_links(
                sized, partial(sizing.size, seeds=seed_range(seed, 1), max_seeds=1), progress
            )
        from forebay.budget import size_links_within

        within = partial(
            size_links_within, budget_s=allowed, seeds=seed_range(seed, seeds), max_seeds=most,
            jobs=_threads(jobs), expect=expect,
        )  # fmt: skip
        return _size_links(sized, within, progress)
    if store is not None:
        chosen = _remembering(chosen, store)
    search: Any = sizing.size
    if engine == "simulation" and scenario.topology is None:
        from forebay.budget import size_within

        search = partial(size_within, budget_s=allowed, expect=expect)
    said: dict[str, Any] = {
        "laws": laws.for_scenario(scenario),
        "governs": laws.regime_of(scenario),
    }
    by_theory = partial(sizing.size, scenario, seeds=seed_range(seed, 1), max_seeds=1, **said)
    with _naming_theory(by_theory):
        result: SizeResult = search(
            scenario,
            chosen,
            seeds=seed_range(seed, seeds),
            max_seeds=most,
            jobs=_threads(jobs),
            progress=progress,
            **said,
        )
    return result


@contextmanager
def _naming_theory(ask: Callable[[Engine], object]) -> Iterator[None]:
    """Let a refusal for want of time name the engine theory if theory answers the question."""
    try:
        yield
    except ForebayError as refused:
        if refused.code != "too-little-time":
            raise
        try:
            ask(_engines.get("theory"))
        except ForebayError:
            raise refused from None
        raise cast("TooLittleTime", refused).but(theory_answers=True) from None


def _check_of_links(engine: str, link: str | None, link_class: str | None, store: object) -> None:
    """Refuse what does not go with links of a network: another engine, a store, not one link."""
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


def _size_links(
    sized: Any, search: Callable[..., SizeResult], progress: Progress | None
) -> SizeResult:
    """Size links of a network as one; say which, before the notes of the search."""
    links = sized.links
    found = search(links.question, sized, limit=links.limit, progress=progress)
    return found.model_copy(update={"notes": (links.says, *found.notes)})


@contextmanager
def _capturing(engine: Engine, path: str | PathLike[str], seeds: int) -> Iterator[None]:
    """Have an engine write its packets; a run that ends in an error leaves no file."""
    from forebay.outcome.replacing import beside
    from forebay.scenario import ScenarioError

    if not hasattr(engine, "capture_to"):
        wrong = f"{engine.name} has no packets to capture"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'simulation')}", field="capture"
        )
    if seeds != 1:
        wrong = f"{seeds} replications do not go into one file"
        raise ScenarioError("contradiction", wrong, f"write {option('seeds', 1)}", field="capture")
    with beside(path) as part:
        cast("Capturing", engine).capture_to(part)
        yield


def _count_by(engine: Engine, names: Sequence[str]) -> None:
    from forebay.scenario import ScenarioError

    if not hasattr(engine, "count_by"):
        wrong = f"{engine.name} has no packets to count"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'testbed')}", field="counters"
        )
    for name in names:
        if name not in COUNTERS:
            hint = f"write one of: {', '.join(COUNTERS)}"
            raise ScenarioError("out-of-range", f"there is no {name!r}", hint, field="counters")
    cast("Counting", engine).count_by(names)


def get_engine(name: str, memory_limit: str | None) -> Engine:
    """Make an engine; one that takes next to no memory knows no limit."""
    engine = _engines.get(name)
    if memory_limit is not None and hasattr(engine, "limit_memory"):
        cast("Limited", engine).limit_memory(_octets(memory_limit))
    return engine


def _remembering(engine: Engine, store: str | PathLike[str]) -> Engine:
    from importlib.metadata import version

    from forebay.budget import Remembering

    made: Engine = Remembering(engine, Path(store), version("forebay"))
    return made


def _budget(engine: str, budget: str | None) -> float:
    """Return the seconds that a sizing may take."""
    from forebay.scenario import Duration, ScenarioError

    if budget is not None and engine in _BUDGETLESS:
        raise ScenarioError("contradiction", _BUDGETLESS[engine], "leave it out", field="budget")
    if isinstance(budget, int | float) and not isinstance(budget, Duration):
        hint = f'write it with one, such as "{budget:g} s"'
        raise ScenarioError("no-unit", f"{budget:g} has no unit", hint, field="budget")
    try:
        seconds = float(Duration.parse(BUDGET if budget is None else budget))
    except ScenarioError as error:
        raise error.at("", "budget") from None
    if not 0.0 < seconds <= MAX_BUDGET_S:
        hint = 'write a time such as "2 min", up to 30 days'
        raise ScenarioError("out-of-range", f"{budget!r}", hint, field="budget")
    return seconds


def _octets(memory_limit: str) -> int:
    from forebay.scenario import DataSize, ScenarioError

    try:
        octets = DataSize.parse(memory_limit)
    except ScenarioError as error:
        raise error.at("", "memory_limit") from None
    return int(octets)


def seed_range(seed: int, seeds: int, field: str = "seeds") -> range:
    """Return so many seeds from the first on. Raises ScenarioError."""
    from forebay.scenario.base import whole_number

    first = whole_number("seed", seed, 0, MAX_SEED)
    return range(first, first + whole_number(field, seeds, 1, MAX_SEEDS))


def _threads(jobs: int) -> int:
    from forebay.scenario.base import whole_number

    return whole_number("jobs", jobs, 0, MAX_JOBS, "; 0 is one for each core")


def listed(argument: str, values: Sequence[T]) -> list[T]:
    """Return values as a list; a text is not a list of its letters. Raises ScenarioError."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        return list(values)
    from forebay.scenario import ScenarioError

    hint = f"write it in brackets: [{literal(values)}]"
    raise ScenarioError("wrong-type", f"{literal(values)} is no list", hint, field=argument)
