"""Rate, Duration and DataSize: numbers in one base unit that are written with their unit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario import exact_forms, units
from forebay.scenario.errors import ScenarioError, show

NUMBER_PATTERN = r"^\s*[+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*[A-Za-zµμ]"


class FromText(ABC):
    """A value that is written as text: one parser of it, one form that it is written in."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": NUMBER_PATTERN}
    base_unit: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def parse(cls, value: object) -> Self:
        """Read the text, or return the value if it is one already. Raises ScenarioError."""

    def written(self) -> Any:
        """Return the form that a scenario file holds."""
        return str(self)

    def canonical(self) -> Any:
        """Return base units, the same for every way of writing it."""
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
    """What the three have in common; mixed into float or int."""

    kind: ClassVar[str]
    unit: ClassVar[str]
    example: ClassVar[str]
    _written_in: ClassVar[tuple[tuple[str, int], ...]]  # unit, power of ten; largest first

    def __new__(cls, value: float | str) -> Self:
        """Return text that is read, or a number in the base unit. Raises ScenarioError."""
        if isinstance(value, str):
            return cls.parse(value)
        return super().__new__(cls, value)  # type: ignore[call-arg]

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text with a unit; a bare number is refused. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise unitless(value, cls.example)
        amount, _ = units.parse(value, (cls.kind,), cls.example)
        return cls._from_base(amount, value)

    @classmethod
    def _from_base(cls, amount: Decimal, text: str) -> Self:
        return cls(float(amount))

    def __str__(self) -> str:
        # The shortest digits of the number, with the point moved: parses back to the same.
        digits = Decimal(float.__repr__(self) if isinstance(self, float) else int(self))  # type: ignore[call-overload]
        unit, power = next(
            (step for step in self._written_in if digits >= Decimal(10) ** step[1]),
            self._written_in[-1] if digits else (self.unit, 0),
        )
        return f"{plain(digits.scaleb(-power))} {unit}"


class Rate(Quantity, float):
    """Bits per second."""

    kind = "rate"
    unit = base_unit = "bit/s"
    example = "155 Mbit/s"
    _written_in = (("Tbit/s", 12), ("Gbit/s", 9), ("Mbit/s", 6), ("kbit/s", 3), ("bit/s", 0))


class Duration(Quantity, float):
    """Seconds."""

    kind = "time"
    unit = base_unit = "s"
    example = "100 ms"
    _written_in = (("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12))


class DataSize(Quantity, int):
    """Whole bytes."""

    kind = "size"
    unit = base_unit = "B"
    example = "1500 B"
    _written_in = (("GB", 9), ("MB", 6), ("B", 0))

    @classmethod
    def _from_base(cls, amount: Decimal, text: str) -> Self:
        size = amount / 8
        if size != int(size):
            hint = 'write a whole number of bytes, such as "1500 B"'
            raise ScenarioError("out-of-range", f"{show(text)} has part of a byte", hint)
        return cls(int(size))


def plain(number: Decimal) -> str:
    """Return a decimal without exponent and without idle zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def unitless(value: object, example: str) -> ScenarioError:
    """Return the complaint about a value that should be text with a unit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        unit = example.partition(" ")[2]
        same = example
        if 0 < value < 1e18:
            rate = unit == "Mbit/s"
            same = exact_forms.bare_rate(value) if rate else exact_forms.bare(value, unit)
        if unit in ("packets", "B") and value != int(min(value, 1e18)):
            same = example  # no part of a packet or a byte
        wrong, hint = f"{show(value)} has no unit", f'write it with one, such as "{same}"'
        return ScenarioError("no-unit", wrong, hint, value=value)
    wrong = f"{show(value)} is not a quantity"
    return ScenarioError("wrong-type", wrong, f'write text such as "{example}"', value=value)
