"""Checks of the verbs' arguments, and the engine that they name."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from forebay import engines as _engines
from forebay.engines.base import Engine
from forebay.errors import ForebayError
from forebay.files.atomic import fault
from forebay.outcome import Outcome
from forebay.packages import check_file
from forebay.scenario import DataSize, Duration, Scenario, ScenarioError
from forebay.scenario.base import whole_number
from forebay.search.cost import TooLittleTime
from forebay.words import Fact, argument

BUDGET, MAX_BUDGET_S = "60 s", 30 * 86400.0

_BUDGETLESS = {
    "testbed": "contradiction.budget-of-testbed",
    "network": "contradiction.budget-of-network",
}

MAX_SEED, MAX_SEEDS, MAX_JOBS = 2**63 - 1, 100_000, 1024


def get_engine(name: str, memory_limit: str | None) -> Engine:
    """Make an engine, with the memory limit if it supports one."""
    engine = _engines.get(name)
    if memory_limit is not None:
        most = int(DataSize.parse_argument(argument("memory_limit"), memory_limit))
        if engine.capabilities.limit_memory is not None:
            engine.capabilities.limit_memory(most)
    return engine


def needed(
    engine: Engine, capability: str, kind: str, field: str, other: str = "simulation"
) -> Any:
    """Return a capability; refuse an engine without it, where ``other`` has it."""
    found = getattr(engine.capabilities, capability)
    if found is None:
        lacks = Fact(kind, engine=engine.name)
        raise ScenarioError("contradiction.engine-lacks", lacks, field=argument(field), other=other)
    return found


def budget_seconds(engine: str, budget: str | None) -> float:
    """Return the time limit of a sizing, in seconds."""
    if budget is not None and engine in _BUDGETLESS:
        raise ScenarioError(_BUDGETLESS[engine], field=argument("budget"))
    return _seconds(BUDGET if budget is None else budget)


def _seconds(budget: str) -> float:
    seconds = float(Duration.parse_argument(argument("budget"), budget))
    if not 0.0 < seconds <= MAX_BUDGET_S:
        raise ScenarioError("out-of-range.budget", field=argument("budget"), value=budget)
    return seconds


def check_budget(budget: str | None) -> None:
    """Refuse what is no time, also for an engine that reads no budget. Raises ScenarioError."""
    if budget is not None:
        _seconds(budget)


def seed_range(seed: int, seeds: int, field: str = "seeds", least: int = 1) -> range:
    """Return `seeds` seeds from `seed` on. Raises ScenarioError."""
    name, said = argument("seed"), "whole-number.seeds"
    first = whole_number(name, seed, 0, MAX_SEED)
    many = whole_number(argument(field), seeds, least, MAX_SEEDS)
    whole_number(name, first, 0, MAX_SEED - many + 1, Fact(said, seeds=many))
    return range(first, first + many)


def threads(jobs: int) -> int:
    return whole_number(argument("jobs"), jobs, 0, MAX_JOBS, Fact("whole-number.jobs"))


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
        raise refused.told(theory_answers=True) from None


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
            raise refused.told(kept_in=os.fspath(store)) from None


def check_tables(**paths: str | PathLike[str] | None) -> None:
    """Refuse, by the argument's name, a capture or a table that could not be written later."""
    for name, given in paths.items():
        if given is None:
            continue
        path, value = Path(given), os.fspath(given)
        if name != "capture" and path.suffix.lower() not in (".csv", ".parquet"):
            raise ScenarioError("out-of-range.table", field=argument(name), value=value)
        if (why := fault(path)) is not None:
            field, hint = argument(name), why.hint
            raise ScenarioError("out-of-range.file", hint=hint, field=field, value=value, why=why)
        check_file(path)


def scenario_of(outcome: Outcome) -> Scenario:
    """Return the scenario that ran: the run's own, or that of the document with its files.

    Raises ScenarioError if a file cannot be read, or its content is no longer that of the run.
    """
    try:
        scenario = outcome.asked
    except ScenarioError as error:
        if not error.code.startswith("file-"):
            raise error.at("outcome") from None
        raise error.but(hint=Fact("outcome.files"), file="outcome") from None
    # Without files the document is all of it, also one of an older version with another hash.
    if scenario.files and scenario.sha256() != outcome.provenance.scenario_sha256:
        raise ScenarioError("file-changed", file="outcome", files=", ".join(scenario.files))
    return scenario
