"""Distributions as a scenario file writes them: text, or a table named after the law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import erf, exp, log, sqrt
from typing import Any

from forebay.scenario import exact_forms, truncated
from forebay.scenario.distribution import Distribution
from forebay.scenario.errors import ScenarioError, nearest, show
from forebay.scenario.quantity import NUMBER_PATTERN, Duration
from forebay.scenario.shares import parse_shares
from forebay.scenario.table import number, relative, table

_WRITE = 'write "100 ms" or { uniform = ["80 ms", "120 ms"] }'
_LEAST_KEPT = 1e-3
_MOST_VALUES = 10_000


def parse(value: object) -> Distribution:
    """Read text, or a table with one law. Raises ScenarioError."""
    if isinstance(value, Distribution):
        return value
    if not isinstance(value, Mapping):
        return Distribution.constant(_alone(value))
    law = next((name for name in _READERS if name in value), None)
    extra = [key for key in value if key != law and (law, key) != ("values", "shares")]
    if law is None:
        raise _unknown(extra)
    if extra:
        raise _too_much(law, extra)
    try:
        return _READERS[law](value[law], value)
    except ScenarioError as error:
        raise error.at("", "" if error.field.split(".")[0] in ("shares", law) else law) from None


def written(law: Distribution) -> str | dict[str, Any]:
    """Return the form that a scenario file holds; every end is written out."""
    low, high = str(law.low), str(law.high)
    match law.kind:
        case "constant":
            return low
        case "uniform":
            return {"uniform": [low, high]}
        case "exponential":
            return {"exponential": {"mean": str(law.center), "low": low, "high": high}}
        case "pareto":
            return {"pareto": {"mean": str(law.center), "shape": law.shape, "high": high}}
        case "values":
            return {"values": [str(v) for v in law.values], "shares": list(law.shares)}
        case kind:
            spread = {"mean": str(law.center), "deviation": str(law.deviation)}
            return {kind: spread | {"low": low, "high": high}}


def json_schema() -> dict[str, Any]:
    """Return the schema of all forms."""
    one = {"type": "string", "pattern": NUMBER_PATTERN, "x-unit": "s"}
    shape = {"type": "number", "exclusiveMinimum": 0}
    ends = {"low": one, "high": one}
    spread = _object({"mean": one, "deviation": one} | ends, "mean", "deviation")
    share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    laws: list[dict[str, Any]] = [
        {"uniform": {"type": "array", "items": one, "minItems": 2, "maxItems": 2}},
        {"exponential": {"anyOf": [one, _object({"mean": one} | ends, "mean")]}},
        {"normal": spread},
        {"lognormal": spread},
        {"pareto": _object({"mean": one, "shape": shape, "high": one}, "mean", "shape", "high")},
    ]
    values = {"type": "array", "items": one, "minItems": 1}
    listed = _object({"values": values, "shares": {"type": "array", "items": share}}, "values")
    return {"anyOf": [one, *(_object(law, *law) for law in laws), listed]}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _alone(value: object) -> Duration:
    try:
        return Duration.parse(value)
    except ScenarioError:
        _refuse_range(value)
        raise


def _refuse_range(value: object) -> None:
    """Refuse "10-180 ms" and ["10 ms", "180 ms"], with the table that says it."""
    two = value if isinstance(value, list | tuple) and len(value) == 2 else exact_forms.span(value)
    if two and all(isinstance(end, str) for end in two):
        hint = f'write {{ uniform = ["{two[0]}", "{two[1]}"] }}'
        wrong = f"{show(value)} does not say how values lie between its ends"
        raise ScenarioError("wrong-type", wrong, hint, value=value)


def _too_much(law: str, keys: list[Any]) -> ScenarioError:
    """Complain of what stands beside a law: another law, or what belongs into its own table."""
    names = ", ".join(show(key) for key in keys)
    hint = f"write one law, or what belongs to it into its own table: {{ {law} = {{ … }} }}"
    if any(key in _READERS for key in keys):
        hint = "write one law only"
    wrong = f"{names} beside {show(law)}"
    return ScenarioError("unknown-key", wrong, hint)


def _unknown(keys: list[Any]) -> ScenarioError:
    names = ", ".join(show(key) for key in keys) or "nothing"
    guess = nearest(str(keys[0]), _READERS) if keys else None
    meant = f' (did you mean "{guess}"?)' if guess else ""
    hint = f"{_WRITE}; known are {', '.join(_READERS)}"
    return ScenarioError("unknown-key", f"a distribution of {names}{meant}", hint)


def _uniform(value: Any, whole: Mapping[str, Any]) -> Distribution:
    if not isinstance(value, list | tuple) or len(value) != 2:
        _refuse_range(value)
        raise ScenarioError("wrong-type", "uniform needs its two ends", _WRITE, value=value)
    low, high = (_at(value, index) for index in (0, 1))
    if low > high:
        wrong, hint = f"{low} is above {high}", "write the smaller end first"
        raise ScenarioError("out-of-range", wrong, hint, value=value)
    return Distribution.uniform(low, high)


def _exponential(value: Any, whole: Mapping[str, Any]) -> Distribution:
    if not isinstance(value, Mapping):
        return Distribution.exponential(_positive({"mean": value}, "mean"))
    cells = table(value, ("mean",), ("low", "high"))
    mean = _positive(cells, "mean")
    low, high = _ends(cells, 0.0, 40 * mean)
    kept = 1.0 if high - low > mean else (high - low) / mean
    return _kept(Distribution("exponential", low, high, mean), kept)


def _normal(value: Any, whole: Mapping[str, Any]) -> Distribution:
    """Cut at four standard deviations where no ends are given, and never below zero."""
    mean, deviation, cells = _spread(value)
    low, high = _ends(cells, max(0.0, mean - 4 * deviation), mean + 4 * deviation)
    a, b = ((x - mean) / deviation / sqrt(2) for x in (low, high))
    return _kept(Distribution("normal", low, high, mean, deviation), (erf(b) - erf(a)) / 2)


def _lognormal(value: Any, whole: Mapping[str, Any]) -> Distribution:
    """Cut at six standard deviations of the logarithm where no ends are given."""
    mean, deviation, cells = _spread(value)
    sigma = truncated.lognormal_sigma(mean, deviation)
    median = truncated.lognormal_median(mean, deviation)
    ends = median * exp(-6 * sigma), median * exp(6 * sigma)
    low, high = _ends(cells, *ends)
    a, b = (log(max(x, 1e-300) / median) / sigma / sqrt(2) for x in (low, high))
    return _kept(Distribution("lognormal", low, high, mean, deviation), (erf(b) - erf(a)) / 2)


def _pareto(value: Any, whole: Mapping[str, Any]) -> Distribution:
    """The law begins where its mean, cut at ``high``, is the mean asked for."""
    cells = table(value, ("mean", "shape", "high"))
    mean, high = _positive(cells, "mean"), _positive(cells, "high")
    shape = number(cells, "shape", 0.1, 100.0)
    if mean >= high:
        wrong = f"{mean} is not below high, {high}"
        raise ScenarioError("out-of-range", wrong, "write a smaller mean", field="mean")
    low = truncated.solve(lambda k: truncated.pareto_mean(shape, k, high), mean, mean * 1e-12, mean)
    return Distribution("pareto", Duration(low), high, mean, shape=shape)


def _values(value: Any, whole: Mapping[str, Any]) -> Distribution:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MOST_VALUES:
        wrong = f"{show(value)} is no list of 1 to {_MOST_VALUES} durations"
        raise ScenarioError("wrong-type", wrong, 'write values = ["28 ms", "67 ms"]')
    values = tuple(_at(value, index) for index in range(len(value)))
    shares = parse_shares(whole.get("shares"), len(values))
    return Distribution("values", min(values), max(values), values=values, shares=shares)


def _spread(value: Any) -> tuple[Duration, Duration, Mapping[str, Any]]:
    cells = table(value, ("mean", "deviation"), ("low", "high"))
    mean, deviation = _positive(cells, "mean"), _positive(cells, "deviation")
    relative(deviation, mean)
    return mean, deviation, cells


def _ends(cells: Mapping[str, Any], low: float, high: float) -> tuple[Duration, Duration]:
    first = _cell(cells, "low") if "low" in cells else Duration(low)
    last = _cell(cells, "high") if "high" in cells else Duration(high)
    if first < last:
        return first, last
    wrong, hint = f"low, {first}, is not below high, {last}", "write a low below the high"
    raise ScenarioError("out-of-range", wrong, hint, field="low")


def _kept(law: Distribution, share: float) -> Distribution:
    if share >= _LEAST_KEPT:
        return law
    wrong = f"{law.low} to {law.high} holds almost nothing of the law"
    raise ScenarioError("out-of-range", wrong, "write a low and a high around the mean")


def _positive(cells: Mapping[str, Any], key: str) -> Duration:
    found = _cell(cells, key)
    if 1e-12 <= found <= 1e9:
        return found
    wrong, hint = f"{found} is out of range", f"write a {key} of 1 ps to 1000000000 s"
    raise ScenarioError("out-of-range", wrong, hint, field=key)


def _cell(cells: Mapping[str, Any], key: str) -> Duration:
    try:
        return Duration.parse(cells[key])
    except ScenarioError as error:
        raise error.at("", key) from None


def _at(value: list[Any] | tuple[Any, ...], index: int) -> Duration:
    try:
        return Duration.parse(value[index])
    except ScenarioError as error:
        raise error.at("", str(index)) from None


_READERS: dict[str, Callable[[Any, Mapping[str, Any]], Distribution]] = {
    "uniform": _uniform,
    "exponential": _exponential,
    "normal": _normal,
    "lognormal": _lognormal,
    "pareto": _pareto,
    "values": _values,
}
