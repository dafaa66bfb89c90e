"""The verb `sweep`."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.api.arguments import budget_seconds, get_engine, seed_range, threads
from forebay.api.size import size_link
from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.effort import Effort
from forebay.engines.base import Engine
from forebay.engines.footprint import default_limit
from forebay.outcome import SizeResult
from forebay.progress import Progress, enter
from forebay.scenario import DataSize, Duration, Scenario, ScenarioError, expect_scenario
from forebay.search.budget import PredictedTime
from forebay.search.goals import goals_of
from forebay.search.level import Options
from forebay.store import code_of, digest_of_files
from forebay.studies.batches import run_plan
from forebay.studies.grid import ASKS, Grid, grid_of, load_grid
from forebay.studies.plan import Asked, cores, plan_of
from forebay.studies.sweep import Sweep, stored
from forebay.studies.work import MOST_THREADS, Cluster, here
from forebay.words import Fact, argument

if TYPE_CHECKING:
    from forebay.studies.work import Workers

_ENGINES = {"compare": ("theory", "simulation")}


def sweep(
    base: Scenario | str | PathLike[str],
    axes: Mapping[Any, Any] | Grid | None = None,
    *,
    engine: str | Sequence[str] | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    ask: str | None = None,
    budget: str | None = None,
    together: Sequence[Sequence[str]] = (),
    leave_out: Sequence[Mapping[str, Any]] = (),
    where: Callable[[Mapping[str, Any]], bool] | None = None,
    design: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    store: str | PathLike[str] | None = None,
    jobs: int = 0,
    cluster: str | None = None,
    wait: str = "60 s",
    memory_limit: str | None = None,
    only_plan: bool = False,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run a scenario with every combination of values, and keep one row for each replication.

    Every cell is checked, counted and priced before the first run. What the store has is not run
    again. A row equals that of `forebay.run` with its seed, whatever runs it.

    Parameters
    ----------
    base : the scenario whose fields are replaced; or a grid file, which has all that it says
        (docs/reference/grid.md), and arguments that are given replace it.
    axes : a list of values or a range for each dotted path:
        ``{"queue.size": ["64 packets"], "traffic.0.flows": {"log": [100, 400], "points": 3}}``. A
        tuple of paths has a tuple of values for each point.
    engine : ``"simulation"`` by default. With ``ask="compare"`` several, theory and simulation.
    seeds, seed : replications of each cell, with seeds ``seed, seed + 1, …``; 5 from 1 on by
        default.
    ask : ``"run"``; ``"size"``, the smallest buffer, one row for each cell; ``"compare"``, a row
        for each engine.
    budget : of a sizing: time on one core of the reference machine, ``"60 s"`` by default. It is
        counted in predicted packets, so that the answer does not depend on the machine.
    together : axes that change together, point by point, instead of in every combination.
    leave_out : cells to leave out:
        ``[{"queue.size": "1 bdp", "traffic.0.flows": {"above": 400}}]``.
    where : takes a dict of a cell's values by path; false leaves the cell out.
    design : points instead of every combination: ``{"kind": "sobol", "points": 64, "seed": 1}``;
        also ``"random"``, ``"halton"`` and ``"latin-hypercube"``.
    overrides : ``PATH=VALUE`` for the base scenario of a grid file.
    store : an SQLite file that keeps every row, which other processes may share. Without it rows
        are in a temporary file that lives as long as the result.
    jobs : workers here; 0 means one for each core. Up to 4 are threads, more are processes.
    cluster : address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``; needs
        ``forebay[cluster]``.
    wait : how long the cluster may have no worker before the study ends; what is stored stays.
    memory_limit : memory limit of one worker; see `forebay.run`.
    only_plan : check and count, and run nothing: `Sweep.stored` says what the store has.
    announce : called with one line before the first run: "1,200 runs, about 40 s on 2 cores".
    progress : called with the fraction done, 0 to 1. KeyboardInterrupt raised in it stops the
        study, which continues from the store when it is started again.

    Returns
    -------
    Sweep
        Counts; the table as `to_dataframe`, `export` or an Arrow stream; `summary`; `figure`.

    Raises
    ------
    ScenarioError
        A mistake in the grid, or a value that is refused in every cell.
    StudyError
        Workers that die, another version on a worker, or a missing package.
    StoreError
        The store cannot be used.

    >>> sizes = {"queue.size": ["64 packets", "129 packets"]}
    >>> found = forebay.sweep(forebay.load("oc3-gsr"), sizes, engine="theory", seeds=1)
    >>> used = found.means("link.bottleneck.utilization")
    >>> [f"{each:.2f}" for each in used.values()]
    ['0.78', '0.98']
    """
    grid, said, files = _grid(base, axes, overrides, together, leave_out, where, design)
    ask = said.get("ask", "run") if ask is None else ask
    if ask not in ASKS:
        known = ", ".join(ASKS)
        raise ScenarioError("bad-grid.ask", field=argument("ask"), value=ask, known=known)
    if ask == "size":
        refuse_network(grid.base)
        if not any("goals" in name for name in grid.names):
            goals_of(grid.base)
    names = _engine_names(said.get("engine") if engine is None else engine, ask)
    counted = seed_range(
        said.get("seed", 1) if seed is None else seed,
        said.get("seeds", 5) if seeds is None else seeds,
    )
    budget = said.get("budget") if budget is None else budget
    chosen = {name: get_engine(name, memory_limit) for name in names}
    wait_s = float(Duration.parse_argument(argument("wait"), wait))
    if store is not None and os.path.realpath(store) in map(os.path.realpath, files):
        raise ScenarioError("contradiction.store-is-read", field="store", value=os.fspath(store))
    asked = [
        (_asked(ask, Effort(name, memory_limit=memory_limit, budget=budget), counted), chosen[name])
        for name in names
    ]
    enter(progress, "checking the cells")
    plan = plan_of(grid, asked, counted, lambda: None if progress is None else progress(0.0))
    # A look at a store that is not there yet, or is mistyped, makes none.
    path, temporary = None if store is None else Path(store), None
    if path is None or (only_plan and not os.path.exists(path)):
        temporary = _Temporary()
        path = temporary.path
    many = 1 if "testbed" in names else cores(threads(jobs))
    if set(names) <= set(WITHOUT_SEEDS) and many <= MOST_THREADS:
        many = 1  # its threads would wait for each other
    limit = memory_limit and int(DataSize.parse_argument(argument("memory_limit"), memory_limit))

    def open_workers() -> Workers:
        if cluster is not None and not only_plan:
            return Cluster(cluster, wait_s, announce or (lambda _: None))
        return here(many, plan.most_bytes, limit or default_limit())

    try:
        count = run_plan(
            plan, path, open_workers, engines=chosen, sizes=size_priced, announce=announce,
            progress=progress, only_plan=only_plan,
        )  # fmt: skip
    except KeyboardInterrupt:
        if only_plan:  # it had nothing to keep
            raise
        left = Fact("sweep.nothing-kept")
        if store is not None:
            left = Fact("sweep.kept", kept=stored(plan, path), runs=plan.runs, path=path)
        raise KeyboardInterrupt(str(left)) from None
    return Sweep(plan, path, count, temporary)


