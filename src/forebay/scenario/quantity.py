"""Quantities with units, read from text: Rate, Duration, DataSize and BufferSize.

Each is converted exactly to base units.
"""

import re
from abc import ABC, abstractmethod
from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario import errors
from forebay.scenario.errors import ScenarioError, nearest
from forebay.scenario.errors import plain as plain
from forebay.words import Fact, Term, one_of, show

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
"""The kind of each unit, and its factor to bits, seconds, bit/s, packets or bdp."""

KNOWN = {
    "rate": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Mbps", "Gbps", "B/s", "MB/s"),
    "time": ("s", "ms", "us", "ns", "ps", "min", "h"),
    "size": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bit", "Mbit"),
    "packets": ("packets",),
    "bdp": ("bdp", "bdp/sqrt(n)"),
}
"""For each kind of quantity, the units that messages suggest."""

_CALLED = {
    "rate": "a rate", "time": "a time", "size": "a data size", "packets": "a number of packets",
    "bdp": "a multiple of bdp",
}  # fmt: skip
_AMOUNT = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*")
_RATIO = re.compile(r"\s*(?:/|\bper\b)\s*")
_MOST = Decimal("1e30")
_LONGEST_EXPONENT = 3
_MOST_DIGITS = 400
"""More than any float needs; a longer number is refused before it is read."""
_SHORTEST_PLURAL = 3
"""Shortest unit in letters that may have a plural: packets, bits, but not bs."""


def parse_amount(text: str, kinds: tuple[str, ...], example: str) -> tuple[Decimal, str]:
    """Return (amount in bit/s, s, bits, packets or bdp; the kind of quantity).

    ``kinds`` are the accepted kinds; ``example`` is an example for the hint.
    With Decimal, "35 ms" and "0.035 s" are the same number. Raises ScenarioError.
    """
    number, unit = _split(text, example)
    meaning = _kind_and_factor(unit)
    known = ", ".join(name for kind in kinds for name in KNOWN[kind])
    if meaning is None:
        raise _unknown_unit(text, unit, kinds, known)
    kind, factor = meaning
    if kind not in kinds:
        wanted = " or ".join(_CALLED[kind] for kind in kinds)
        raise ScenarioError(
            "wrong-dimension", value=text, called=_CALLED[kind], wanted=wanted, known=known
        )
    return _in_range(number * factor, text, example), kind


def _split(text: str, example: str) -> tuple[Decimal, str]:
    """Return the number and the unit that follows it."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        not_finite = re.match(r"\s*[+-]?(nan|inf)", text, re.IGNORECASE)
        raise ScenarioError("not-finite" if not_finite else "no-number", value=text, like=example)
    if len(match[1]) > _MOST_DIGITS:
        raise ScenarioError("out-of-range.digits", value=text, most=_MOST_DIGITS, like=example)
    if not match[2]:
        raise unitless(float(match[1]), example, text)
    if len(match[1].lower().partition("e")[2]) > _LONGEST_EXPONENT:
        raise ScenarioError("out-of-range.exponent", value=text, like=example)
    return Decimal(match[1]), match[2]


def _in_range(amount: Decimal, text: str, example: str) -> Decimal:
    if amount < 0:
        raise ScenarioError("out-of-range.negative", value=text, like=example)
    if amount > _MOST:
        raise ScenarioError("out-of-range.too-large", value=text, like=example)
    return abs(amount)  # no minus zero


def _unknown_unit(text: str, unit: str, kinds: tuple[str, ...], known: str) -> ScenarioError:
    ends = errors.span(text) if "time" in kinds else None
    if ends:
        spread = {"uniform": list(ends)}
        return ScenarioError("unknown-unit.range", value=text, one=ends[0], spread=spread)
    if unit.startswith(","):
        whole = re.sub(r",(?=[0-9]{3}(?![0-9]))", "", text)
        forms = [text.replace(",", "."), whole] if text.count(",") == 1 else [whole]
        point = " or ".join(show(form) for form in forms if "," not in form)
        return ScenarioError("no-number.comma", value=text, meant=point or Fact("no-number.digits"))
    guess = errors.unit_of(unit, kinds) or nearest(
        unit, (name for kind in kinds for name in KNOWN[kind])
    )
    amount = text.removesuffix(unit).strip()
    meant = Fact("unknown-unit.similar", amount=amount, unit=guess) if guess else Fact("")
    return ScenarioError("unknown-unit", value=text, unit=unit, meant=meant, known=known)


def _kind_and_factor(unit: str) -> tuple[str, Decimal] | None:
    """Return kind and factor of a unit, or of a size over a time; None if unknown."""
    parts = [_prefixed(part) for part in _RATIO.split(unit, maxsplit=1)]
    match parts:
        case [None | (str(), Decimal()) as one]:
            return one
        case [("size", bits), ("time", seconds)]:
            return "rate", bits / seconds
        case _:
            return None


def _prefixed(word: str) -> tuple[str, Decimal] | None:
    """Return kind and factor of one unit, with or without a prefix and a plural's s."""
    singular = word.removesuffix("s")
    for length in (0, 1, 2, 4, 5):
        factor, rest = _PREFIXES.get(word[:length]), word[length:]
        plural = len(singular) - length >= _SHORTEST_PLURAL
        name = rest if rest in _UNITS or not plural else singular[length:]
        if factor is not None and name in _UNITS:
            kind, worth = _UNITS[name]
            return kind, worth * factor
    return None


