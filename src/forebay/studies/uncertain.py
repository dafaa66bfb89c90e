"""Inputs that are known only as a range or a distribution, and the value at each share of one."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import fsum, log
from typing import Any

import scipy

from forebay.scenario import Duration, Scenario, ScenarioError
from forebay.scenario.base import without_numpy
from forebay.scenario.overrides import blames, index_in
from forebay.scenario.quantity import parse_amount, plain
from forebay.search.goals import goals_of
from forebay.studies.errors import unknown_key
from forebay.studies.grid import Range, range_of, read_range, refuse_unknown
from forebay.words import Fact, argument

_KINDS = ("rate", "time", "size", "packets")
_NO_AMOUNT = ("shares", "shape")
"""Keys of a distribution whose numbers say its form."""


def scaled(value: Any, factor: float) -> Any:
    """Return a written value with every amount in it scaled; whole numbers stay whole."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return max(1, round(factor * value)) if value else 0
    if isinstance(value, float):
        return factor * value
    if isinstance(value, list):
        return [scaled(part, factor) for part in value]
    if isinstance(value, dict):
        return {
            name: part if name in _NO_AMOUNT else scaled(part, factor)
            for name, part in value.items()
        }
    return _text(value, factor)


def _text(value: str, factor: float) -> str:
    first, dots, last = value.partition("..")
    if dots and first.strip().isdigit() and last.strip().isdigit():  # flows, from … to …
        return f"{scaled(int(first), factor)}..{scaled(int(last), factor)}"
    try:
        amount, kind = parse_amount(value, _KINDS, "10 ms")
    except ScenarioError:
        return value  # a name
    number = float(amount) * factor
    if kind == "time":
        return str(Duration(float(f"{number:.9g}")))
    if kind == "packets":
        return f"{max(1, round(number))} packets"
    if kind == "size":
        return f"{round(number / 8)} B"
    return f"{plain(Decimal(f'{number:.9g}'))} bit/s"


FORMS = ("linear", "log", "normal", "lognormal", "triangular", "scaled", "values")
WRITE = Fact("bad-grid.write-uncertain", forms=", ".join(FORMS))
_SPAN = re.compile(r"\s*(.+?)\s*(?<!\.)\.\.(?!\.)\s*(.+?)\s*")
_PERCENT = re.compile(r"\s*(?:±|\+-|\+/-)\s*([0-9.]+)\s*%\s*")
_INSIDE = 1.0 - 2.0**-20
"""A distribution without an end is not asked for its last value."""
_CONTROL = ".congestion_control."
_PLACE = argument("uncertain")
At = Callable[[float], Any]


@dataclass(frozen=True, slots=True)
class Uncertain:
    """An input that is not known.

    Attributes
    ----------
    path : of the input as it was named, such as "traffic.0.congestion_control.bbr".
    field : of the field that is replaced: the whole table, for a share of one.
    said : its range or distribution.
    at : the field's value at a share of the distribution, 0 to 1.
    number : the same as a number, in the unit of the range or as a factor; a place in a list.
    word : such a number in words, such as "120 ms" or "0.8 times".
    is_list : whether the input is one of some values.
    """

    path: str
    field: str
    said: Fact
    at: At
    number: Callable[[float], float]
    word: Callable[[float], str]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class _Spread:
    """A distribution by its quantiles, and how a number of it is written."""

    said: Fact
    quantile: Callable[[float], float]
    written: At
    is_list: bool = False
    is_factor: bool = False

    def word(self, number: float) -> str:
        """Return a number of it in words."""
        short = float(f"{number:.3g}")
        if self.is_factor:
            return str(Fact("uncertain.times", factor=short))
        return _in_short(self.written(short))


def uncertain_inputs(scenario: Scenario, given: Mapping[str, Any]) -> list[Uncertain]:
    """Read every input, and check both ends of each with all others as the scenario has them.

    Raises ScenarioError: a path, a range or a value that is refused.

    ``given``: a range or a distribution by dotted path; see `forebay.size_uncertain`.
    """
    if not isinstance(given, Mapping) or not given:
        raise ScenarioError("bad-grid.no-input", field=_PLACE, value=given)
    try:
        inputs = [_input(scenario, str(path), form) for path, form in given.items()]
        fields = [input_.field for input_ in inputs]
        for input_ in inputs:
            if fields.count(input_.field) > 1:
                twice = input_.field
                raise ScenarioError("bad-grid.uncertain-twice", field=input_.path, name=twice)
            _check(scenario, input_)
    except ScenarioError as error:
        raise error.but(file=error.parts["file"] or _PLACE) from None
    return inputs


def check_goals(scenario: Scenario, inputs: Sequence[Uncertain]) -> None:
    """Raise NoGoals if no draw can have a goal."""
    if not any(input_.field.startswith("goals") for input_ in inputs):
        goals_of(scenario)


