"""Units of measure: text such as "155 Mbit/s" becomes an exact amount of base units."""

from __future__ import annotations

import re
from decimal import Decimal

from forebay.scenario.errors import ScenarioError, nearest, show

# Only what a link, a queue and a flow are measured in.
_PREFIXES = {
    ("tera", "T"): Decimal(10) ** 12,
    ("giga", "G"): Decimal(10) ** 9,
    ("mega", "M"): Decimal(10) ** 6,
    ("kilo", "k"): Decimal(10) ** 3,
    ("milli", "m"): Decimal(10) ** -3,
    ("micro", "u", "µ", "μ"): Decimal(10) ** -6,
    ("nano", "n"): Decimal(10) ** -9,
    ("pico", "p"): Decimal(10) ** -12,
    ("tebi", "Ti"): Decimal(2) ** 40,
    ("gibi", "Gi"): Decimal(2) ** 30,
    ("mebi", "Mi"): Decimal(2) ** 20,
    ("kibi", "Ki"): Decimal(2) ** 10,
}
_UNITS = {
    ("bit", "b"): ("size", Decimal(1)),
    ("byte", "B"): ("size", Decimal(8)),
    ("second", "s", "sec"): ("time", Decimal(1)),
    ("minute", "min"): ("time", Decimal(60)),
    ("hour", "h"): ("time", Decimal(3600)),
    ("bps",): ("rate", Decimal(1)),
    ("packet", "pkt"): ("packets", Decimal(1)),
    ("bdp",): ("bdp", Decimal(1)),
}
_SPELLED = {
    f"{prefix}{name}{plural}": (kind, factor * worth)
    for prefixes, factor in {("",): Decimal(1), **_PREFIXES}.items()
    for names, (kind, worth) in _UNITS.items()
    for prefix in prefixes
    for name in names
    # A letter has no plural: "Mbs" could be bits or a slip for Mb/s.
    for plural in ("", "s" if len(name) > 1 else "")
}
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


def parse(text: str, kinds: tuple[str, ...], example: str) -> tuple[Decimal, str]:
    """Return (amount in bit/s, s, bits, packets or bdp; the kind of quantity).

    ``kinds`` are the kinds that are welcome; ``example`` shows how to write one.
    Decimal keeps "35 ms" and "0.035 s" the same number. Raises ScenarioError.
    """
    number, unit = _split(text, example)
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


def _split(text: str, example: str) -> tuple[Decimal, str]:
    """Return the number and the unit that follows it."""
    write = f'write a number and a unit, such as "{example}"'
    match = _AMOUNT.fullmatch(text)
    if match is None:
        if re.match(r"\s*[+-]?(nan|inf)", text, re.IGNORECASE):
            raise ScenarioError("not-finite", f"{show(text)} is not finite", write, value=text)
        raise ScenarioError("no-number", f"{show(text)} is not a quantity", write, value=text)
    if not match[2]:
        raise ScenarioError("no-unit", f"{show(text)} has no unit", write, value=text)
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
    guess = nearest(unit, (name for kind in kinds for name in KNOWN[kind]))
    meant = f' (did you mean "{guess}"?)' if guess else ""
    wrong = f"{show(unit)} in {show(text)} is not a known unit{meant}"
    return ScenarioError("unknown-unit", wrong, f"write one of {known}", value=text)


def _kind_and_factor(unit: str) -> tuple[str, Decimal] | None:
    """Return the kind of a unit and its worth in base units, or None."""
    match [_SPELLED.get(part) for part in _RATIO.split(unit, maxsplit=1)]:
        case [one]:
            return one
        case [("size", size), ("time", time)]:
            return "rate", size / time
    return None
