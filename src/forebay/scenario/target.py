"""A fraction to reach on the whole, or in nearly every round trip."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, show


class _Target(float):
    """The fraction itself; ``probability`` is None where the mean is meant.

    With a probability it is Yang, Zhang, Xu 2013's kind of goal (§III): the share of the
    round trips that reach the fraction, each taken for itself, is at least ``probability``.
    """

    sense: ClassVar[str]
    example: ClassVar[float]
    probability: float | None

    def __new__(cls, value: float, probability: float | None = None) -> Self:
        made = super().__new__(cls, value)
        made.probability = probability
        return made

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a number, or a table of the bound and its ``probability``."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            return cls(cls._number(value))
        unknown = [key for key in value if key not in (cls.sense, "probability")]
        if unknown:
            wrong = "there is no such key"
            raise ScenarioError("unknown-key", wrong, cls._write(), field=str(unknown[0]))
        if len(value) != 2:
            missing = cls.sense if cls.sense not in value else "probability"
            raise ScenarioError("missing", "is missing", cls._write(), field=missing)
        return cls(cls._number(value[cls.sense]), cls._probability(value["probability"]))

    @classmethod
    def _write(cls) -> str:
        return f"write {cls.example}, or {{ {cls.sense} = {cls.example}, probability = 0.99 }}"

    @classmethod
    def _number(cls, value: object) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        exact = exact_forms.fraction(value)
        if exact is not None:
            wrong = f"{show(value)} is not a number"
            raise ScenarioError("wrong-type", wrong, f"write {exact}", value=value)
        raise ScenarioError(
            "wrong-type", f"{show(value)} is not a number", cls._write(), value=value
        )

    @classmethod
    def _probability(cls, value: object) -> float:
        number = cls._number(value)
        if 0.0 < number <= 1.0:
            return number
        wrong, hint = f"{show(value)} is no probability", "write one above 0, at most 1"
        raise ScenarioError("out-of-range", wrong, hint, field="probability", value=value)

    def written(self) -> float | dict[str, float]:
        """Return the form that a scenario file holds."""
        if self.probability is None:
            return float(self)
        return {self.sense: float(self), "probability": self.probability}

    def __eq__(self, other: object) -> bool:
        same = getattr(other, "probability", None) == self.probability
        return same and float(self).__eq__(other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((float(self), self.probability))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(cls.written)
        return core_schema.no_info_plain_validator_function(cls.parse, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        chance = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
        table = {
            "type": "object",
            "properties": {cls.sense: {"type": "number"}, "probability": chance},
            "required": [cls.sense, "probability"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "number"}, table]}


class AtLeast(_Target):
    """0.98, or { at_least = 0.98, probability = 0.99 }."""

    sense = "at_least"
    example = 0.98


class AtMost(_Target):
    """0.01, or { at_most = 0.01, probability = 0.99 }."""

    sense = "at_most"
    example = 0.01
