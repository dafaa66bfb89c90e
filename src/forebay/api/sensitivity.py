"""The verb `sensitivity`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.api.arguments import budget_seconds, get_engine, seed_range
from forebay.api.sweep import refuse_network, sweep
from forebay.outcome import Metric
from forebay.outcome.uncertain import Draw, Sensitivity, UncertainSize
from forebay.progress import Progress
from forebay.scenario import Scenario, ScenarioError, expect_scenario
from forebay.scenario.base import whole_number
from forebay.studies import sensitivity as study
from forebay.studies.columns import sized_of
from forebay.studies.grid import Design, drawn_grid
from forebay.studies.plan import SHORT_SIZING_S
from forebay.studies.sensitivity import METHODS
from forebay.studies.table import as_cell
from forebay.studies.uncertain import check_goals, uncertain_inputs, value_at
from forebay.studies.uncertain_size import draw_of, uncertain_size
from forebay.words import Fact, argument

if TYPE_CHECKING:
    from forebay.studies.sweep import Sweep


_CHEAP_S = 60.0
"""Predicted seconds up to which indices are made without being asked for."""
_MOST_DRAWS = 2**16


def sensitivity(
    scenario: Scenario,
    engine: str = "theory",
    *,
    change: float = 0.2,
    uncertain: Mapping[str, Any] | None = None,
    method: str | None = None,
    draws: int = 64,
    seeds: int = 5,
    seed: int = 1,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    jobs: int = 0,
    cluster: str | None = None,
    memory_limit: str | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Say which input moves the smallest buffer how much: rate, flows, round trips, load, mix.

    Each input is changed alone, which gives the elasticity of the answer. With method ``"sobol"``
    all are also changed together, which gives the share of the answer's variance that each makes
    alone and with the others. Every sizing is a cell of a `sweep`, whose other parameters these
    are.

    Parameters
    ----------
    engine : ``"theory"`` answers in seconds; ``"simulation"`` needs two sizings for each input.
    change : share by which an input is changed, down and up, above 0 and below 1.
    uncertain : ranges or distributions by path, as `size_uncertain` takes them, instead of `change`
        of every input. Alone, an input is then set to the values that 5 % and 95 % of it are below.
    method : ``"one-at-a-time"`` or ``"sobol"``. By default ``"sobol"`` if its sizings take up to a
        minute by prediction: there are ``draws * (inputs + 2)`` of them.
    draws : rows of Sobol's design, a power of 2.

    Returns
    -------
    Sensitivity
        For each input the packets below and above, the elasticity of the answer, and the indices;
        the strongest first. ``str()`` is a table.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; `change`, `method` or `draws` is refused; a range is.
    SizingError
        The scenario has no goal.

    >>> found = forebay.sensitivity(forebay.load("oc3-gsr"), method="one-at-a-time")
    >>> found.packets, found.method
    (128.0, 'one-at-a-time')
    """
    expect_scenario(scenario)
    refuse_network(scenario)
    get_engine(engine, memory_limit)
    _check_share("change", change, 0.2)
    if method is not None and method not in METHODS:
        raise ScenarioError(
            "unknown-name.method", field=argument("method"), value=method, known=", ".join(METHODS)
        )
    if whole_number("draws", draws, 8, _MOST_DRAWS) & (draws - 1):
        field, such = argument("draws"), 2 ** draws.bit_length()
        raise ScenarioError("out-of-range.draws", field=field, value=draws, such=such)
    ranges = study.inputs_of(scenario, change) if uncertain is None else uncertain
    inputs = uncertain_inputs(scenario, ranges)
    check_goals(scenario, inputs)
    ends = (0.0, 1.0) if uncertain is None else (0.05, 0.95)
    points = study.alone(scenario, inputs, ends)
    count, alone = len(inputs), len(points)
    sized = partial(
        sweep, scenario, engine=engine, ask="size", seeds=seeds, seed=seed, budget=budget,
        store=store, jobs=jobs, cluster=cluster, memory_limit=memory_limit, progress=progress,
    )  # fmt: skip
    names = [input_.field for input_ in inputs]
    each_s = SHORT_SIZING_S.get(engine) or budget_seconds(engine, budget)
    is_cheap = draws * (count + 2) * each_s <= _CHEAP_S
    is_sobol = method == "sobol" or (method is None and is_cheap)
    kind = sized_in(scenario, engine, names, points)
    if is_sobol and _answers(sized(drawn_grid(scenario, names, points[:1])), points[:1], kind)[0]:
        points += study.sobol_points(inputs, draws, seed)
        sized_in(scenario, engine, names, points)
    runs = sized(drawn_grid(scenario, names, points), announce=announce)
    packets = _answers(runs, points, kind)
    indices: dict[str, tuple[Metric, Metric]] = {}
    kept = asked = 0
    if len(points) > alone:
        (indices, kept), asked = study.indices_of(inputs, packets[alone:], draws), draws
    return Sensitivity(
        engine=engine, packets=packets[0], change=change if uncertain is None else None,
        influences=study.influences_of(inputs, ends, points[0], packets[:alone], indices),
        method="sobol" if asked else "one-at-a-time", draws=kept, asked_draws=asked,
        reason=_reason(runs, packets[0]), sized=kind,
    )  # fmt: skip


def _answers(runs: Sweep, points: Sequence[tuple[Any, ...]], kind: str) -> list[float | None]:
    means = runs.means(f"{kind}.packets")
    return [means.get(tuple(map(as_cell, point))) for point in points]


