"""Units of measure: text such as "155 Mbit/s" becomes an exact amount of base units."""

from __future__ import annotations

import re
from decimal import Decimal

from forebay.errors import literal
from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, nearest, show

_PREFIXES = {
    "": Decimal(1),
    **dict.fromkeys(("tera", "T"), Decimal("1e12")),
    **dict.fromkeys(("giga", "G"), Decimal("1e9")),
    **dict.fromkeys(("mega", "M"), Decimal("1e6")),
    **dict.fromkeys(("kilo", "k"), Decimal("1e3")),
    **dict.fromkeys(("milli", "m"), Decimal("1e-3")),
    **dict.fromkeys(("micro", "u", "µ", "μ"), Decimal("1e-6")),
    **dict.fromkeys(("nano", "n"), Decimal("1e-9")),
    **dict.fromkeys(("pico", "p"), Decimal("1e-12")),
    **dict.fromkeys(("tebi", "Ti"), Decimal(2**40)),
    **dict.fromkeys(("gibi", "Gi"), Decimal(2**30)),
    **dict.fromkeys(("mebi", "Mi"), Decimal(2**20)),
    **dict.fromkeys(("kibi", "Ki"), Decimal(2**10)),
}
_UNITS = {
    **dict.fromkeys(("bit", "b"), ("size", Decimal(1))),
    **dict.fromkeys(("byte", "B"), ("size", Decimal(8))),
    **dict.fromkeys(("second", "s", "sec"), ("time", Decimal(1))),
    **dict.fromkeys(("minute", "min"), ("time", Decimal(60))),
    **dict.fromkeys(("hour", "h"), ("time", Decimal(3600))),
    "bps": ("rate", Decimal(1)),
    **dict.fromkeys(("packet", "pkt"), ("packets", Decimal(1))),
    "bdp": ("bdp", Decimal(1)),
}
"""The kind of each unit, and its worth in bits, seconds, bit/s, packets or bdp."""

KNOWN = {
    "rate": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Mbps", "Gbps", "B/s", "MB/s"),
    "time": ("s", "ms", "us", "ns", "ps", "min", "h"),
    "size": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bit", "Mbit"),
    "packets": ("packets",),
    "bdp": ("bdp", "bdp/sqrt(n)"),
}
"""For each kind of quantity, the units that messages offer."""

_CALLED = {
    "rate": "a rate",
    "time": "a time",
    "size": "a data size",
    "packets": "a number of packets",
    "bdp": "a multiple of bdp",
}
_AMOUNT = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*")
_RATIO = re.compile(r"\s*(?:/|\bper\b)\s*")
_MOST = Decimal("1e30")
_LONGEST_EXPONENT = 3
_SHORTEST_PLURAL = 3
"""Letters of a unit that may have a plural: packets, bits, but no bs."""


def parse(text: str, kinds: tuple[str, ...], example: str) -> tuple[Decimal, str]:
    """Return (amount in bit/s, s, bits, packets or bdp; the kind of quantity).

    ``kinds`` are the kinds that are welcome; ``example`` shows how to write one.
    Decimal keeps "35 ms" and "0.035 s" the same number. Raises ScenarioError.
    """
    number, unit = _split(text, example, kinds)
    found = _kind_and_factor(unit)
    known = ", ".join(name for kind in kinds for name in KNOWN[kind])
    if found is None:
        raise _unknown_unit(text, unit, kinds, known)
    kind, factor = found
    if kind not in kinds:
        wanted = " or ".join(_CALLED[kind] for kind in kinds)
        wrong = f"{show(text)} is {_CALLED[found[0]]}, not {wanted}"
        raise ScenarioError("wrong-dimension", wrong, f"write one of {known}", value=text)
    return _in_range(number * factor, text, example), kind


def _split(text: str, example: str, kinds: tuple[str, ...]) -> tuple[Decimal, str]:
    """Return the number and the unit that follows it."""
    write = f'write a number and a unit, such as "{example}"'
    match = _AMOUNT.fullmatch(text)
    if match is None:
        if re.match(r"\s*[+-]?(nan|inf)", text, re.IGNORECASE):
            raise ScenarioError("not-finite", f"{show(text)} is not finite", write, value=text)
        raise ScenarioError("no-number", f"{show(text)} is not a quantity", write, value=text)
    if not match[2]:
        unit = example.partition(" ")[2]
        same = (
            exact_forms.bare_rate(float(match[1])) if kinds == ("rate",) else f"{match[1]} {unit}"
        )
        hint = f'write it with one, such as "{same}"'
        raise ScenarioError("no-unit", f"{show(text)} has no unit", hint, value=text)
    if len(match[1].lower().partition("e")[2]) > _LONGEST_EXPONENT:
        raise ScenarioError("out-of-range", f"{show(text)} is out of reach", write, value=text)
    return Decimal(match[1]), match[2]


def _in_range(amount: Decimal, text: str, example: str) -> Decimal:
    hint = f'write an amount such as "{example}"'
    if amount < 0:
        raise ScenarioError("out-of-range", f"{show(text)} is negative", hint, value=text)
    if amount > _MOST:
        raise ScenarioError("out-of-range", f"{show(text)} is too large", hint, value=text)
    return abs(amount)  # no minus zero


def _unknown_unit(text: str, unit: str, kinds: tuple[str, ...], known: str) -> ScenarioError:
    ends = exact_forms.span(text) if "time" in kinds else None
    if ends:
        hint = f'write one time such as "{ends[0]}", or {literal({"uniform": list(ends)})}'
        return ScenarioError("unknown-unit", f"{show(text)} is a range", f"{hint} for an rtt")
    guess = exact_forms.unit_of(unit, kinds) or nearest(
        unit, (name for kind in kinds for name in KNOWN[kind])
    )
    wrong = f"{show(unit)} in {show(text)} is not a known unit"
    meant = f'write "{text.removesuffix(unit).strip()} {guess}", or ' if guess else "write "
    return ScenarioError("unknown-unit", wrong, f"{meant}one of {known}", value=text)


def _kind_and_factor(unit: str) -> tuple[str, Decimal] | None:
    """Return the kind of a unit, or of a size over a time, and its worth; None if not known."""
    parts = [_prefixed(part) for part in _RATIO.split(unit, maxsplit=1)]
    match parts:
        case [None | (str(), Decimal()) as one]:
            return one
        case [("size", bits), ("time", seconds)]:
            return "rate", bits / seconds
        case _:
            return None


def _prefixed(word: str) -> tuple[str, Decimal] | None:
    """Return the kind and the worth of one unit with or without a prefix and a plural's s."""
    singular = word.removesuffix("s")
    for length in (0, 1, 2, 4, 5):
        factor, rest = _PREFIXES.get(word[:length]), word[length:]
        plural = len(singular) - length >= _SHORTEST_PLURAL
        name = rest if rest in _UNITS or not plural else singular[length:]
        if factor is not None and name in _UNITS:
            kind, worth = _UNITS[name]
            return kind, worth * factor
    return None