def _check(scenario: Scenario, input_: Uncertain) -> None:
    for share in (0.0, _INSIDE):
        value = input_.at(share)
        try:
            scenario.replace({input_.field: value})
        except ScenarioError as error:
            if blames([input_.field], error.field):
                raise error.at("") from None
            # of another field, which the value moves
            value = input_.word(input_.number(share))
            raise error.but(file=Fact("uncertain.there", path=input_.path, value=value)) from None


def _input(scenario: Scenario, path: str, form: object) -> Uncertain:
    refuse_unknown(scenario, path, _PLACE)
    known = value_at(scenario, path)
    spread = _spread(path, without_numpy(form), known)
    if _CONTROL in path:
        return _share_of_a_class(scenario, path, spread)
    mean = _mean_at(scenario, path)
    if mean and isinstance(known, Mapping) and not (spread.is_list or spread.is_factor):
        return _mean_of(path, spread, known, mean)

    def at(share: float) -> Any:
        return spread.written(spread.quantile(share))

    return Uncertain(path, path, spread.said, at, spread.quantile, spread.word, spread.is_list)


def _share_of_a_class(scenario: Scenario, path: str, spread: _Spread) -> Uncertain:
    """Return the share of a class that one congestion control has."""
    field, _, name = path.rpartition(".")
    others = _others(path, value_at(scenario, field), name)

    def at(share: float) -> Any:
        return _with_share(path, others, name, spread.written(spread.quantile(share)))

    return Uncertain(path, field, spread.said, at, spread.quantile, spread.word)


def _mean_of(path: str, spread: _Spread, known: Any, mean: float) -> Uncertain:
    """Return a distribution whose mean is uncertain, and whose relative spread is not.

    With one value for all flows in its place their windows could synchronize.
    """

    def at(share: float) -> Any:
        drawn = Duration.parse_argument(path, spread.written(spread.quantile(share)))
        return scaled(known, float(drawn) / mean)

    said = Fact("uncertain.mean", mean=spread.said, known=_in_short(known))
    return Uncertain(path, path, said, at, spread.quantile, spread.word)


def _mean_at(scenario: Scenario, path: str) -> float | None:
    """Return the mean of a distribution of times, seconds; None of anything else."""
    node: Any = scenario
    for part in path.split("."):
        if isinstance(node, tuple):
            node = node[int(part)] if part.isdigit() and int(part) < len(node) else None
        else:
            node = getattr(node, part, None)
    mean = getattr(node, "mean", None)
    return float(mean) if isinstance(mean, Duration) else None


def value_at(scenario: Scenario, path: str) -> Any:
    """Return the value of a field as the scenario has it; None where nobody wrote it."""
    node: Any = scenario.to_dict()
    parts = path.split(".")
    for depth, part in enumerate(parts):
        if isinstance(node, list):
            node = node[index_in(part, node, ".".join(parts[:depth]))]
        else:
            node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _others(path: str, known: Any, name: str) -> dict[str, float]:
    """Return the other controls of a class with their shares."""
    shares = {known: 1.0} if isinstance(known, str) else dict(known or {})
    others = {other: share for other, share in shares.items() if other != name}
    if not others:
        raise ScenarioError("bad-grid.every-flow", field=path, name=name)
    whole = fsum(others.values())
    return {other: share / whole for other, share in others.items()}


def _with_share(path: str, others: Mapping[str, float], name: str, share: Any) -> Any:
    if not isinstance(share, int | float) or not 0.0 <= share <= 1.0:
        raise ScenarioError("bad-grid.no-share", field=path, value=share)
    if share in (0.0, 1.0):
        return name if share else dict(others)
    return {other: (1.0 - share) * part for other, part in others.items()} | {name: share}


def _spread(path: str, form: object, known: Any) -> _Spread:
    if isinstance(form, str):
        return _of_text(path, form, known)
    if isinstance(form, list | tuple):
        return _of_values(path, form, None)
    if not isinstance(form, Mapping):
        raise ScenarioError("bad-grid.no-spread", hint=WRITE, field=path, value=form)
    names = [name for name in FORMS if name in form]
    for key in form:
        if key not in FORMS and key != "shares":
            raise unknown_key(path, str(key), FORMS)
    if len(names) != 1 or ("shares" in form and names != ["values"]):
        raise ScenarioError("bad-grid.no-distribution", hint=WRITE, field=path, value=form)
    parts = form[names[0]]
    if names[0] == "values":
        return _of_values(path, parts, form.get("shares"))
    return _of_numbers(path, names[0], parts, known)


def _of_text(path: str, form: str, known: Any) -> _Spread:
    if percent := _PERCENT.fullmatch(form):
        part = float(percent[1]) / 100.0
        if not 0.0 < part < 1.0:
            raise ScenarioError("bad-grid.no-spread", field=path, value=form)
        return _of_numbers(path, "scaled", [1.0 - part, 1.0 + part], known)
    span = _SPAN.fullmatch(form)
    if span is None:
        raise ScenarioError("bad-grid.no-spread", hint=WRITE, field=path, value=form)
    return _of_numbers(path, "linear", [_plain(span[1]), _plain(span[2])], known)


