"""Lengths of flows as a scenario file writes them, and where their laws begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import exp
from typing import Any

from forebay.scenario import truncated, units
from forebay.scenario.errors import ScenarioError, nearest, show
from forebay.scenario.flow_length import FlowLength, Unit
from forebay.scenario.quantity import unitless
from forebay.scenario.table import number, relative, table

MOST_PACKETS = 1_000_000_000
_HIGH = {"packets": 1e6, "bytes": 1.5e9}
_EXAMPLE = "14 packets"
_WRITE = 'write "14 packets", "20 kB", { geometric = "14 packets" }, { pareto = { … } }'
_SUMMED = 200


def parse(value: object) -> FlowLength:
    """Read text, or a table named after a law. Raises ScenarioError."""
    if isinstance(value, FlowLength):
        return value
    if not isinstance(value, Mapping):
        amount, unit = _amount({"": value}, "")
        return FlowLength("fixed", unit, amount)
    if len(value) != 1 or next(iter(value)) not in _READERS:
        raise _unknown([str(key) for key in value])
    law = next(iter(value))
    try:
        return _READERS[law](value[law])
    except ScenarioError as error:
        raise error.at("", law) from None


@lru_cache(maxsize=256)
def lower_end(kind: str, mean: float, shape: float, deviation: float, high: float) -> float:
    """Return what makes the mean of the whole packets drawn the mean asked for.

    For a Pareto law that is its lower end; for a lognormal one its median. In packets; the
    number drawn is max(1, nearest whole number).
    """
    sigma = truncated.lognormal_sigma(mean, deviation) if kind == "lognormal" else 0.0

    def rounded_mean(scale: float) -> float:
        if kind == "pareto":
            return _rounded_mean(
                lambda x: truncated.pareto_tail(x, shape, scale, high),
                lambda x: truncated.pareto_mean(shape, max(x, scale), high),
                high,
            )
        return _rounded_mean(
            lambda x: truncated.lognormal_tail(x, scale, sigma, high),
            lambda x: truncated.lognormal_mean(scale, sigma, x, high),
            high,
        )

    # Six deviations beyond the upper end a lognormal law is all but a Pareto one, cut there.
    most = high if kind == "pareto" else high * exp(6 * sigma)
    return truncated.solve(rounded_mean, mean, mean * 1e-9, most * (1 - 1e-12))


def _rounded_mean(
    tail: Callable[[float], float], mean_above: Callable[[float], float], high: float
) -> float:
    """E[max(1, round X)] = 1 + sum over j >= 2 of P(X > j - 1/2).

    Beyond 200 the sum is the integral of the tail, E[X - J; X > J], to seven digits.
    """
    last = min(_SUMMED, int(high + 0.5))
    total = 1.0 + sum(tail(j - 0.5) for j in range(2, last + 1))
    if last < _SUMMED or tail(last) <= 0.0:
        return total
    return total + tail(last) * (mean_above(last) - last)


def _amount(cells: Mapping[str, Any], key: str) -> tuple[float, Unit]:
    try:
        return _read(cells[key])
    except ScenarioError as error:
        raise error.at("", key) from None


def _read(value: Any) -> tuple[float, Unit]:
    if not isinstance(value, str):
        raise unitless(value, _EXAMPLE)
    amount, kind = units.parse(value, ("packets", "size"), _EXAMPLE)
    unit: Unit = "packets" if kind == "packets" else "bytes"
    found = float(amount if unit == "packets" else amount / 8)
    most = MOST_PACKETS * (1 if unit == "packets" else 1500)
    if 0 < found <= most:
        return found, unit
    hint = f"write more than 0, at most {most} {unit}"
    raise ScenarioError("out-of-range", f"{show(value)} is out of range", hint, value=value)


def _same(cells: Mapping[str, Any], *keys: str) -> tuple[list[float], Unit]:
    """Return amounts that all have the unit of the first."""
    found = {key: _amount(cells, key) for key in keys}
    unit = found[keys[0]][1]
    for key in keys:
        if found[key][1] != unit:
            hint = f"write all of them in {unit}"
            raise ScenarioError("wrong-dimension", f"is not in {unit}", hint, field=key)
    return [amount for amount, _ in found.values()], unit


def _geometric(value: Any) -> FlowLength:
    mean, unit = _read(value)
    return FlowLength("geometric", unit, mean)


def _pareto(value: Any) -> FlowLength:
    cells, keys = _with_high(table(value, ("mean", "shape"), ("high",)), "mean")
    (mean, high), unit = _same(cells, *keys)
    shape = number(cells, "shape", 0.1, 100.0)
    return _below(FlowLength("pareto", unit, mean, shape=shape, high=high))


def _lognormal(value: Any) -> FlowLength:
    cells, keys = _with_high(table(value, ("mean", "deviation"), ("high",)), "mean", "deviation")
    (mean, deviation, high), unit = _same(cells, *keys)
    relative(deviation, mean)
    return _below(FlowLength("lognormal", unit, mean, deviation=deviation, high=high))


def _with_high(cells: dict[str, Any], *keys: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Write out the upper end where none is given."""
    unit = _amount(cells, "mean")[1]
    high = f"{_HIGH[unit]:.0f} {'packets' if unit == 'packets' else 'B'}"
    return {"high": high} | cells, (*keys, "high")


def _below(law: FlowLength) -> FlowLength:
    if law.mean < law.high / 2:
        return law
    wrong = f"{law.amount(law.mean)} is not below half of high, {law.amount(law.high)}"
    raise ScenarioError("out-of-range", wrong, "write a smaller mean", field="mean")


def _unknown(keys: list[str]) -> ScenarioError:
    guess = nearest(keys[0], _READERS) if len(keys) == 1 else None
    meant = f' (did you mean "{guess}"?)' if guess else ""
    names = ", ".join(show(key) for key in keys) or "nothing"
    return ScenarioError("unknown-key", f"a length of {names}{meant}", _WRITE)


_READERS: dict[str, Callable[[Any], FlowLength]] = {
    "geometric": _geometric,
    "pareto": _pareto,
    "lognormal": _lognormal,
}