def _grid(
    base: Scenario | str | PathLike[str],
    axes: Mapping[Any, Any] | Grid | None,
    overrides: Sequence[str],
    together: Sequence[Sequence[str]],
    leave_out: Sequence[Mapping[str, Any]],
    where: Callable[[Mapping[str, Any]], bool] | None,
    design: Mapping[str, Any] | None,
) -> tuple[Grid, dict[str, Any], tuple[str, ...]]:
    """Return the grid, what a file says besides, and the files that were read."""
    if isinstance(base, str | PathLike):
        if axes is not None or together or leave_out or where or design:
            raise ScenarioError("bad-grid.axes-of-file", field="axes")
        file = load_grid(base, overrides)
        return file.grid, file.settings, file.files
    expect_scenario(base)
    if isinstance(axes, Grid):  # of our own verbs
        return axes, {}, base.files
    if overrides:
        raise ScenarioError("bad-grid.overrides", field="overrides")
    if where is not None and leave_out:
        raise ScenarioError("bad-grid.where", field="where")
    leaves: Any = leave_out if where is None else lambda values: not where(values)
    axes = {} if axes is None else axes
    grid = grid_of(base, axes, groups=together, leave_out=leaves, design=design)
    return grid, {}, base.files


def _engine_names(engine: object, ask: str) -> tuple[str, ...]:
    if engine is None:
        return _ENGINES.get(ask, ("simulation",))
    if isinstance(engine, str):
        return (engine,)
    if not isinstance(engine, list | tuple) or not engine:
        raise ScenarioError("bad-grid.engine", field="engine", value=engine)
    if len(engine) > 1 and ask != "compare":
        raise ScenarioError("bad-grid.engines", field="engine", engines=len(engine), ask=ask)
    return tuple(dict.fromkeys(map(str, engine)))


def _asked(ask: str, effort: Effort, seeds: range) -> Asked:
    """Return the question with the digest of all that decides its rows."""
    engine, budget = effort.engine, effort.budget
    if budget is not None and ask != "size":
        raise ScenarioError("bad-grid.budget", field="budget")
    if ask != "size":
        return Asked("run", engine, code_of(engine), effort.memory_limit)
    allowed = budget_seconds(engine, budget)
    how = f"{seeds} {allowed}" if engine == "simulation" else f"{seeds}"
    package = Path(__file__).resolve().parents[1]
    searching = (f for room in ("search", "laws") for f in (package / room).rglob("*.py"))
    code = f"size 3 {digest_of_files(searching)} {code_of(engine)} {how}"
    return Asked("size", engine, code, effort.memory_limit, allowed)


def size_priced(
    engine: Engine, scenario: Scenario, seeds: range, budget_s: float, effort: Effort
) -> SizeResult:
    """Size a link on one core, with a clock that counts predicted seconds.

    So the answer is the same on any machine.
    """
    timed = PredictedTime(engine)
    options = Options(
        seeds, 4 * len(seeds), effort, clock=timed.clock,
        budget_s=budget_s if engine.name == "simulation" else None,
    )  # fmt: skip
    return size_link(timed, scenario, options)


def refuse_network(scenario: Scenario) -> None:
    """Refuse a scenario of a network, whose links a study does not size."""
    if scenario.topology is not None:
        raise ScenarioError("contradiction.study-of-network", field="topology")


class _Temporary:
    """A folder that is removed with the result that keeps it."""

    def __init__(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="forebay-")
        self.path = Path(folder.name) / "store.sqlite"
        weakref.finalize(self, folder.cleanup)
