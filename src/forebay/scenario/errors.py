"""The error of this package: one sentence with what is wrong, where, and what to write instead.

A scenario accepts one notation only; the probable meaning of a refused value is for hints alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from forebay.errors import ForebayError
from forebay.words import Fact


class ScenarioError(ForebayError, ValueError):
    """Invalid input for a scenario.

    >>> try:
    ...     forebay.Link(rate=155)
    ... except forebay.ScenarioError as error:
    ...     print(error)
    Link: rate: 155 has no unit; write it with one, such as "155 Mbit/s"
    """


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to ``name``, ignoring case and dashes."""
    import difflib

    by_folded = {_folded(known): known for known in names}
    matches = difflib.get_close_matches(_folded(name), by_folded, n=1, cutoff=0.5)
    return by_folded[matches[0]] if matches else None


def did_you_mean(name: str, names: Iterable[str], *, also: Mapping[str, str] | None = None) -> Fact:
    """Return ' (did you mean "fq_codel"?)', or "" without a similar name.

    ``also`` has other names of the same thing, such as pfifo for drop-tail.
    """
    guess = (also or {}).get(_folded(name)) or nearest(name, names)
    return Fact("did-you-mean", guess=guess) if guess and guess != name else Fact("")


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


_MOST = 1e15
_PERCENT = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,12})?)\s*(?:%|percent)\s*")
_COUNT = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([kKmM])?\s*(?:flows?|packets?)?\s*")
_END = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-zµμ]{0,5})"
_RANGE = re.compile(rf"\s*{_END}\s*(?:-|–|\.\.\.?|…|to)\s*{_END}\s*")
_PLAIN_RATE = re.compile(r"([kmgt])(?:b|bit|bits|bps|bit/s|bits/s)?", re.IGNORECASE)
_RATES = {"k": "kbit/s", "m": "Mbit/s", "g": "Gbit/s", "t": "Tbit/s"}
_SCALES = {"": 1, "k": 10**3, "m": 10**6}


def fraction(value: object) -> str | None:
    """Return "0.995" for "99.5 %"; None if the value is not a percentage of at most 100."""
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None or Decimal(match[1]) > 100:
        return None
    return plain(Decimal(match[1]) / 100)


def fraction_of_percent(value: object) -> str | None:
    """Return "0.995" for 99.5, which must be a percentage; None for any other number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 < value <= 100:
        return None
    return plain(Decimal(repr(value)) / 100)


def count(value: object) -> str | None:
    """Return "10000" for "10k", "10000" and 1e4; None if no whole number is meant."""
    if isinstance(value, float):
        return f"{int(value)}" if 0 < value < _MOST and value.is_integer() else None
    match = _COUNT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    number = Decimal(match[1]) * _SCALES[(match[2] or "").lower()]
    return f"{int(number)}" if number == int(number) and number > 0 else None


def span(value: object) -> tuple[str, str] | None:
    """Return ("10 ms", "180 ms") for "10-180 ms"; None if the value is not a range of times."""
    match = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    low, first, high, second = match.groups()
    unit = second or first
    return (f"{low} {first or unit}", f"{high} {unit}") if unit else None


def unit_of(unit: str, kinds: tuple[str, ...]) -> str | None:
    """Return "Gbit/s" for the "G" of "100G" if only a rate is accepted; else None."""
    match = _PLAIN_RATE.fullmatch(unit) if kinds == ("rate",) else None
    return _RATES[match[1].lower()] if match else None


def bare_rate(value: float) -> str:
    """Return "155 Mbit/s" for 155e6, which must be bit/s, and for 155."""
    if value < 1e4:
        return f"{plain(Decimal(repr(value)))} Mbit/s"
    powers = ((12, "Tbit/s"), (9, "Gbit/s"), (6, "Mbit/s"), (3, "kbit/s"))
    power, unit = next(pair for pair in powers if value >= 10 ** pair[0])
    return f"{plain(Decimal(repr(value)).scaleb(-power))} {unit}"


def bare(value: float, unit: str) -> tuple[str, ...]:
    """Return what 64 may mean, "64 packets", without an exponent; of 0.05 in ms "50 ms".

    A number below 1 for a time that is usually given in ms is in seconds; another may be too.
    """
    if unit == "ms" and value < 1:
        return (f"{plain(Decimal(repr(value)).scaleb(3))} ms",)
    units = ("ms", "s") if unit == "ms" else (unit,)
    return tuple(f"{plain(Decimal(repr(value)))} {each}" for each in units)


def plain(number: Decimal) -> str:
    """Return a decimal without exponent and trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
