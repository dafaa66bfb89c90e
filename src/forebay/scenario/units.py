"""Units of measure: text such as "155 Mbit/s" becomes an exact amount of base units."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, nearest, show

if TYPE_CHECKING:
    from pint import UnitRegistry

# Only what a link, a queue and a flow are measured in: pint's own thousand units would
# cost more to read than the rest of a run, and would make sense of "3 furlongs".
_DEFINITIONS = """
tera- = 1e12 = T-
giga- = 1e9 = G-
mega- = 1e6 = M-
kilo- = 1e3 = k-
milli- = 1e-3 = m-
micro- = 1e-6 = u- = µ- = μ-
nano- = 1e-9 = n-
pico- = 1e-12 = p-
tebi- = 1099511627776 = Ti-
gibi- = 1073741824 = Gi-
mebi- = 1048576 = Mi-
kibi- = 1024 = Ki-
bit = [information] = b
byte = 8 * bit = B
second = [time] = s = sec
minute = 60 * second = min
hour = 60 * minute = h
bps = bit / second
packet = [packets] = pkt
bdp = [bdp]
"""

KNOWN = {
    "rate": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Mbps", "Gbps", "B/s", "MB/s"),
    "time": ("s", "ms", "us", "ns", "ps", "min", "h"),
    "size": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bit", "Mbit"),
    "packets": ("packets",),
    "bdp": ("bdp", "bdp/sqrt(n)"),
}
"""For each kind of quantity, the units that messages offer."""

_DIMENSIONS = {
    "[information] / [time]": "rate",
    "[time]": "time",
    "[information]": "size",
    "[packets]": "packets",
    "[bdp]": "bdp",
}
_CALLED = {
    "rate": "a rate",
    "time": "a time",
    "size": "a data size",
    "packets": "a number of packets",
    "bdp": "a multiple of bdp",
}
_AMOUNT = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*")
# pint evaluates expressions; it is only ever shown one unit, or one unit over another.
_UNIT = re.compile(r"[A-Za-zµμ]{1,20}(?:\s*(?:/|\bper\b)\s*[A-Za-z]{1,20})?")
_MOST = Decimal("1e30")
_LONGEST_EXPONENT = 3


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
        hint = f'write one time such as "{ends[0]}", or {{ uniform = ["{ends[0]}", "{ends[1]}"] }}'
        return ScenarioError("unknown-unit", f"{show(text)} is a range", f"{hint} for an rtt")
    guess = exact_forms.unit_of(unit, kinds) or nearest(
        unit, (name for kind in kinds for name in KNOWN[kind])
    )
    wrong = f"{show(unit)} in {show(text)} is not a known unit"
    meant = f'write "{text.removesuffix(unit).strip()} {guess}", or ' if guess else "write "
    return ScenarioError("unknown-unit", wrong, f"{meant}one of {known}", value=text)


@lru_cache(maxsize=256)
def _kind_and_factor(unit: str) -> tuple[str, Decimal] | None:
    """Return the kind of a unit and its worth in base units, or None."""
    from pint import UndefinedUnitError

    if not _UNIT.fullmatch(unit):
        return None
    try:
        one = _registry().Quantity(Decimal(1), unit).to_root_units()
    except UndefinedUnitError:
        return None
    kind = _DIMENSIONS.get(str(one.dimensionality))
    return (kind, Decimal(one.magnitude)) if kind else None


@cache
def _registry() -> UnitRegistry[Decimal]:
    """Build the registry when the first quantity is read, not when forebay is imported."""
    import pint

    registry: UnitRegistry[Decimal] = pint.UnitRegistry(None, non_int_type=Decimal)
    for line in _DEFINITIONS.strip().splitlines():
        registry.define(line)
    return registry