NUMBER_PATTERN = r"^\s*[+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*[A-Za-zµμ]"
_DIGITS = 4


class FromText(ABC):
    """A value that is written as text, with one parser and one notation."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": NUMBER_PATTERN}
    base_unit: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def parse(cls, value: object) -> Self:
        """Read the text, or return the value if it is one already. Raises ScenarioError."""

    @classmethod
    def parse_argument(cls, name: str | Term, value: object) -> Self:
        """Read an argument, as `parse` does. The ScenarioError names the argument."""
        try:
            return cls.parse(value)
        except ScenarioError as error:
            raise error.at("", name) from None

    def written(self) -> Any:
        """Return the notation in a scenario file."""
        return str(self)

    def canonical(self) -> Any:
        """Return base units, the same for every notation."""
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(
            lambda it, info: it.written() if info.mode == "json" else it.canonical(), info_arg=True
        )
        return core_schema.no_info_plain_validator_function(cls.parse, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return cls.json_schema | ({"x-unit": cls.base_unit} if cls.base_unit else {})


class Quantity(FromText):
    """Common base of the three quantities; mixed into float or int."""

    kind: ClassVar[str]
    unit: ClassVar[str]
    example: ClassVar[str]
    _written_in: ClassVar[tuple[tuple[str, int], ...]]  # unit, power of ten; largest first

    def __new__(cls, value: float | str) -> Self:
        """Return parsed text, or a number in the base unit. Raises ScenarioError."""
        if isinstance(value, str):
            return cls.parse(value)
        try:
            if isfinite(value):
                return super().__new__(cls, value)  # type: ignore[call-arg]
        except TypeError:
            raise unitless(value, cls.example) from None
        raise ScenarioError("not-finite", value=value, like=cls.example)

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text with a unit; a bare number is refused. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        text = text_of(value, cls.example)
        amount, _ = parse_amount(text, (cls.kind,), cls.example)
        return cls._from_base(amount, text)

    @classmethod
    def _from_base(cls, amount: Decimal, text: str) -> Self:
        return cls(float(amount))

    def __str__(self) -> str:
        # The shortest digits of the number with a shifted point: it parses to the same number.
        return self._text(None)

    def __format__(self, spec: str) -> str:
        """Format the number; without a format, as text in at most four digits, for messages."""
        return super().__format__(spec) if spec else self._text(_DIGITS)

    def _text(self, most: int | None) -> str:
        digits = Decimal(float.__repr__(self) if isinstance(self, float) else int(self))  # type: ignore[call-overload]
        unit, power = next(
            (step for step in self._written_in if abs(digits) >= Decimal(10) ** step[1]),
            self._written_in[-1] if digits else (self.unit, 0),
        )
        amount = digits.scaleb(-power)
        if most is not None and amount != amount.to_integral_value():  # no more digits than it has
            amount = round(amount, max(most - 1 - amount.adjusted(), 0))
        return f"{plain(amount)} {unit}"


class Rate(Quantity, float):
    """Bits per second.

    >>> forebay.Rate.parse("155 Mbit/s") / 2
    77500000.0
    """

    kind = "rate"
    unit = base_unit = "bit/s"
    example = "155 Mbit/s"
    _written_in = (("Tbit/s", 12), ("Gbit/s", 9), ("Mbit/s", 6), ("kbit/s", 3), ("bit/s", 0))


class Duration(Quantity, float):
    """Seconds.

    >>> float(forebay.Duration.parse("10 ms"))
    0.01
    """

    kind = "time"
    unit = base_unit = "s"
    example = "100 ms"
    _written_in = (("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12))


class DataSize(Quantity, int):
    """Whole bytes.

    >>> int(forebay.DataSize.parse("1.5 MB"))
    1500000
    """

    kind = "size"
    unit = base_unit = "B"
    example = "1500 B"
    _written_in = (("GB", 9), ("MB", 6), ("B", 0))

    @classmethod
    def _from_base(cls, amount: Decimal, text: str) -> Self:
        size = amount / 8
        if size != int(size):
            raise ScenarioError("out-of-range.part-of-byte", value=text)
        return cls(int(size))


def text_of(value: object, example: str) -> str:
    """Return the text of an amount; a quantity is its own. Raises ScenarioError."""
    if isinstance(value, str | Quantity):
        return str(value)
    raise unitless(value, example)


def unitless(value: object, example: str, text: str | None = None) -> ScenarioError:
    """Return the error for a value, or the number of a text, that should have a unit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        unit = example.partition(" ")[2]
        same: tuple[str, ...] = (example,)
        if 0 < value < 1e18:
            is_rate = unit == "Mbit/s"
            same = (errors.bare_rate(value),) if is_rate else errors.bare(value, unit)
        if unit in ("packets", "B") and value != int(min(value, 1e18)):
            same = (example,)  # no fraction of a packet or byte
        written = value if text is None else text
        return ScenarioError("no-unit.quantity", value=written, like=one_of(same))
    return ScenarioError("wrong-type.quantity", value=value, like=example)
