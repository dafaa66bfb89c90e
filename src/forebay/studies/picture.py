"""The picture of a study as data: curves over an axis, or a map over two."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from forebay.outcome import Metric
from forebay.outcome.study import Curve, StudyPanel, StudyPicture
from forebay.scenario.errors import ScenarioError, did_you_mean
from forebay.store import Store
from forebay.studies.columns import BySeed, columns_of, may_be_column
from forebay.studies.leave_out import amount
from forebay.studies.plan import Plan
from forebay.studies.summary import Key, mean_over, stored_of
from forebay.words import argument

_LOG_RATIO = 7.0
"""An axis whose ends are farther apart, and all above 0, is logarithmic."""
_UNITS = {"rate": ("Mbit/s", 1e6), "time": ("ms", 1e-3), "size": ("kB", 8e3)}
_GOALS = ("utilization", "loss_rate")

Means = dict[Key, Metric]


@dataclass(frozen=True, slots=True)
class _Scale:
    """An axis of the picture: the place of each value, and words where it is no number."""

    label: str
    places: dict[Any, float]
    ticks: tuple[str, ...]
    log: bool


Roles = Mapping[str, str | None]
"""What is asked to be drawn as x, y, colour and facet; None, as what is missing, is any."""


def picture(plan: Plan, store: Store, roles: Roles) -> StudyPicture:
    """Return the picture. Raises ScenarioError for an axis or metric that does not exist."""
    axes, is_map, chosen, named = check_roles(plan, roles)
    data = stored_of(plan, store)
    known = {name: None for _, seen in data for row in seen.values() for name in row}
    usual = (named,) if named else columns_of(plan.asked[0].ask, (seen for _, seen in data))
    shown, facet = [name for name in usual if name in known], chosen["facet"]
    if not known:
        raise ScenarioError("bad-grid.nothing-stored", field=argument("y"))
    if not shown:
        raise _no_metric(usual[0], known, "y")
    # A size says little without what it uses and loses.
    many = 3 if plan.asked[0].ask == "size" and facet is None and not is_map else 1
    panels = []
    for value, metric in product(_values(data, axes, facet), shown[:many]):
        some = [cell for cell in data if facet is None or cell[0][axes.index(facet)] == value]
        title = "" if facet is None else f"{_short(facet)} = {value}"
        draw = _map if is_map else _curves
        panels.append(draw(plan, some, axes, chosen, metric, title))
    drawn = [axes.index(name) for name in chosen.values() if name is not None]
    over = [] if plan.grid.design is not None and not is_map else _averaged(data, axes, drawn)
    said = f"\nmean over {', '.join(map(_short, over))}" if over else ""
    return StudyPicture(plan.grid.base.name + said, tuple(panels))


def check_roles(
    plan: Plan, roles: Roles
) -> tuple[Sequence[str], bool, dict[str, str | None], str | None]:
    """Return all axes, whether it is a map, which axis is drawn how, and the metric that was named.

    Raises ScenarioError for an axis that does not exist, or a metric that no run has.
    """
    axes, roles = plan.names, {**dict.fromkeys(("x", "y", "colour", "facet")), **roles}
    is_map = roles["y"] in axes
    metric = "colour" if is_map else "y"
    chosen = _roles(axes, _free(plan, axes, roles["x"]), {**roles, metric: None})
    named = roles[metric]
    if named is not None and not may_be_column(plan.asked[0].ask, named):
        usual = [*columns_of(plan.asked[0].ask, ()), *axes]
        raise _no_metric(named, usual, metric)
    return axes, is_map, chosen, named


def _no_metric(name: str, known: Iterable[str], field: str) -> ScenarioError:
    guess = did_you_mean(name, list(known))
    return ScenarioError("bad-grid.metric", field=argument(field), value=name, guess=guess)


def _averaged(
    data: Sequence[tuple[Key, BySeed]], axes: Sequence[str], drawn: Sequence[int]
) -> list[str]:
    """Return the axes that are not drawn, and of which a point has several values."""
    seen: dict[tuple[int, Key], set[Any]] = {}
    for key, _ in data:
        point = tuple(key[at] for at in drawn)
        for at in set(range(len(axes))).difference(drawn):
            seen.setdefault((at, point), set()).add(key[at])
    several = {at for (at, _), values in seen.items() if len(values) > 1}
    return [axes[at] for at in sorted(several)]


def _free(plan: Plan, axes: Sequence[str], x: str | None) -> list[str]:
    """Return the axes that are drawn unless named: the first field of those that go together.

    Points of a design share no value of an axis, so beside x only engines stand apart.
    """
    first = [axis.names[0] for axis in plan.grid.axes]
    if plan.grid.design is not None:
        first = [] if x is not None else first[:1]
    return [*first, *axes[len(plan.grid.names) :]]


def _roles(
    axes: Sequence[str], free: Sequence[str], named: dict[str, str | None]
) -> dict[str, str | None]:
    """Return which axis is drawn how; the free ones that nobody named are taken in their order."""
    for role, name in named.items():
        if name is not None and name not in axes:
            guess, known = did_you_mean(name, axes), ", ".join(axes)
            raise ScenarioError("bad-grid.axis", field=role, value=name, guess=guess, known=known)
    rest = [name for name in free if name not in named.values()]
    for role in ("x", "facet") if named["y"] is not None else ("x", "colour", "facet"):
        if named[role] is None and rest:
            named[role] = rest.pop(0)
    if named["x"] is None:
        raise ScenarioError("bad-grid.no-axis-left", field=argument("x"))
    return named


def _values(data: Sequence[tuple[Key, BySeed]], axes: Sequence[str], name: str | None) -> list[Any]:
    if name is None:
        return [None]
    at = axes.index(name)
    return list(dict.fromkeys(key[at] for key, _ in data))


def _pooled(data: Sequence[tuple[Key, BySeed]], key_of: Callable[[Key], Key], metric: str) -> Means:
    """Return means by a part of the key, over seeds and over the axes that are not drawn."""
    pooled: dict[Key, list[BySeed]] = {}
    for key, seen in data:
        pooled.setdefault(key_of(key), []).append(seen)
    means = {key: mean_over(cells, metric) for key, cells in pooled.items()}
    return {key: mean for key, mean in means.items() if mean is not None}


def _curves(
    plan: Plan,
    data: Sequence[tuple[Key, BySeed]],
    axes: Sequence[str],
    chosen: dict[str, str | None],
    metric: str,
    title: str,
) -> StudyPanel:
    x, colour = chosen["x"] or "", chosen["colour"]
    at_x, at_c = axes.index(x), None if colour is None else axes.index(colour)
    joined = plan.grid.design is None  # each point of a design stands alone
    means = _pooled(
        data, lambda k: (k[at_x], None if at_c is None else k[at_c], () if joined else k), metric
    )
    scale = _scale(x, _values(data, axes, x))
    factor, label = _written(metric)
    curves = []
    for value in _values(data, axes, colour):
        pairs = (
            (scale.places[x_value], mean.scaled(factor))
            for (x_value, c, _), mean in means.items() if c == value
        )  # fmt: skip
        points = sorted(pairs, key=lambda pair: pair[0])
        name = "" if colour is None else f"{_short(colour)} = {value}"
        curves.append(Curve(name, tuple(p for p, _ in points), tuple(m for _, m in points), joined))
    log = "x" if scale.log else ""
    return StudyPanel(title, scale.label, label, tuple(curves), scale.ticks, log)


def _map(
    plan: Plan,
    data: Sequence[tuple[Key, BySeed]],
    axes: Sequence[str],
    chosen: dict[str, str | None],
    metric: str,
    title: str,
) -> StudyPanel:
    x, y = chosen["x"] or "", chosen["y"] or ""
    at_x, at_y = axes.index(x), axes.index(y)
    means = _pooled(data, lambda k: (k[at_x], k[at_y]), metric)
    wide, high = (_scale(name, _values(data, axes, name)) for name in (x, y))
    factor, label = _written(metric)
    xs, ys = (sorted(scale.places, key=scale.places.__getitem__) for scale in (wide, high))
    values = tuple(
        tuple(factor * means[a, b].value if (a, b) in means else math.nan for a in xs) for b in ys
    )
    name = metric.rpartition(".")[2] if metric.startswith("link.") else ""
    goal = getattr(plan.grid.base.goals, name, None) if name in _GOALS else None
    return StudyPanel(
        title, wide.label, high.label, ticks=wide.ticks, y_ticks=high.ticks,
        log=("x" if wide.log else "") + ("y" if high.log else ""),
        map_x=tuple(wide.places[a] for a in xs), map_y=tuple(high.places[b] for b in ys),
        map_values=values, map_label=label,
        contour=factor * float(goal) if isinstance(goal, int | float) else None,
    )  # fmt: skip


def _scale(name: str, values: Sequence[Any]) -> _Scale:
    """Return the places of an axis's values; those that are no amounts of one kind stand apart."""
    try:
        amounts = [amount(value) for value in values]
    except ScenarioError:
        amounts = []
    kinds = {kind for kind, _ in amounts}
    if len(kinds) != 1:
        places = {value: float(at) for at, value in enumerate(values)}
        return _Scale(_short(name), places, tuple(map(str, values)), False)
    unit, size = _UNITS.get(kinds.pop(), ("", 1.0))
    numbers = [number / size for _, number in amounts]
    if not unit and isinstance(values[0], str):
        unit = values[0].strip().lstrip("+-.0123456789eE").strip()
    log = min(numbers) > 0 and max(numbers) > _LOG_RATIO * min(numbers)
    label = f"{_short(name)}, {unit}" if unit else _short(name)
    return _Scale(label, dict(zip(values, numbers, strict=True)), (), log)


def _written(metric: str) -> tuple[float, str]:
    """Return the factor and the label of a metric."""
    name = metric.removeprefix("link.bottleneck.")
    if name.endswith(("utilization", "loss_rate")):
        return 100.0, f"{name}, %"
    if "_bps" in name:
        return 1e-6, f"{name.replace('_bps', '')}, Mbit/s"
    if "_s." in f"{name}.":
        return 1e3, f"{name.replace('_s.', ' ').removesuffix('_s')}, ms"
    return 1.0, name


def _short(name: str) -> str:
    """Return a path without the index of its class: "queue.size", "flows"."""
    return name.rpartition(".")[2] if name.startswith("traffic.") else name