def _reason(runs: Sweep, packets: float | None) -> str | Fact | None:
    """Return why the scenario as it is has no answer."""
    if packets is not None:
        return None
    said = [text.partition(": ")[2] for text in [*runs.failures, *runs.refused]]
    return next(iter(said), Fact("sensitivity.no-answer"))


def _check_share(name: str, share: float, such: float) -> None:
    if not isinstance(share, Real) or not 0.0 < share < 1.0:
        raise ScenarioError("out-of-range.share-of-1", field=name, value=share, such=such)


BUDGET = "10 min"


def size_uncertain(
    scenario: Scenario,
    uncertain: Mapping[str, Any],
    engine: str = "simulation",
    *,
    holds: float = 0.95,
    draws: int = 128,
    seeds: int = 5,
    seed: int = 1,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    jobs: int = 0,
    cluster: str | None = None,
    memory_limit: str | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> UncertainSize:
    """Find the smallest buffer that meets the goals in 95 % of what the inputs may be.

    Each draw is a scenario with values of all inputs together (Sobol's points), and is sized as a
    cell of a `sweep`, whose other parameters these are. A draw in which no buffer meets the goals,
    or that has no answer, counts as one in which the size does not hold.

    Parameters
    ----------
    uncertain : a range or a distribution for each dotted path. A range is ``"100..400"``,
        ``"80 ms..120 ms"`` or, of what the scenario has, ``"±30%"``. A list has values that are
        equally likely. A table has one of ``linear`` and ``log`` (two ends), ``normal`` (mean and
        standard deviation, cut at 0), ``lognormal`` (median, and the factor of a standard
        deviation), ``triangular`` (least, likeliest, largest), ``scaled`` (two factors of what the
        scenario has), and ``values`` (with ``shares``). ``"traffic.0.congestion_control.bbr":
        "0..0.5"`` gives a share of the flows that control, and the others keep their ratios.
    holds : share of the draws in which the size must meet the goals, above 0 and below 1.
    draws : number of draws. To show 95 % takes 72.
    seeds : replications of every buffer tried in a draw.
    budget : time on one core of the reference machine for all draws together, ``"10 min"`` by
        default: each draw has its part. It is counted in predicted packets, so that the answer does
        not depend on the machine.

    Returns
    -------
    UncertainSize
        The size with its interval, the share of draws in which it holds, which input moves it how
        much, and every draw. ``str()`` is a table, ``figure()`` a picture.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; a path, a range, `holds` or `draws` is refused.
    SizingError
        The scenario has no goal.

    >>> flows = {"traffic.0.flows": "100..400"}
    >>> link = forebay.load("oc3-gsr")
    >>> forebay.size_uncertain(link, flows, "theory", holds=0.5, draws=8).buffer.packets
    77
    """
    expect_scenario(scenario)
    refuse_network(scenario)
    get_engine(engine, memory_limit)
    _check_share("holds", holds, 0.95)
    whole_number("draws", draws, 8, _MOST_DRAWS)
    seed_range(seed, seeds)
    inputs = uncertain_inputs(scenario, uncertain)
    check_goals(scenario, inputs)
    shares: list[list[float]] = Design("sobol", draws, seed).shares(len(inputs)).tolist()
    points = [
        tuple(input_.at(share) for input_, share in zip(inputs, row, strict=True)) for row in shares
    ]
    written = tuple(value_at(scenario, input_.field) for input_ in inputs)
    names = [input_.field for input_ in inputs]
    sized = sized_in(scenario, engine, names, points)
    if engine == "simulation":  # each draw has its part of the budget
        whole = BUDGET if budget is None else budget
        budget = f"{budget_seconds(engine, whole) / draws:.6g} s"
    runs = sweep(
        scenario, drawn_grid(scenario, names, [written, *points]), engine=engine, ask="size",
        seeds=seeds, seed=seed, budget=budget, store=store, jobs=jobs, cluster=cluster,
        memory_limit=memory_limit, announce=announce, progress=progress,
    )  # fmt: skip
    as_written, *rest = _draws(runs, [written, *points], sized)
    numbers = np.array(
        [[input_.number(u) for input_, u in zip(inputs, row, strict=True)] for row in shares]
    )
    base = as_written.least, float(scenario.packet)
    return uncertain_size((scenario.name, engine, sized), holds, inputs, rest, numbers, base)


def sized_in(
    scenario: Scenario, engine: str, names: Sequence[str], points: Sequence[tuple[Any, ...]]
) -> str:
    """Return what all draws size. Raises ScenarioError if that is a buffer here and a target there.

    The scenario as it is counts too.
    """
    queues = {
        repr(part): part
        for point in points
        if (part := {n: v for n, v in zip(names, point, strict=True) if n.startswith("queue")})
    }
    kinds = {sized_of(scenario, engine)}
    kinds |= {sized_of(scenario.replace(part), engine) for part in queues.values()}
    if len(kinds) > 1:
        one, other, *_ = sorted(kinds)
        field = "queue.discipline"
        raise ScenarioError("contradiction.two-sized", field=field, one=one, other=other)
    return kinds.pop()


def _draws(runs: Sweep, points: Sequence[tuple[Any, ...]], sized: str) -> list[Draw]:
    names = runs.columns[: len(points[0])]
    rows = {tuple(row[name] for name in names): row for row in runs.rows()}
    why = next(iter([*runs.failures, *runs.refused]), Fact("sensitivity.not-run"))
    if "budget" in str(why):
        why = Fact("sensitivity.part-of-budget", why=why, draws=len(points) - 1)
    return [draw_of(point, rows.get(tuple(map(as_cell, point))), why, sized) for point in points]