def _plain(text: str) -> Any:
    """Return the end of a range as a number, or as text with its unit."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _of_values(path: str, values: object, shares: object) -> _Spread:
    if not isinstance(values, list | tuple) or len(values) < 2:
        raise ScenarioError("bad-grid.no-list", field=path, value=values)
    count = len(values)
    parts = [1.0 / count] * count if shares is None else shares
    if not isinstance(parts, list | tuple) or len(parts) != count or not all(map(_is_part, parts)):
        raise ScenarioError("bad-grid.shares", field=f"{path}.shares", value=shares, count=count)
    ends = [fsum(parts[: at + 1]) / fsum(parts) for at in range(count)]

    def place(share: float) -> float:
        return float(next((at for at, end in enumerate(ends) if share < end), count - 1))

    said = Fact("uncertain.one-of", values=", ".join(map(str, values)))
    return _Spread(said, place, lambda number: values[round(number)], True)


def _is_part(share: object) -> bool:
    return isinstance(share, int | float) and share > 0.0


def _of_numbers(path: str, form: str, parts: object, known: Any) -> _Spread:
    count = 3 if form == "triangular" else 2
    if not isinstance(parts, list | tuple) or len(parts) != count:
        raise ScenarioError("bad-grid.parts", field=f"{path}.{form}", value=parts, count=count)
    if form == "scaled":
        return _of_factor(path, parts, known)
    if form in ("linear", "log"):
        span = read_range(path, {form: list(parts)}, sampled=True)
        return _Spread(_said(form, parts), span.number, span.written)
    if form == "lognormal":
        return _lognormal(path, parts)
    ranges = [range_of(path, (parts[0], part)) for part in parts[1:]]
    return _normal(path, parts, ranges[0]) if form == "normal" else _triangular(path, parts, ranges)


def _said(form: str, parts: Sequence[Any]) -> Fact:
    if form in ("linear", "log"):
        return Fact("uncertain.range", first=parts[0], last=parts[1], log=form == "log")
    return Fact("uncertain.form", form=form, parts=", ".join(map(str, parts)))


def _of_factor(path: str, parts: Sequence[Any], known: Any) -> _Spread:
    low, high = (float(p) if isinstance(p, int | float) else 0.0 for p in parts)
    if not 0.0 < low < high:
        raise ScenarioError("bad-grid.no-factors", field=path, value=list(parts))
    if known is None or scaled(known, 2.0) == known:
        raise ScenarioError("bad-grid.not-scaled", field=path, value=known)

    def quantile(share: float) -> float:
        return low + share * (high - low)

    said = Fact("uncertain.factor", low=low, high=high, known=_in_short(known))
    return _Spread(said, quantile, lambda factor: scaled(known, factor), is_factor=True)


def _in_short(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(f"{name} {_in_short(part)}" for name, part in value.items())


def _normal(path: str, parts: Sequence[Any], span: Range) -> _Spread:
    """Return a normal distribution without what is not above 0."""
    mean, deviation = span.low, span.high
    if mean <= 0.0 or deviation <= 0.0:
        raise ScenarioError("bad-grid.normal", field=f"{path}.normal", value=list(parts))
    least = -mean / deviation
    drawn = scipy.stats.truncnorm(least, float("inf"), loc=mean, scale=deviation)
    return _Spread(_said("normal", parts), _open_ended(drawn.ppf), _from_one(span))


def _lognormal(path: str, parts: Sequence[Any]) -> _Spread:
    """Return a lognormal distribution by its median, and the factor of a standard deviation."""
    span, factor = range_of(path, (parts[0], parts[0])), parts[1]
    if span.low <= 0.0 or not isinstance(factor, int | float) or factor <= 1.0:
        raise ScenarioError("bad-grid.lognormal", field=f"{path}.lognormal", value=list(parts))
    drawn = scipy.stats.lognorm(log(factor), scale=span.low)
    return _Spread(_said("lognormal", parts), _open_ended(drawn.ppf), _from_one(span))


def _triangular(path: str, parts: Sequence[Any], ranges: Sequence[Range]) -> _Spread:
    """Return a triangular distribution by its least, likeliest and largest value."""
    low, likely, high = ranges[0].low, ranges[0].high, ranges[1].high
    if not low <= likely <= high or low == high:
        raise ScenarioError("bad-grid.triangular", field=f"{path}.triangular", value=list(parts))
    drawn = scipy.stats.triang((likely - low) / (high - low), loc=low, scale=high - low)
    return _Spread(_said("triangular", parts), lambda u: float(drawn.ppf(u)), ranges[0].written)


def _from_one(span: Range) -> At:
    """Return how a number is written; a whole one is at least 1."""
    least = 1.0 if span.kind == "whole" else 0.0
    return lambda number: span.written(max(least, number))


def _open_ended(quantile: Callable[[float], Any]) -> Callable[[float], float]:
    return lambda share: float(quantile(min(max(share, 1.0 - _INSIDE), _INSIDE)))
