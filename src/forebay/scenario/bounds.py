"""The range of a field: checked when a value is read, shown in the schema and the reference."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any, SupportsIndex

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import Quantity


def whole_number(argument: str, value: SupportsIndex, least: int, most: int, more: str = "") -> int:
    """Return a function's argument if it is a whole number in the range. Raises ScenarioError.

    ``more`` ends the hint.
    """
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if least <= number <= most:
        return number
    hint = f"write a whole number from {least} to {most}{more}"
    raise ScenarioError("out-of-range", show(value), hint, field=argument, value=value)


@dataclass(frozen=True, slots=True)
class Between:
    """A range with both its ends. A distribution must lie in it whole; None passes."""

    least: Any
    most: Any
    unit: str = ""
    above: bool = False
    """Whether ``least`` itself is out of range."""

    def check(self, value: Any) -> Any:
        """Return ``value``, or raise ScenarioError."""
        if value is not None:
            for number in (getattr(value, "low", value), getattr(value, "high", value)):
                self._check_number(number)
        return value

    def _check_number(self, number: Any) -> None:
        if self.least <= number <= self.most and not (self.above and number == self.least):
            return
        side = "below" if number < self.least else "above" if number > self.most else "not in"
        end = f"{self.least}" if side == "below" else f"{self.most}"
        limit = f"the least, {end}" if side == "below" else f"the most, {end}"
        side = "not above" if self.above and number == self.least else side
        limit = str(self.least) if side == "not above" else limit
        shown = str(number) if isinstance(number, Quantity) else show(number)
        wrong = f"{shown} is {side} {limit if side != 'not in' else 'the range'}"
        percent = exact_forms.fraction_of_percent(number) if self.unit == "fraction" else None
        hint = f"write {self}" + (f"; {number:g} % is {percent}" if percent else "")
        raise ScenarioError("out-of-range", wrong, hint, value=number)

    def __str__(self) -> str:
        if self.above:
            return f"a number above {self.least:g}, at most {self.most:g}"
        return f"{self.least} to {self.most}"

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = handler(schema)
        if isinstance(self.least, Quantity):
            return written | {"x-minimum": str(self.least), "x-maximum": str(self.most)}
        least = "exclusiveMinimum" if self.above else "minimum"
        return written | {least: self.least, "maximum": self.most}


SHARE = Between(0, 1, "fraction", above=True)
"""Of a share or a probability that cannot be 0."""


def printable(text: str) -> str:
    """Return a name that can go into a terminal and an XML file, or raise ScenarioError."""
    if text.isprintable():
        return text
    wrong = f"{show(text)} holds a character that cannot be printed"
    raise ScenarioError(
        "out-of-range", wrong, "write letters, digits, signs and spaces", value=text
    )
